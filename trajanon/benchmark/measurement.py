"""One measured number, beside the published one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number of a table."""

    table: str  # where it stands, in the words of the published table
    dataset: str  # where it stands, in the words of the published table
    method: str  # where it stands, in the words of the published table
    by: str  # how we reached it: method and heuristic, in the words of trajanon
    setting: str  # further parameters, in the words of `trajanon.benchmark.published`
    k: int | None  # group size; None where there is none
    statistic: str  # ``il`` (percent)
    ours: float  # the number
    runs: int  # of how many runs it comes, each with another seed
    published: float | None = None  # the published number and its table
    source: str = ""  # the published number and its table; None and empty where there is none

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
