"""The scratch folder of a run: rows between two tasks, and the release until it is whole."""

import logging
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from io import SEEK_END, BytesIO
from itertools import groupby
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Ints
from trajanon.drafts import BEFORE, UNFINISHED, hold, remove_abandoned
from trajanon.errors import BadInput, FileProblem
from trajanon.files.report import groups_path
from trajanon.files.trajectories import is_part
from trajanon.folder import Folder, exchanged

_LOG = logging.getLogger(__name__)

DRAFT, GROUPS, REPORT = "release", "groups", "report.json"
"""The release, the line of each row, and the report, while a run is not done, in its folder."""

FILES = 10_000
"""Files that one step of a run writes at most, but one for each task."""

_AT_WORK = "at-work"
_OLD = f"{BEFORE}-groups"  # the line of each row, as it was before

Arrays = Sequence[NDArray[Any]]


class Stored(NamedTuple):
    """A piece of a file: the bytes where it is, and of how many rows."""

    name: str
    begin: int
    end: int
    rows: int


class Scratch(Folder):
    """Where a run keeps rows between two tasks.

    A worker may still be busy when a run is stopped. What it writes then does not stay, even if the
    next run is already at work here.
    """

    def __init__(self, place: str | Path) -> None:
        super().__init__(place)
        self._run = secrets.token_bytes(8)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Make and lock it, readable by its owner only; refuse one that exists."""
        with self._refusing_second():
            self.make(new=True)
        with ExitStack() as held:
            try:
                if self.local is not None:
                    self.local.chmod(0o700)
                    held.enter_context(hold(self.local, new=True))
                with self._refusing_second():
                    self.claim(_AT_WORK, self._run)
            except BaseException:  # such as a full disk; the next run would be refused
                if self.local is not None:  # else it may be of another run, and is not made
                    Folder.remove(self)
                raise
            yield

    @contextmanager
    def _refusing_second(self) -> Iterator[None]:
        try:
            yield
        except FileProblem as error:
            if isinstance(error.__cause__, FileExistsError):
                raise FileProblem(_taken(self)) from error
            raise

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Write a file as `Folder.writing` does."""
        with Folder.writing(self, name) as file:
            yield file
            self._refuse_late()  # another run may have a file of this name
        try:
            self._refuse_late()
        except FileProblem:
            self.remove_file(name)
            raise

    def _refuse_late(self) -> None:
        with self.named(), suppress(FileNotFoundError):
            path = f"{self.path}/{_AT_WORK}"
            if self.system.cat_file(path, start=0, end=len(self._run)) == self._run:
                return
        raise FileProblem(f"{self} is of a run that has ended")

    def write_pieces(
        self, name: str, pieces: Iterable[tuple[int, Arrays]]
    ) -> list[tuple[int, Stored]]:
        """Write numbered pieces, each some arrays; say where they are."""
        places = []
        with self.writing(name) as file:
            for number, piece in pieces:
                begin = file.tell()
                for array in piece:
                    np.save(file, array, allow_pickle=False)
                places.append((number, Stored(name, begin, file.tell(), len(piece[0]))))
        return places

    def read_piece(self, place: Stored) -> Arrays:
        """Read the arrays of a piece, and nothing else of its file."""
        with self.named(place.name):
            path = f"{self.path}/{place.name}"
            file = BytesIO(self.system.cat_file(path, start=place.begin, end=place.end))
            end, arrays = file.seek(0, SEEK_END), []
            file.seek(0)
            while file.tell() < end:
                arrays.append(np.load(file, allow_pickle=False))
            return arrays

    def remove(self) -> None:
        """End the run, and remove all that is in the folder."""
        self.remove_file(_AT_WORK)
        Folder.remove(self)


class Task(NamedTuple):
    """Rows that are taken at once."""

    number: int
    places: Sequence[Stored]  # where the rows are
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


def write_by_target(
    scratch: Scratch, name: str, pieces: Iterable[tuple[int, Arrays]], targets: int, tasks: int
) -> Iterator[tuple[int, Stored]]:
    """Write the pieces of this task for its targets; yield each target, and where its piece is.

    Targets come rising; those that are next to each other share a file, so that all tasks write
    `FILES` at most, or one each. ``name`` has a place for the number of a file.
    """
    files = min(max(FILES // tasks, 1), targets)
    for file, some in groupby(pieces, lambda piece: piece[0] * files // targets):
        yield from scratch.write_pieces(name.format(file), some)


def parted(target: Ints, arrays: Arrays) -> Iterator[tuple[int, Arrays]]:
    """Part rows of arrays by their targets, (n,)."""
    order = np.argsort(target, kind="stable")
    numbers, first = np.unique(target[order], return_index=True)
    for number, rows in zip(numbers.tolist(), np.split(order, first[1:]), strict=False):
        yield number, [array[rows] for array in arrays]


def tasks_of(placed: Iterable[tuple[int, Stored]]) -> list[Task]:
    """Put together what is for one target: a shard, a slice, or a part of the release."""
    places: dict[int, list[Stored]] = {}
    for number, place in placed:
        places.setdefault(number, []).append(place)
    return [Task(number, places[number]) for number in sorted(places)]


def report_of(out: str) -> str:
    """The path of the report of a release in parts."""
    return f"{out.rstrip('/')}.parts.report.json"


def refuse_places(source: Folder, out: Folder) -> None:
    """Refuse, before the long work, to overwrite anything but a release."""
    refuse_inputs(out, [source])
    if not source.exists:
        raise FileProblem(
            f"there is no {source}; make it with: trajanon extract --partition 100000"
        )
    left = Folder(out.url + UNFINISHED)
    here, place = left.local, out.local
    if left.exists and (here is None or place is None or remove_abandoned(here, place)):
        raise FileProblem(_taken(left))
    for name in out.names() if out.exists else ():
        if not is_part(name):
            raise FileProblem(
                f"{out} holds {name}, which is no part of a release: write to another folder"
            )


def _taken(folder: Folder) -> str:
    return (
        f"{folder} belongs to a run that is still at work, or was killed: wait for it, or remove "
        "the folder"
    )


def refuse_inputs(out: Folder, inputs: Iterable[Folder]) -> None:
    """Refuse an output that is one of the inputs, or has one in it."""
    if any(map(out.holds, inputs)):
        raise BadInput(f"{out} is read as input; write to another folder")


@contextmanager
def replacing_release(out: Folder, named: str) -> Iterator[Scratch]:
    """Give a folder to work in; at the end, move the release out of it, and what is beside it."""
    scratch = Scratch(out.url + UNFINISHED)
    told, groups = scratch / REPORT, Folder(groups_path(named)).real
    before, old = scratch / BEFORE, scratch / _OLD
    there, then = (place.states() if place.exists else {} for place in (out, groups))
    with scratch.at_work():  # of two runs that begin at once, one is refused
        try:
            (scratch / DRAFT).make()
            yield scratch
            with ExitStack() as moving:
                moving.enter_context(exchanged(out, scratch / DRAFT, before, there, is_part))
                if (drafted := scratch / GROUPS).exists:
                    if drafted.local is not None:
                        drafted.local.chmod(0o700)
                    moving.enter_context(exchanged(groups, drafted, old, then, is_part))
                elif groups.exists:  # of a release that is replaced
                    groups.move(old)
                    moving.push(lambda kind, *_: old.move(groups) if kind else None)
                if told.local is not None:
                    told.local.chmod(0o600)
                told.move(Folder(report_of(named)))
        except BaseException:
            _clear(scratch, before, old)
            raise
        scratch.remove()


def _clear(scratch: Scratch, *before: Folder) -> None:
    """Remove the folder of a failed run; warn if that fails, or is interrupted."""
    try:
        left = [one for one in before if one.exists]
        for one in left:  # it could not be moved back, and is the only copy
            _LOG.warning("%s is what was there: move it back", one)
        if not left:
            scratch.remove()
    except (FileProblem, KeyboardInterrupt):
        msg = "%s could not be removed, and holds original coordinates: remove it"
        _LOG.warning(msg, scratch)
