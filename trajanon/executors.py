"""Executors of the tasks of a run: this process, or the workers of a Dask cluster."""

import logging
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING, TypeVar

from trajanon.errors import BadInput, ServerProblem, TrajanonError
from trajanon.progress import Progress, silent
from trajanon.workers import ctrl_c_held_back

if TYPE_CHECKING:
    from distributed import Client

_Given = TypeVar("_Given")
_Result = TypeVar("_Result")

_LOCAL = "local:"
_TALKERS = ("distributed", "distributed.client", "distributed.gc", "tornado.application", "asyncio")
"""Loggers that write to the screen by themselves, or for Dask."""

_ENVIRONMENT = "distributed.nanny.pre-spawn-environ"  # Dask's setting for that of workers
_LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"  # bytes from which Dask warns
_LOST = "distributed.deploy.lost-worker-timeout"  # of a local cluster
_PATIENCE = 10  # seconds to wait for a scheduler, or for workers to come back


@dataclass(frozen=True, slots=True)
class Executor:
    """Does tasks: one after the other here, or on the cluster of a client, in any order."""

    client: "Client | None" = None
    progress: Progress = silent

    def each(
        self, what: str, task: Callable[[_Given], _Result], given: Sequence[_Given]
    ) -> list[_Result]:
        """Do a task with each thing given; results in their order.

        On a cluster, tasks of a lost worker are done again.
        """
        results: list[_Result] = []
        self.progress(what, 0, len(given))
        with closing(self._results(task, given)) as found:
            for result in found:
                results.append(result)
                self.progress(what, len(results), len(given))
        return results

    def _results(
        self, task: Callable[[_Given], _Result], given: Sequence[_Given]
    ) -> Generator[_Result, None, None]:
        if self.client is None:
            yield from map(task, given)
            return
        # Not pure: the files that tasks write are gone when a run has ended. A task may hold much,
        # such as roads: it goes to each worker once.
        held = self.client.submit(lambda: task, pure=False)
        futures = self.client.map(lambda one, task: task(one), given, task=held, pure=False)
        try:
            with _said():
                for future in futures:
                    yield future.result()
                    future.release()
        finally:
            self.client.cancel(futures)


def results_in_order(
    begin: Callable[[_Given], Callable[[], _Result]], given: Iterable[_Given], ahead: int
) -> Generator[_Result, None, None]:
    """Begin tasks, at most ``ahead`` at once; give results in order, each on request."""
    coming = iter(given)
    waiting: deque[Callable[[], _Result]] = deque()
    while True:
        waiting.extend(map(begin, islice(coming, ahead - len(waiting))))
        if not waiting:
            return
        yield waiting.popleft()()


def on_cluster(
    client: "Client", task: Callable[[_Given], _Result], given: Iterable[_Given]
) -> Generator[_Result, None, None]:
    """Do tasks on workers, two ahead for each of their threads; give results in order.

    A result stays with its worker until its turn comes. Dask cancels tasks with results that
    are no longer needed.
    """

    def begin(one: _Given) -> Callable[[], _Result]:
        # Not pure: a file may have changed since it was read.
        result: Callable[[], _Result] = client.submit(task, one, pure=False).result
        return result

    with _said():
        yield from results_in_order(begin, given, 2 * _threads(client))


def _threads(client: "Client") -> int:
    """Count the threads of all workers, of which one may be about to begin."""
    with suppress(TimeoutError):
        client.wait_for_workers(1, _PATIENCE)
    threads: int = sum(client.nthreads().values())
    if not threads:
        address = client.scheduler_info()["address"]
        raise ServerProblem(
            f"the scheduler at {address} has no workers: start some with: dask worker {address}"
        )
    return threads


@contextmanager
def _said() -> Iterator[None]:
    """Say in one sentence what became of a cluster and its workers."""
    from distributed.scheduler import KilledWorker

    try:
        yield
    except TrajanonError:
        raise
    except (KilledWorker, ImportError, CancelledError, OSError) as error:
        raise ServerProblem(
            f"the cluster failed: {_words(error) or type(error).__name__}; see that its scheduler "
            "runs, and that its workers have trajanon and the memory that was asked for, or lower "
            "`memory`, then begin again"
        ) from error


def _words(error: Exception) -> str:
    return " ".join(str(error).split())[:200]


@contextmanager
def connected(cluster: str) -> Iterator["Client"]:
    """Reach a cluster, or start one on this machine."""
    try:
        import_module("distributed")
    except ImportError as error:
        raise BadInput("`cluster` needs Dask: pip install 'trajanon[cluster]'") from error
    with _quiet(), ExitStack() as ending:
        yield (_started if cluster.startswith(_LOCAL) else _reached)(cluster, ending)


def _reached(address: str, ending: ExitStack) -> "Client":
    from distributed import Client

    try:
        if not address.strip():  # such as a variable that is not set
            raise ValueError
        client: Client = ending.enter_context(Client(address, timeout=_PATIENCE))
    except ValueError as error:
        raise BadInput(
            f"`cluster` {address!r} must be the address of a scheduler, such as "
            "tcp://10.0.0.1:8786, or local:4"
        ) from error
    except OSError as error:
        raise ServerProblem(
            f"no scheduler answers at {address}: start one with dask scheduler, and "
            "workers with dask worker"
        ) from error
    _threads(client)  # there must be some
    return client


def _started(cluster: str, ending: ExitStack) -> "Client":
    """Start workers on this machine, each with one thread: kernels take more."""
    import dask.config
    from distributed import Client, LocalCluster

    workers = cluster.removeprefix(_LOCAL)
    if not workers.isdecimal() or int(workers) < 1:
        raise BadInput(f"`cluster` {cluster!r} must be local: and a number of workers: local:4")
    before = dask.config.get(_ENVIRONMENT)
    # Without Dask's MALLOC_TRIM: with it each block of a search has to ask for its memory again.
    kept = {name: before[name] for name in before if "MALLOC_TRIM" not in name}
    kept["DASK_DISTRIBUTED__LOGGING__DISTRIBUTED"] = "critical"
    try:
        with _ctrl_c_for_this_process(), dask.config.set({_ENVIRONMENT: kept}):
            local = LocalCluster(
                n_workers=int(workers),
                threads_per_worker=1,
                memory_limit=0,  # tasks are made to fit; spilling would slow them
                dashboard_address="127.0.0.1:0",
            )
            client: Client = ending.enter_context(Client(ending.enter_context(local)))
    except (OSError, RuntimeError) as error:
        raise ServerProblem(f"the workers could not be started: {_words(error)}") from error
    return client


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's messages from the screen: what ends a run is raised."""
    import dask.config

    loggers = [logging.getLogger(name) for name in _TALKERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        # The list of files of a large table is large; and on a busy machine a lost worker may take
        # longer to come back than Dask waits for it.
        with dask.config.set({_LARGE_GRAPH: "1TB", _LOST: "10m"}):
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextmanager
def _ctrl_c_for_this_process() -> Iterator[None]:
    """Start processes that ignore Ctrl-C; in this one it waits until the end of the block.

    A terminal sends it to all of them, and each would show a traceback of its own. A process begins
    with the blocked signals of this one; so do those that replace a lost one.
    """
    with ctrl_c_held_back():  # a thread in which it is not blocked may receive it
        if not hasattr(signal, "pthread_sigmask"):
            yield
            return
        resource_tracker.ensure_running()  # it unblocks the signal once it has begun
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
