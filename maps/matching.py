"""Originals, release and report brought together to be drawn."""

from collections.abc import Mapping
from typing import Any

from trajanon.errors import BadInput
from trajanon.files.report import NOT_TOGETHER, Report, checked, released_of
from trajanon.privacy.originals import Matched, matched
from trajanon.trajectories import Trajectories


def match(
    trajectories: Trajectories, release: Trajectories, report: Mapping[str, Any]
) -> tuple[Matched, Report]:
    """Find the released line of each group; give it with the report, checked."""
    typed = checked(report)
    originals = released_of(trajectories, typed)
    if len(originals) == 0:
        msg = "there are no trajectories to draw: extract a larger area"
        raise BadInput(msg)
    try:
        return matched(originals, release.points, typed), typed
    except BadInput as error:  # labels that are no groups are those of another report, too
        raise BadInput(NOT_TOGETHER) from error
