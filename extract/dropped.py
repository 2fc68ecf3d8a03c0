"""What was dropped, or why nothing is found: a sentence for each cause, with the way out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from trajanon.common.columns_read import ColumnsRead, columns_read
from trajanon.common.errors import printable
from trajanon.common.number_text import metres, number_of, percent, span
from trajanon.extract.trips import FOUND, LEFT_OUT, SHORT
from trajanon.trajectories.subjects import Merged, Nameless, merged_sentences

AT_TWO_PLACES = "subjects at two places at one time"
OVERLAPS = "pieces of a recording with overlapping times"

_FEW, _MOST = 0.1, 4  # a larger share is reported, in so many sentences
_BY_PLACE = "OpenStreetMap gives such points sorted by place, not along a track; try a larger box"
_WINDOWS = (
    "lower `spacing` or `points`, raise `max_gap`, `max_pause` or `max_speed`, or take whole trips"
)

_WAYS_OUT = {  # of what is dropped, by its counter
    "points impossible": "look whether the columns are the right ones (`columns` lat=...,lon=...)",
    "points merged (equal times)": "give finer times, or name their column (`columns` time=...)",
    "stray points": "raise `max_speed` if they are right",
    "points alone between pauses and stays": "raise `max_pause`",
    "points outside the area": "give their `area`, W,S,E,N, or look whether columns are swapped",
    "points near the ends of a trace": "lower `trim_ends` to keep them",
    "points without an id": "name the column that tells recordings apart with `columns` id=...",
    "points of traces without times": (
        "name the column with `columns` time=..., or take their order, `untimed='accept'`"
    ),
    "points sorted by place, not along a track": _BY_PLACE,
    "points without time": _BY_PLACE,
    "rows marked as not valid": (
        "trips go on over them within `max_pause`, and within `max_gap` if it is given; if the "
        "marks are wrong, remove their column"
    ),
    "rows that could not be read": "of a table a warning names the first",
    "times that could not be read": "look at the column of times",
    "files from their damage on": "copy or download them again",
}
_OF_POINTS = ("points", "stray", "rows", "times")
_UNITS = (*_OF_POINTS, "features", "lines", "moving", "trips", "files", "members")
# Counters that begin with a unit but count nothing that is dropped, or are counted by the trip.
_KEPT = {
    "points read",
    "points used",
    "points spread over their minute",
    "points of trips left out",
    FOUND,
    *LEFT_OUT,
}

_READ = {  # counters of what was read; others count what readers left out
    *("points of repeated recordings", "points impossible", "stray points", "points of stays"),
    *("points without time in a timed recording", "points merged (equal times)"),
    *("points repeated in place", "points alone between pauses and stays"),
    *("points outside the area", "points of other parts inside the area"),
    *("points near the ends of a trace", "points near hidden places"),
    *("times that could not be read", "files from their damage on"),
}


@dataclass(frozen=True, slots=True)
class Counted:
    """Points, rows, files or others that a step or a reader dropped."""

    counter: str
    count: int
    total: int

    @property
    def share(self) -> float:
        """Of all that could be dropped."""
        return self.count / self.total

    def __str__(self) -> str:
        way_out = f"; {_WAYS_OUT[self.counter]}" if self.counter in _WAYS_OUT else ""
        return f"{self.counter}, {percent(self.share)} ({self.count:,} of {self.total:,}){way_out}"


@dataclass(frozen=True, slots=True)
class TripsLeftOut:
    """Trips that are left out, for each reason."""

    counts: Mapping[str, int]  # by counter, those that hold any
    total: int
    min_length: float  # metres

    @property
    def share(self) -> float:
        """Of all trips."""
        return sum(self.counts.values()) / self.total

    def __str__(self) -> str:
        reasons = {counter: why.reason for counter, why in LEFT_OUT.items()}
        reasons[SHORT] = f"shorter than {self.min_length:,.0f} m"
        listed = ", ".join(f"{n:,} {reasons[counter]}" for counter, n in self.counts.items())
        of_all = f"{sum(self.counts.values()):,} of {self.total:,}"
        most = max(self.counts, key=lambda counter: self.counts[counter])
        way_out = LEFT_OUT[most].way_out
        return f"{percent(self.share)} of the trips ({of_all}) are left out: {listed}; {way_out}"


@dataclass(frozen=True, slots=True)
class TooShort:
    """The way that lies in pieces shorter than a window."""

    share: float  # of the way
    window: float  # metres

    def __str__(self) -> str:
        too_short = f"in pieces too short for a window of {self.window:,.0f} m: {_WINDOWS}"
        return f"{percent(self.share)} of the way is {too_short}"


def _causes(provenance: Mapping[str, Any]) -> list[Counted | TripsLeftOut | TooShort]:
    """Find what dropped more than a tenth of all, most first."""
    counts = Counter(provenance["counts"])
    causes: list[Counted | TripsLeftOut | TooShort] = []
    for counter, count in counts.items():
        unit = counter.split()[0]
        if not count or counter in _KEPT or unit not in _UNITS:
            continue
        total = counts["points read" if unit in _OF_POINTS else "recordings read"]
        total += 0 if counter in _READ else count
        causes.append(Counted(counter, count, total))

    if trips := {counter: counts[counter] for counter in LEFT_OUT if counts[counter]}:
        causes.append(TripsLeftOut(trips, counts[FOUND], provenance["min_length"]))

    if not provenance["trips"] and counts["metres of track"]:
        share = 1.0 - counts["metres used"] / counts["metres of track"]
        causes.append(TooShort(share, provenance["spacing"] * (provenance["points"] - 1)))

    large = [cause for cause in causes if cause.share > _FEW]
    return sorted(large, key=lambda cause: -cause.share)


def why_nothing(provenance: Mapping[str, Any]) -> str:
    """Name in one sentence what took most, and what to change."""
    if causes := _causes(provenance):
        return "; ".join(map(str, causes[:2]))
    if not provenance["counts"]["points read"]:
        return "the source holds no track points" + " in this area" * bool(provenance["area"])
    return "no recording holds one" if provenance["trips"] else f"pieces are short: {_WINDOWS}"


def sentences(provenance: Mapping[str, Any]) -> list[str]:
    """Name what was dropped by more than a tenth of all, most first, and what to do about it."""
    return [
        f"{'Left out: ' * isinstance(cause, Counted)}{cause}."
        for cause in _causes(provenance)[:_MOST]
    ]


def people_sentences(provenance: Mapping[str, Any]) -> list[str]:
    """List whom k counts: who has no name, who is one person, and who can be none."""
    counts = Counter(provenance["counts"])
    nameless = Nameless.counted_in(provenance)
    texts: list[str] = []
    if nameless.recordings:
        any_named = counts["subjects read"] > nameless.subjects
        texts.append(_nameless_sentence(nameless, named=any_named))
    texts += merged_sentences(Merged.counted_in(provenance))

    # Where pieces of recordings overlap, that is why their subjects are at two places.
    pieces = counts[OVERLAPS]
    if pieces:
        tracks = number_of(pieces, "track overlaps", "tracks overlap")
        texts.append(
            f"{tracks} in time with others of one recording, counted as one person's: if each is "
            "another person's, say `columns` subject=track."
        )
    elif counts[AT_TWO_PLACES]:
        texts.append(_two_places_sentence(counts[AT_TWO_PLACES], columns_read(provenance)))
    return texts


def _two_places_sentence(subjects: int, uses: Sequence[ColumnsRead]) -> str:
    columns = dict.fromkeys(use.roles["subject"] for use in uses if "subject" in use.roles)
    of = " in " * bool(columns) + " or ".join(repr(printable(name)) for name in columns)
    verb = "is" if subjects == 1 else "are"
    return (
        f"{number_of(subjects, 'subject')}{of} {verb} again and again at two places more than "
        "1 km apart at one time, as if several people had one name: say `columns` "
        "subject=..., or subject=none."
    )


def _nameless_sentence(nameless: Nameless, *, named: bool) -> str:
    have = number_of(nameless.recordings, "recording has", "recordings have")
    if not named:
        copies = nameless.recordings > nameless.subjects
        return f"{have} no subject: k counts recordings{', copies as one' * copies}."
    if nameless.subjects > 1:
        return f"{have} no subject; each counts as a different person (nameless=different)."
    way_out = "`columns` nameless=different counts each as a different one"
    return f"{have} no subject: counted as one person ({way_out})."


def recordings_sentence(provenance: Mapping[str, Any]) -> str:
    """Count the recordings with a trajectory, and list why others have none."""
    became = provenance["recordings"]
    out = ", ".join(f"{recordings:,} {why}" for why, recordings in became["left out"].items())
    read = number_of(became["read"], "recording")
    text = f"{read} read, {became['with a trajectory']:,} with a trajectory"
    return text + (f"; left out: {out}." if out else ".")


def limits_sentence(provenance: Mapping[str, Any]) -> str:
    """Name in one sentence the limits that were found; nothing if none was."""
    account, words = provenance.get("found") or {}, {"max_gap": metres, "max_pause": span}
    limits = [f"`{name}` is {words[name](provenance[name])}" for name in account.get("limits", ())]
    of = number_of(account["recordings"], "recording") if limits else ""
    return f"Found from the hops of {of}: {' and '.join(limits)}." if limits else ""
