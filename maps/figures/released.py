"""The figures of a release, for the holder of the data."""

from collections.abc import Mapping
from typing import Any

from trajanon.maps.figures.group import group as one_group
from trajanon.maps.figures.picture import Picture
from trajanon.maps.figures.sizes import sizes
from trajanon.maps.figures.stages import stages
from trajanon.maps.figures.style import styled
from trajanon.maps.matching import match
from trajanon.trajectories import Trajectories


def of_release(
    trajectories: Trajectories,
    release: Trajectories,
    report: Mapping[str, Any],
    *,
    group: int | None = None,
) -> list[Picture]:
    """Draw information loss by stage, group sizes, and one group in detail.

    Parameters
    ----------
    trajectories, release, report
        As for `trajanon.maps.compare`.
    group
        The group to draw in detail, by its number in the report's labels; None takes the one whose
        mean displacement is the median of all groups.

    Returns
    -------
    list of Picture
        The last one shows originals, and says so.

    Raises
    ------
    BadInput
        If there is nothing to draw, the three do not belong together, or there is no such group.
    """
    matched = match(trajectories, release, report)
    with styled():
        return [
            stages(matched.report),
            sizes(matched.report, matched.labels),
            one_group(matched, group),
        ]
