"""The scratch folder of a run, and the rows that lie in it between two tasks."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import groupby
from typing import IO, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Bools, Ints
from trajanon.drafts import holding
from trajanon.errors import FileProblem
from trajanon.parts.folder import ByteRange, Folder

_AT_WORK = "at-work"


class Scratch(Folder):
    """Where a run keeps rows between two tasks.

    A worker may still be busy when a run is stopped. What it writes then does not stay.
    """

    __slots__ = ()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Make and lock it, readable by its owner only; refuse one that exists."""
        self.make_for_oneself()
        with ExitStack() as held:
            try:
                if self.local is not None:
                    held.enter_context(holding(self.local))
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

    def remove(self) -> None:
        """End the run, and remove all that is in the folder."""
        self.remove_file(_AT_WORK)
        Folder.remove(self)


class ShardRows(NamedTuple):
    """Rows of the table on their way through the files of a run."""

    row: Ints  # their numbers in the table, (n,)
    mark: Ints  # a number of each: the shard it fell into, or its group, (n,)
    subject: Ints  # whose each is, (n,), as in `trajanon.parts.part_reader.PartRows`
    points: NDArray[np.floating]  # latitude and longitude, (n, m, 2)

    def take(self, which: Bools | Ints) -> "ShardRows":
        """Take some of the rows."""
        return ShardRows(self.row[which], self.mark[which], self.subject[which], self.points[which])


def read_rows(folder: Folder, places: Sequence[ByteRange], rows: int) -> ShardRows:
    """Read rows from several places, together this number, one after another."""
    whole, begin = None, 0
    for place in places:
        some = ShardRows(*folder.read_arrays(place, len(ShardRows._fields)))
        if whole is None:
            whole = ShardRows(*(np.empty((rows, *a.shape[1:]), a.dtype) for a in some))
        for array, part in zip(whole, some, strict=True):
            array[begin : begin + len(part)] = part
        begin += len(some.row)
    assert whole is not None
    assert begin == rows
    return whole


def write_by_target(
    folder: Folder,
    name: str,
    target: Ints,
    files: int,
    take: Callable[[Ints], Sequence[NDArray[Any]]],
) -> Iterator[tuple[int, Ints, ByteRange]]:
    """Write rows by their targets, (n,); yield each target, its rows and where they are.

    Targets that are next to each other share a file: there are ``files`` at most for all targets.
    ``name`` has a place for the number of a file.
    """
    targets = int(target.max()) + 1
    order = np.argsort(target, kind="stable")
    ends = np.searchsorted(target[order], np.arange(targets + 1))
    present = np.flatnonzero(np.diff(ends)).tolist()
    for file, numbers in groupby(present, lambda number: number * files // targets):
        which = [(number, order[ends[number] : ends[number + 1]]) for number in numbers]
        places = folder.write_arrays(name.format(file), (take(rows) for _, rows in which))
        for (number, rows), place in zip(which, places, strict=True):
            yield number, rows, place


class HasPlaces(Protocol):
    """What a task is given."""

    @property
    def places(self) -> Sequence[ByteRange]:
        """Where the rows are that it needs."""


class FileUses:
    """How many tasks still need each file.

    A task that is done again, such as after the loss of a worker, finds its files: a task is done
    only when its result has arrived.
    """

    def __init__(self, folder: Folder, given: Sequence[HasPlaces]) -> None:
        self._folder = folder
        self._left = Counter(name for one in given for name in self._files(one))

    def end(self, one: HasPlaces) -> None:
        """Remove the files that no other task needs."""
        for name in self._files(one):
            self._left[name] -= 1
            if not self._left[name]:
                self._folder.remove_file(name)

    @staticmethod
    def _files(one: HasPlaces) -> list[str]:
        return sorted({place.name for place in one.places})
