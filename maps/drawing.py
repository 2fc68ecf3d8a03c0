"""A release as the page draws it: layers of lines, and what is said of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.maps import wording
from trajanon.maps.colours import colours, weights
from trajanon.maps.hexagons import honeycomb
from trajanon.maps.lines import Unrolled, bends, corners, steps
from trajanon.maps.matching import Match
from trajanon.maps.sample import Sample, of_release, sample
from trajanon.utility import displacement
from trajanon.words import metres, percent

_WORST = 10  # groups
_OUTLIERS = 0.01, 1_000  # share of the originals, and how many at most
_EDGE = 85.0511  # degrees: of Mercator's square world, which all street maps show


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """A release, ready for JSON."""

    about: dict[str, Any]  # what the panel says, and a list with a value for each group drawn
    layers: dict[str, Any]  # by name; releases of the same trajectories may have some in common
    bounds: list[list[float]]  # south-west and north-east corner, as lat, lon


def released_alone(points: Floats) -> Drawing:
    """Draw what is in a release, and nothing else; equal trajectories are a group."""
    records, sizes = np.unique(points.reshape(len(points), -1), axis=0, return_counts=True)
    lines = Unrolled(points)(records.reshape(len(records), -1, 2))
    bounds = corners([lines])
    drawn = of_release(sizes, points.shape[1])
    left_out = None
    if len(drawn) < len(sizes):
        left_out = (
            f"Drawn: {len(drawn):,} of {len(sizes):,} groups, chosen at random. "
            "All numbers are of all."
        )
    about = {
        "headline": "the release",
        "facts": [
            ["Trajectories, n", f"{len(points):,}"],
            ["Groups", f"{len(lines):,}"],
            ["Smallest group", f"{sizes.min():,}"],
        ],
        "stages": [],
        "glossary": [],
        "drawn": _together(left_out, _beyond(lines)),
        "counts": {"sizes": wording.by_size(sizes)},
        "groups": _groups(drawn, sizes, lines),
        "total": {"groups": len(lines)},
        "worst": [],
    }
    layers = {"released": steps(lines[drawn]), "density-released": honeycomb(lines, bounds, sizes)}
    return Drawing(about, layers, bounds)


def with_originals(name: str, matched: Match, releases: int = 1) -> Drawing:
    """Draw a release and its originals."""
    trajectories, labels, report = matched.trajectories, matched.labels, matched.report
    unrolled = Unrolled(trajectories.points)
    points, lines = unrolled(trajectories.points), unrolled(matched.lines)
    bounds = corners([points])
    sizes = np.bincount(labels)
    far = displacement(points, lines[labels]).mean(axis=1)
    moved = np.bincount(labels, weights=far) / sizes
    worst = np.argsort(-moved, kind="stable")[:_WORST]
    shown = sample(labels, points.shape[1], worst, releases)
    share, most = _OUTLIERS
    outlying = min(most, max(1, round(share * len(labels))))
    farthest = np.argsort(-far, kind="stable")[:outlying]
    place = np.full(len(sizes), -1)
    place[shown.groups] = np.arange(len(shown.groups))
    drawn = np.sort(np.concatenate(shown.members))
    about = {
        "name": name,
        "headline": f"k = {report['k']} {wording.counted(report)}",
        "facts": wording.facts(report, sizes),
        "stages": [
            [stage, percent(loss / 100.0)] for stage, loss in wording.stages_with_loss(report)
        ],
        "glossary": wording.glossary(report),
        "summary": [
            percent(report["information_loss"] / 100.0),
            metres(report["displacement"]["mean"]),
        ],
        "drawn": _together(_of_all(shown, labels, sizes), _beyond(points)),
        "counts": {"displacement": wording.by_displacement(moved), "sizes": wording.by_size(sizes)},
        "slid": matched.aligned,
        "groups": _groups(shown.groups, sizes, lines)
        | {"moved": np.round(moved[shown.groups], 1).tolist()},
        "total": {"groups": len(sizes), "originals": len(labels), "outliers": len(farthest)},
        "worst": place[worst].tolist(),
    }
    layers = {
        "originals": steps(points[drawn]),
        "members": [np.searchsorted(drawn, each).tolist() for each in shown.members],
        "released": steps(lines[shown.groups]),
        "outliers": steps(points[farthest]),
        "density-originals": honeycomb(points, bounds),
        "density-released": honeycomb(lines, bounds, sizes),
    }
    if matched.aligned:
        layers |= _tracks(matched, shown.members, unrolled)
    return Drawing(about, layers, bounds)


def _together(*sentences: str | None) -> str | None:
    return " ".join(filter(None, sentences)) or None


def _beyond(points: Floats) -> str | None:
    """What the page says where a place is none of its map's."""
    if np.abs(points[..., 0]).max() <= _EDGE:
        return None
    return f"The map ends at {_EDGE:.2f}° of latitude: what lies beyond is drawn there."


def _of_all(shown: Sample, labels: Ints, sizes: Ints) -> str | None:
    """What the page says where it draws a sample."""
    if shown.each is None:
        return None
    drawn = sum(len(members) for members in shown.members)
    return (
        f"Drawn: {drawn:,} of {len(labels):,} originals, at most {shown.each} of a "
        f"group, and {len(shown.groups):,} of {len(sizes):,} groups, chosen at random. "
        "All numbers are of all."
    )


def _groups(drawn: Ints, sizes: Ints, lines: Floats) -> dict[str, list[Any]]:
    return {
        "number": drawn.tolist(),
        "size": sizes[drawn].tolist(),
        "weight": weights(sizes[drawn]),
        "colour": colours(lines[drawn]),
    }


def _tracks(matched: Match, members: list[Ints], unrolled: Unrolled) -> dict[str, Any]:
    """The runs under the originals drawn, and those of each group by their places."""
    tracks = matched.trajectories.tracks
    assert tracks is not None  # without them nothing slides
    runs = np.unique(tracks.run[np.concatenate(members)])
    points = unrolled(tracks.points)
    return {
        "tracks": bends(points[tracks.first[run] : tracks.first[run + 1]] for run in runs),
        "runs": [np.unique(np.searchsorted(runs, tracks.run[each])).tolist() for each in members],
    }
