"""A release as the page draws it: layers of lines, counts of all, and the text of its panel."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput
from trajanon.files.report import NOT_TOGETHER, Report, checked, clock_in, released_of, unit_in
from trajanon.maps.layers import Honeycomb, bends, colours, corners, steps, weights
from trajanon.maps.panel import by_displacement, by_size, panel_of, sample_note
from trajanon.number_text import UNITS, span
from trajanon.partition import dense
from trajanon.privacy.originals import Matched, matched
from trajanon.times import DAY, Clock
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement

_HOURS = 24
_WORST = 10  # groups
_POINTS = 300_000  # of the originals drawn: 10,000 trajectories of 30 points
_OF_PAGE = 1_000_000  # of those of all releases on a page


class Drawing(NamedTuple):
    """A release, ready for JSON."""

    about: dict[str, Any]  # the text of the panel, and lists with a value for each group drawn
    layers: dict[str, Any]  # by name; releases of the same trajectories may have some in common
    bounds: list[list[float]]  # south-west and north-east corner, as lat, lon


class _Whole(NamedTuple):
    """All groups of a release, also where the page draws some."""

    lines: Floats  # (g, m, 2)
    times: Floats | None  # (g, m)
    sizes: Ints  # originals of each, (g,)
    moved: Floats  # their mean displacement, (g,)
    bounds: list[list[float]]
    density: dict[str, Any]  # of the originals, as a layer
    by_hour: Ints  # departures of the originals; empty without times

    @property
    def worst(self) -> Ints:
        """The groups that moved farthest."""
        return np.argsort(-self.moved, kind="stable")[:_WORST]

    def drawn(self, releases: int = 1) -> Ints:
        """Choose the groups that a page of several releases draws: all, or some at random."""
        most = max(1, min(_POINTS, _OF_PAGE // releases) // self.lines.shape[1])
        order = np.random.default_rng(0).permutation(len(self.sizes))
        order = np.append(self.worst, order[~np.isin(order, self.worst)])
        before = np.cumsum(self.sizes[order]) - self.sizes[order]
        chosen = before < most
        chosen[: len(self.worst)] = True
        return np.sort(order[chosen])


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
        "stages": [],
        "glossary": [],
        "drawn": sample_note(len(drawn), len(sizes)),
        "counts": {"sizes": by_size(sizes)},
        "groups": _groups(drawn, sizes, lines),
        "total": {"groups": len(lines)},
        "worst": [],
    }
    if clock is not None and times is not None:
        _add_departures(about, clock, drawn, times[example], sizes)
    layers = {
        "released": steps(lines[drawn]),
        "density-released": Honeycomb(bounds).add(lines, sizes).layer,
    }
    return Drawing(about, layers, bounds)


def release_and_originals(name: str, found: Matched, report: Report, releases: int = 1) -> Drawing:
    """Draw a release and its originals, as one of several releases on a page."""
    whole = _counted(found, report)
    groups = whole.drawn(releases)
    if len(groups) < len(found.lines):
        rows = np.isin(found.labels, groups)
        found = found._replace(
            labels=dense(found.labels[rows]), lines=found.lines[groups], slid=found.slid.take(rows)
        )
    return _drawing(name, found, report, whole, groups)


def _counted(found: Matched, report: Report) -> _Whole:
    """Count originals on a map that is as wide as they are."""
    slid, labels, clock = found.slid, found.labels, clock_in(report)
    bounds, by_hour = corners(slid.points), np.empty(0, dtype=np.int64)
    far = displacement(slid.points, found.lines[labels]).mean(axis=1)
    density = Honeycomb(bounds).add(slid.points).layer
    if clock is not None and slid.times is not None:
        by_hour = counts_by_hour(clock, hours_of(clock, clock.of(slid.times)))
    sizes = np.bincount(labels)
    moved = np.bincount(labels, far) / sizes
    return _Whole(found.lines, found.times, sizes, moved, bounds, density, by_hour)


def _drawing(name: str, found: Matched, report: Report, whole: _Whole, number: Ints) -> Drawing:
    """Draw the groups found; ``number`` says which of the whole each of them is."""
    windows, tracks = found.slid.points, found.slid.tracks
    sizes, slid = whole.sizes, report.get("alignment") is not None
    place = np.full(len(sizes), -1)
    place[number] = np.arange(len(number))
    ends = np.cumsum(np.bincount(found.labels))[:-1]
    members = np.split(np.argsort(found.labels, kind="stable"), ends)
    about = {
        "name": name,
        "units": UNITS[unit_in(report)],
        **panel_of(report, sizes),
        "drawn": sample_note(len(number), len(sizes), (len(windows), int(sizes.sum()))),
        "counts": {"displacement": by_displacement(whole.moved), "sizes": by_size(sizes)},
        "slid": slid,
        "groups": _groups(number, sizes, whole.lines)
        | {"moved": np.round(whole.moved[number], 1).tolist()},
        "total": {"groups": len(sizes), "originals": int(sizes.sum())},
        "worst": place[whole.worst].tolist(),
    }
    layers = {
        "originals": steps(windows),
        "members": [each.tolist() for each in members],
        "released": steps(found.lines),
        "density-originals": whole.density,
        "density-released": Honeycomb(whole.bounds).add(whole.lines, sizes).layer,
    }
    clock, times = clock_in(report), found.slid.times
    if clock is not None and times is not None and whole.times is not None:
        _add_departures(about, clock, number, whole.times, sizes)
        about["departures"]["originals"] = whole.by_hour.tolist()
        layers["hours-originals"] = hours_of(clock, clock.of(times)).tolist()
    if slid and tracks is not None:
        runs, run = np.unique(tracks.run, return_inverse=True)
        layers["tracks"] = bends(
            tracks.points[begin:end]
            for begin, end in zip(tracks.first[runs], tracks.first[runs + 1], strict=True)
        )
        layers["runs"] = [np.unique(run[each]).tolist() for each in members]
    return Drawing(about, layers, whole.bounds)


def _add_departures(
    about: dict[str, Any], clock: Clock, drawn: Ints, times: Floats, sizes: Ints
) -> None:
    """Say when groups depart, and how many in which hour; ``drawn`` are some of them."""
    hours = hours_of(clock, times)
    when = [when_it_departs(clock, seconds) for seconds in times[drawn]]
    about["groups"] |= {"hour": hours[drawn].tolist(), "when": when}
    about["departures"] = {
        "clock": _clock_text(clock),
        "groups": counts_by_hour(clock, hours).tolist(),
        "released": counts_by_hour(clock, hours, sizes).tolist(),
    }


def _groups(drawn: Ints, sizes: Ints, lines: Floats) -> dict[str, list[Any]]:
    return {
        "number": drawn.tolist(),
        "size": sizes[drawn].tolist(),
        "weight": weights(sizes[drawn]),
        "colour": colours(lines[drawn]),
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


def when_it_departs(clock: Clock, times: Floats) -> str:
    """Say when a line departs, and how long it takes."""
    departure, arrival = times[[0, -1]].tolist()
    return f"{clock.text(departure)}, {span(arrival - departure)}"


def _clock_text(clock: Clock) -> str:
    """Say what the hours are, and what the times in the release."""
    hours = {
        "of-day": "Hours of the day",
        "of-week": "Hours of the week",
        "date": "Hours of the day, of all dates",
    }[clock.times]
    means = f"Released times are means of groups, rounded to {span(clock.step)}."
    return f"{hours}, local time ({clock.timezone}). {means}"
