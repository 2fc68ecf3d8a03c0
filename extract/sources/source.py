"""Traces of numbered units, files or boxes of a server: how far they were taken."""

from collections import Counter
from collections.abc import Callable, Iterator

from trajanon.extract.trace import Trace

Numbered = Callable[[int, Counter[str]], Iterator[tuple[int, Trace]]]
"""From a unit on, gives each trace with the number of its unit; the counter is told
what was left out."""


class Source:
    """Traces in their order, with the place to go on from.

    Parameters
    ----------
    numbered
        Where the traces come from.
    position
        Where to begin, as another one was at when it was left.
    left_out
        Counts of what the units before the position left out, in words.

    Attributes
    ----------
    position
        Units of which all traces were taken, and traces taken of the next one.
    left_out
        What these units left out; of the last one as soon as the next begins.
    """

    def __init__(
        self,
        numbered: Numbered,
        position: tuple[int, int] = (0, 0),
        left_out: Counter[str] | None = None,
    ) -> None:
        self.position = position
        self.left_out = Counter() if left_out is None else left_out
        self._numbered = numbered

    def __iter__(self) -> Iterator[Trace]:
        """Give the traces from the position on; those of the unit there are skipped."""
        unit, taken = self.position
        begun, here = unit, 0
        of_this: Counter[str] = Counter()
        for number, trace in self._numbered(unit, of_this):
            if number != begun:
                begun, here = number, 0
                self.left_out.update(of_this)
                of_this.clear()
            here += 1
            if (begun, here) > (unit, taken):
                self.position = begun, here
                yield trace
        self.left_out.update(of_this)
