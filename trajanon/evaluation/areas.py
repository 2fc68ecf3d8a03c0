"""The evidence for a release of many shards: a sample is evaluated, and all of it is counted.

The sample has all trajectories on the lines of a few compact areas, drawn at random among areas of
nearly as many trajectories each, so that lines are as dense in it as in the release. Somebody who
knows the area has fewer lines to choose from than somebody who is not: an attack on one
trajectory does no worse than on the whole. What a subject did elsewhere is not in the sample.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from trajanon.arrays import Floats, Ints
from trajanon.geodesy import metres_of_degrees
from trajanon.partition import dense
from trajanon.privacy.attack import Attack
from trajanon.privacy.originals import LARGEST, InParts, Sample
from trajanon.trajectories import Trajectories

AREAS = 10
OF_AREA = LARGEST // AREAS  # trajectories of each at most, or of one line


_LEVEL = 0.95


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """A sample of areas, and the figures measured on all."""

    areas: Ints  # the area of each trajectory of the sample, (n,), numbered from 0
    of_areas: int  # into which all lines were parted
    lines: int  # of the sample
    seed: int

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
        }


COUNTED_OF_ALL = (
    *("trajectories", "subjects", "left_out", "nameless", "area", "groups", "rows", "sizes"),
    *("violations", "problems", "chains.drives", "persons.people"),
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


class Areas(NamedTuple):
    """A sample, and where it lies."""

    sample: Sample
    area: Ints  # of each of its trajectories, (n,), numbered from 0
    of: int  # areas there are
    seed: int


def drawn_areas(whole: InParts, seed: int = 0) -> Areas:
    """Draw a sample: all trajectories on the lines of some areas."""
    sizes = np.bincount(whole.line)
    area = areas_of(whole.lines, sizes, OF_AREA)
    of = int(area.max()) + 1
    chosen = np.random.default_rng(seed).choice(of, min(AREAS, of), replace=False)
    sample = whole.sample(np.isin(area, chosen))
    return Areas(sample, dense(area[whole.line[sample.rows]]), of, seed)


def areas_of(lines: Trajectories, sizes: Ints, most: int) -> Ints:
    """Halve lines by their middles until each part has at most ``most`` trajectories, (g,).

    Each cut is across the longer side, at the median of the trajectories.
    """
    middles = lines.points.mean(axis=1)
    middles *= metres_of_degrees(middles[:, 0].mean())
    parts = [np.arange(len(sizes))]
    while any(len(part) > 1 and sizes[part].sum() > most for part in parts):
        halves = []
        for part in parts:
            places = middles[part]
            order = part[np.argsort(places[:, np.argmax(np.ptp(places, axis=0))], kind="stable")]
            before = np.cumsum(sizes[order])
            # One line may have more than half of them.
            at = min(int(np.searchsorted(before, before[-1] / 2)) + 1, max(len(part) - 1, 1))
            halves += [half for half in (order[:at], order[at:]) if len(half)]
        parts = halves
    area = np.empty(len(sizes), dtype=np.int64)
    for number, part in enumerate(parts):
        area[part] = number
    return area


def sampled(whole: InParts, drawn: Areas) -> Sampled:
    """Say what the sample is."""
    lines = len(np.unique(whole.line[drawn.sample.rows]))
    return Sampled(drawn.area, drawn.of, lines, drawn.seed)
