"""An extraction that grows on disk, so that it can go on where it was stopped.

A folder beside the file that it will become, ``trajectories.unfinished`` beside
``trajectories.parquet``, with parts that are GeoParquet files by themselves, what is
known of their recordings, and how far the source was read. The state is written last,
so that whatever ends the program leaves the parts before it. A short extraction never
comes to need it, unless it is stopped.
"""

import hashlib
import json
import logging
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import BadInput, FileProblem, NoTrajectories
from trajanon.extract.cutting import Cutter
from trajanon.extract.marks import Marks
from trajanon.extract.marks import joined as marks_joined
from trajanon.extract.sources.source import Source
from trajanon.files.trajectories import read_trajectories, write_trajectories
from trajanon.trajectories import Trajectories, joined

logger = logging.getLogger(__name__)

TRAJECTORIES = 4_000
RECORDINGS = 200_000
"""What is held in memory before it becomes a part on disk, whichever comes first."""

_STATE = "state.json"
_PART = "part-{}.parquet"
_MARKS = "recordings-{}.npz"


@dataclass(frozen=True, kw_only=True, slots=True)
class State:
    """How far an extraction is.

    Attributes
    ----------
    asked
        Stands for what was asked for; differs wherever the result could.
    key
        Secret number of the trimmed ends.
    position
        As in `trajanon.extract.sources.source.Source`.
    parts
        Parts on disk.
    counts, left_out
        What was dropped by the cutting, and by the readers up to the position.
    longest, swapped
        As in `trajanon.extract.cutting.Cutter`.
    """

    asked: str
    key: int
    position: tuple[int, int] = (0, 0)
    parts: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    longest: float = 0.0
    swapped: int = 0


def asked_for(*words: object) -> str:
    """Make one short text of all that the result depends on."""
    return hashlib.blake2b(repr(words).encode(), digest_size=16).hexdigest()


class Growing:
    """What an extraction has found so far; left by an exception, it is kept on disk.

    Parameters
    ----------
    out
        The file that it will become.
    asked
        What `asked_for` made of all that the result depends on.
    resume
        Whether to go on from what is there.

    Raises
    ------
    BadInput
        If there is something, and nobody asked to go on; or if it is of another
        extraction.
    FileProblem
        If it cannot be read.
    """

    def __init__(self, out: Path, asked: str, *, resume: bool) -> None:
        self.folder = out.with_suffix(".unfinished")
        self.state = State(asked=asked, key=secrets.randbits(63))
        self._parts: list[Trajectories] = []
        self._marks: list[Marks] = []
        there = (self.folder / _STATE).exists()
        if there and not resume:
            msg = (
                f"{self.folder} holds what an extraction found before it was stopped: "
                "add --resume to go on, or remove the folder to begin anew"
            )
            raise BadInput(msg)
        if there:
            self.state = self._read_state(asked)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is None or isinstance(error, BadInput):
            self._remove()
            return
        with suppress(FileProblem):  # of which the error that ended it says enough
            self._keep()
        if self.state.parts:
            logger.warning(
                "what was found so far is kept in %s: add --resume to go on",
                self.folder,
            )

    def restore(self, cutter: Cutter) -> None:
        """Tell a new cutter all that an earlier one knew."""
        for number in range(self.state.parts):
            with np.load(self._file(_MARKS, number)) as arrays:
                cutter.recordings.enter(Marks(**arrays))
        cutter.counts.update(self.state.counts)
        cutter.longest, cutter.swapped = self.state.longest, self.state.swapped

    def add(
        self, part: Trajectories, marks: Marks, cutter: Cutter, source: Source
    ) -> None:
        """Take what a batch of recordings gave, and how far the work is with it.

        Raises
        ------
        FileProblem
            If the disk is full, or cannot be written.
        """
        self._parts.append(part)
        self._marks.append(marks)
        self.state = replace(
            self.state,
            position=source.position,
            counts=cutter.counts.copy(),
            left_out=source.left_out.copy(),
            longest=cutter.longest,
            swapped=cutter.swapped,
        )
        if (
            sum(map(len, self._parts)) >= TRAJECTORIES
            or sum(map(len, self._marks)) >= RECORDINGS
        ):
            self._keep()

    def chosen(self, cutter: Cutter) -> Iterator[Trajectories]:
        """Give, part by part, the windows that are taken, once all are known.

        Raises
        ------
        NoTrajectories
            If there are none; says at which step they went.
        """
        numbers = [*self._numbers_on_disk(), *map(_numbers, self._parts)]
        if not any(len(subject) for subject, _ in numbers):
            raise NoTrajectories(cutter.why_nothing())
        subject, trace = (np.concatenate(some) for some in zip(*numbers, strict=True))
        taken, person = cutter.choose(subject, trace)
        return self._taken(taken, person, trace)

    def _taken(
        self,
        taken: NDArray[np.bool_],
        person: NDArray[np.int64],
        trace: NDArray[np.int64],
    ) -> Iterator[Trajectories]:
        begin = 0
        for part in chain(self._on_disk(), self._parts):
            rows = slice(begin, begin + len(part))
            begin += len(part)
            some = taken[rows]
            if some.any():
                # The parts as read count from 0 each.
                yield replace(
                    part.take(some), subject=person[rows][some], trace=trace[rows][some]
                )

    def _keep(self) -> None:
        """Write what is in memory as a part, then the state."""
        if not self._marks:
            return
        state = replace(self.state, parts=self.state.parts + 1)
        marks = marks_joined(self._marks)
        files = [self._file(name, self.state.parts) for name in (_MARKS, _PART)]
        draft = self.folder / f".{_STATE}"
        try:
            self.folder.mkdir(exist_ok=True)
            files[1].unlink(missing_ok=True)  # of an end between it and its state
            arrays = {one.name: getattr(marks, one.name) for one in fields(marks)}
            np.savez(files[0], **arrays)
            if any(map(len, self._parts)):
                write_trajectories(files[1], joined(self._parts))
            entries = {one.name: getattr(state, one.name) for one in fields(state)}
            draft.write_text(json.dumps(entries, indent=1), encoding="utf-8")
            draft.replace(self.folder / _STATE)
        except OSError as error:
            with suppress(OSError):
                for path in (*files, draft):
                    path.unlink(missing_ok=True)
                self.folder.rmdir()  # unless there are others
            msg = (
                f"cannot write {self.folder}: {error.strerror or error}; what was "
                "found before is still there: make room, then add --resume"
            )
            raise FileProblem(msg) from error
        self.state, self._parts, self._marks = state, [], []

    def _read_state(self, asked: str) -> State:
        path = self.folder / _STATE
        try:
            entries = json.loads(path.read_text(encoding="utf-8"))
            for name in ("counts", "left_out"):
                entries[name] = Counter(entries[name])
            state = State(**{**entries, "position": tuple(entries["position"])})
        except (OSError, ValueError, TypeError, KeyError) as error:
            msg = f"cannot read {path}: remove {self.folder} to begin anew"
            raise FileProblem(msg) from error
        if state.asked != asked:
            msg = (
                f"{self.folder} is of another extraction: its files, its area or its "
                "rules were others; ask for the same with --resume, or remove the "
                "folder to begin anew"
            )
            raise BadInput(msg)
        return state

    def _on_disk(self) -> Iterator[Trajectories]:
        for path in self._paths():
            yield read_trajectories(path)

    def _numbers_on_disk(self) -> Iterator[tuple[NDArray[Any], ...]]:
        import pyarrow.parquet as pq

        for path in self._paths():
            table = pq.read_table(path, columns=["subject", "trace"])
            yield tuple(table[name].to_numpy() for name in ("subject", "trace"))

    def _paths(self) -> list[Path]:
        """The parts on disk; one of recordings without a window has no file."""
        paths = (self._file(_PART, number) for number in range(self.state.parts))
        return [path for path in paths if path.exists()]

    def _file(self, pattern: str, number: int) -> Path:
        return self.folder / pattern.format(f"{number:05d}")

    def _remove(self) -> None:
        """Remove what was kept, and the folder unless there is something else in it."""
        (self.folder / _STATE).unlink(missing_ok=True)
        for pattern in (_PART, _MARKS):
            for path in self.folder.glob(pattern.format("*")):
                path.unlink()
        with suppress(OSError):
            self.folder.rmdir()


def _numbers(part: Trajectories) -> tuple[NDArray[Any], ...]:
    return tuple(getattr(part, name) for name in ("subject", "trace"))
