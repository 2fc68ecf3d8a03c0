"""Who does the tasks of a run: this process, or the workers of a cluster."""

import logging
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager
from importlib import import_module
from multiprocessing import resource_tracker
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from trajanon.errors import BadInput, ServerProblem, TrajanonError
from trajanon.progress import Progress

if TYPE_CHECKING:
    from distributed import Client

Given = TypeVar("Given")
Result = TypeVar("Result")

_LOCAL = "local:"
_TALKERS = ("distributed", "distributed.client", "distributed.gc", "tornado.application", "asyncio")
"""What logs to the screen of its own accord, or does so for Dask."""

_ENVIRONMENT = "distributed.nanny.pre-spawn-environ"
"""Where Dask keeps what workers find in their environment."""

_LARGE_GRAPH = "distributed.admin.large-graph-warning-threshold"
"""From how many bytes on Dask warns of what is sent to workers."""

_PATIENCE = 10  # seconds until a scheduler that says nothing is given up


def _nothing(_: object) -> None:
    pass


class Crew(Protocol):
    """Does tasks, in whatever order and place."""

    def each(
        self,
        what: str,
        task: Callable[[Given], Result],
        given: Sequence[Given],
        progress: Progress,
        done: Callable[[Given], object] = _nothing,
    ) -> list[Result]:
        """Do a task with each thing given."""


class Alone:
    """One task after the other, in this process."""

    def each(
        self,
        what: str,
        task: Callable[[Given], Result],
        given: Sequence[Given],
        progress: Progress,
        done: Callable[[Given], object] = _nothing,
    ) -> list[Result]:
        """Do a task with each thing given; see `Crew`."""
        results = []
        for number, one in enumerate(given):
            progress(what, number, len(given))
            results.append(task(one))
            done(one)
        progress(what, len(given), len(given))
        return results


class Cluster:
    """Tasks are sent to the workers of a Dask cluster.

    A worker that is lost costs time: what it did is done again, by another one.
    """

    def __init__(self, client: "Client") -> None:
        self._client = client

    def each(
        self,
        what: str,
        task: Callable[[Given], Result],
        given: Sequence[Given],
        progress: Progress,
        done: Callable[[Given], object] = _nothing,
    ) -> list[Result]:
        """Do a task with each thing given; see `Crew`."""
        from distributed import as_completed
        from distributed.scheduler import KilledWorker

        # Not pure: what tasks write is gone when a run has ended.
        futures = self._client.map(task, given, pure=False)
        place = {future: number for number, future in enumerate(futures)}
        results: dict[int, Result] = {}
        try:
            progress(what, 0, len(given))
            for future in as_completed(futures):
                number = place[future]
                results[number] = future.result()
                # Else it is done again if the worker that has its result is lost.
                future.release()
                done(given[number])
                progress(what, len(results), len(given))
        except TrajanonError:
            raise
        except KilledWorker as error:
            msg = (
                "several workers were lost over one task, as happens where one takes "
                "more memory than they have: lower `memory`, or give them more"
            )
            raise ServerProblem(msg) from error
        except ImportError as error:
            msg = f"the workers lack something: {error}; install trajanon there, too"
            raise ServerProblem(msg) from error
        except (CancelledError, OSError, TimeoutError) as error:
            msg = f"the cluster was lost: {' '.join(str(error).split())[:200]}"
            raise ServerProblem(msg) from error
        finally:
            self._client.cancel([f for f in futures if place[f] not in results])
        return [results[number] for number in range(len(given))]


@contextmanager
def connected(cluster: str) -> Iterator["Client"]:
    """Reach a cluster, or start one on this machine."""
    try:
        import_module("distributed")
    except ImportError as error:
        msg = "`cluster` needs Dask: pip install 'trajanon[cluster]'"
        raise BadInput(msg) from error
    if not cluster.strip():  # as of a variable that is not set
        raise _no_address(cluster)
    if not cluster.startswith(_LOCAL):
        with _quiet(), _reached(cluster) as client:
            yield client
        return
    workers = cluster.removeprefix(_LOCAL)
    if not workers.isdecimal() or int(workers) < 1:
        msg = f"`cluster` {cluster!r} must be local: and a number of workers: local:4"
        raise BadInput(msg)
    with _quiet(), ExitStack() as closing:
        with _ctrl_c_held_back():
            client = _started(int(workers), closing)
        yield client


def _started(workers: int, closing: ExitStack) -> "Client":
    """Start workers on this machine, each with one thread: kernels take more."""
    import dask.config
    from distributed import Client, LocalCluster

    try:
        with dask.config.set({_ENVIRONMENT: _environment()}):
            local = closing.enter_context(
                LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    memory_limit=0,  # shards are made to fit; spilling would slow them
                    dashboard_address="127.0.0.1:0",
                )
            )
        client: Client = closing.enter_context(Client(local))
    except (OSError, RuntimeError, TimeoutError) as error:
        msg = f"the workers could not be started: {' '.join(str(error).split())[:200]}"
        raise ServerProblem(msg) from error
    return client


def _environment() -> dict[str, Any]:
    """What workers find when they begin, beside what this process has.

    Dask lets them give back all memory at once; then each block of a search pays for its pages
    anew.
    """
    import dask.config

    before = dask.config.get(_ENVIRONMENT)
    kept = {name: before[name] for name in before if "MALLOC_TRIM" not in name}
    return kept | {"DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "critical"}


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's words from the screen: what ends a run is raised, and told once."""
    import dask.config

    loggers = [logging.getLogger(name) for name in _TALKERS]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        # Of a great table the list of files is large, and the user cannot help it.
        with dask.config.set({_LARGE_GRAPH: "1TB"}):
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Let processes begin that leave Ctrl-C to this one; here it waits until the end.

    A terminal tells all of them, and each would show a traceback of its own. They begin with the
    signals blocked that are blocked here, also those that are started anew for one that was lost.
    """
    can_block = hasattr(signal, "pthread_sigmask")
    if current_thread() is not main_thread() or not can_block:
        yield
        return
    resource_tracker.ensure_running()  # it unblocks the signal once it has begun
    pressed: list[int] = []
    # Another thread, where it is not blocked, may be the one that is told.
    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        signal.signal(signal.SIGINT, before)
        if pressed:
            signal.raise_signal(signal.SIGINT)


def _no_address(cluster: str) -> BadInput:
    return BadInput(
        f"`cluster` {cluster!r} must be the address of a scheduler, such as "
        "tcp://10.0.0.1:8786, or local:4"
    )


@contextmanager
def _reached(address: str) -> Iterator["Client"]:
    from distributed import Client

    try:
        client = Client(address, timeout=_PATIENCE)
    except ValueError as error:
        raise _no_address(address) from error
    except (OSError, TimeoutError) as error:
        msg = (
            f"no scheduler answers at {address}: start one with dask scheduler, and "
            "workers with dask worker"
        )
        raise ServerProblem(msg) from error
    with client:
        if not client.scheduler_info()["workers"]:
            msg = (
                f"the scheduler at {address} has no workers: start some with: dask worker {address}"
            )
            raise ServerProblem(msg)
        yield client
