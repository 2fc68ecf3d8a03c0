"""Work in threads, one for each core, that Ctrl-C can end; and on a Dask cluster."""

import logging
import os
import secrets
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, CancelledError, ThreadPoolExecutor, wait
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import partial
from importlib import import_module
from itertools import islice
from threading import Event
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trajanon.common.ctrl_c import ctrl_c_ignored
from trajanon.common.errors import BadInput, ServerProblem, TrajanonError
from trajanon.common.progress import Progress

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

_SECONDS_BETWEEN_LOOKS = 0.1  # at how far the work is
_SECONDS_BETWEEN_COUNTS = 1.0  # of the workers that are left
_WAIT_SETTING = "distributed.scheduler.no-workers-timeout"
_WAIT = "10m"  # if Dask's setting names no time
_LOCAL = "local:"
_ENVIRONMENT_SETTING = "distributed.nanny.pre-spawn-environ"
_SECONDS_TO_WAIT = 10  # for a scheduler, or for workers to come back
_LOGGERS_OF_DASK = (
    "distributed",
    "distributed.client",
    "distributed.gc",
    "tornado.application",
    "asyncio",
)
"""Loggers that write to the screen by themselves, or for Dask."""

_LOG = logging.getLogger(__name__)

Item = TypeVar("Item")
Result = TypeVar("Result")
Number = TypeVar("Number", bound=np.generic)


def cores() -> int:
    """Count the threads that can work at once."""
    return os.cpu_count() or 1


def unwatched() -> None:
    """Watch nothing."""


def in_threads(
    jobs: Iterable[Callable[[Event], Result]], watch: Callable[[], None] = unwatched
) -> list[Result]:
    """Do jobs in threads, as many at once as there are cores; the first while others are made."""
    stop = Event()
    pool = ThreadPoolExecutor(cores())
    try:
        futures = [pool.submit(job, stop) for job in jobs]
        waiting = set(futures)
        while waiting:
            done, waiting = wait(waiting, _SECONDS_BETWEEN_LOOKS, FIRST_EXCEPTION)
            for future in done:
                future.result()
            watch()
        return [future.result() for future in futures]
    except BaseException:
        stop.set()
        raise
    finally:
        pool.shutdown(cancel_futures=True)


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


def results_in_order(
    begin: Callable[[Item], Callable[[], Result]], items: Iterable[Item], ahead: int
) -> Generator[Result, None, None]:
    """Begin tasks, at most ``ahead`` at once; yield results in order, each on request.

    ``begin`` starts the task of an item, and returns what waits for its result.
    """
    items_left = iter(items)
    begun: deque[Callable[[], Result]] = deque()
    while True:
        begun.extend(map(begin, islice(items_left, ahead - len(begun))))
        if not begun:
            return
        yield begun.popleft()()  # waits for the one that began first


def each_done(
    client: "Client | None",
    progress: Progress,
    what: str,
    task: Callable[[Item], Result],
    items: Sequence[Item],
) -> Iterator[Result]:
    """Do a task with each item, here or on a cluster; yield results as they come, in order."""
    progress(what, 0, len(items))
    results = (task(item) for item in items) if client is None else on_cluster(client, task, items)
    with closing(results):
        for done, result in enumerate(results, 1):
            progress(what, done, len(items))
            yield result


def on_cluster(
    client: "Client", task: Callable[[Item], Result], items: Iterable[Item]
) -> Generator[Result, None, None]:
    """Do tasks on workers, two ahead for each of their threads; yield results in order.

    Dask shows them by the name of the function.
    """
    from distributed.scheduler import KilledWorker

    # Not pure: a file may have changed since it was read. The task, which may hold a large table's
    # cuts and owners, goes to each worker once.
    sent_task = client.submit(lambda: task, pure=False)

    function = task.func if isinstance(task, partial) else task
    name = getattr(function, "__name__", "task").replace("_", " ")

    def begin(item: Item) -> Callable[[], Result]:
        key = f"{name}-{secrets.token_hex(16)}"
        done = client.submit(lambda task, item: task(item), sent_task, item, key=key, pure=False)
        return partial(_awaited, client, done)

    try:
        yield from results_in_order(begin, items, 2 * _thread_count(client))
    except TrajanonError:
        raise
    except (KilledWorker, ImportError, CancelledError, OSError) as error:
        raise ServerProblem(
            f"the cluster failed: {_on_one_line(error) or type(error).__name__}; check that its "
            f"scheduler runs, and that its workers have trajanon and the memory that was "
            f"requested, or lower `memory`, then start again"
        ) from error


def _awaited(client: "Client", done: "Future") -> Any:
    """Wait for a result, as long as there are workers, or some may come back."""
    import dask.config
    from dask.utils import parse_timedelta
    from distributed import wait as wait_for

    longest_wait = parse_timedelta(dask.config.get(_WAIT_SETTING) or _WAIT)
    alone_since = None
    while not done.done():
        with suppress(TimeoutError):
            wait_for(done, _SECONDS_BETWEEN_COUNTS)
            break
        if client.nthreads():
            alone_since = None
            continue

        now = monotonic()
        if alone_since is None:
            alone_since = now
            _LOG.warning(
                "no workers yet: waiting up to %.0f s, as Dask's %s says",
                longest_wait,
                _WAIT_SETTING,
            )
        if now - alone_since > longest_wait:
            raise ServerProblem(
                f"there were no workers for {longest_wait:.0f} s: start some with dask worker "
                f"{client.scheduler_info()['address']}, and begin again"
            )
    return done.result()


def _thread_count(client: "Client") -> int:
    """Count the threads of all workers, of which one may be about to begin."""
    with suppress(TimeoutError):
        client.wait_for_workers(1, _SECONDS_TO_WAIT)
    threads: int = sum(client.nthreads().values())
    if not threads:
        address = client.scheduler_info()["address"]
        raise ServerProblem(
            f"the scheduler at {address} has no workers: start some with: dask worker {address}"
        )
    return threads


def _on_one_line(error: Exception) -> str:
    """Return the message of an error on one line, shortened."""
    return " ".join(str(error).split())[:200]


@contextmanager
def connected(cluster: str | None) -> Iterator["Client | None"]:
    """Reach a cluster, or start one on this machine, with one thread a worker; None for none."""
    if cluster is None:
        yield None
        return
    try:
        import_module("distributed")
    except ImportError as error:
        raise BadInput("`cluster` needs Dask: pip install 'trajanon[cluster]'") from error
    import dask.config
    from distributed import Client

    for name in _LOGGERS_OF_DASK:  # what ends a run is raised
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)

    # The list of files of a large table is large, and a lost worker may take long to come back.
    dask_settings = {
        "distributed.admin.large-graph-warning-threshold": "1TB",
        "distributed.deploy.lost-worker-timeout": "10m",
        _ENVIRONMENT_SETTING: {
            **dask.config.get(_ENVIRONMENT_SETTING),
            "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical",
        },
    }
    with dask.config.set(dask_settings), ExitStack() as ending:
        try:
            address = cluster
            if cluster.startswith(_LOCAL):
                local = _local_cluster(int(cluster.removeprefix(_LOCAL)))
                address = ending.enter_context(local).scheduler_address
            elif not cluster.strip():  # such as a variable that is not set
                raise ValueError
            client = ending.enter_context(Client(address, timeout=_SECONDS_TO_WAIT))
        except ValueError as error:
            raise BadInput(
                f"`cluster` {cluster!r} must be the address of a scheduler, such as "
                "tcp://10.0.0.1:8786, or local:4 for four workers here"
            ) from error
        except (OSError, RuntimeError) as error:
            raise ServerProblem(
                f"no workers could be reached or started with {cluster}: {_on_one_line(error)}; "
                "see that dask scheduler and dask worker run"
            ) from error
        _thread_count(client)  # there must be some
        _LOG.info("Dask shows the work at %s", client.dashboard_link)
        yield client


def dask_setup(_: object) -> None:
    """Ignore Ctrl-C in a worker: Dask calls it when one begins that loads this module first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _local_cluster(workers: int) -> "LocalCluster":
    """Start workers on this machine, which ignore the Ctrl-C that a terminal sends to all."""
    from distributed import LocalCluster

    if workers < 1:
        raise ValueError

    with ctrl_c_ignored():
        return LocalCluster(
            n_workers=workers,
            threads_per_worker=1,  # kernels take all cores
            memory_limit=0,  # tasks are made to fit; spilling would slow them
            dashboard_address="127.0.0.1:0",
            preload=__name__,  # a worker that takes a dead one's place is started later
        )
