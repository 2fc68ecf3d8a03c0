"""One measured number, beside the published one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number of a table.

    Attributes
    ----------
    table, dataset, method
        Where it stands, in the words of the published table.
    by
        How we reached it: method and heuristic, in the words of trajanon.
    setting
        Further parameters, in the words of `trajanon.benchmark.published`; of a single
        run its seed; or empty.
    k
        Group size; None where there is none.
    statistic
        ``il`` (percent), ``avg``, ``sigma``, ``min`` and ``max`` of it over runs,
        ``path_length`` (standardised), ``seconds`` (wall time of one run after
        compilation) or ``pearson``; ``run_il`` and ``run_path_length`` of a single run,
        as figures need them.
    ours
        The number.
    runs
        Of how many runs it comes, each with another seed.
    published, source
        The published number and its table; None and empty where there is none.
    """

    table: str
    dataset: str
    method: str
    by: str
    setting: str
    k: int | None
    statistic: str
    ours: float
    runs: int
    published: float | None = None
    source: str = ""

    @property
    def difference(self) -> float | None:
        """How far ours lies above the published number, percent."""
        if not self.published:
            return None
        return 100.0 * (self.ours / self.published - 1.0)


def spread(values: Sequence[float]) -> Iterator[tuple[str, float]]:
    """Average, and for several runs also sigma (sample), least and greatest."""
    yield "avg", float(np.mean(values))
    if len(values) > 1:
        yield "sigma", float(np.std(values, ddof=1))
        yield "min", min(values)
        yield "max", max(values)
