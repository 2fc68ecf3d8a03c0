"""The scratch folder of a run, and the rows that lie in it between two tasks."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from io import BytesIO
from itertools import groupby
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Bools, Ints
from trajanon.drafts import hold
from trajanon.errors import FileProblem
from trajanon.folder import Folder

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

    def write_arrays(self, name: str, lists: Iterable[Sequence[NDArray[Any]]]) -> list[Stored]:
        """Write lists of arrays, each with an entry a row, and say where each list is."""
        places = []
        with self.writing(name) as file:
            for arrays in lists:
                begin = file.tell()
                for array in arrays:
                    np.save(file, array, allow_pickle=False)
                places.append(Stored(name, begin, file.tell(), len(arrays[0])))
        return places

    def read_arrays(self, place: Stored, count: int) -> list[NDArray[Any]]:
        """Read the first arrays of a list, and nothing else of its file."""
        with self.named(place.name):
            path = f"{self.path}/{place.name}"
            file = BytesIO(self.system.cat_file(path, place.begin, place.end))
            return [np.load(file, allow_pickle=False) for _ in range(count)]

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


class ShardRows(NamedTuple):
    """Rows of the table on their way through the files of a run."""

    row: Ints  # their numbers in the table, (n,)
    mark: Ints  # a number of each: the shard it fell into, or its group, (n,)
    subject: Ints  # whose each is, (n,), the same in all parts
    points: NDArray[np.floating]  # latitude and longitude, (n, m, 2)

    def take(self, which: Bools | Ints) -> "ShardRows":
        """Take some of the rows."""
        return ShardRows(self.row[which], self.mark[which], self.subject[which], self.points[which])


def read_rows(scratch: Scratch, task: Task) -> ShardRows:
    """Read the rows of a task, place after place."""
    whole, begin = None, 0
    for place in task.places:
        some = ShardRows(*scratch.read_arrays(place, len(ShardRows._fields)))
        if whole is None:
            whole = ShardRows(*(np.empty((task.rows, *a.shape[1:]), a.dtype) for a in some))
        for array, part in zip(whole, some, strict=True):
            array[begin : begin + place.rows] = part
        begin += place.rows
    assert whole is not None
    return whole


def files_per_task(targets: int, tasks: int) -> int:
    """How many files each task writes for its targets: the fewer, the more tasks there are."""
    return min(max(FILES // tasks, 1), targets)


def write_by_target(
    scratch: Scratch,
    name: str,
    target: Ints,
    files: int,
    take: Callable[[Ints], Sequence[NDArray[Any]]],
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
