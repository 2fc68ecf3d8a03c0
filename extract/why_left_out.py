"""What was dropped, or why nothing is found: a sentence for each cause, with the way out."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from trajanon.common.columns_read import ColumnsRead, columns_read
from trajanon.common.errors import printable
from trajanon.common.json_toml_and_regular_files import table_beside
from trajanon.common.number_text import metres, number_of, percent, span
from trajanon.trajectories.provenance import Provenance
from trajanon.trajectories.subjects import Nameless, merged_sentences

AT_TWO_PLACES = "subjects at two places at one time"
SHARED_NAMES = "people whose only recording is named as another's"
OVERLAPS = "pieces of a recording with overlapping times"
FOUND = "trips found"

_LEAST_SHARE = 0.1  # of what was read: more is reported
_MOST_SENTENCES = 4
_WINDOWS = (
    "lower `spacing` or `points`, raise `max_gap`, `max_pause` or `max_speed`, or take whole trips"
)


class Became(IntEnum):
    """What became of a recording: the greatest that holds for any part of it.

    The later a step is that leaves a part out, the greater; `why_trips_left_out.csv` has the words.
    """

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
    Became[row["became"]]: WhyLeftOut(row["reason"], row["way_out"])
    for row in table_beside(__file__, "why_trips_left_out.csv")
}

LEFT_OUT = {why.counter: why for became, why in WHY_LEFT_OUT.items() if became >= Became.HIDDEN}
"""By counter, why trips are left out: the first that holds before the others."""

GAP = WHY_LEFT_OUT[Became.WITH_A_GAP].counter
CUT_OFF = WHY_LEFT_OUT[Became.CUT_OFF].counter
SHORT = WHY_LEFT_OUT[Became.TOO_SHORT].counter

PARTS = {row["counter"]: row for row in table_beside(__file__, "why_points_left_out.csv")}
"""By counter: its unit, whether readers or cutting count it, and a way out.

Counters of readers may say more in brackets.
"""


class Cause(NamedTuple):
    """What dropped a part of the source."""

    share: float  # of all that was read, or found
    text: str  # with the way out, as a part of a sentence
    opening: str = ""  # before the text, where that is a sentence of its own


def _causes(provenance: Mapping[str, Any]) -> list[Cause]:
    """Find what dropped more than a tenth of all, most first."""
    counts = Counter[str](provenance["counts"])
    causes = [
        *_points_dropped(counts),
        *_trips_left_out(counts, provenance["min_length"]),
        *_too_short(counts, provenance),
    ]
    return sorted(
        (cause for cause in causes if cause.share > _LEAST_SHARE), key=lambda cause: -cause.share
    )


def _points_dropped(counts: Counter[str]) -> Iterator[Cause]:
    """Compare the points, rows and files that a step or a reader dropped with all of them."""
    for counter, count in counts.items():
        part = PARTS.get(counter) or PARTS.get(counter.partition(" (")[0])
        if part is None or not count:
            continue

        # What readers leave out is not among what is counted as read.
        total = counts[f"{part['unit']} read"] + (count if part["by"] == "readers" else 0)
        total = max(total, count)
        share = count / total
        text = f"{counter}, {percent(share)} ({count:,} of {total:,})"
        yield Cause(share, "; ".join(filter(None, (text, part["way_out"]))), "Left out: ")


def _trips_left_out(counts: Counter[str], min_length: float) -> Iterator[Cause]:
    """List the reasons for which trips are left out, with the way out of the most frequent."""
    left_out = {counter: counts[counter] for counter in LEFT_OUT if counts[counter]}
    if not left_out:
        return

    reasons = {counter: why.reason for counter, why in LEFT_OUT.items()}
    reasons[SHORT] = f"shorter than {min_length:,.0f} m"
    listed = ", ".join(f"{count:,} {reasons[counter]}" for counter, count in left_out.items())

    trips = sum(left_out.values())
    share = trips / counts[FOUND]
    most_frequent = max(left_out, key=lambda counter: left_out[counter])
    of_all = f"{percent(share)} of the trips ({trips:,} of {counts[FOUND]:,})"
    yield Cause(share, f"{of_all} were left out: {listed}; {LEFT_OUT[most_frequent].way_out}")


def _too_short(counts: Counter[str], provenance: Mapping[str, Any]) -> Iterator[Cause]:
    """Measure the way that lies in pieces shorter than a window."""
    if provenance["trips"] or not counts["metres of track"]:
        return

    share = 1.0 - counts["metres used"] / counts["metres of track"]
    window = provenance["spacing"] * (provenance["points"] - 1)
    pieces = f"in pieces too short for a window of {window:,.0f} m"
    yield Cause(share, f"{percent(share)} of the way lies {pieces}: {_WINDOWS}")


def why_nothing(provenance: Mapping[str, Any]) -> str:
    """Name in one sentence what took most, and what to change."""
    if causes := _causes(provenance):
        return "; ".join(cause.text for cause in causes[:2])
    if not provenance["counts"]["points read"]:
        return "the source holds no track points" + " in this area" * bool(provenance["area"])
    return "no recording holds one" if provenance["trips"] else f"pieces are short: {_WINDOWS}"


def sentences(provenance: Mapping[str, Any]) -> list[str]:
    """Name what was dropped by more than a tenth of all, most first, and what to do about it."""
    return [f"{cause.opening}{cause.text}." for cause in _causes(provenance)[:_MOST_SENTENCES]]


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
    if counts[OVERLAPS]:
        tracks = number_of(counts[OVERLAPS], "track overlaps", "tracks overlap")
        texts.append(
            f"{tracks} in time with others of the same recording; they are counted as one "
            "person's. If each is a different person's, set `columns` subject=track."
        )
    elif counts[AT_TWO_PLACES]:
        texts.append(_two_places_sentence(counts[AT_TWO_PLACES], columns_read(provenance)))

    if counts[SHARED_NAMES]:
        texts += _exchanged_sentences(columns_read(provenance))
    return texts


def _exchanged_sentences(uses: Sequence[ColumnsRead]) -> Iterator[str]:
    """Warn of columns that are perhaps exchanged, as each person has one of others' recordings."""
    for use in uses:
        if "subject" in use.roles and "id" in use.roles:
            subject, recording = (printable(use.roles[role]) for role in ("subject", "id"))
            yield (
                f"Each person in {subject!r} has one recording in {recording!r}, and several have "
                f"the same: if a value of {recording!r} is a person, set `columns` "
                f"id={subject},subject={recording}."
            )


def _two_places_sentence(subjects: int, uses: Sequence[ColumnsRead]) -> str:
    """Warn of subjects at two places at one time, and name the columns that say who they are."""
    columns = dict.fromkeys(use.roles["subject"] for use in uses if "subject" in use.roles)
    of = " in " * bool(columns) + " or ".join(repr(printable(name)) for name in columns)
    verb = "is" if subjects == 1 else "are"
    return (
        f"{number_of(subjects, 'subject')}{of} {verb} repeatedly in two places more than 1 km "
        "apart at the same time, as if several people shared a name: set `columns` "
        "subject=..., or subject=none."
    )


def _nameless_sentence(nameless: Nameless, *, named: bool) -> str:
    """Say as whom recordings without a name count, where others are named or none is."""
    have = number_of(nameless.recordings, "recording has", "recordings have")
    if not named:
        copies = nameless.recordings > nameless.subjects
        return f"{have} no name: k counts recordings{', copies as one' * copies}."
    if nameless.subjects > 1:
        return f"{have} no name; each counts as a different person (nameless=different)."
    way_out = "`columns` nameless=different counts each as a different person"
    return f"{have} no name: they count as one person ({way_out})."


def recordings_sentence(provenance: Mapping[str, Any]) -> str:
    """Count the recordings with a trajectory, and list why others have none."""
    became = provenance["recordings"]
    out = ", ".join(f"{recordings:,} {why}" for why, recordings in became["left out"].items())
    read = number_of(became["read"], "recording")
    text = f"{became['with a trajectory']:,} of {read} gave a trajectory."
    return text + (f" Left out: {out}." if out else "")


def limits_sentence(provenance: Mapping[str, Any]) -> str:
    """Name in one sentence the limits that were found; nothing if none was."""
    found = provenance.get("found") or {}
    in_words = {"max_gap": metres, "max_pause": span}
    limits = [f"`{name}` is {in_words[name](provenance[name])}" for name in found.get("limits", ())]
    if not limits:
        return ""
    recordings = number_of(found["recordings"], "recording")
    return f"Limits found from the hops of {recordings}: {' and '.join(limits)}."
