"""Work in threads, one for each core, that Ctrl-C can end."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

_GLANCE = 0.1  # seconds between two looks at how far the work is

Result = TypeVar("Result")


def cores() -> int:
    """How many threads can work at once."""
    return os.cpu_count() or 1


def unwatched() -> None:
    """Watch nothing."""


def in_threads(
    jobs: Sequence[Callable[[Event], Result]],
    watch: Callable[[], None] = unwatched,
) -> list[Result]:
    """Do jobs in threads, as many at once as there are cores.

    Parameters
    ----------
    jobs
        Each is called with an event, and returns soon once that is set: it works in
        kernels that let go of the interpreter, in chunks of a fraction of a second.
        What a job does depends on nothing that another one does.
    watch
        Called now and then, in the thread of the caller, to say how far the work is.

    Returns
    -------
    list
        What each job returns, in their order.

    Raises
    ------
    BaseException
        Whatever ends a job, or the wait, as Ctrl-C does; all jobs have ended then.
    """
    stop = Event()
    with ThreadPoolExecutor(min(len(jobs), cores())) as pool:
        futures: list[Future[Result]] = []
        try:
            futures.extend(pool.submit(job, stop) for job in jobs)
            waiting = set(futures)
            while waiting:
                done, waiting = wait(waiting, _GLANCE, FIRST_EXCEPTION)
                for future in done:
                    future.result()
                watch()
            return [future.result() for future in futures]
        except BaseException:
            stop.set()
            for future in futures:
                future.cancel()
            raise
