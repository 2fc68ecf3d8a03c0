"""What was dropped, or why nothing is left: a sentence for each cause, with the way out."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from trajanon.extract.trips import FOUND, LEFT_OUT
from trajanon.number_text import number_of, percent

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
    "rows marked as not valid": "are marked as not valid, or as outliers, in a column of the table",
    "rows that could not be read": "could not be read: of a table a warning names the first",
    "times that could not be read": "could not be read: look at the column of times",
    "lines with more or fewer times than points": (
        "have more or fewer times than points, and are taken without times"
    ),
}
"""Reasons why readers drop something, in words; others are named by their counter."""

_OF_POINTS = ("points", "rows", "times")
_UNITS = (*_OF_POINTS, "features", "lines", "moving", "trips", "files", "members")
_KEPT = {
    *("points read", "points used", "points spread over their minute"),
    *("points of trips left out", FOUND, *LEFT_OUT),
}
"""Counters that begin with a unit but count nothing that is dropped, or are counted by the trip."""


def why_nothing(provenance: Mapping[str, Any], *, longest: float, swapped: bool) -> str:
    """Say in one sentence what took most, and what to change; ``longest`` are metres of a piece."""
    counts, area = Counter(provenance["counts"]), provenance["area"]
    causes = sentences(provenance)[:2]
    if not causes and not counts["points read"]:
        return f"the source holds no track points{' in this area' if area else ''}"
    if swapped and not counts["points used"]:
        return f"no point lies in {area}, but with latitude and longitude swapped some do: {_LOOK}"
    if provenance["trips"] or (causes and not longest):
        return "; ".join(one.removesuffix(".") for one in causes) or "no recording holds one"
    return (
        f"the longest unbroken piece of track is {longest:,.0f} m, and {provenance['points']} "
        f"points every {provenance['spacing']:g} m need {_length(provenance):,.0f} m: {_WINDOWS}"
    )


def sentences(provenance: Mapping[str, Any]) -> list[str]:
    """Say what was dropped by more than a tenth of all, most first, and what to do about it."""
    causes = sorted(_causes(provenance), key=lambda one: -one[0])
    return [sentence for share, sentence in causes[:_MOST] if share > _FEW]


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


def _causes(provenance: Mapping[str, Any]) -> Iterator[tuple[float, str]]:
    """Give each cause, with the share that it took."""
    counts = Counter(provenance["counts"])
    before = {
        name: count
        for name, count in counts.items()
        if name.startswith(_UNITS) and count and name not in _READ and name not in _KEPT
    }
    points = counts["points read"]
    points += sum(count for name, count in before.items() if name.startswith("points "))
    for name, count in (*((name, counts[name]) for name in _READ), *before.items()):
        unit = "points" if name in _READ else name.split()[0]
        among = points if unit in _OF_POINTS else counts["recordings read"]
        whole = among if unit in ("points", "times") else among + count
        share = count / max(1, whole)
        if cause := _READ.get(name) or _NOT_READ.get(name):
            yield share, f"{percent(share)} of the {unit} ({count:,} of {whole:,}) {cause}."
        else:
            beside = number_of(among, "point" if unit in _OF_POINTS else "recording")
            yield share, f"Left out: {name} ({count:,}), beside {beside}."
    out = {why: counts[why] for why in LEFT_OUT if counts[why]}
    if out:
        share = sum(out.values()) / counts[FOUND]
        said = ", ".join(f"{many:,} {why.partition(' ')[2]}" for why, many in out.items())
        said = said.replace("too short", f"shorter than {provenance['min_length']:,.0f} m")
        way_out = LEFT_OUT[max(out, key=lambda why: out[why])]
        of_points = counts["points of trips left out"] / max(1, counts["points read"])
        of = f"{percent(share)} of the trips ({sum(out.values()):,} of {counts[FOUND]:,})"
        yield max(share, of_points), f"{of} are left out: {said}; {way_out}."
    if not provenance["trips"] and counts["metres of track"]:
        share = 1.0 - counts["metres used"] / counts["metres of track"]
        of = f"{percent(share)} of the way is in pieces too short for a window of"
        yield share, f"{of} {_length(provenance):,.0f} m: {_WINDOWS}."


def _length(provenance: Mapping[str, Any]) -> float:
    """Metres of track under a window."""
    return float(provenance["spacing"] * (provenance["points"] - 1))
