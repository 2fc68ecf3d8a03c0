"""What is known of a sample that stands for a release, and of all that it was drawn from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from trajanon.arrays import Floats, Ints
from trajanon.privacy.attack import Attack

_LEVEL = 0.95


class CostOfAll(NamedTuple):
    """What a release costs all trajectories, some of them read at a time."""

    displacement: Mapping[str, float]  # metres, summed up; median and 95 % right to 0.2 %
    flow_similarity: Mapping[str, float]  # as in `Usefulness`
    density_divergence: float


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """A sample of areas, and what was measured of all."""

    areas: Ints  # the area of each trajectory of the sample, (n,), numbered from 0
    of_areas: int  # into which all lines were parted
    lines: int  # of the sample
    seed: int
    cost: CostOfAll  # of all trajectories

    def interval(self, attack: Attack) -> tuple[float, float] | None:
        """Give the interval of 95 % of an attack's mean chance; None if it saw more than this."""
        if len(attack.published.points) != len(self.areas):  # all releases of a ledger
            return None
        return interval(attack.rates, self.areas[attack.targets])

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "trajectories": len(self.areas),
            "lines": self.lines,
            "areas": int(self.areas.max()) + 1,
            "of_areas": self.of_areas,
            "seed": self.seed,
            "counted_of_all": [*COUNTED_OF_ALL],
            "cost_of_all": self.cost._asdict(),
        }


COUNTED_OF_ALL = (
    *("trajectories", "subjects", "left_out", "nameless", "area", "groups", "rows", "sizes"),
    *("violations", "problems", "chains.drives", "chains.steps"),
)
"""Entries of an account that are of all trajectories also where others are of a sample."""


def interval(values: Floats, areas: Ints) -> tuple[float, float]:
    """Give the interval of 95 % of a mean share, from values in areas drawn at random.

    Source: W. G. Cochran, "Sampling Techniques", 3rd ed., Wiley (1977), chapter 9A: the ratio
    estimate of clusters of unequal sizes. It is too wide where most of the areas are drawn.
    """
    sums, numbers = np.bincount(areas, values), np.bincount(areas)
    sums, numbers = sums[numbers > 0], numbers[numbers > 0]
    if (n := len(numbers)) < 2:
        return 0.0, 1.0
    mean = sums.sum() / numbers.sum()
    squares = ((sums - mean * numbers) ** 2).sum() * n / (n - 1)
    half = stdtrit(n - 1, (1.0 + _LEVEL) / 2.0) * np.sqrt(squares) / numbers.sum()
    return max(float(mean - half), 0.0), min(float(mean + half), 1.0)
