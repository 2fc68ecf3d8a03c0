"""What was dropped, or why nothing is found: a sentence for each cause, with the way out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal, NamedTuple

from trajanon.common.columns_read import ColumnsRead, columns_read
from trajanon.common.errors import printable
from trajanon.common.number_text import metres, number_of, percent, span
from trajanon.trajectories.provenance import Provenance
from trajanon.trajectories.subjects import Nameless, merged_sentences

AT_TWO_PLACES = "subjects at two places at one time"
OVERLAPS = "pieces of a recording with overlapping times"
FOUND = "trips found"

_FEW, _MOST = 0.1, 4  # a larger share is reported, in so many sentences
_BY_PLACE = "OpenStreetMap gives such points sorted by place, not along a track; try a larger box"
_WINDOWS = (
    "lower `spacing` or `points`, raise `max_gap`, `max_pause` or `max_speed`, or take whole trips"
)


class Became(IntEnum):
    """What became of a recording: the greatest that holds for any part of it."""

    REPEATED = 0
    ONE_PLACE = 1
    HIDDEN = 2
    OUTSIDE = 3
    WITH_A_GAP = 4
    CUT_OFF = 5
    TOO_SHORT = 6
    TAKEN = 7


class WhyLeftOut(NamedTuple):
    """Why recordings or trips are left out, and what to change."""

    reason: str
    way_out: str = ""

    @property
    def counter(self) -> str:
        """The name of the counter of such trips."""
        return f"trips {self.reason}"


WHY_LEFT_OUT = {
    Became.REPEATED: WhyLeftOut("repeats of others"),
    Became.ONE_PLACE: WhyLeftOut("of single places between pauses and stays"),
    Became.HIDDEN: WhyLeftOut(
        "all near their ends or hidden places", "lower `trim_ends`, or hide fewer places"
    ),
    Became.OUTSIDE: WhyLeftOut("outside the area", "give the `area` that holds them"),
    Became.WITH_A_GAP: WhyLeftOut(
        "with a gap",
        "raise `max_gap`, or `max_speed` for trains and planes; lower `trim_ends`, or hide fewer "
        "places; or take windows, which end at a gap",
    ),
    Became.CUT_OFF: WhyLeftOut(
        "that may go on where the source was cut off",
        "download the file again; of the OSM server raise `max_pages`",
    ),
    Became.TOO_SHORT: WhyLeftOut("too short", "lower `min_length`"),
}

LEFT_OUT = {why.counter: why for became, why in WHY_LEFT_OUT.items() if became >= Became.HIDDEN}
"""By counter, why trips are left out: the first that holds before the others."""

GAP, CUT_OFF, SHORT = list(LEFT_OUT)[2:]


class Part(NamedTuple):
    """What is dropped of a source."""

    counter: str  # perhaps with more behind it, in brackets
    unit: Literal["points", "recordings"]
    way_out: str = ""


_OF_WHAT_WAS_READ = (
    Part("points impossible", "points", "name the right columns (`columns` lat=...,lon=...)"),
    Part("points without time in a timed recording", "points"),
    Part("points merged (equal times)", "points", "give finer times (`columns` time=...)"),
    Part("stray points", "points", "raise `max_speed` if they are right"),
    Part("points repeated in place", "points"),
    Part("points of repeated recordings", "points"),
    Part("points of stays", "points"),
    Part("points alone between pauses and stays", "points", "raise `max_pause`"),
    Part(
        "points outside the area",
        "points",
        "give their `area`, W,S,E,N, or look whether columns are swapped",
    ),
    Part("points of other parts inside the area", "points"),
    Part("points near the ends of a trace", "points", "lower `trim_ends` to keep them"),
    Part("points near hidden places", "points"),
    Part("times that could not be read", "points", "look at the column of times"),
    Part("lines with more or fewer times than points", "recordings"),
    Part("files from their damage on", "recordings", "copy or download them again"),
)

_LEFT_OUT_BY_READERS = (
    Part("points without an id", "points", "name their column with `columns` id=..."),
    Part(
        "points of traces without times",
        "points",
        "name the column with `columns` time=..., or take their order, `untimed='accept'`",
    ),
    Part("points sorted by place, not along a track", "points", _BY_PLACE),
    Part("points without time", "points", _BY_PLACE),
    Part("points repeated by a shifted page", "points"),
    Part("points of courses, which are planned, not recorded", "points"),
    Part("points beside lines", "points"),
    Part("points beside a longer list of points", "points"),
    Part("positions that may be more than 500 m off", "points"),
    Part("positions that could not be read", "points"),
    Part("sentences without a valid fix", "points"),
    Part("sentences that cannot be read, or with a wrong checksum", "points"),
    Part(
        "rows marked as not valid",
        "points",
        "trips go on over them within `max_pause`, and within `max_gap` if it is given; if the "
        "marks are wrong, remove their column",
    ),
    Part("rows that could not be read", "points", "of a table a warning names the first"),
    Part("rows inside a privacy area", "points"),
    Part("rows without a position", "points"),
    Part("rows without points", "recordings"),
    Part("features without geometry", "recordings"),
    Part("features that are no moving points", "recordings"),
    Part("features or trips that could not be read", "recordings"),
    Part("moving points of fewer than two places", "recordings"),
    Part("lines beside points", "recordings"),
    Part("lines that are no features", "recordings"),
    Part("trips without a route", "recordings"),
    Part("trips with missing points", "recordings"),
    Part("files that could not be read", "recordings"),
    Part("files without track points", "recordings"),
    Part("files of no known kind", "recordings"),
    Part("members that are not GPX", "recordings"),
    Part("recordings of points that several people must have made", "recordings"),
)

PARTS = {part.counter: part for part in (*_OF_WHAT_WAS_READ, *_LEFT_OUT_BY_READERS)}


@dataclass(frozen=True, slots=True)
class Counted:
    """Points, rows, files or others that a step or a reader dropped."""

    counter: str
    way_out: str
    count: int
    total: int

    @property
    def share(self) -> float:
        """Of all that could be dropped."""
        return self.count / self.total

    def __str__(self) -> str:
        way_out = f"; {self.way_out}" if self.way_out else ""
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
        part = PARTS.get(counter) or PARTS.get(counter.partition(" (")[0])
        if part is not None and count:
            total = counts[f"{part.unit} read"] + count * (part in _LEFT_OUT_BY_READERS)
            # What was read may be left out before it is counted, as without times.
            total = max(total, count)
            causes.append(Counted(counter, part.way_out, count, total))

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
    origin = Provenance.read(provenance)
    nameless = origin.source.unnamed
    texts: list[str] = []
    if nameless.recordings:
        any_named = counts["subjects read"] > nameless.subjects
        texts.append(_nameless_sentence(nameless, named=any_named))
    texts += merged_sentences(origin.merged)

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
