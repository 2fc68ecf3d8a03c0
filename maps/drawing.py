"""A release as the page draws it: layers of lines and cells, counts, and the text of its panel."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.common.errors import BadInput
from trajanon.common.number_text import UNITS, metres, number_of, percent, span
from trajanon.release.originals import Matched, matched
from trajanon.release.release_words import cost, left_out
from trajanon.release.report import NOT_TOGETHER, Report, checked, clock_in, released_of
from trajanon.release.verdict import verdict
from trajanon.trajectories.displacements import displacement, until_rest
from trajanon.trajectories.geodesy import DEGREE
from trajanon.trajectories.times import DAY, Clock
from trajanon.trajectories.trajectories import Trajectories

# Different with any colour vision, and dark enough on a pale street map: Okabe and
# Ito's colours without yellow and black, with Tol's indigo and wine.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#332288", "#E69F00", "#56B4E9", "#882255")

_HOURS = 24
_WORST = 10  # groups
_POINTS = 300_000  # of the originals drawn: 10,000 trajectories of 30 points
_STEP = 1e-6  # degrees: 0.1 m, finer than any screen
_BEND = 3e-5  # degrees: a track is drawn to some 3 m
_ACROSS = 60  # cells from one side of the map to the other
_LEAST = 10.0  # metres of a cell
_MOST = 1 << 30  # more than there are cells from the corner of the map to anywhere


class Drawing(NamedTuple):
    """A release, ready for JSON."""

    about: dict[str, Any]  # the text of the panel, and lists with a value for each group drawn
    layers: dict[str, Any]  # by name
    bounds: list[list[float]]  # south-west and north-east corner, as lat, lon


def match(
    trajectories: Trajectories, release: Trajectories, report: Mapping[str, Any]
) -> tuple[Matched, Report]:
    """Find the released line of each group; give it with the report, checked."""
    typed = checked(report)
    originals = released_of(trajectories, typed)
    if len(originals) == 0:
        raise BadInput("there are no trajectories to draw: extract a larger area")
    try:
        return matched(originals, release, typed), typed
    except BadInput as error:  # labels that are no groups are those of another report, too
        raise BadInput(NOT_TOGETHER) from error


def released_alone(release: Trajectories) -> Drawing:
    """Draw what is in a release, and nothing else; equal trajectories are a group."""
    times = release.times
    clock = Clock.parsed(release.provenance.get("times"))
    records = release.records if times is None else np.hstack([release.records, times])
    _, example, sizes = np.unique(records, axis=0, return_index=True, return_counts=True)
    lines = release.points[example]
    bounds = corners(lines)
    most = max(1, _POINTS // lines.shape[1])
    drawn = np.sort(np.random.default_rng(0).permutation(len(sizes))[:most])
    about = {
        "headline": "the release",
        "sentences": [],
        "units": "rows",
        "facts": [
            ["Rows, n", f"{len(release):,}"],
            ["Groups", f"{len(lines):,}"],
            ["Smallest group", f"{sizes.min():,}"],
        ],
        "drawn": _sample_note(len(drawn), len(sizes)),
        "groups": _groups(drawn, sizes),
        "total": {"groups": len(lines)},
        "worst": [],
    }
    if clock is not None and times is not None:
        _add_departures(about, clock, drawn, times[example], sizes)
    density = Cells(bounds)
    density.add(lines, sizes)
    return Drawing(about, {"released": steps(lines[drawn]), **density.layer("released")}, bounds)


def release_and_originals(found: Matched, report: Report) -> Drawing:
    """Draw a release and its originals: all groups, or some at random, and counts of all."""
    whole, clock, sizes = found, clock_in(report), np.bincount(found.labels)
    density, released = (Cells(corners(whole.slid.points)) for _ in range(2))
    density.add(whole.slid.points)
    released.add(whole.lines, sizes)
    far = displacement(whole.slid.points, whole.lines[whole.labels])
    stays = whole.slid.unit == "day"  # the end of a shorter day
    far = np.average(far, axis=1, weights=until_rest(whole.slid.points) if stays else None)
    moved = np.bincount(whole.labels, far) / sizes
    worst = np.argsort(-moved, kind="stable")[:_WORST]
    order = np.random.default_rng(0).permutation(len(sizes))
    order = np.append(worst, order[~np.isin(order, worst)])
    chosen = np.cumsum(sizes[order]) - sizes[order] < max(1, _POINTS // whole.lines.shape[1])
    chosen[: len(worst)] = True
    number = np.sort(order[chosen])
    rows = np.isin(whole.labels, number)
    if len(number) < len(sizes):
        slid, labels = whole.slid.take(rows), dense(whole.labels[rows])
        found = found._replace(labels=labels, lines=whole.lines[number], slid=slid)
    ends = np.cumsum(np.bincount(found.labels))[:-1]
    members = np.split(np.argsort(found.labels, kind="stable"), ends)
    about = {
        **_panel(report, sizes),
        "drawn": _sample_note(len(number), len(sizes), (len(found.labels), len(whole.labels))),
        "slid": report.get("alignment") is not None,
        "groups": _groups(number, sizes) | {"moved": np.round(moved[number], 1).tolist()},
        "total": {"groups": len(sizes), "originals": len(whole.labels)},
        "worst": np.searchsorted(number, worst).tolist(),
    }
    layers = {
        "originals": steps(found.slid.points),
        "members": [each.tolist() for each in members],
        "released": steps(found.lines),
        **density.layer("originals"),
        **released.layer("released"),
    }
    if clock is not None and whole.slid.times is not None and whole.times is not None:
        hours = hours_of(clock, clock.of(whole.slid.times))
        _add_departures(about, clock, number, whole.times, sizes)
        about["departures"]["originals"] = counts_by_hour(clock, hours).tolist()
        layers["hours-originals"] = hours[rows].tolist()
    tracks = found.slid.tracks
    if about["slid"] and tracks is not None:
        runs, run = np.unique(tracks.run, return_inverse=True)
        layers["tracks"] = bends(
            tracks.points[begin:end]
            for begin, end in zip(tracks.first[runs], tracks.first[runs + 1], strict=True)
        )
        layers["runs"] = [np.unique(run[each]).tolist() for each in members]
    return Drawing(about, layers, density.bounds)


def _panel(report: Report, sizes: Ints) -> dict[str, Any]:
    """Return what a holder wants to know first: headline, verdict and facts."""
    said, units, moved = (
        verdict(report),
        UNITS[report.get("unit", "trajectory")],
        report["displacement"],
    )
    counted = "subjects" if report["counted"] == "subjects" else units
    lost = "Information loss, of places" if report.get("times") else "Information loss"
    facts = [
        [f"{units.capitalize()}, n", f"{int(sizes.sum()):,}"],
        ["Groups", f"{len(sizes):,}"],
        [f"{counted.capitalize()} in each group", f"at least {report['k']}"],
        [lost, percent(report["information_loss"] / 100.0)],
        ["95 % of points moved at most", metres(moved["p95"])],
    ]
    if few := sum(number < report["k"] for number in report.get("subjects_per_group") or []):
        facts.append([f"Groups of fewer than {report['k']} subjects", f"{few:,}"])
    if times := report.get("times"):
        facts.append(["Departure off by, mean", span(times["departure_error"]["mean"])])
    return {
        "headline": f"k = {report['k']} {counted}",
        "sentences": [said.headline, *said.sentences, cost(report), left_out(report)],
        "units": units,
        "facts": facts,
    }


def _sample_note(
    groups: int, of_groups: int, originals: tuple[int, int] | None = None
) -> str | None:
    """Say how many groups are drawn, and how many of all originals; None if all."""
    if groups == of_groups:
        return None
    sample = f"{groups:,} of {number_of(of_groups, 'group')}"
    if originals is not None:
        drawn, of_originals = originals
        sample += f", with {drawn:,} of {number_of(of_originals, 'original')}"
    return f"Drawn at random: {sample}. All numbers count everything."


def _groups(drawn: Ints, sizes: Ints) -> dict[str, list[Any]]:
    """Number, size, width in pixels and colour of each group; neighbours have near numbers."""
    return {
        "number": drawn.tolist(),
        "size": sizes[drawn].tolist(),
        "weight": np.round(2.0 + 0.75 * np.log2(sizes[drawn]), 1).tolist(),
        "colour": (drawn % len(PALETTE)).tolist(),
    }


def _add_departures(
    about: dict[str, Any], clock: Clock, drawn: Ints, times: Floats, sizes: Ints
) -> None:
    """Say when groups depart, and how many in which hour; ``drawn`` are some of them."""
    hours = hours_of(clock, times)
    departure, arrival = times[drawn][:, [0, -1]].T
    when = [
        f"{clock.text(begin)}, {span(lasts)}"
        for begin, lasts in zip(departure.tolist(), (arrival - departure).tolist(), strict=True)
    ]
    about["groups"] |= {"hour": hours[drawn].tolist(), "when": when}
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
        hour += _HOURS * (departure // DAY % 7).astype(np.int64)
    return hour


def counts_by_hour(clock: Clock, hours: Ints, sizes: Ints | None = None) -> Ints:
    """Count departures in each hour; a line counts for all originals, or rows, of its group."""
    slots = _HOURS * (7 if clock.times == "of-week" else 1)
    return np.bincount(hours, sizes, slots).astype(np.int64)


def steps(lines: Floats) -> list[list[int]]:
    """Write lines of equally many points as whole numbers of millionths of a degree."""
    places = np.rint(lines / _STEP).astype(np.int64)
    first = np.zeros_like(places[:, :1])
    return np.diff(places, axis=1, prepend=first).reshape(len(lines), -1).tolist()


def bends(lines: Iterable[Floats]) -> list[list[int]]:
    """Write lines of any number of points, without points between which a line is straight."""
    import shapely

    # By Douglas and Peucker: the way that preserves topology does not end on some tiny hops.
    drawn = [shapely.LineString(line).simplify(_BEND, preserve_topology=False) for line in lines]
    return [steps(shapely.get_coordinates(one)[None])[0] for one in drawn]


def corners(points: Floats) -> list[list[float]]:
    """South-west and north-east corner of all points, as lat, lon."""
    places = points.reshape(-1, 2)
    return [places.min(axis=0).tolist(), places.max(axis=0).tolist()]


class Cells:
    """Square cells on the ground, in which points are counted some at a time."""

    def __init__(self, bounds: list[list[float]]) -> None:
        self.bounds = bounds
        (south, west), (north, east) = bounds
        squeeze = float(np.cos(np.radians((south + north) / 2)))
        extent = max(north - south, (east - west) * squeeze) * DEGREE
        wide = max(extent / _ACROSS, _LEAST)
        power = 10.0 ** np.floor(np.log10(wide))
        self._wide = float(next(n * power for n in (1, 2, 5, 10) if n * power >= wide))
        self._degrees = self._wide / DEGREE / np.array([1.0, squeeze])  # of a cell
        self._keys, self._counts = np.empty((2, 0), np.int64)  # of each cell with points

    def add(self, lines: Floats, copies: Ints | None = None) -> None:
        """Count the points of lines, with copies of each."""
        cells = np.floor((lines - self.bounds[0]) / self._degrees).astype(np.int64) + _MOST
        times = np.ones(len(lines), np.int64) if copies is None else copies
        keys = np.append(self._keys, cells[..., 0].ravel() * (2 * _MOST) + cells[..., 1].ravel())
        counts = np.append(self._counts, np.repeat(times, lines.shape[1]))
        self._keys, cell = np.unique(keys, return_inverse=True)
        self._counts = np.bincount(cell, counts).astype(np.int64)

    def layer(self, name: str) -> dict[str, Any]:
        """The cells with points, and how many each has, ready for JSON."""
        places = np.column_stack(np.divmod(self._keys, 2 * _MOST)) - _MOST
        corner = np.rint((self.bounds[0] + places * self._degrees) / _STEP)
        cells = np.column_stack([corner.astype(np.int64), self._counts])
        size = np.rint(self._degrees / _STEP).astype(np.int64).tolist()
        return {f"density-{name}": {"metres": self._wide, "size": size, "cells": cells.tolist()}}
