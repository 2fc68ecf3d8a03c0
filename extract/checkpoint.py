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
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, field, fields, replace
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import IO, Any, get_type_hints

import numpy as np

from trajanon.drafts import LOCK, STATE, UNFINISHED, hold
from trajanon.errors import BadInput, FileProblem, NoTrajectories
from trajanon.extract.cutting import Cutter
from trajanon.extract.fingerprints import Fingerprints, joined_fingerprints
from trajanon.extract.sources.source import Source
from trajanon.files.json_types import parsed, typed
from trajanon.files.trajectories import read_trajectories, write_trajectories
from trajanon.inputs import regular
from trajanon.trajectories import Trajectories, joined_trajectories

logger = logging.getLogger(__name__)

TRAJECTORIES_HELD = 4_000
RECORDINGS_HELD = 200_000
"""What is held in memory before it becomes a part on disk, whichever comes first."""

_VERSION = 3  # of the state; the first one did not name its version
_PART = "part-{}.parquet"
_KNOWN = "known-{}.npz"


@dataclass(kw_only=True)
class State:
    """How far an extraction is; a new one has a new secret."""

    version: int = _VERSION
    asked: str = ""  # digest of what was asked for
    key: int = field(default_factory=lambda: secrets.randbits(63))  # of the trimmed ends
    position: list[int] = field(default_factory=lambda: [0, 0])  # as in `Source`
    rows: list[int] = field(default_factory=list)  # trajectories of each part; none is no file
    sums: dict[str, str] = field(default_factory=dict)  # a checksum of each file on disk
    anchors: int = 0  # places about which ends were cut out
    counts: dict[str, int] = field(default_factory=dict)  # what was dropped by the cutting
    left_out: dict[str, int] = field(default_factory=dict)  # what was left out by the reading
    longest: float = 0.0  # as in `Cutter`
    swapped: int = 0  # as in `Cutter`


class Checkpoint(AbstractContextManager["Checkpoint"]):
    """What an extraction has found so far; left by an exception, it is kept on disk."""

    def __init__(self, out: Path, asked: Sequence[object], *, resume: bool) -> None:
        self.folder = out.with_name(out.name + UNFINISHED)
        words = repr((version("trajanon"), *asked)).encode(errors="surrogatepass")
        self.state = State(asked=hashlib.blake2b(words, digest_size=16).hexdigest())
        self._parts: list[Trajectories] = []
        self._prints: list[Fingerprints] = []
        self._anchors: list[tuple[float, ...]] = []
        self._lock = self._locked()
        try:
            if (self.folder / STATE).exists():
                self.state = self._read_state(self.state.asked, resume=resume)
        except BaseException:
            self._lock.close()
            raise

    def __exit__(self, *raised: Any) -> None:
        _, error, _ = raised
        with self._lock:
            if error is not None and not isinstance(error, NoTrajectories):
                if self.state.rows or not isinstance(error, BadInput):
                    with suppress(FileProblem):  # the error that ended it says enough
                        self._keep()
                if self.state.rows:
                    what = "what was found so far is kept in %s: add `resume` to go on"
                    logger.warning(what, self.folder)
                    return
            self._remove()

    def restore(self, cutter: Cutter) -> None:
        """Tell a new cutter all that an earlier one knew."""
        for number in range(len(self.state.rows)):
            with np.load(self._file(_KNOWN, number)) as known:
                cutter.anchors.know(known["anchors"])
                names = (one.name for one in fields(Fingerprints))
                cutter.recordings.enter(Fingerprints(**{name: known[name] for name in names}))
        cutter.counts.update(self.state.counts)
        cutter.longest, cutter.swapped = self.state.longest, self.state.swapped

    def add(self, part: Trajectories, prints: Fingerprints, cutter: Cutter, source: Source) -> None:
        """Take what a batch of recordings gave, and how far the work is with it."""
        self._parts.append(part)
        self._prints.append(prints)
        self._anchors = cutter.anchors.places[self.state.anchors :]
        self.state = replace(
            self.state,
            position=list(source.position),
            counts=dict(cutter.counts),
            left_out=dict(source.left_out),
            longest=cutter.longest,
            swapped=cutter.swapped,
        )
        trajectories, recordings = sum(map(len, self._parts)), sum(map(len, self._prints))
        if trajectories >= TRAJECTORIES_HELD or recordings >= RECORDINGS_HELD:
            self._keep()

    def chosen(self, cutter: Cutter) -> Iterator[Trajectories]:
        """Give, part by part, the windows that are taken, once all are known."""
        numbers = [np.empty((2, 0), np.int64)]
        for number in range(len(self.state.rows)):
            with np.load(self._file(_KNOWN, number)) as known:
                numbers.append(known["numbers"])
        numbers += [np.array((part.subject, part.trace), np.int64) for part in self._parts]
        subject, trace = np.concatenate(numbers, axis=1)
        if not len(subject):
            raise NoTrajectories(cutter.why_nothing())
        taken, person = cutter.choose(subject, trace)

        def parts() -> Iterator[Trajectories]:
            begin = 0
            written = (self._file(_PART, number) for number, n in enumerate(self.state.rows) if n)
            for part in chain(map(read_trajectories, written), self._parts):
                rows = np.arange(begin, begin + len(part))
                begin += len(part)
                some = taken[rows]
                if some.any():
                    mine = rows[some]  # the parts as read count from 0 each
                    own = replace(part.take(some), subject=person[mine], trace=trace[mine])
                    yield cutter.timed(own, len(subject))

        return parts()

    def _keep(self) -> None:
        """Write what is in memory as a part, then the state."""
        if not self._prints:
            return
        whole = joined_trajectories(self._parts)
        prints = joined_fingerprints(self._prints)
        known = {one.name: getattr(prints, one.name) for one in fields(prints)}
        known["anchors"] = np.array(self._anchors).reshape(-1, 2)
        known["numbers"] = np.array((whole.subject, whole.trace), np.int64)
        files = [self._file(name, len(self.state.rows)) for name in (_KNOWN, _PART)]
        try:
            files[0].touch(mode=0o600)
            np.savez(files[0], **known)
            if len(whole):
                write_trajectories(files[1], whole)
            sums = {path.name: _checksum(path) for path in files if path.exists()}
            state = replace(
                self.state,
                rows=[*self.state.rows, len(whole)],
                sums=self.state.sums | sums,
                anchors=self.state.anchors + len(self._anchors),
            )
            draft = self.folder / f".{STATE}"
            draft.touch(mode=0o600)
            told = asdict(state)
            told["sum"] = _sum(told)
            draft.write_text(json.dumps(told, indent=1), encoding="utf-8")
            draft.replace(self.folder / STATE)
        except OSError as error:
            with suppress(OSError):
                for path in files:
                    path.unlink(missing_ok=True)
            raise FileProblem(
                f"cannot write {self.folder}: {error.strerror or error}; what was "
                "found before is still there: make room, then add `resume`"
            ) from error
        self.state, self._parts, self._prints, self._anchors = state, [], [], []

    def _locked(self) -> IO[str]:
        """Make the folder this extraction's alone, until it or its process ends."""
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            return hold(self.folder)
        except BlockingIOError as error:
            raise FileProblem(
                f"another extraction is at work in {self.folder}: wait for its end, or "
                "write to another file with `out`"
            ) from error
        except OSError as error:
            with suppress(OSError):
                self.folder.rmdir()
            raise FileProblem(
                f"cannot write {self.folder}: {error.strerror}; name another `out`"
            ) from error

    def _read_state(self, asked: str, *, resume: bool) -> State:
        if not resume:
            raise BadInput(
                f"{self.folder} holds what an extraction found before it was "
                "stopped: add `resume` to go on, or remove the folder to begin anew"
            )
        path = self.folder / STATE
        try:
            read = parsed(regular(path).read_bytes(), dict[str, Any])
            said, is_current = read.pop("sum", ""), read.get("version", 1) == _VERSION
            if is_current and said != _sum(read):
                raise ValueError("it was changed")
            kinds = get_type_hints(State).items() if is_current else ()
            state = State(**{name: typed(read.get(name), kind, name) for name, kind in kinds})
            for name, checksum in state.sums.items() if state.asked == asked else ():
                path = self.folder / name
                if _checksum(regular(path)) != checksum:
                    raise ValueError("it was changed")
        except (OSError, ValueError) as error:
            raise FileProblem(f"cannot read {path}: remove {self.folder} to begin anew") from error
        if not is_current:
            raise BadInput(
                f"{self.folder} was kept by another version of trajanon, which cannot be "
                "gone on from: remove the folder to begin anew"
            )
        if state.asked != asked:
            raise BadInput(
                f"{self.folder} is of another extraction: its files, its area or its rules were "
                "others; ask for the same with `resume`, or remove the folder to begin anew"
            )
        return state

    def _file(self, pattern: str, number: int) -> Path:
        return self.folder / pattern.format(f"{number:05d}")

    def _remove(self) -> None:
        """Remove what was kept, and the folder unless there is something else in it."""
        ours = [self.folder / STATE, self.folder / LOCK]
        for pattern in (_PART, _KNOWN):
            ours += self.folder.glob(pattern.format("*"))
        for path in ours:
            path.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


def _sum(told: dict[str, Any]) -> str:
    """Give a checksum of a state: its values fit together as they were written, or not at all."""
    return hashlib.blake2b(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()
