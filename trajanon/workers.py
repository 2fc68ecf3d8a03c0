"""Work in threads, one for each core, that Ctrl-C can end."""

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import partial
from threading import Event, current_thread, main_thread
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

_GLANCE = 0.1  # seconds between two looks at how far the work is

Result = TypeVar("Result")
Number = TypeVar("Number", bound=np.generic)


def cores() -> int:
    """How many threads can work at once."""
    return os.cpu_count() or 1


def unwatched() -> None:
    """Watch nothing."""


def in_threads(
    jobs: Iterable[Callable[[Event], Result]], watch: Callable[[], None] = unwatched
) -> list[Result]:
    """Do jobs in threads, as many at once as there are cores; the first while others are made."""
    stop = Event()
    pool = ThreadPoolExecutor(cores())
    found: list[Result] | None = None
    try:
        futures = []
        for job in jobs:
            with ctrl_c_held_back():
                futures.append(pool.submit(job, stop))
        waiting = set(futures)
        while waiting:
            done, waiting = wait(waiting, _GLANCE, FIRST_EXCEPTION)
            for future in done:
                future.result()
            watch()
        found = [future.result() for future in futures]
        return found
    finally:
        with ctrl_c_held_back():
            if found is None:
                stop.set()
            pool.shutdown(cancel_futures=True)


@contextmanager
def ctrl_c_held_back() -> Iterator[None]:
    """Let Ctrl-C come after the block: no thread is half begun then, or not awaited."""
    handler = signal.getsignal(signal.SIGINT)
    if current_thread() is not main_thread() or handler is None:
        yield  # it does not come here, or is not for Python to handle
        return
    pressed: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if pressed:
            signal.raise_signal(signal.SIGINT)


def in_parts(
    job: Callable[[NDArray[Number], Event], Result],
    rows: NDArray[Number],
    most: int,
    watch: Callable[[], None] = unwatched,
) -> list[Result]:
    """Do a job with each part of an array, of a limited number of rows, in threads."""
    parts = [rows[start : start + most] for start in range(0, len(rows) or 1, most)]
    if len(parts) == 1:
        return [job(rows, Event())]
    return in_threads([partial(job, part) for part in parts], watch)
