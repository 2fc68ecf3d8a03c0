"""Files read by several processes, given in their order."""

import logging
import multiprocessing
import signal
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.formats import SourceFile, read_file
from trajanon.extract.sources.gpx.gpx_document import Document
from trajanon.extract.sources.streams import Reading
from trajanon.extract.trace import Trace

LARGE = 1 << 26
"""Bytes; a larger file, or an archive, is read here as a stream: what a process reads
is held until its turn has come."""

Item = Trace | Document


class _Read(NamedTuple):
    """What a process found in a file."""

    items: list[Item]
    counts: Counter[str]
    size: int  # bytes
    records: list[logging.LogRecord]  # what was logged
    problem: BadInput | FileProblem | None


def prefetched(
    readings: Sequence[tuple[SourceFile, Reading]], jobs: int
) -> Iterator[Iterator[Item]]:
    """Give the contents of each file; others are read meanwhile."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, context, _leave_ctrl_c_to_the_parent) as pool:
        try:
            waiting: deque[tuple[SourceFile, Reading, Future[_Read] | None]] = deque()
            coming = iter(readings)
            while True:
                for file, how in islice(coming, 2 * jobs - len(waiting)):
                    waiting.append((file, how, _begun(pool, file, how)))
                if not waiting:
                    return
                file, how, future = waiting.popleft()
                yield read_file(file, how) if future is None else _given(future, how)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _begun(pool: ProcessPoolExecutor, file: SourceFile, how: Reading) -> Future[_Read] | None:
    """Have a file read by a process, if it is of a size to be held whole."""
    if file.size > LARGE or file.format == "gpx-archive":
        return None
    try:
        return pool.submit(_whole, file, replace(how, counts=Counter(), read=_silent))
    except BrokenProcessPool:  # what is lost with it, the result that is waited for says
        return None


def _given(future: Future[_Read], how: Reading) -> Iterator[Item]:
    try:
        found = future.result()
    except BrokenProcessPool as error:
        msg = "a reading process was ended: if memory ran out, lower `jobs`"
        raise FileProblem(msg) from error
    how.counts.update(found.counts)
    how.read(found.size)
    for record in found.records:
        logger = logging.getLogger(record.name)
        if once := getattr(record, "once", ""):
            how.warn(logger, once, record.getMessage())
        else:
            logger.handle(record)
    yield from found.items
    if found.problem is not None:
        raise found.problem


def _whole(file: SourceFile, how: Reading) -> _Read:
    """Read a file in a process of its own; the parent logs what is logged here."""
    kept = _Kept()
    logger = logging.getLogger("trajanon")
    logger.handlers, logger.propagate = [kept], False
    items: list[Item] = []
    problem = None
    try:
        items.extend(read_file(file, how))
    except (BadInput, FileProblem) as error:
        problem = error
    return _Read(items, how.counts, file.size, kept.records, problem)


class _Kept(logging.Handler):
    """Keeps records so that they can be sent to another process."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        record.msg, record.args = record.getMessage(), ()
        self.records.append(record)


def _silent(size: int) -> None:
    """Tell no progress: the parent counts the file as a whole."""


def _leave_ctrl_c_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
