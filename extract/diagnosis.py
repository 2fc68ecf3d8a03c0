"""Why traces gave no trajectories: where all the points went, and what to change."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from trajanon.extract.earth.box import Area, Box
from trajanon.extract.rules import Rules
from trajanon.extract.trips import FOUND, LEFT_OUT, OUTSIDE, SHORT
from trajanon.words import number_of

MERGED = "points merged (equal times)"
_ONE_TIME = (
    "all points of a recording have the same time, so their order is unknown: name the column of "
    "times with `columns` time=..., or leave the times out"
)
_CUT_OUT = ("points near the ends of a trace", "points near hidden places")


def why_nothing(
    counts: Counter[str], rules: Rules, area: Area | None, *, longest: float, swapped: bool
) -> str:
    """Say in one sentence where everything went, and what to change."""
    read, short = counts["points read"], longest < rules.length
    rejected, untimed = counts["points of traces without times"], counts["points without time"]
    cut_out = [
        number_of(counts[name], name.replace("points", "point"), name)
        for name in _CUT_OUT
        if counts[name]
    ]
    if read == 0 and rejected:
        return (
            f"no point has a time, and `untimed='reject'` leaves {number_of(rejected, 'point')} "
            "out: name the column of times with `columns` time=..., or take points in their order "
            "with `untimed='accept'`"
        )
    if read == 0 and untimed:
        return (
            f"no point has a time, and OSM sorts such points ({untimed:,}) by place, not along a "
            "track; try a larger box"
        )
    if read == 0:
        return f"the source holds no track points{'' if area is None else ' in this area'}"
    if counts["points impossible"] == read:
        return (
            f"none of the {number_of(read, 'point')} is a place on Earth; look whether lat and lon "
            "are swapped (`columns` lat=...,lon=...), or are no numbers (write 40.5, not 40,5)"
        )
    if rules.trips and counts[OUTSIDE] < max(1, counts[FOUND]):
        return _why_no_trip(counts, rules, longest)
    if cut_out and short and not rules.trips and not counts["points outside the area"]:
        return (
            f"of {number_of(read, 'point')} {' and '.join(cut_out)} were cut out, and the longest "
            f"piece that is left is {longest:,.0f} m of {rules.length:,.0f} m needed; lower "
            "`trim_ends` or `spacing`, or hide fewer places"
        )
    if area is not None and counts["points used"] == 0:
        where = "inside the box" if isinstance(area, Box) else "in the area"
        way_out = "give the `area` that holds them, W,S,E,N"
        if swapped:
            way_out = (
                "with latitude and longitude swapped they would be inside, so name the right "
                "columns with `columns` lat=...,lon=..."
            )
        return f"none of the {number_of(read, 'point')} is {where} {area}; {way_out}"
    if longest == 0.0 and 2 * counts[MERGED] > read and not counts["points outside the area"]:
        return _ONE_TIME
    way_out = cut_most(counts, asdict(rules))
    return (
        f"the longest unbroken piece of track is {longest:,.0f} m, and {rules.points} points every "
        f"{rules.spacing:g} m need {rules.length:,.0f} m; "
        f"{way_out or 'lower `spacing` or `points`, or raise `max_gap`'}"
    )


def _why_no_trip(counts: Counter[str], rules: Rules, longest: float) -> str:
    if counts[FOUND] == 0 and counts[MERGED]:
        return _ONE_TIME
    if counts[FOUND] == 0:
        n = number_of(counts["recordings read"], "recording has", "recordings have")
        return f"{n} no two points between pauses and stays, and so no trip; raise `max_pause`"
    said, way_out = trips_left_out(counts, rules.length)
    if counts[SHORT]:
        said += f" (the longest is {longest:,.0f} m)"
    return f"none of {number_of(counts[FOUND], 'trip')} is left: {said}; {way_out}"


def trips_left_out(counts: Counter[str], length: float) -> tuple[str, str]:
    """Say why trips were left out, how many each, and the way out for most of them."""
    out = {why: counts[why] for why in LEFT_OUT if counts[why]}
    most = max(out, key=lambda why: out[why])
    said = ", ".join(f"{many:,} {why.partition(' ')[2]}" for why, many in out.items())
    return said.replace("too short", f"shorter than {length:,.0f} m"), LEFT_OUT[most]


def cut_most(counts: Mapping[str, int], rules: Mapping[str, Any]) -> str:
    """Name the limits that cut half of the recordings or more, and what to try."""
    found = []
    for name, many, unit, factor in (
        ("max_pause", "pauses", "s", 24),
        ("max_gap", "long hops", "m", 2),
        ("max_speed", "impossible speeds", "m/s", 2),
    ):
        cuts, limit = counts[f"cuts at {many}"], rules[name]
        if limit is not None and 0 < counts["recordings read"] <= 2 * cuts:
            found.append(
                f"{number_of(cuts, many[:-1])} over {limit:g} {unit} cut the recordings: "
                f"try `{name}={factor * limit:g}`"
            )
    return "; ".join(found)
