"""Originals, release and report brought together to be drawn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput
from trajanon.files.report import STRANGERS, Report, checked, released_of
from trajanon.privacy.belonging import belonging
from trajanon.trajectories import Trajectories


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Originals, and the released line of each group.

    Attributes
    ----------
    trajectories
        The originals; where they slid on their tracks, as slid.
    labels
        Group of each original.
    lines
        Latitude and longitude in degrees of each group's released line, shape
        (groups, m, 2).
    report
        The holder's report.
    """

    trajectories: Trajectories
    labels: Ints
    lines: Floats
    report: Report

    @property
    def aligned(self) -> bool:
        """Whether the originals slid on their tracks."""
        return self.report.get("alignment") is not None


def match(trajectories: Trajectories, release: Trajectories, report: Mapping[str, Any]) -> Match:
    """Find the released line of each group.

    Parameters
    ----------
    trajectories, release, report
        As for `trajanon.maps.compare`.

    Raises
    ------
    BadInput
        If there is nothing to draw, or the three do not belong together.
    """
    told = checked(report)
    originals = released_of(trajectories, told)
    if len(originals) == 0:
        msg = "there are no trajectories to draw: extract a larger area"
        raise BadInput(msg)
    try:
        found = belonging(originals, release.points, told)
    except BadInput as error:  # labels that are no groups are another report's, too
        raise BadInput(STRANGERS) from error
    return Match(found.slid, found.labels, found.lines, told)
