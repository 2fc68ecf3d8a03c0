"""Round each record: work shared out to the threads, and groups that a kernel left."""

from collections.abc import Callable
from functools import partial
from threading import Event

import numpy as np

from trajanon.arrays import Ints
from trajanon.workers import Result, in_threads


def round_each(
    work: Callable[[Ints, Event], Result], m: int, count: int, watch: Callable[[], None]
) -> list[Result]:
    """Do the work round each of m records, so many at a time; in their order."""
    parts = np.split(np.arange(m), np.arange(count, m, count))
    return in_threads([partial(work, roots) for roots in parts], watch)


def found_groups(found: Ints, sizes: Ints) -> list[Ints]:
    """The groups that a kernel has found."""
    return [found[place, : sizes[place]].copy() for place in np.flatnonzero(sizes)]
