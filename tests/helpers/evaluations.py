"""Releases for tests, and the evidence for them."""

from collections.abc import Mapping
from typing import Any

import trajanon
from trajanon.evaluation.evidence import Evaluation
from trajanon.trajectories.trajectories import ReleasedTrajectories, Trajectories

Evaluated = tuple[Evaluation, Mapping[str, Any]]
"""The evidence, and the report of its release."""


def released(
    trajectories: Trajectories, k: int = 2, **options: Any
) -> tuple[ReleasedTrajectories, dict[str, Any]]:
    release = trajanon.anonymize(trajectories, k, effort="fast", **options)
    return release.trajectories, release.report


def evaluated(trajectories: Trajectories, k: int = 2, **options: Any) -> Evaluation:
    return trajanon.evaluate(trajectories, *released(trajectories, k, **options))
