"""The scratch folder of a run: rows between two tasks, and the release until it is whole."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import BytesIO
from itertools import groupby
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Ints
from trajanon.drafts import BEFORE, UNFINISHED, hold, remove_abandoned
from trajanon.errors import BadInput, FileProblem
from trajanon.files.trajectories import is_part
from trajanon.folder import Folder, exchanged

_LOG = logging.getLogger(__name__)

DRAFT, REPORT = "release", "report.json"
"""The folder and the report of a release while it is not done, within the folder of the run."""

FILES = 10_000
"""Files that one step of a run writes at most, but one for each task."""

_AT_WORK = "at-work"


class Stored(NamedTuple):
    """Rows in a file: the bytes where they are, and how many rows."""

    name: str
    begin: int
    end: int
    rows: int


class Scratch(Folder):
    """Where a run keeps rows between two tasks.

    A worker may still be busy when a run is stopped. What it writes then does not stay.
    """

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Make and lock it, readable by its owner only; refuse one that exists."""
        self.make(new=True)
        with ExitStack() as held:
            try:
                if self.local is not None:
                    self.local.chmod(0o700)
                    held.enter_context(hold(self.local, new=True))
                with Folder.writing(self, _AT_WORK):
                    pass
            except BaseException:  # such as a full disk; the next run would be refused
                Folder.remove(self)
                raise
            yield

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Write a file as `Folder.writing` does."""
        with Folder.writing(self, name) as file:
            yield file
        if not (self / _AT_WORK).exists:
            self.remove_file(name)
            msg = f"{self} is of a run that has ended"
            raise FileProblem(msg)

    def write_arrays(self, name: str, arrays: Iterable[NDArray[Any]]) -> list[Stored]:
        """Write arrays of rows one after another, and say where each is."""
        places = []
        with self.writing(name) as file:
            for array in arrays:
                begin = file.tell()
                np.save(file, array, allow_pickle=False)
                places.append(Stored(name, begin, file.tell(), len(array)))
        return places

    def read_array(self, place: Stored) -> NDArray[Any]:
        """Read an array of rows, and nothing else of its file."""
        with self.named(place.name):
            path = f"{self.path}/{place.name}"
            file = BytesIO(self.system.cat_file(path, place.begin, place.end))
            array: NDArray[Any] = np.load(file, allow_pickle=False)
            return array

    def remove(self) -> None:
        """End the run, and remove all that is in the folder."""
        self.remove_file(_AT_WORK)
        Folder.remove(self)


class Task(NamedTuple):
    """Rows that are taken at once."""

    number: int
    places: Sequence[Stored]  # where the rows are
    shards: Sequence[int] = ()  # of the split, of which they are; none at a border
    first: int = 1  # id of the first line, of a part of the release

    @property
    def rows(self) -> int:
        """How many rows."""
        return sum(place.rows for place in self.places)


def removal(folder: Folder, tasks: Sequence[Task]) -> Callable[[Task], None]:
    """Give what removes, once a task is done, the files that no other task needs.

    A task that is done again, such as after the loss of a worker, finds its files: a task is done
    only when its result has arrived.
    """
    waiting = Counter(name for task in tasks for name in {place.name for place in task.places})

    def done(task: Task) -> None:
        for name in {place.name for place in task.places}:
            waiting[name] -= 1
            if not waiting[name]:
                folder.remove_file(name)

    return done


def read_rows(scratch: Scratch, task: Task) -> NDArray[np.void]:
    """Read the rows of a task, place after place."""
    rows, begin = np.empty(0, dtype=np.void), 0
    for place in task.places:
        some = scratch.read_array(place)
        if begin == 0:
            rows = np.empty(task.rows, some.dtype)
        rows[begin : begin + place.rows] = some
        begin += place.rows
    return rows


def files_per_task(targets: int, tasks: int) -> int:
    """How many files each task writes for its targets: the fewer, the more tasks there are."""
    return min(max(FILES // tasks, 1), targets)


def write_by_target(
    scratch: Scratch, name: str, target: Ints, files: int, take: Callable[[Ints], NDArray[Any]]
) -> Iterator[tuple[int, Ints, Stored]]:
    """Write rows by their targets, (n,); yield each target, its rows and where they are.

    Targets that are next to each other share a file: there are ``files`` at most for all targets.
    ``name`` has a place for the number of a file.
    """
    targets = int(target.max(initial=-1)) + 1
    order = np.argsort(target, kind="stable")
    ends = np.searchsorted(target[order], np.arange(targets + 1))
    present = np.flatnonzero(np.diff(ends)).tolist()
    for file, numbers in groupby(present, lambda number: number * files // targets):
        which = [(number, order[ends[number] : ends[number + 1]]) for number in numbers]
        places = scratch.write_arrays(name.format(file), (take(rows) for _, rows in which))
        for (number, rows), place in zip(which, places, strict=True):
            yield number, rows, place


def report_of(out: str) -> str:
    """The path of the report of a release in parts."""
    return f"{out.rstrip('/')}.parts.report.json"


def refuse_places(source: Folder, out: Folder) -> None:
    """Refuse, before the long work, to overwrite anything but a release."""
    refuse_inputs(out, [source])
    if not source.exists:
        msg = f"there is no {source}; make it with: trajanon extract --partition 100000"
        raise FileProblem(msg)
    left = Folder(out.url + UNFINISHED)
    here, place = left.local, out.local
    if left.exists and (here is None or place is None or remove_abandoned(here, place)):
        msg = (
            f"{left} belongs to a run that is still at work, or was killed: wait for it, or "
            "remove the folder"
        )
        raise FileProblem(msg)
    for name in out.names() if out.exists else ():
        if not is_part(name):
            msg = f"{out} holds {name}, which is no part of a release: write to another folder"
            raise FileProblem(msg)


def refuse_inputs(out: Folder, inputs: Iterable[Folder]) -> None:
    """Refuse an output that is one of the inputs, or has one in it."""
    if any(map(out.holds, inputs)):
        msg = f"{out} is read as input; write to another folder"
        raise BadInput(msg)


@contextmanager
def replacing_release(out: Folder, report: str) -> Iterator[Scratch]:
    """Give a folder to work in; at the end, move the release and its report out of it."""
    scratch = Scratch(out.url + UNFINISHED)
    before, told = scratch / BEFORE, scratch / REPORT
    there = out.states() if out.exists else {}
    with scratch.at_work():  # of two runs that begin at once, one is refused
        try:
            yield scratch
            with exchanged(out, scratch / DRAFT, before, there, is_part):
                if told.local is not None:
                    told.local.chmod(0o600)
                told.move(Folder(report))
        except BaseException:
            _clear(scratch, before)
            raise
        scratch.remove()


def _clear(scratch: Scratch, before: Folder) -> None:
    """Remove the folder of a failed run; warn if that fails, or is interrupted."""
    try:
        if before.exists:  # it could not be moved back, and is the only copy
            _LOG.warning("%s is the release that was there: move it back", before)
        else:
            scratch.remove()
    except (FileProblem, KeyboardInterrupt):
        msg = "%s could not be removed, and holds original coordinates: remove it"
        _LOG.warning(msg, scratch)
