"""The scratch folder of a run: rows between two tasks, and the release until it is whole."""

import logging
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Ints
from trajanon.atomic_output import BEFORE, UNFINISHED, exchanged, hold, remove_abandoned
from trajanon.errors import BadInput, FileProblem
from trajanon.files.report import groups_path
from trajanon.files.trajectory_files import is_part
from trajanon.remote_folder import Folder

_LOG = logging.getLogger(__name__)

DRAFT, GROUPS, REPORT = "release", "groups", "report.json"
"""The release, the line of each row, and the report, while a run is not done, in its folder."""

_AT_WORK = "at-work"
_OLD = f"{BEFORE}-groups"  # the line of each row, as it was before

Arrays = Mapping[str, NDArray[Any]]
"""Arrays by their names, each with a row for each trajectory, or with what these lie on."""


class Stored(NamedTuple):
    """A piece of a file: the bytes where it is, and of how many rows."""

    name: str
    begin: int
    end: int
    rows: int


class Task(NamedTuple):
    """Rows that are taken at once."""

    number: int
    places: Sequence[Stored]  # where the rows are
    first: int = 1  # id of the first line, of a part of the release

    @property
    def rows(self) -> int:
        """How many rows."""
        return sum(place.rows for place in self.places)


class Scratch(Folder):
    """Where a run keeps rows between two tasks: a file of each task, with a piece for each target.

    Each run has another one: what a worker writes when its run is over is in no other run's way.
    """

    def write_pieces(
        self, name: str, pieces: Iterable[tuple[int, int, Arrays]]
    ) -> list[tuple[int, Stored]]:
        """Write pieces, each for a target, of some rows; say where they are."""
        places = []
        with self.writing(name) as file:
            for target, rows, piece in pieces:
                begin, held = file.tell(), BytesIO()
                np.savez(held, **dict[str, Any](piece))
                file.write(held.getbuffer())
                places.append((target, Stored(name, begin, file.tell(), rows)))
        return places

    def read_piece(self, place: Stored) -> Arrays:
        """Read the arrays of a piece, and nothing else of its file."""
        with self.named(place.name):
            path = f"{self.path}/{place.name}"
            piece = self.system.cat_file(path, start=place.begin, end=place.end)
            return dict(np.load(BytesIO(piece), allow_pickle=False))

    def remove_files_of(self, tasks: Iterable[Task]) -> None:
        """Remove the files of tasks that are all done: one that is done again needs them."""
        for name in sorted({place.name for task in tasks for place in task.places}):
            self.remove_file(name)


def parted(target: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield each target, and which rows are for it."""
    order = np.argsort(target, kind="stable")
    numbers, first = np.unique(target[order], return_index=True)
    yield from zip(numbers.tolist(), np.split(order, first[1:]), strict=False)


def tasks_of(placed: Iterable[tuple[int, Stored]]) -> list[Task]:
    """Put together the data of one target: a shard, a slice, or a part of the release."""
    places: dict[int, list[Stored]] = {}
    for number, place in placed:
        places.setdefault(number, []).append(place)
    return [Task(number, places[number]) for number in sorted(places)]


def report_beside(out: str) -> str:
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
    """Give a folder to work in; at the end, move the release and its companions out of it."""
    whole = Folder(out.url + UNFINISHED)
    groups, before, old = Folder(groups_path(named)).real, whole / BEFORE, whole / _OLD
    there, then = (place.states() if place.exists else {} for place in (out, groups))
    try:
        whole.claim(_AT_WORK)
    except FileProblem as error:
        if isinstance(error.__cause__, FileExistsError):  # of two runs that begin at once
            raise FileProblem(_taken(whole)) from error
        raise
    try:
        with ExitStack() as moving:
            if whole.local is not None:
                whole.local.chmod(0o700)
                moving.enter_context(hold(whole.local))
            scratch = Scratch(f"{whole}/{secrets.token_hex(4)}")
            (draft := scratch / DRAFT).make()
            yield scratch
            moving.enter_context(exchanged(out, draft, before, there))
            if (drafted := scratch / GROUPS).exists:
                if drafted.local is not None:
                    drafted.local.chmod(0o700)
                moving.enter_context(exchanged(groups, drafted, old, then))
            elif groups.exists:  # of a release that is replaced
                groups.move(old)
                moving.push(lambda kind, *_: old.move(groups) if kind else None)
            if (report := scratch / REPORT).local is not None:
                report.local.chmod(0o600)
            report.move(Folder(report_beside(named)))
    except BaseException:
        _clear(whole, before, old)
        raise
    _clear(whole)


def _clear(whole: Folder, *before: Folder) -> None:
    """Remove the folder of a run; warn if that fails, or is interrupted."""
    try:
        left = [one for one in before if one.exists]
        for one in left:  # it could not be moved back, and is the only copy
            _LOG.warning("%s is what was there: move it back", one)
        if not left:
            whole.remove()
    except (FileProblem, KeyboardInterrupt):
        msg = "%s could not be removed, and holds original coordinates: remove it"
        _LOG.warning(msg, whole)
