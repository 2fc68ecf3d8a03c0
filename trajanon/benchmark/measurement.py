"""One measured number, beside the published one, and how runs are timed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import ParamSpec, TypeVar

import numpy as np

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number of a table."""

    # Where it stands, in the words of the published table:
    table: str
    dataset: str
    method: str
    by: str  # how we reached it: method and heuristic, in the words of trajanon
    setting: str  # further parameters, in the words of `trajanon.benchmark.published`
    k: int | None  # group size; None for all of them
    statistic: str  # ``il`` and ``avg`` (percent), ``path_length``, ``seconds``, ...
    ours: float  # the number
    runs: int = 1  # of how many runs it comes, each with another seed
    published: float | None = None  # the published number, if there is one
    source: str = ""  # the table that prints it

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


def timed(
    run: Callable[_Given, _Result], *given: _Given.args, **named: _Given.kwargs
) -> tuple[_Result, float]:
    """Run with what is given, and measure the seconds."""
    since = perf_counter()
    result = run(*given, **named)
    return result, perf_counter() - since
