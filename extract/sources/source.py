"""Traces of numbered units, which are files or boxes of a server, and the place to go on from."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from trajanon.extract.trace import Trace

LeftOut = Callable[[int], Counter[str]]
"""Gives, for the number of a unit, the counter of what is left out of it."""

NumberedTraces = Callable[[int, LeftOut], Iterator[tuple[int, Trace]]]
"""Gives the traces from a unit on, each with the number of its unit."""


class Source:
    """Traces in their order, with the place to go on from."""

    def __init__(
        self,
        numbered: NumberedTraces,
        position: Sequence[int] = (0, 0),
        left_out: Counter[str] | None = None,
    ) -> None:
        self.position = tuple(position)
        self.left_out = Counter() if left_out is None else left_out
        self._numbered = numbered

    def __iter__(self) -> Iterator[Trace]:
        """Give the traces from the position on; those of the unit there are skipped."""
        unit, taken = self.position
        begun, here = unit, 0
        # A unit is at work before its first trace comes: each has its own counter.
        of_each: dict[int, Counter[str]] = defaultdict(Counter)
        for number, trace in self._numbered(unit, of_each.__getitem__):
            if number != begun:
                begun, here = number, 0
                self._settle(of_each, before=number)
            here += 1
            if (begun, here) > (unit, taken):
                self.position = begun, here
                yield trace
        self._settle(of_each)

    def _settle(self, of_each: dict[int, Counter[str]], before: int | None = None) -> None:
        for number in sorted(of_each):
            if before is None or number < before:
                self.left_out.update(of_each.pop(number))
