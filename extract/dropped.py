"""What was dropped, or why nothing is found: a sentence for each cause, with the way out."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from trajanon.common.columns_read import columns_read
from trajanon.common.errors import printable
from trajanon.common.number_text import metres, number_of, percent, span
from trajanon.extract.trips import FOUND, LEFT_OUT
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
        "what they leave is a gap, which a larger `max_gap` or `max_pause` bridges; if the marks "
        "are wrong, remove their column"
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


def why_nothing(provenance: Mapping[str, Any]) -> str:
    """Say in one sentence what took most, and what to change."""
    causes = [one.removeprefix("Left out: ").removesuffix(".") for one in sentences(provenance)[:2]]
    if not causes and not provenance["counts"]["points read"]:
        return "the source holds no track points" + " in this area" * bool(provenance["area"])
    no_piece = "no recording holds one" if provenance["trips"] else f"pieces are short: {_WINDOWS}"
    return "; ".join(causes) or no_piece


def sentences(provenance: Mapping[str, Any]) -> list[str]:
    """Say what was dropped by more than a tenth of all, most first, and what to do about it."""
    causes = sorted(_causes(provenance), key=lambda one: -one[0])
    return [sentence for share, sentence in causes[:_MOST] if share > _FEW]


def _causes(provenance: Mapping[str, Any]) -> Iterator[tuple[float, str]]:
    """Give each cause, with the share that it took."""
    counts = Counter(provenance["counts"])
    for name, count in counts.items():
        unit = name.split()[0]
        if not count or name in _KEPT or unit not in _UNITS:
            continue
        whole = counts["points read" if unit in _OF_POINTS else "recordings read"]
        whole += 0 if name in _READ else count
        way_out = f"; {_WAYS_OUT[name]}" if name in _WAYS_OUT else ""
        of = f"{percent(count / whole)} ({count:,} of {whole:,})"
        yield count / whole, f"Left out: {name}, {of}{way_out}."
    out = {why: counts[why] for why in LEFT_OUT if counts[why]}
    if out:
        many = sum(out.values())
        said = ", ".join(f"{many:,} {why.partition(' ')[2]}" for why, many in out.items())
        said = said.replace("too short", f"shorter than {provenance['min_length']:,.0f} m")
        way_out = LEFT_OUT[max(out, key=lambda why: out[why])]
        of = f"{percent(many / counts[FOUND])} of the trips ({many:,} of {counts[FOUND]:,})"
        yield many / counts[FOUND], f"{of} are left out: {said}; {way_out}."
    if not provenance["trips"] and counts["metres of track"]:
        share = 1.0 - counts["metres used"] / counts["metres of track"]
        of = f"{percent(share)} of the way is in pieces too short for a window of"
        length = provenance["spacing"] * (provenance["points"] - 1)
        yield share, f"{of} {length:,.0f} m: {_WINDOWS}."


def people_sentences(provenance: Mapping[str, Any]) -> list[str]:
    """Say whom k counts: who has no name, who is one person, and who can be none."""
    counts = Counter(provenance["counts"])
    nameless, said = Nameless.counted_in(provenance), list[str]()
    if nameless.recordings:
        said.append(_nameless_sentence(nameless, named=counts["subjects read"] > nameless.subjects))
    said += merged_sentences(Merged.counted_in(provenance))
    several = counts[AT_TWO_PLACES]
    if several and not counts[OVERLAPS]:  # which are said as what they are
        verb = "is" if several == 1 else "are"
        roles = [use.roles for use in columns_read(provenance)]
        columns = dict.fromkeys(own["subject"] for own in roles if "subject" in own)
        of = " in " * bool(columns) + " or ".join(repr(printable(name)) for name in columns)
        said.append(
            f"{number_of(several, 'subject')}{of} {verb} again and again at two places more than "
            "1 km apart at one time, as if several people had one name: say `columns` "
            "subject=..., or subject=none."
        )
    if pieces := counts[OVERLAPS]:
        tracks = number_of(pieces, "track overlaps", "tracks overlap")
        said.append(
            f"{tracks} in time with others of one recording, counted as one person's: if each is "
            "another person's, say `columns` subject=track."
        )
    return said


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
    """Say how many recordings have a trajectory, and why others have none."""
    became = provenance["recordings"]
    out = ", ".join(f"{many:,} {why}" for why, many in became["left out"].items())
    read = number_of(became["read"], "recording")
    said = f"{read} read, {became['with a trajectory']:,} with a trajectory"
    return said + (f"; left out: {out}." if out else ".")


def limits_sentence(provenance: Mapping[str, Any]) -> str:
    """Say in one sentence which limits were found; nothing if none was."""
    found, words = provenance.get("found") or {}, {"max_gap": metres, "max_pause": span}
    said = [f"`{name}` is {words[name](provenance[name])}" for name in found.get("limits", ())]
    of = number_of(found["recordings"], "recording") if said else ""
    return f"Found from the hops of {of}: {' and '.join(said)}." if said else ""
