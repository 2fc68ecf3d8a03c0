"""A release as the page draws it: layers of lines, counts, and the text of its panel."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
import shapely
from pandas.api.types import is_integer_dtype

from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.errors import BadInput
from trajanon.common.number_text import UNITS, metres, number_of, percent, span
from trajanon.grouping.group_means import members_of_groups
from trajanon.maps.colours_and_tiles import RAMP, colours_of_lines
from trajanon.release.originals import Matched
from trajanon.release.release_words import cost, left_out
from trajanon.release.report import Report
from trajanon.release.verdict import verdict
from trajanon.trajectories.clock_and_time_zones import DAY, Clock
from trajanon.trajectories.distances import displacement, lengths, until_rest
from trajanon.trajectories.geodesy import metres_between
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories

if TYPE_CHECKING:
    from geopandas import GeoDataFrame

_HOURS_PER_DAY = 24
_WORST_GROUPS = 10
_FAR_OUTSIDE = 100.0  # metres; of a line that leaves the box of its originals so far, it is said
_POINTS_DRAWN = 300_000  # of the originals: 10,000 trajectories of 30 points
_DEGREES_PER_STEP = 1e-6  # 0.1 m, finer than any screen
_DEGREES_OF_A_BEND = 3e-5  # a track is drawn to some 3 m


class Drawing(NamedTuple):
    """A release, ready for JSON.

    The scripts of the page read it by its keys. Whatever has a line, or a cell, of its own is a
    group there, although the page shows it under its ``noun``. Of ``about``:

    - ``title`` is that of the page;
    - ``headline``, ``sentences``, ``reading`` (how to read the picture), ``facts`` (pairs of a name
      and a value), ``drawn`` (which sample is drawn) and ``ramp`` (the least number of each colour)
      are shown as they are, by `page.js` and `panel_and_legend.js`;
    - ``noun`` and ``units`` name one group, and those that its ``size`` counts, in all scripts;
    - ``groups`` has lists with a value for each group drawn: `release_lines.js` draws by them, and
      `panel_and_legend.js` describes a group; how far its line is ``outside`` the box of its
      originals, only where that is more than ``far``;
    - ``worst`` are places in these lists, ``total`` counts groups and originals, drawn or not, and
      ``slid`` says whether there are tracks to show: for `page.js`;
    - ``departures`` has a clock in words, and counts by hour: for `hours.js`.
    """

    about: dict[str, Any]
    layers: dict[str, Any]  # by name, as `release_lines.js` reads them
    bounds: list[list[float]]  # south-west and north-east corner, as lat, lon


def released_alone(release: ReleasedTrajectories) -> Drawing:
    """Draw what is in a release, and nothing else; equal trajectories are one line."""
    times = release.times
    clock = Clock.parsed(release.provenance.get("times"))
    records = release.records if times is None else np.hstack([release.records, times])
    _, first_row, copies = np.unique(records, axis=0, return_index=True, return_counts=True)
    lines = release.points[first_row]

    # The numbers of the lines that are drawn, at random where they are too many.
    most_drawn = max(1, _POINTS_DRAWN // lines.shape[1])
    drawn = np.sort(np.random.default_rng(0).permutation(len(lines))[:most_drawn])
    fewest = int(copies.min())
    about = {
        "title": "trajanon: release",
        "headline": "the release",
        "noun": "line",
        "units": "rows",
        "reading": f"Each line is an average, and stands for {fewest:,} or more rows of the "
        "release: the thicker, the more. Colours only tell lines apart.",
        "facts": [
            ["Lines", f"{len(lines):,}"],
            ["Rows", f"{len(release):,}"],
            ["Fewest rows of a line", f"{fewest:,}"],
        ],
        "drawn": _sample_note(len(drawn), len(lines), "line"),
        "groups": _listed_groups(drawn, copies, lines),
        "total": {"groups": len(lines)},
    }
    if clock is not None and times is not None:
        _add_departures(about, clock, drawn, times[first_row], copies)

    return Drawing(about, {"released": steps(lines[drawn])}, corners(lines))


def cells_alone(cells: "GeoDataFrame") -> Drawing:
    """Draw trips by cell, the darker the more."""
    has_counts = {"cell", "trips"} <= {*cells.columns} and is_integer_dtype(cells["trips"])
    if not has_counts or not cells.geom_type.isin(["Polygon", "MultiPolygon"]).all():
        raise BadInput(
            "a table of cells has columns cell and trips, whole numbers, and a polygon in each "
            "row: make it by streets --cells"
        )
    cells = cells[cells["trips"] > 0]
    if cells.empty:
        raise BadInput("no trip passes any of these cells: there is nothing to draw")
    # A cell that is counted in several parts of the day is drawn with all of its trips.
    cells = cells.dissolve("cell", {"trips": "sum"})
    trips = cells["trips"].to_numpy()
    least, most = int(trips.min()), int(trips.max())
    # Each colour begins at a number of trips that occurs: the one at or above even shares of the
    # logarithm.
    counts = np.unique(trips)
    even_shares = np.geomspace(least, most, len(RAMP) + 1)[:-1]
    even_shares = np.minimum(even_shares, most)  # which rounding may exceed
    least_of_colour = np.unique(counts[np.searchsorted(counts, even_shares)])

    # Latitude and longitude of the corners of each cell, (corners, 2).
    rings = [shapely.get_coordinates(cell)[:, ::-1] for cell in cells.geometry]
    south, west = rings[0].min(axis=0)
    east = rings[0].max(axis=0)[1]

    about = {
        "title": "trajanon: trips by cell",
        "headline": "trips by cell",
        "noun": "cell",
        "units": "trips",
        "reading": "The darker a cell, the more trips pass it, along released lines. These are "
        "averages, and straight between their points.",
        "facts": [
            ["Cells", f"{len(cells):,}"],
            ["Width of a cell", metres(float(metres_between(south, west, south, east)))],
            ["Trips in a cell", f"{least:,} to {most:,}"],
        ],
        "drawn": None,
        "ramp": [f"{count:,}" for count in least_of_colour.tolist()],
        "groups": {
            "number": list(range(len(cells))),
            "size": trips.tolist(),
            "weight": [1.0] * len(cells),
            "colour": (np.searchsorted(least_of_colour, trips, side="right") - 1).tolist(),
        },
        "total": {"groups": len(cells)},
    }
    west, south, east, north = cells.total_bounds.tolist()
    outlines = [steps(ring[None])[0] for ring in rings]
    return Drawing(about, {"cells": outlines}, [[south, west], [north, east]])


def release_and_originals(groups: Matched, report: Report) -> Drawing:
    """Draw a release and its originals: all groups, or a sample, and counts of all."""
    # Of all groups: how many originals each has, and metres.
    sizes = np.bincount(groups.labels)
    moved_originals = _mean_displacements(groups)
    moved = np.bincount(groups.labels, moved_originals) / sizes
    outside = _metres_outside(groups)

    # Numbers of groups.
    worst = np.argsort(-moved, kind="stable")[:_WORST_GROUPS]
    drawn = _chosen_groups(sizes, worst, max(1, _POINTS_DRAWN // groups.lines.shape[1]))
    rows_drawn = np.flatnonzero(np.isin(groups.labels, drawn))  # of the originals

    about = _panel(report, sizes)
    far = int((outside > _FAR_OUTSIDE).sum())
    # Their lines may turn back at an end, in a hook that nobody went.
    moved_beyond_length = int((moved_originals > lengths(groups.slid.points)).sum())
    about["facts"] += [
        [f"Lines over {_FAR_OUTSIDE:g} m outside the box of their originals", f"{far:,}"],
        ["Originals moved by more than their length", f"{moved_beyond_length:,}"],
    ]
    about |= {
        "far": _FAR_OUTSIDE,
        "drawn": _sample_note(len(drawn), len(sizes), "group", always_drawn=len(worst)),
        "slid": report.alignment is not None,
        "groups": {
            **_listed_groups(drawn, sizes, groups.lines),
            "moved": np.round(moved[drawn], 1).tolist(),
            "outside": np.round(outside[drawn]).tolist(),
        },
        "total": {"groups": len(sizes), "originals": len(groups.labels)},
        "worst": np.searchsorted(drawn, worst).tolist(),
    }

    labels = renumbered(groups.labels[rows_drawn])
    slid = groups.slid.take(rows_drawn)
    layers = _layers(labels, slid, groups.lines[drawn], with_tracks=about["slid"])
    clock = report.clock
    if clock is not None and groups.slid.times is not None and groups.times is not None:
        hours = hours_of(clock, clock.seconds(groups.slid.times))
        _add_departures(about, clock, drawn, groups.times, sizes)
        about["departures"]["originals"] = counts_by_hour(clock, hours).tolist()
        layers["hours-originals"] = hours[rows_drawn].tolist()
    return Drawing(about, layers, corners(groups.slid.points))


def _layers(
    labels: Ints, originals: Trajectories, lines: Floats, *, with_tracks: bool
) -> dict[str, Any]:
    """Write originals, in groups, with their lines and the tracks on which they slid.

    Labels number the groups that are drawn: ``members`` are the rows of each one's originals.
    """
    members = members_of_groups(labels)
    layers = {
        "originals": steps(originals.points),
        "members": [rows.tolist() for rows in members],
        "released": steps(lines),
    }
    tracks = originals.tracks
    if with_tracks and tracks is not None:
        runs, run = np.unique(tracks.run, return_inverse=True)
        layers["tracks"] = bends(
            tracks.points[begin:end]
            for begin, end in zip(tracks.first[runs], tracks.first[runs + 1], strict=True)
        )
        layers["runs"] = [np.unique(run[rows]).tolist() for rows in members]
    return layers


def _mean_displacements(groups: Matched) -> Floats:
    """Compute the mean displacement of each original in metres, (n,)."""
    originals = groups.slid
    away = displacement(originals.points, groups.lines[groups.labels])
    # Days are filled up to one number of points by repeating their last place, which counts once.
    weights = until_rest(originals.points) if originals.unit == "day" else None
    return np.asarray(np.average(away, axis=1, weights=weights))


def _chosen_groups(sizes: Ints, worst: Ints, most: int) -> Ints:
    """Choose groups that have some ``most`` originals together: the worst, and others at random.

    Their numbers rise.
    """
    at_random = np.random.default_rng(0).permutation(len(sizes))
    order = np.append(worst, at_random[~np.isin(at_random, worst)])
    originals_before = np.cumsum(sizes[order]) - sizes[order]
    is_chosen = originals_before < most
    is_chosen[: len(worst)] = True
    return np.sort(order[is_chosen])


def _panel(report: Report, sizes: Ints) -> dict[str, Any]:
    """Return what a holder wants to know first: headline, verdict and facts."""
    judged = verdict(report)
    units = UNITS[report.unit]
    counted = "people" if report.counted == "subjects" else units
    lost = "Information loss, of places" if report.times else "Information loss"
    facts = [
        [f"{units.capitalize()}, n", f"{int(sizes.sum()):,}"],
        ["Groups", f"{len(sizes):,}"],
        [f"{counted.capitalize()} in each group", f"at least {report.k}"],
        [lost, percent(report.information_loss / 100.0)],
        ["95 % of points moved by at most", metres(report.displacement.p95)],
    ]
    people_in_groups = report.subjects_per_group or []
    if too_few := sum(people < report.k for people in people_in_groups):
        facts.append([f"Groups of fewer than {report.k} people", f"{too_few:,}"])
    if report.times is not None:
        facts.append(["Departure off by, mean", span(report.times.departure_error.mean)])

    return {
        "title": "trajanon: originals and release, for the holder of the data",
        "headline": f"k = {report.k} {counted}",
        "sentences": [judged.headline, *judged.sentences, cost(report), left_out(report)],
        "noun": "group",
        "units": units,
        "reading": f"Each thick line is released in place of the thin {units} of its group, which "
        "have its colour. Groups far from each other may have the same one.",
        "facts": facts,
    }


def _sample_note(drawn: int, in_release: int, noun: str, *, always_drawn: int = 0) -> str | None:
    """Write how many lines or groups are drawn, and which of them always; None if all are."""
    if drawn == in_release:
        return None
    sample = f"{drawn:,} of {number_of(in_release, noun)}"
    how = "at random"
    if always_drawn:
        how = f"always the {always_drawn} with the largest mean displacement, others {how}"
    return f"Drawn: {sample}, {how}. All numbers are of the whole release."


def _listed_groups(drawn: Ints, sizes: Ints, lines: Floats) -> dict[str, list[Any]]:
    """List number, size, width in pixels and colour of the groups that are drawn."""
    return {
        "number": drawn.tolist(),
        "size": sizes[drawn].tolist(),
        "weight": np.round(2.0 + 0.75 * np.log2(sizes[drawn]), 1).tolist(),
        "colour": colours_of_lines(lines[drawn]),
    }


def _metres_outside(groups: Matched) -> Floats:
    """Compute how far each line leaves the box around its originals at most, in metres, (g,)."""
    points = groups.slid.points
    least = pd.DataFrame(points.min(axis=1)).groupby(groups.labels).min().to_numpy()[:, None]
    most = pd.DataFrame(points.max(axis=1)).groupby(groups.labels).max().to_numpy()[:, None]
    inside = np.clip(groups.lines, least, most)
    return np.asarray(displacement(groups.lines, inside).max(axis=1))


def _add_departures(
    about: dict[str, Any], clock: Clock, drawn: Ints, times: Floats, sizes: Ints
) -> None:
    """Add to ``about`` when the groups drawn depart, and how many of all do in which hour."""
    hours = hours_of(clock, times)
    departures = times[drawn, 0].tolist()
    durations = (times[drawn, -1] - times[drawn, 0]).tolist()
    about["groups"]["hour"] = hours[drawn].tolist()
    about["groups"]["when"] = [
        f"{clock.text(departure)}, {span(duration)}"
        for departure, duration in zip(departures, durations, strict=True)
    ]

    name = {
        "of-day": "Hours of the day",
        "of-week": "Hours of the week",
        "date": "Hours of the day, of all dates",
    }[clock.times]
    about["departures"] = {
        "clock": f"{name}, local time ({clock.timezone}). Released times are means of groups, "
        f"rounded to {span(clock.step)}.",
        "groups": counts_by_hour(clock, hours).tolist(),
        "released": counts_by_hour(clock, hours, sizes).tolist(),
    }


def hours_of(clock: Clock, times: Floats) -> Ints:
    """Number the hour in which each departs: that of the day, or from Monday on of the week."""
    departure = times[:, 0]
    hour = clock.hour(departure)
    if clock.times == "of-week":
        hour += _HOURS_PER_DAY * (departure // DAY % 7).astype(np.int64)
    return hour


def counts_by_hour(clock: Clock, hours: Ints, sizes: Ints | None = None) -> Ints:
    """Count departures in each hour: of lines, or of the originals or rows that these stand for."""
    slots = _HOURS_PER_DAY * (7 if clock.times == "of-week" else 1)
    return np.bincount(hours, sizes, slots).astype(np.int64)


def steps(lines: Floats) -> list[list[int]]:
    """Write lines, (n, m, 2), as steps from point to point, in millionths of a degree.

    The first step is from latitude and longitude 0; those of a line stand in one list.
    """
    places = np.rint(lines / _DEGREES_PER_STEP).astype(np.int64)
    origin = np.zeros_like(places[:, :1])
    return np.diff(places, axis=1, prepend=origin).reshape(len(lines), -1).tolist()


def bends(lines: Iterable[Floats]) -> list[list[int]]:
    """Write lines of any number of points as `steps`, from bend to bend alone."""
    # By Douglas and Peucker: the way that preserves topology does not end on some tiny hops.
    simplified = (
        shapely.LineString(line).simplify(_DEGREES_OF_A_BEND, preserve_topology=False)
        for line in lines
    )
    return [steps(shapely.get_coordinates(line)[None])[0] for line in simplified]


def corners(points: Floats) -> list[list[float]]:
    """Return the south-west and north-east corner of all points, as lat, lon."""
    places = points.reshape(-1, 2)
    return [places.min(axis=0).tolist(), places.max(axis=0).tolist()]
