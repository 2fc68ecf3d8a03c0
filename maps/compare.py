"""The holder's map: originals and release, group by group."""

from collections.abc import Mapping
from typing import Any

import folium
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from trajanon.errors import BadInput
from trajanon.maps.layers import colours, layer, weights
from trajanon.maps.page import page
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement

_NEEDED = (
    "n",
    "k",
    "counted",
    "labels",
    "information_loss",
    "displacement",
    "notice",
)
_ROUNDING = 1.5e-7  # degrees: a release has 7 decimals, and the last one may be off
_STRANGERS = (
    "these trajectories, release and report do not belong together: "
    "run trajanon anonymize again"
)


def compare(
    trajectories: Trajectories,
    release: Trajectories,
    report: Mapping[str, Any],
    *,
    tiles: str | None = "OpenStreetMap",
) -> folium.Map:
    """Draw original and released trajectories, one colour a group.

    The page is for the holder of the data: it shows the originals, and says so in its
    first line. Whoever opens it asks a server for the tiles of the street map, which
    tells that server where the data are.

    Parameters
    ----------
    trajectories
        The originals; where they slid on their tracks, they are drawn as slid.
    release
        What was released of them, in any order.
    report
        The holder's report of that release.
    tiles
        Name of a street map that folium knows; None to ask no server.

    Returns
    -------
    folium.Map
        Ready to be saved.

    Raises
    ------
    BadInput
        If there is nothing to draw, or the three do not belong together.
    """
    trajectories = _as_slid(trajectories, report)
    labels = _labels(trajectories, release, report)
    sizes = np.bincount(labels)
    lines = _released_lines(trajectories, release, labels, sizes)
    about = _about(trajectories.points, lines, labels, sizes)
    colour = colours(lines)
    slid = "" if report.get("alignment") is None else ", as slid"
    originals = layer(
        f"Original trajectories{slid} ({len(labels):,}, thin)",
        _members(trajectories.points, labels, sizes),
        about=about,
        colour=colour,
        weight=[1.2] * len(sizes),
        opacity=0.6,
    )
    released = layer(
        f"Released, one line a group ({len(sizes):,}, thick)",
        np.split(lines, len(lines)),
        about=about,
        colour=colour,
        weight=weights(sizes),
        opacity=0.9,
    )
    return page(
        [originals, released],
        sizes,
        trajectories.points,
        title="trajanon: originals and release, for the holder of the data",
        headline=f"k = {report['k']} {_counted(report)}",
        facts=_facts(report, sizes),
        notice=str(report["notice"]),
        attribution=report.get("attribution") or trajectories.attribution,
        tiles=tiles,
    )


def _as_slid(trajectories: Trajectories, report: Mapping[str, Any]) -> Trajectories:
    """Move trajectories to where they were when they were averaged."""
    if report.get("alignment") is None:
        return trajectories
    try:
        return trajectories.slid(np.asarray(report["alignment"]["starts"]))
    except (BadInput, LookupError, TypeError, ValueError) as error:
        raise BadInput(_STRANGERS) from error


def _labels(
    trajectories: Trajectories, release: Trajectories, report: Mapping[str, Any]
) -> NDArray[np.int64]:
    """Take the groups from the report, once it is known to speak of these data."""
    if len(trajectories) == 0:
        msg = "there are no trajectories to draw: extract a larger area"
        raise BadInput(msg)
    missing = [key for key in _NEEDED if key not in report]
    if missing:
        msg = f"the report lacks {', '.join(missing)}: run trajanon anonymize again"
        raise BadInput(msg)
    labels = np.asarray(report["labels"], dtype=np.int64)
    if not (
        labels.shape == (len(trajectories),)
        and report["n"] == len(trajectories)
        and trajectories.points.shape == release.points.shape
        and np.array_equal(np.unique(labels), np.arange(labels.max() + 1))
    ):
        raise BadInput(_STRANGERS)
    return labels


def _members(
    points: NDArray[np.float64], labels: NDArray[np.int64], sizes: NDArray[np.int64]
) -> list[NDArray[np.float64]]:
    order = np.argsort(labels, kind="stable")
    return np.split(points[order], np.cumsum(sizes)[:-1])


def _released_lines(
    trajectories: Trajectories,
    release: Trajectories,
    labels: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Find each group's line in the release, which holds it once for each member."""
    members = _members(trajectories.records, labels, sizes)
    means = np.array([records.mean(axis=0) for records in members])
    lines, copies = np.unique(release.records, axis=0, return_counts=True)
    _, nearest = KDTree(lines).query(means, p=np.inf, distance_upper_bound=_ROUNDING)
    found = bool((nearest < len(lines)).all())  # the tree answers len(lines) for none
    if not found or not np.array_equal(
        np.bincount(nearest, weights=sizes, minlength=len(lines)), copies
    ):
        raise BadInput(_STRANGERS)
    released: NDArray[np.float64] = lines[nearest].reshape(len(sizes), -1, 2)
    return released


def _about(
    points: NDArray[np.float64],
    lines: NDArray[np.float64],
    labels: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> list[str]:
    moved = displacement(points, lines[labels]).mean(axis=1)
    means = np.bincount(labels, weights=moved) / sizes
    return [
        f"group {group} · {size} trajectories · mean displacement {_metres(mean)}"
        for group, (size, mean) in enumerate(zip(sizes, means, strict=True))
    ]


def _facts(report: Mapping[str, Any], sizes: NDArray[np.int64]) -> dict[str, str]:
    moved = report["displacement"]
    loss = float(report["information_loss"])
    digits = np.format_float_positional(loss, precision=3, fractional=False, trim="-")
    return {
        "Trajectories, n": f"{int(sizes.sum()):,}",
        "Groups": f"{len(sizes):,}",
        f"{_counted(report).capitalize()} in each group": f"at least {report['k']}",
        "Information loss, IL": f"{digits} %",
        "Mean displacement": _metres(moved["mean"]),
        "Median displacement": _metres(moved["median"]),
    }


def _counted(report: Mapping[str, Any]) -> str:
    return "subjects" if report["counted"] == "subjects" else "trajectories"


def _metres(distance: float) -> str:
    return f"{distance:,.0f} m" if distance >= 9.95 else f"{distance:.1f} m"
