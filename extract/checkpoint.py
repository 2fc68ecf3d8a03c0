"""An extraction that grows on disk, so that it can go on where it was stopped.

A folder beside the file that it will become, ``trajectories.parquet.unfinished`` beside
``trajectories.parquet``, with parts that are GeoParquet files by themselves, what is known of their
recordings, and how far the source was read. The state is written last, so that whatever ends the
program leaves the parts before it. A short extraction never comes to need it, unless it is stopped.
"""

import hashlib
import json
import logging
import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import fields, replace
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Bools, Ints
from trajanon.drafts import LOCK, STATE, UNFINISHED, hold
from trajanon.errors import BadInput, FileProblem, NoTrajectories
from trajanon.extract.cutting import Cutter
from trajanon.extract.fingerprints import Fingerprints, joined_fingerprints
from trajanon.extract.sources.source import Source
from trajanon.files.json_types import parsed
from trajanon.files.trajectories import read_trajectories, write_trajectories
from trajanon.inputs import regular
from trajanon.trajectories import Trajectories, joined_trajectories

logger = logging.getLogger(__name__)

TRAJECTORIES_HELD = 4_000
RECORDINGS_HELD = 200_000
"""What is held in memory before it becomes a part on disk, whichever comes first."""

_PART = "part-{}.parquet"
_KNOWN = "known-{}.npz"


class State(TypedDict):
    """How far an extraction is, as JSON."""

    asked: str  # digest of what was asked for
    key: int  # secret number of the trimmed ends
    position: list[int]  # as in `trajanon.extract.sources.source.Source`
    rows: list[int]  # trajectories of each part on disk; a part without has no file
    sums: dict[str, str]  # a checksum of each file on disk
    anchors: int  # places about which ends were cut out
    counts: dict[str, int]  # what was dropped by the cutting
    left_out: dict[str, int]  # what was left out by the reading
    longest: float  # as in `trajanon.extract.cutting.Cutter`
    swapped: int  # as in `trajanon.extract.cutting.Cutter`


def beginning(asked: str = "") -> State:
    """Give the state of an extraction before the first trace, with a new secret."""
    return State(
        asked=asked,
        key=secrets.randbits(63),
        position=[0, 0],
        rows=[],
        sums={},
        anchors=0,
        counts={},
        left_out={},
        longest=0.0,
        swapped=0,
    )


def digest(*words: object) -> str:
    """Make one short text of all that a result depends on, and of the version."""
    text = repr((version("trajanon"), *words))
    return hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest()


class Checkpoint(AbstractContextManager["Checkpoint"]):
    """What an extraction has found so far; left by an exception, it is kept on disk."""

    def __init__(self, out: Path, asked: str, *, resume: bool) -> None:
        self.folder = out.with_name(out.name + UNFINISHED)
        self.state = beginning(asked)
        self._parts: list[Trajectories] = []
        self._prints: list[Fingerprints] = []
        self._anchors: list[tuple[float, float]] = []
        self._numbers: list[NDArray[Any]] = []  # subject and trace of each trajectory, a batch each
        self._open = ExitStack()
        self._locked = False
        if not (self.folder / STATE).exists():
            return
        try:
            self._lock()
            if not resume:
                msg = (
                    f"{self.folder} holds what an extraction found before it was "
                    "stopped: add `resume` to go on, or remove the folder to begin anew"
                )
                raise BadInput(msg)
            self.state = self._read_state(asked)
        except BaseException:
            self._open.close()
            raise

    def __exit__(self, *raised: Any) -> None:
        _, error, _ = raised
        with self._open:
            begun = isinstance(error, BadInput) and not self.state["rows"]
            if error is None or begun or isinstance(error, NoTrajectories):
                self._remove()
                return
            with suppress(FileProblem):  # the error that ended it says enough
                self._keep()
            if not self.state["rows"]:
                self._remove()
            else:
                what = "what was found so far is kept in %s: add `resume` to go on"
                logger.warning(what, self.folder)

    def restore(self, cutter: Cutter) -> None:
        """Tell a new cutter all that an earlier one knew."""
        for number in range(len(self.state["rows"])):
            with np.load(self._file(_KNOWN, number)) as arrays:
                known = dict(arrays)
            self._numbers.append(known.pop("numbers"))
            cutter.anchors.know(known.pop("anchors"))
            cutter.recordings.enter(Fingerprints(**known))
        cutter.counts.update(self.state["counts"])
        cutter.longest, cutter.swapped = self.state["longest"], self.state["swapped"]

    def add(self, part: Trajectories, prints: Fingerprints, cutter: Cutter, source: Source) -> None:
        """Take what a batch of recordings gave, and how far the work is with it."""
        self._parts.append(part)
        self._prints.append(prints)
        self._numbers.append(np.array((part.subject, part.trace), np.int64))
        known = self.state["anchors"] + len(self._anchors)
        self._anchors += cutter.anchors.places[known:]
        self.state |= {
            "position": list(source.position),
            "counts": dict(cutter.counts),
            "left_out": dict(source.left_out),
            "longest": cutter.longest,
            "swapped": cutter.swapped,
        }
        if (
            sum(map(len, self._parts)) >= TRAJECTORIES_HELD
            or sum(map(len, self._prints)) >= RECORDINGS_HELD
        ):
            self._keep()

    def chosen(self, cutter: Cutter) -> Iterator[Trajectories]:
        """Give, part by part, the windows that are taken, once all are known."""
        subject, trace = np.concatenate([np.empty((2, 0), np.int64), *self._numbers], axis=1)
        if not len(subject):
            raise NoTrajectories(cutter.why_nothing())
        taken, person = cutter.choose(subject, trace)
        return self._taken(taken, person, trace)

    def _taken(self, taken: Bools, person: Ints, trace: Ints) -> Iterator[Trajectories]:
        files = (self._file(_PART, number) for number, n in enumerate(self.state["rows"]) if n)
        begin = 0
        for part in chain(map(read_trajectories, files), self._parts):
            rows = slice(begin, begin + len(part))
            begin += len(part)
            some = taken[rows]
            if some.any():
                # The parts as read count from 0 each.
                yield replace(part.take(some), subject=person[rows][some], trace=trace[rows][some])

    def _keep(self) -> None:
        """Write what is in memory as a part, then the state."""
        if not self._prints:
            return
        if not self._locked:
            self._lock()
            if (self.folder / STATE).exists():
                self._locked = False  # what lies there is not ours to remove
                msg = (
                    f"another extraction was at work in {self.folder} meanwhile: write "
                    "to another file with `out`"
                )
                raise FileProblem(msg)
        rows = sum(map(len, self._parts))
        number = len(self.state["rows"])
        prints = joined_fingerprints(self._prints)
        known = {one.name: getattr(prints, one.name) for one in fields(prints)}
        known["anchors"] = np.array(self._anchors).reshape(-1, 2)
        known["numbers"] = np.concatenate(self._numbers[-len(self._parts) :], axis=1)
        files = [self._file(name, number) for name in (_KNOWN, _PART)]
        try:
            files[0].touch(mode=0o600)
            np.savez(files[0], **known)
            if rows:
                write_trajectories(files[1], joined_trajectories(self._parts))
            written = files if rows else files[:1]
            state: State = {
                **self.state,
                "rows": [*self.state["rows"], rows],
                "sums": self.state["sums"] | {path.name: _checksum(path) for path in written},
                "anchors": self.state["anchors"] + len(self._anchors),
            }
            self._write_state(state)
        except OSError as error:
            with suppress(OSError):
                for path in files:
                    path.unlink(missing_ok=True)
            msg = (
                f"cannot write {self.folder}: {error.strerror or error}; what was "
                "found before is still there: make room, then add `resume`"
            )
            raise FileProblem(msg) from error
        self.state, self._parts, self._prints, self._anchors = state, [], [], []

    def _lock(self) -> None:
        """Make the folder this extraction's alone, until it or its process ends."""
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            self._open.enter_context(hold(self.folder))
        except BlockingIOError as error:
            msg = (
                f"another extraction is at work in {self.folder}: wait for its end, or "
                "write to another file with `out`"
            )
            raise FileProblem(msg) from error
        except OSError as error:
            with suppress(OSError):
                self.folder.rmdir()
            msg = f"cannot write {self.folder}: {error.strerror}; name another `out`"
            raise FileProblem(msg) from error
        self._locked = True

    def _read_state(self, asked: str) -> State:
        path = self.folder / STATE
        try:
            state = parsed(regular(path).read_bytes(), State)
            is_the_same = state["asked"] == asked
            for name, checksum in state["sums"].items() if is_the_same else ():
                path = self.folder / name
                if _checksum(regular(path)) != checksum:
                    msg = "it was changed"
                    raise ValueError(msg)
        except (OSError, ValueError) as error:
            msg = f"cannot read {path}: remove {self.folder} to begin anew"
            raise FileProblem(msg) from error
        if not is_the_same:
            msg = (
                f"{self.folder} is of another extraction: its files, its area or its "
                "rules were others; ask for the same with `resume`, or remove the "
                "folder to begin anew"
            )
            raise BadInput(msg)
        return state

    def _write_state(self, state: State) -> None:
        """Write it beside its place, and move it there."""
        draft = self.folder / f".{STATE}"
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(state, indent=1), encoding="utf-8")
        draft.replace(self.folder / STATE)

    def _file(self, pattern: str, number: int) -> Path:
        return self.folder / pattern.format(f"{number:05d}")

    def _remove(self) -> None:
        """Remove what was kept, and the folder unless there is something else in it."""
        if not self._locked:
            return
        for name in (STATE, LOCK):
            (self.folder / name).unlink(missing_ok=True)
        for pattern in (_PART, _KNOWN):
            for path in self.folder.glob(pattern.format("*")):
                path.unlink()
        with suppress(OSError):
            self.folder.rmdir()


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()
