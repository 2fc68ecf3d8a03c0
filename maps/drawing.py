"""A release as the page draws it: layers of lines, and the text of its panel."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput
from trajanon.files.report import NOT_TOGETHER, Report, checked, clock_in, released_of, unit_in
from trajanon.maps.counted import (
    Counted,
    by_hour,
    counted,
    counted_in_parts,
    hours_of,
    in_words,
    told,
)
from trajanon.maps.layers import (
    bends,
    colours,
    corners,
    honeycomb,
    steps,
    turning_point,
    unrolled,
    weights,
)
from trajanon.maps.panel import by_displacement, by_size, panel_of, sample_note
from trajanon.number_text import UNITS
from trajanon.privacy.originals import InParts, Matched, matched
from trajanon.times import Clock
from trajanon.trajectories import Trajectories

_WORST = 10  # groups
_POINTS = 300_000  # of the originals drawn: 10,000 trajectories of 30 points
_OF_PAGE = 1_000_000  # of those of all releases on a page, if all can be drawn
_SAMPLED = 700_000  # and if not: samples share no tracks, which take half as much again


class Drawing(NamedTuple):
    """A release, ready for JSON."""

    about: dict[str, Any]  # the text of the panel, and lists with a value for each group drawn
    layers: dict[str, Any]  # by name; releases of the same trajectories may have some in common
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
    points, times = release.points, release.times
    clock = Clock.parsed(release.provenance.get("times"))
    records = release.records if times is None else np.hstack([release.records, times])
    _, example, sizes = np.unique(records, axis=0, return_index=True, return_counts=True)
    lines = unrolled(points[example], turning_point(points))
    bounds = corners(lines)
    most = max(1, _POINTS // points.shape[1])
    drawn = np.sort(np.random.default_rng(0).permutation(len(sizes))[:most])
    about = {
        "headline": "the release",
        "told": [],
        "units": "rows",
        "facts": [
            ["Rows, n", f"{len(points):,}"],
            ["Groups", f"{len(lines):,}"],
            ["Smallest group", f"{sizes.min():,}"],
        ],
        "stages": [],
        "glossary": [],
        "drawn": sample_note(lines, len(drawn), len(sizes)),
        "counts": {"sizes": by_size(sizes)},
        "groups": _groups(drawn, sizes, lines),
        "total": {"groups": len(lines)},
        "worst": [],
    }
    if clock is not None and times is not None:
        _add_departures(about, clock, drawn, times[example], sizes)
    layers = {"released": steps(lines[drawn]), "density-released": honeycomb(lines, bounds, sizes)}
    return Drawing(about, layers, bounds)


def release_and_originals(name: str, found: Matched, report: Report, releases: int = 1) -> Drawing:
    """Draw a release and its originals, as one of several releases on a page."""
    whole = counted(found, clock_in(report))
    worst = worst_of(whole)
    drawn = choose_originals(found.labels, found.slid.points.shape[1], worst, releases)
    return _drawing(name, found, report, whole, np.arange(len(whole.sizes)), drawn)


def sample_and_counts(name: str, whole: InParts) -> Drawing:
    """Draw a release in parts: groups chosen at random, and all in numbers and densities."""
    of_all = counted_in_parts(whole, clock_in(whole.report))
    worst = worst_of(of_all)
    order = np.random.default_rng(0).permutation(len(of_all.sizes))
    order = np.append(worst, order[~np.isin(order, worst)])
    before = np.cumsum(of_all.sizes[order]) - of_all.sizes[order]
    lines = np.zeros(len(order), dtype=np.bool_)
    lines[order[before < _POINTS // of_all.lines.shape[1]]] = True
    lines[worst] = True
    rows, trajectories, release, report = whole.sample(lines)
    found = matched(trajectories, release, report)
    number = np.empty(len(found.lines), dtype=np.int64)
    number[found.labels] = whole.line[rows]
    ends = np.cumsum(np.bincount(found.labels))[:-1]
    members = np.split(np.argsort(found.labels, kind="stable"), ends)
    drawn = np.arange(len(number)), members, None
    return _drawing(name, found, report, of_all, number, drawn)


def worst_of(whole: Counted) -> Ints:
    """List the groups that moved farthest."""
    return np.argsort(-whole.moved, kind="stable")[:_WORST]


def _drawing(
    name: str,
    found: Matched,
    report: Report,
    whole: Counted,
    number: Ints,
    chosen: tuple[Ints, list[Ints], int | None],
) -> Drawing:
    """Draw some groups; ``number`` says which of the whole each of those found is."""
    windows, tracks = found.slid.points, found.slid.tracks
    points, lines = whole.on_side(windows), whole.on_side(found.lines)
    n, sizes, moved = int(whole.sizes.sum()), whole.sizes[number], whole.moved[number]
    groups, members, each = chosen
    drawn = np.sort(np.concatenate(members))
    place = np.full(len(whole.sizes), -1)
    place[number[groups]] = np.arange(len(groups))
    sampled = (len(drawn), n, each or int(sizes[groups].max())) if len(drawn) < n else None
    slid = report.get("alignment") is not None
    numbers = number[groups].tolist()
    about = {
        "name": name,
        "units": UNITS[unit_in(report)],
        **panel_of(report, whole.sizes),
        "drawn": sample_note(points, len(groups), len(whole.sizes), sampled),
        "counts": {"displacement": by_displacement(whole.moved), "sizes": by_size(whole.sizes)},
        "slid": slid,
        "groups": _groups(groups, sizes, lines)
        | {"number": numbers, "moved": np.round(moved[groups], 1).tolist()},
        "total": {"groups": len(whole.sizes), "originals": n, "outliers": len(whole.outliers)},
        "worst": place[worst_of(whole)].tolist(),
    }
    layers = {
        "originals": steps(points[drawn]),
        "members": [np.searchsorted(drawn, each).tolist() for each in members],
        "released": steps(lines[groups]),
        "outliers": steps(whole.outliers),
        "density-originals": whole.density,
        "density-released": honeycomb(whole.lines, whole.bounds, whole.sizes),
    }
    clock, times = clock_in(report), found.slid.times
    if clock is not None and times is not None and whole.times is not None:
        _add_departures(about, clock, number[groups], whole.times, whole.sizes)
        about["departures"]["originals"] = whole.by_hour
        layers["hours-originals"] = hours_of(clock, clock.of(times))[drawn].tolist()
        layers["hours-outliers"] = whole.outliers_hours
    if slid and tracks is not None:
        runs = np.unique(tracks.run[drawn])
        ends = zip(tracks.first[runs], tracks.first[runs + 1], strict=True)
        layers["tracks"] = bends(whole.on_side(tracks.points[one:end]) for one, end in ends)
        layers["runs"] = [
            np.unique(np.searchsorted(runs, tracks.run[each])).tolist() for each in members
        ]
    return Drawing(about, layers, whole.bounds)


def _add_departures(
    about: dict[str, Any], clock: Clock, drawn: Ints, times: Floats, sizes: Ints
) -> None:
    """Tell when groups depart, and how many in which hour; ``drawn`` are some of them."""
    hours = hours_of(clock, times)
    about["groups"] |= {"hour": hours[drawn].tolist(), "when": told(clock, times[drawn])}
    about["departures"] = {
        "clock": in_words(clock),
        "groups": by_hour(clock, hours),
        "released": by_hour(clock, hours, sizes),
    }


def _groups(drawn: Ints, sizes: Ints, lines: Floats) -> dict[str, list[Any]]:
    return {
        "number": drawn.tolist(),
        "size": sizes[drawn].tolist(),
        "weight": weights(sizes[drawn]),
        "colour": colours(lines[drawn]),
    }


def choose_originals(
    labels: Ints, points: int, always: Ints, releases: int = 1
) -> tuple[Ints, list[Ints], int | None]:
    """Choose what to draw of one of several releases: everything, or a few originals of each group.

    If even two originals of each group are too many, some groups are left out, but none of
    ``always``. Returned are the groups, rising, the originals of each, and how many originals a
    group has at most (None if all).
    """
    sizes = np.bincount(labels)
    groups, ends = np.arange(len(sizes)), np.cumsum(sizes)[:-1]
    if len(labels) <= max(1, min(_POINTS, _OF_PAGE // releases) // points):
        return groups, np.split(np.argsort(labels, kind="stable"), ends), None
    most = max(1, min(_POINTS, _SAMPLED // releases) // points)
    random = np.random.default_rng(0)
    order = random.permutation(len(labels))
    members = np.split(order[np.argsort(labels[order], kind="stable")], ends)
    if len(groups) > max(1, most // 2):
        others = np.setdiff1d(random.permutation(len(sizes)), always)
        random.shuffle(others)
        room = max(0, max(1, most // 2) - len(always))
        groups = np.sort(np.concatenate([always, others[:room]]))
    each = 1
    while each < sizes[groups].max() and np.minimum(sizes[groups], each + 1).sum() <= most:
        each += 1
    return groups, [np.sort(members[group][:each]) for group in groups], each
