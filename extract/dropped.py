"""What was dropped, and why nothing is left: a sentence for each cause, with the way out."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from trajanon.extract.earth.area import Area, Box
from trajanon.extract.rules import Rules
from trajanon.extract.trips import FOUND, LEFT_OUT, OUTSIDE, SHORT
from trajanon.number_text import number_of, percent

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


_FEW = 0.1  # share; a larger one is reported
_MOST = 4  # sentences

_BY_PLACE = "OpenStreetMap gives such points sorted by place, not along a track"

_CAUSES = {
    "points of repeated recordings": "are of recordings that came before, and count once",
    "points impossible": (
        "are no places on Earth: look whether the columns of latitude and longitude are the right "
        "ones (`columns` lat=...,lon=...), in degrees"
    ),
    "points without time in a timed recording": (
        "have no time, and their recordings have: nobody knows where on the way they belong"
    ),
    "points merged (equal times)": (
        "have the time of others of their recording, and became one point with these: give finer "
        "times if there are any"
    ),
    "stray points": "lie far off between two others: raise `max_speed` if they are right",
    "points repeated in place": "lie exactly where the point before them does",
    "points of stays": "are of stays, with which trips end and begin",
    "points alone between pauses and stays": (
        "are alone between two pauses or stays, and make no trip: raise `max_pause`"
    ),
    "points outside the area": "lie outside the area: give a larger `area` to keep them",
    "points of other parts inside the area": (
        "are of trips that leave the area and come back, of which the longest part inside is taken"
    ),
    "points near the ends of a trace": "lie near ends and stops, which `trim_ends` cuts out",
    "points near hidden places": "lie near hidden places",
}
"""Why points that were read are dropped, by their counter."""

_CAUSES_BEFORE = {
    "points without an id": (
        "have no id: name the column that tells recordings apart with `columns` id=..."
    ),
    "points of traces without times": (
        "have no times: `untimed='accept'` takes them in their order"
    ),
    "points sorted by place, not along a track": f"have no order: {_BY_PLACE}",
    "points without time": f"have no time: {_BY_PLACE}",
    "rows marked as not valid": "are marked as not valid, or as outliers, in a column of the table",
    "rows that could not be read": "could not be read: of a table a warning names the first",
    "times that could not be read": "could not be read: look at the column of times",
    "lines with more or fewer times than points": (
        "have more or fewer times than points, and are taken without times"
    ),
}
"""Why something is dropped by the reading; what has no words here is told by its counter."""

_OF_POINTS = ("points", "rows", "times")
_UNITS = (*_OF_POINTS, "features", "lines", "moving", "trips", "files", "members")
_KEPT = {
    *("points read", "points used", "points placed", "points placed far from a fix"),
    *("points spread over their minute", "points of trips left out", FOUND, *LEFT_OUT),
}
"""Counters that begin with a unit but count nothing that is dropped, or are told by the trip."""


def sentences(provenance: Mapping[str, Any]) -> list[str]:
    """Say what was dropped by more than a tenth of all, most first, and what to do about it."""
    counts = Counter(provenance["counts"])
    causes = sorted(_found(counts, provenance), key=lambda one: -one[0])
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


def _found(counts: Counter[str], rules: Mapping[str, Any]) -> Iterator[tuple[float, str]]:
    """Give each cause, with the share that it took."""
    before = {
        name: count
        for name, count in counts.items()
        if name.startswith(_UNITS) and count and name not in _CAUSES and name not in _KEPT
    }
    points = counts["points read"]
    points += sum(count for name, count in before.items() if name.startswith("points "))
    for name, cause in _CAUSES.items():
        share = counts[name] / max(1, points)
        of = f"{percent(share)} of the points ({counts[name]:,} of {points:,})"
        yield share, f"{of} {cause}."
    for name, count in before.items():
        unit = name.split()[0]
        among = points if unit in _OF_POINTS else counts["recordings read"]
        whole = among if unit in ("points", "times") else among + count
        share = count / max(1, whole)
        if name in _CAUSES_BEFORE:
            of = f"{percent(share)} of the {unit} ({count:,} of {whole:,})"
            yield share, f"{of} {_CAUSES_BEFORE[name]}."
        else:
            beside = number_of(among, "point" if unit in _OF_POINTS else "recording")
            yield share, f"Left out: {name} ({count:,}), beside {beside}."
    if rules["trips"]:
        yield _of_trips(counts, rules)
    else:
        yield _of_windows(counts, rules)


def _of_trips(counts: Counter[str], rules: Mapping[str, Any]) -> tuple[float, str]:
    out, among = sum(counts[why] for why in LEFT_OUT), counts[FOUND]
    if not out:
        return 0.0, ""
    said, way_out = trips_left_out(counts, rules["min_length"])
    share = out / among
    of_points = counts["points of trips left out"] / max(1, counts["points read"])
    of = f"{percent(share)} of the trips ({out:,} of {among:,})"
    return max(share, of_points), f"{of} are left out: {said}; {way_out}."


def _of_windows(counts: Counter[str], rules: Mapping[str, Any]) -> tuple[float, str]:
    length = rules["spacing"] * (rules["points"] - 1)
    share = 1.0 - counts["metres used"] / max(1, counts["metres of track"])
    return share, (
        f"{percent(share)} of the way is in pieces too short for a window of {length:,.0f} m: "
        "lower `spacing`, or take whole trips."
    )
