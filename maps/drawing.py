"""A release as the page draws it: layers of lines, and the text of its panel."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.files.report import Report
from trajanon.maps.colours import colours, weights
from trajanon.maps.hexagons import honeycomb
from trajanon.maps.lines import Unrolled, bends, corners, steps
from trajanon.maps.panel import (
    by_displacement,
    by_size,
    counted,
    facts,
    glossary,
    sample_note,
    stages_with_loss,
)
from trajanon.maps.sample import choose_groups, choose_originals
from trajanon.privacy.originals import Matched
from trajanon.utility import displacement
from trajanon.words import metres, percent

_WORST = 10  # groups
_OUTLIERS = 0.01, 1_000  # share of the originals, and how many at most


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """A release, ready for JSON."""

    about: dict[str, Any]  # the text of the panel, and lists with a value for each group drawn
    layers: dict[str, Any]  # by name; releases of the same trajectories may have some in common
    bounds: list[list[float]]  # south-west and north-east corner, as lat, lon


def released_alone(points: Floats) -> Drawing:
    """Draw what is in a release, and nothing else; equal trajectories are a group."""
    records, sizes = np.unique(points.reshape(len(points), -1), axis=0, return_counts=True)
    lines = Unrolled(points)(records.reshape(len(records), -1, 2))
    bounds = corners(lines)
    drawn = choose_groups(sizes, points.shape[1])
    about = {
        "headline": "the release",
        "facts": [
            ["Trajectories, n", f"{len(points):,}"],
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
    layers = {"released": steps(lines[drawn]), "density-released": honeycomb(lines, bounds, sizes)}
    return Drawing(about, layers, bounds)


def with_originals(name: str, found: Matched, report: Report, releases: int = 1) -> Drawing:
    """Draw a release and its originals, as one of several releases on a page."""
    trajectories, labels = found.slid, found.labels
    aligned = report.get("alignment") is not None
    unrolled = Unrolled(trajectories.points)
    points, lines = unrolled(trajectories.points), unrolled(found.lines)
    bounds = corners(points)
    sizes = np.bincount(labels)
    far = displacement(points, lines[labels]).mean(axis=1)
    moved = np.bincount(labels, weights=far) / sizes
    worst = np.argsort(-moved, kind="stable")[:_WORST]
    groups, members, each = choose_originals(labels, points.shape[1], worst, releases)
    drawn = np.sort(np.concatenate(members))
    share, most = _OUTLIERS
    outlying = min(most, max(1, round(share * len(labels))))
    farthest = np.argsort(-far, kind="stable")[:outlying]
    place = np.full(len(sizes), -1)
    place[groups] = np.arange(len(groups))
    sampled = None if each is None else (len(drawn), len(labels), each)
    about = {
        "name": name,
        "headline": f"k = {report['k']} {counted(report)}",
        "facts": facts(report, sizes),
        "stages": [[stage, percent(loss / 100.0)] for stage, loss in stages_with_loss(report)],
        "glossary": glossary(report),
        "summary": [
            percent(report["information_loss"] / 100.0),
            metres(report["displacement"]["mean"]),
        ],
        "drawn": sample_note(points, len(groups), len(sizes), sampled),
        "counts": {"displacement": by_displacement(moved), "sizes": by_size(sizes)},
        "slid": aligned,
        "groups": _groups(groups, sizes, lines) | {"moved": np.round(moved[groups], 1).tolist()},
        "total": {"groups": len(sizes), "originals": len(labels), "outliers": outlying},
        "worst": place[worst].tolist(),
    }
    layers = {
        "originals": steps(points[drawn]),
        "members": [np.searchsorted(drawn, each).tolist() for each in members],
        "released": steps(lines[groups]),
        "outliers": steps(points[farthest]),
        "density-originals": honeycomb(points, bounds),
        "density-released": honeycomb(lines, bounds, sizes),
    }
    if aligned:
        tracks = trajectories.tracks
        assert tracks is not None  # without them nothing slides
        runs = np.unique(tracks.run[drawn])
        on_runs = unrolled(tracks.points)
        layers["tracks"] = bends(on_runs[tracks.first[r] : tracks.first[r + 1]] for r in runs)
        layers["runs"] = [
            np.unique(np.searchsorted(runs, tracks.run[each])).tolist() for each in members
        ]
    return Drawing(about, layers, bounds)


def _groups(drawn: Ints, sizes: Ints, lines: Floats) -> dict[str, list[Any]]:
    return {
        "number": drawn.tolist(),
        "size": sizes[drawn].tolist(),
        "weight": weights(sizes[drawn]),
        "colour": colours(lines[drawn]),
    }
