"""What was dropped, or why nothing is found: a sentence for each cause, with the way out."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from trajanon.extract.trips import FOUND, LEFT_OUT
from trajanon.number_text import metres, number_of, percent, span

_FEW = 0.1  # share; a larger one is reported
_MOST = 4  # sentences

_BY_PLACE = "OpenStreetMap gives such points sorted by place, not along a track"
_LOOK = "look whether the columns are the right ones (`columns` lat=...,lon=...)"
_WINDOWS = (
    "lower `spacing` or `points`, raise `max_gap`, `max_pause` or `max_speed`, or take whole trips"
)

_READ = {
    "points of repeated recordings": "are of recordings that came before, and count once",
    "points impossible": f"are no places in degrees on Earth: {_LOOK}",
    "points without time in a timed recording": (
        "have no time, and their recordings have: where on the way they belong is unknown"
    ),
    "points merged (equal times)": (
        "have the time of others of their recording, and became one point with these: give finer "
        "times, name their column (`columns` time=...), or leave the times out"
    ),
    "stray points": "lie far off between two others: raise `max_speed` if they are right",
    "points repeated in place": "lie exactly where the point before them does",
    "points of stays": "are of stays, with which trips end and begin",
    "points alone between pauses and stays": (
        "are alone between two pauses or stays, and make no trip: raise `max_pause`"
    ),
    "points outside the area": "lie outside the area: give the `area` that holds them, W,S,E,N",
    "points of other parts inside the area": (
        "are of trips that leave the area and come back, of which the longest part inside is taken"
    ),
    "points near the ends of a trace": "lie near ends and stops: lower `trim_ends` to keep them",
    "points near hidden places": "lie near hidden places",
    "times that could not be read": "could not be read: look at the column of times",
}
"""Why points that were read are dropped, by their counter."""

_NOT_READ = {
    "points without an id": (
        "have no id: name the column that tells recordings apart with `columns` id=..."
    ),
    "points of traces without times": (
        "have no time: name its column with `columns` time=..., or take them in their order with "
        "`untimed='accept'`"
    ),
    "points sorted by place, not along a track": f"have no order: {_BY_PLACE}",
    "points without time": f"have no time: {_BY_PLACE}; try a larger box",
    "rows that could not be read": "could not be read: of a table a warning names the first",
}
"""Reasons why readers drop something, in words; others are named by their counter."""

_OF_POINTS = ("points", "stray", "rows", "times")
_UNITS = (*_OF_POINTS, "features", "lines", "moving", "trips", "files", "members")
_KEPT = {"points read", "points used", "points of trips left out", FOUND, *LEFT_OUT}
"""Counters that begin with a unit but count nothing that is dropped, or are counted by the trip."""


def why_nothing(provenance: Mapping[str, Any]) -> str:
    """Say in one sentence what took most, and what to change."""
    causes = [one.removesuffix(".") for one in sentences(provenance)[:2]]
    if not causes and not provenance["counts"]["points read"]:
        return "the source holds no track points" + " in this area" * bool(provenance["area"])
    return "; ".join(causes) or "no recording holds one"


def sentences(provenance: Mapping[str, Any]) -> list[str]:
    """Say what was dropped by more than a tenth of all, most first, and what to do about it."""
    causes = sorted(_causes(provenance), key=lambda one: -one[0])
    return [sentence for share, sentence in causes[:_MOST] if share > _FEW]


def _causes(provenance: Mapping[str, Any]) -> Iterator[tuple[float, str]]:
    """Give each cause, with the share that it took."""
    counts = Counter(provenance["counts"])
    for name, count in counts.items():
        unit, cause = name.split()[0], _READ.get(name) or _NOT_READ.get(name)
        if not count or name in _KEPT or unit not in _UNITS:
            continue
        whole = counts["points read" if unit in _OF_POINTS else "recordings read"]
        whole += 0 if name in _READ else count
        of = f"{percent(count / whole)} of the {'points' if unit == 'stray' else unit}"
        left_out = f"Left out: {name} ({count:,})."
        yield count / whole, f"{of} ({count:,} of {whole:,}) {cause}." if cause else left_out
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
        yield share, f"{of} {_length(provenance):,.0f} m: {_WINDOWS}."


def _length(provenance: Mapping[str, Any]) -> float:
    """Metres of track under a window."""
    return float(provenance["spacing"] * (provenance["points"] - 1))


def recordings_sentence(provenance: Mapping[str, Any]) -> str:
    """Say how many recordings have a trajectory, why others have none, and how many are cut."""
    became = provenance["recordings"]
    out = ", ".join(f"{many:,} {why}" for why, many in became["left out"].items())
    read = number_of(became["read"], "recording")
    said = f"{read} read, {became['with a trajectory']:,} with a trajectory"
    said += f"; left out: {out}." if out else "."
    if leave := provenance["counts"].get("recordings that leave the area"):
        said += (
            f" {number_of(leave, 'recording leaves', 'recordings leave')} the area: "
            "only the part inside is taken."
        )
    return said


def limits_sentence(provenance: Mapping[str, Any]) -> str:
    """Say in one sentence which limits were found; nothing if none was."""
    limits = (provenance.get("found") or {}).get("limits", ())
    said = [f"`{name}` is {_LIMITS[name](provenance[name])}" for name in limits]
    of = number_of(provenance["found"]["recordings"], "recording") if said else ""
    return f"Found from the hops of {of}: {' and '.join(said)}." if said else ""


_LIMITS = {"max_gap": metres, "max_pause": span}
