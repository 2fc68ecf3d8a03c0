"""Set-partitioning programmes in HiGHS: begun, given rows, and solved."""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import Any

import highspy
import numpy as np
from scipy.sparse import csr_array

from trajanon.workers import in_threads


def begin_programme(m: int) -> highspy.Highs:
    """Begin a programme without columns, whose columns hold each of m records once."""
    programme = highspy.Highs()
    programme.setOptionValue("output_flag", False)
    programme.setOptionValue("threads", 1)  # with more, results depend on their number
    programme.setOptionValue("random_seed", 0)
    once = np.ones(m)
    none = np.zeros(0, dtype=np.int32)
    starts = np.zeros(m, dtype=np.int32)
    programme.addRows(m, once, once, 0, starts, none, np.zeros(0))
    return programme


def add_rows(programme: highspy.Highs, count: int, held: csr_array | None = None) -> None:
    """Add rows that allow one column each, of those held by it, (rows, columns)."""
    held = csr_array((count, 0)) if held is None else held
    programme.addRows(
        count,
        np.full(count, -np.inf),
        np.ones(count),
        held.nnz,
        held.indptr[:-1].astype(np.int32),
        held.indices.astype(np.int32),
        np.ones(held.nnz),
    )


def solve(programme: highspy.Highs, watch: Callable[[], None], looks: float = np.inf) -> None:
    """Solve a programme in a thread of its own, so that Ctrl-C ends it.

    HiGHS refuses another number of threads than it had when it first ran in a thread.
    """
    (status,) = in_threads([partial(_run, programme, looks)], watch)
    if status == highspy.HighsStatus.kError:
        model_status = programme.modelStatusToString(programme.getModelStatus())
        msg = f"HiGHS gave up on a programme that has a solution: {model_status}"
        raise RuntimeError(msg)


def _run(programme: highspy.Highs, looks: float, stop: Event) -> highspy.HighsStatus:
    """Solve a programme, or break off for good: HiGHS will not take it up again."""
    looked = 0

    def interrupt(event: Any) -> None:
        if stop.is_set():
            event.interrupt()

    def look(event: Any) -> None:
        nonlocal looked
        looked += 1
        if stop.is_set() or looked > looks:
            event.interrupt()

    programme.cbSimplexInterrupt.subscribe(interrupt)
    programme.cbMipInterrupt.subscribe(look)
    try:
        return programme.run()
    finally:
        programme.cbSimplexInterrupt.unsubscribe(interrupt)
        programme.cbMipInterrupt.unsubscribe(look)
