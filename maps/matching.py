"""Originals, release and report brought together to be drawn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput
from trajanon.files.report import NOT_TOGETHER, Report, checked, released_of
from trajanon.privacy.originals import matched
from trajanon.trajectories import Trajectories


@dataclass(frozen=True, slots=True, eq=False)
class Match:
    """Originals, and the released line of each group."""

    trajectories: Trajectories  # the originals; where they slid on their tracks, as slid
    labels: Ints  # group of each original
    lines: Floats  # latitude and longitude in degrees of each group's released line
    report: Report  # the holder's report

    @property
    def aligned(self) -> bool:
        """Whether the originals slid on their tracks."""
        return self.report.get("alignment") is not None


def match(trajectories: Trajectories, release: Trajectories, report: Mapping[str, Any]) -> Match:
    """Find the released line of each group."""
    told = checked(report)
    originals = released_of(trajectories, told)
    if len(originals) == 0:
        msg = "there are no trajectories to draw: extract a larger area"
        raise BadInput(msg)
    try:
        found = matched(originals, release.points, told)
    except BadInput as error:  # labels that are no groups are another report's, too
        raise BadInput(NOT_TOGETHER) from error
    return Match(found.slid, found.labels, found.lines, told)
