"""Why traces gave no trajectories: where all the points went, and what to change."""

from collections import Counter
from collections.abc import Mapping

from trajanon.extract.earth.box import Area, Box
from trajanon.extract.rules import Rules

_CUT_OUT = ("points near the ends of a trace", "points near hidden places")


def why_nothing(
    counts: Counter[str], rules: Rules, area: Area | None, *, longest: float, swapped: bool
) -> str:
    """Say in one sentence where everything went, and what to change."""
    read, short = counts["points read"], longest < rules.length
    rejected, untimed = counts["points of traces without times"], counts["points without time"]
    cut_out = [f"{counts[name]:,} {name}" for name in _CUT_OUT if counts[name]]
    if read == 0 and rejected:
        return (
            f"all {rejected:,} points are without times, which `untimed='reject'` leaves out: name "
            "their column with `columns` time=..., or take them in their order with "
            "`untimed='accept'`"
        )
    if read == 0 and untimed:
        return (
            f"all {untimed:,} points are without time, and OSM sorts those by place, not along a "
            "track; try a larger box"
        )
    if read == 0:
        return f"the source holds no track points{'' if area is None else ' in this area'}"
    if counts["points impossible"] == read:
        return (
            f"none of the {read:,} points is a place on Earth; look whether lat and lon are "
            "swapped (`columns` lat=...,lon=...), or are no numbers (write 40.5, not 40,5)"
        )
    if cut_out and short and not counts["points outside the area"]:
        return (
            f"of {read:,} points {' and '.join(cut_out)} were cut out, and the longest piece that "
            f"is left is {longest:,.0f} m of {rules.length:,.0f} m needed; lower `trim_ends`, "
            "`radius`, `spacing`"
        )
    if area is not None and counts["points used"] == 0:
        where = "inside the box" if isinstance(area, Box) else "in the area"
        way_out = "give the `area` that holds them, W,S,E,N"
        if swapped:
            way_out = (
                "with latitude and longitude swapped they would be inside, so name the right "
                "columns with `columns` lat=...,lon=..."
            )
        return f"none of the {read:,} points is {where} {area}; {way_out}"
    if short:
        way_out = cut_most(counts, max_pause=rules.max_pause, max_gap=rules.max_gap)
        return (
            f"the longest unbroken piece of track is {longest:,.0f} m, and {rules.points} points "
            f"every {rules.spacing:g} m need {rules.length:,.0f} m; "
            f"{way_out or 'lower `spacing` or `points`, or raise `max_gap`'}"
        )
    return (
        f"all windows were left out, {counts['trajectories that stand still']:,} that stand still "
        f"and {counts['trajectories on lines nobody recorded']:,} on lines nobody recorded; lower "
        "`min_displacement`, or raise `max_fill`"
    )


def cut_most(counts: Mapping[str, int], *, max_pause: float | None, max_gap: float | None) -> str:
    """Name the limits that cut half of the recordings or more, and what to try."""
    found = []
    for name, many, limit, unit, factor in (
        ("max_pause", "pauses", max_pause, "s", 24),
        ("max_gap", "long hops", max_gap, "m", 2),
    ):
        cuts = counts[f"cuts at {many}"]
        if limit is not None and 0 < counts["recordings read"] <= 2 * cuts:
            found.append(
                f"{cuts:,} {many} over {limit:g} {unit} cut the recordings: "
                f"try `{name}={factor * limit:g}`"
            )
    return "; ".join(found)
