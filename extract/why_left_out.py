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
from trajanon.trajectories.subjects import AT_TWO_PLACES, Nameless, merged_sentences

OVERLAPS = "pieces of a recording with overlapping times"
FOUND = "trips found"

_LEAST_SHARE = 0.1  # of what was read: more is reported
_MOST_SENTENCES = 4
_WAY_OUT_FOR_SHORT_PIECES = (
    "lower `spacing` or `points`, raise `max_gap`, `max_pause` or `max_speed`, or take whole trips"
)


class Became(IntEnum):
    """What became of a recording: the greatest that holds for any part of it.

    The later a step is that leaves a part out, the greater; `why_trips_left_out.csv` has the words.
    """

    REPEATED = 0
    NOWHERE = 1
    ONE_PLACE = 2
    HIDDEN = 3
    OUTSIDE = 4
    WITH_A_GAP = 5
    CUT_OFF = 6
    TOO_SHORT = 7
    TAKEN = 8


class WhyLeftOut(NamedTuple):
    """Why recordings or trips are left out, and what to change."""

    reason: str
    way_out: str = ""

    @property
    def counter(self) -> str:
        """The name of the counter of such trips."""
        return f"trips {self.reason}"


WHY_BY_BECAME = {
    Became[row["became"]]: WhyLeftOut(row["reason"], row["way_out"])
    for row in table_beside(__file__, "why_trips_left_out.csv")
}

WHY_BY_COUNTER = {
    why.counter: why for became, why in WHY_BY_BECAME.items() if became >= Became.HIDDEN
}
"""By counter, why trips are left out.

In the order in which a trip is tested: it is counted by the first reason that holds. Recordings
that repeat others, or have single places alone, are left out before trips are found in them.
"""

CUT_OFF = WHY_BY_BECAME[Became.CUT_OFF].counter
SHORT = WHY_BY_BECAME[Became.TOO_SHORT].counter

POINTS_LEFT_OUT_BY_COUNTER = {
    row["counter"]: row for row in table_beside(__file__, "why_points_left_out.csv")
}
"""By counter of points or recordings left out: its unit, who counts it, and a way out.

Readers leave out what is then not counted as read; cutting leaves out of what is.
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
        name, _, _ = counter.partition(" (")
        part = POINTS_LEFT_OUT_BY_COUNTER.get(counter, POINTS_LEFT_OUT_BY_COUNTER.get(name))
        if part is None or not count:
            continue

        # What readers leave out is not among what is counted as read.
        total = counts[f"{part['unit']} read"] + (count if part["by"] == "readers" else 0)
        # Lines whose times cannot be used are counted even if all are then refused as untimed, so
        # that no recording counts as read.
        total = max(total, count)
        share = count / total
        text = f"{counter}, {percent(share)} ({count:,} of {total:,})"
        yield Cause(share, "; ".join(filter(None, (text, part["way_out"]))), "Left out: ")


def _trips_left_out(counts: Counter[str], min_length: float) -> Iterator[Cause]:
    """List the reasons for which trips are left out, with the way out of the most frequent."""
    left_out = {counter: counts[counter] for counter in WHY_BY_COUNTER if counts[counter]}
    if not left_out:
        return

    reasons = {counter: why.reason for counter, why in WHY_BY_COUNTER.items()}
    reasons[SHORT] = f"shorter than {min_length:,.0f} m"
    listed = ", ".join(f"{count:,} {reasons[counter]}" for counter, count in left_out.items())

    trips = sum(left_out.values())
    share = trips / counts[FOUND]
    most_frequent = max(left_out, key=lambda counter: left_out[counter])
    of_all = f"{percent(share)} of the trips ({trips:,} of {counts[FOUND]:,})"
    yield Cause(share, f"{of_all} were left out: {listed}; {WHY_BY_COUNTER[most_frequent].way_out}")


def _too_short(counts: Counter[str], provenance: Mapping[str, Any]) -> Iterator[Cause]:
    """Measure the way that lies in pieces shorter than a window."""
    if provenance["trips"] or not counts["metres of track"]:
        return

    share = 1.0 - counts["metres used"] / counts["metres of track"]
    window = provenance["spacing"] * (provenance["points"] - 1)
    pieces = f"in pieces too short for a window of {window:,.0f} m"
    yield Cause(share, f"{percent(share)} of the way lies {pieces}: {_WAY_OUT_FOR_SHORT_PIECES}")


def why_nothing(provenance: Mapping[str, Any]) -> str:
    """Complete "no trips: ..." or "no trajectories: ...": what took most, and what to change."""
    if causes := _causes(provenance):
        return "; ".join(cause.text for cause in causes[:2])
    if not provenance["counts"]["points read"]:
        where = " in this area" if provenance["area"] else ""
        return f"the source holds no track points{where}"
    if provenance["trips"]:
        return "no recording holds a trip"
    return f"pieces are too short for a window: {_WAY_OUT_FOR_SHORT_PIECES}"


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
        texts.append(_nameless_sentence(nameless, others_named=any_named))
    texts += merged_sentences(origin.merged)

    # Subjects may be at two places because their tracks overlap, or for another reason: which ones
    # overlap is not known here, so both are reported.
    if counts[OVERLAPS]:
        tracks = number_of(counts[OVERLAPS], "track overlaps", "tracks overlap")
        texts.append(
            f"{tracks} in time with others of the same recording; they are counted as one "
            "person's. If each is a different person's, set `columns` subject=track."
        )
    if counts[AT_TWO_PLACES]:
        texts.append(_two_places_sentence(counts[AT_TWO_PLACES], columns_read(provenance)))

    if origin.source.perhaps_trips:
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
    where = f" in {' or '.join(repr(printable(name)) for name in columns)}" if columns else ""
    verb = "is" if subjects == 1 else "are"
    return (
        f"{number_of(subjects, 'subject')}{where} {verb} repeatedly in two places more than 1 km "
        "apart at the same time, as if several people shared a name: set `columns` "
        "subject=..., or subject=none."
    )


def _nameless_sentence(nameless: Nameless, *, others_named: bool) -> str:
    """Say as whom recordings without a name count; that depends on whether others have one."""
    have = number_of(nameless.recordings, "recording has", "recordings have")
    if not others_named:
        copies = ", copies as one" if nameless.recordings > nameless.subjects else ""
        return f"{have} no name: k counts recordings{copies}."
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
