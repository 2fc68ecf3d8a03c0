"""Estimates with intervals of 90 %: of shares, means and medians, and of how well attacks do."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, ndtri

from trajanon.common.arrays import Bools, Floats, Ints, renumbered
from trajanon.common.number_text import percent
from trajanon.evaluation.page.templates import words

_BOUNDS = np.array([0.05, 0.95])  # quantiles: the ends of an interval of 90 %
_STANDARD_ERRORS = float(ndtri(0.95))  # on each side of the centre of an interval of 90 %
_BOOTSTRAP_SAMPLES = 1_000
_ROUNDING_OF_VARIANCE = 1e-20  # a variance of equal shares below it is 0


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure of the targets tried, and its interval of 90 %."""

    value: float
    low: float
    high: float

    @property
    def words(self) -> str:
        """Write a share with its interval."""
        return f"{percent(self.value)} ({percent(self.low, 2)} to {percent(self.high, 2)})"

    def beyond(self, guess: float) -> "Estimate":
        """Return how much more often than guessing an answer is right: 1 always, 0 no more."""
        shares = np.array([self.value, self.low, self.high])
        return Estimate(*((shares - guess) / (1.0 - guess)).clip(0.0, 1.0).tolist())


def share_of(successes: Bools) -> Estimate:
    """Estimate how often an attack succeeds, with the interval of Jeffreys."""
    tried = len(successes)
    right = int(successes.sum())
    low, high = betaincinv(right + 0.5, tried - right + 0.5, _BOUNDS).tolist()
    # As is usual, the interval reaches 0 if none succeeded, and 1 if all did.
    return Estimate(right / tried, low if right else 0.0, high if right < tried else 1.0)


def estimated(figure: Callable[..., Floats], *samples: Floats) -> Estimate:
    """Estimate a figure of samples, (t,), with an interval by the bootstrap, always of one seed.

    ``figure`` is computed of samples along their last axis. Source: B. Efron, "Bootstrap methods:
    another look at the jackknife", Annals of Statistics 7 (1979).
    """
    tried = len(samples[0])
    drawn = np.random.default_rng(0).integers(0, tried, (_BOOTSTRAP_SAMPLES, tried))
    low, high = np.quantile(figure(*(sample[drawn] for sample in samples)), _BOUNDS).tolist()
    return Estimate(float(figure(*samples)), low, high)


def median(values: Floats) -> Floats:
    """Compute medians along the last axis."""
    return np.asarray(np.median(values, axis=-1))


def mean(values: Floats) -> Floats:
    """Compute means along the last axis."""
    return np.asarray(np.mean(values, axis=-1))


def area_under_curve(metres_away: Floats, is_member: Bools, subjects: Ints) -> Estimate:
    """Estimate how often a member is nearer than another trajectory; 0.5 if they are alike.

    Each argument is of the trajectories, (n,). Source: E. R. DeLong, D. M. DeLong, D. L.
    Clarke-Pearson, "Comparing the areas under two or more correlated receiver operating
    characteristic curves", Biometrics 44 (1988); with subjects as clusters: N. A. Obuchowski,
    "Nonparametric analysis of clustered ROC curve data", Biometrics 53 (1997).
    """
    of_members = metres_away[is_member]
    of_others = metres_away[~is_member]
    share_farther = 1.0 - _shares_smaller(of_members, of_others)
    share_nearer = _shares_smaller(of_others, of_members)
    area = float(share_nearer.mean())

    squared_error = variance_of_mean(share_farther, subjects[is_member])
    squared_error += variance_of_mean(share_nearer, subjects[~is_member])
    side = _STANDARD_ERRORS * float(np.sqrt(squared_error))
    return Estimate(area, max(area - side, 0.0), min(area + side, 1.0))


def _shares_smaller(values: Floats, among: Floats) -> Floats:
    """Compute for each value the share of others that are smaller; equal ones count half."""
    ordered = np.sort(among)
    smaller = np.searchsorted(ordered, values, "left")
    not_larger = np.searchsorted(ordered, values, "right")
    return np.asarray((smaller + not_larger) / (2.0 * len(among)))


def variance_of_mean(values: Floats, clusters: Ints) -> float:
    """Estimate the variance of a mean of values that are alike within clusters.

    With a single cluster it is not known: 0, as the one sum is.
    """
    sums = np.bincount(renumbered(clusters), values - values.mean())
    return float((sums**2).sum()) / len(values) ** 2 * len(sums) / max(len(sums) - 1, 1)


def rate_with_interval(successes: Floats, clusters: Ints) -> Estimate:
    """Estimate a rate of successes, each 0 to 1, (t,), with Wilson's interval for clusters."""
    centre, side = _wilson(successes, clusters)
    interval = np.clip([float(successes.mean()), centre - side, centre + side], 0.0, 1.0)
    return Estimate(*interval.tolist())


def _wilson(successes: Floats, clusters: Ints) -> tuple[float, float]:
    """Compute the centre of Wilson's interval, and how far it goes to each side.

    As many trials are counted as would have the variance that clusters have; if all successes are
    equal, one for each cluster.
    """
    z = _STANDARD_ERRORS
    rate = float(successes.mean())
    variance = variance_of_mean(successes, clusters)
    people = len(np.unique(clusters))
    trials = rate * (1.0 - rate) / variance if variance > _ROUNDING_OF_VARIANCE else people
    centre = (rate + z**2 / (2.0 * trials)) / (1.0 + z**2 / trials)
    side = z * np.sqrt(rate * (1.0 - rate) / trials + z**2 / (4.0 * trials**2))
    return centre, float(side) / (1.0 + z**2 / trials)


@dataclass(frozen=True, slots=True)
class Risk:
    """How often an attack succeeds, and how much of that is due to being in the release."""

    main: float  # share of successes against members
    control: float  # against those held out
    risk: float  # (main - control) / (1 - control): what a member has to fear beyond the others
    low: float  # its interval of 90 %
    high: float

    @property
    def words(self) -> str:
        """Describe the difference with its interval, without a full stop."""
        return words("risk", of=self)


def risk(main: Floats, control: Floats, main_clusters: Ints, control_clusters: Ints) -> Risk:
    """Compare successes against members, (t,), with those against others, (u,), and clusters.

    Source: M. Giomi, F. Boenisch, C. Wehmeyer, B. Tasnádi, "A unified framework for quantifying
    privacy risk in synthetic data", PoPETs 2023 (anonymeter): intervals of Wilson, and propagation
    of errors.
    """
    rate = float(main.mean())
    control_rate = float(control.mean())
    excess = (rate - control_rate) / (1.0 - control_rate) if control_rate < 1.0 else 0.0

    # The centres of both intervals, and how far they go to each side.
    main_centre, main_side = _wilson(main, main_clusters)
    control_centre, control_side = _wilson(control, control_clusters)
    missed = 1.0 - control_centre
    centre = (main_centre - control_centre) / missed
    side_of_control = control_side * (1.0 - main_centre) / missed**2
    side = float(np.hypot(main_side / missed, side_of_control))
    # The interval holds the risk itself, which is not in its centre.
    low = min(centre - side, excess)
    high = max(min(centre + side, 1.0), excess)
    return Risk(rate, control_rate, excess, low, high)
