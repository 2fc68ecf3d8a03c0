"""The ledger: the holder's private list of releases, as keyed digests, in a file of SQLite."""

import hmac
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import numpy as np

from trajanon.arrays import Bools, Hashes, Ints
from trajanon.errors import BadInput, FileProblem, TrajanonError
from trajanon.inputs import parsed
from trajanon.partition import dense
from trajanon.progress import Progress, silent
from trajanon.remote_folder import Folder, folder_or_file

_AT_ONCE = 100_000  # trajectories
_VERSION = 3
_TABLES = """
create table ledger (version integer not null, key blob not null);
create table releases (number integer primary key, told text not null, hops blob not null,
  people blob not null);
"""


class Told(TypedDict):
    """What a ledger says about a release."""

    when: str  # UTC
    release: str  # where it was written: a path, or a URL
    originals: str  # of what it was made
    content: str  # digest of what was written
    settled: bool  # whether its files have their names
    k: int
    counted: str  # what k counts
    n: int  # trajectories released


@dataclass(frozen=True, slots=True)
class Entry:
    """A release in a ledger."""

    number: int
    told: Told
    hops: Hashes  # digests of the hops of what was released, rising


class Sorted(NamedTuple):
    """Which trajectories may be released."""

    new: Bools  # these, (n,)
    known: int  # how many others were released before

    def told_in(self, report: dict[str, Any], path: Path) -> Ints:
        """Tell it in the report of the new ones; give the rows of the file that were released."""
        released = np.flatnonzero(self.new)
        if suppressed := report.get("suppressed"):
            suppressed["rows"] = released[suppressed["rows"]].tolist()
            released = np.setdiff1d(released, suppressed["rows"])
        report["ledger"] = {
            "file": path.name,
            "new": int(self.new.sum()),
            "already_released": self.known,
            "rows": np.flatnonzero(~self.new).tolist(),
        }
        return released


class Ledger:
    """An open ledger, locked against every other process."""

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        self.path, self._database = path, database
        ((version, key),) = database.execute("select version, key from ledger")
        if version == 2:
            database.executescript(
                f"alter table releases drop column digest; update ledger set version = {_VERSION}"
            )
            version = _VERSION
        if version != _VERSION:
            raise FileProblem(
                f"{path} is a ledger of version {version}, and this trajanon knows {_VERSION}"
            )
        if not isinstance(key, bytes):
            raise _damaged(path)
        self._key = key
        self.entries = self._read()

    @property
    def release_key(self) -> bytes:
        """The secret that perturbs the lines of all its releases: the same group, the same line."""
        return hmac.digest(self._key, b"lines", "sha256")

    def keyed(self, marks: Hashes, progress: Progress = silent) -> Hashes:
        """Make digests of the hops in marks with the key, (n, HOPS); 0 where one has fewer."""
        hops = marks[:, 1:]
        keyed = np.zeros(hops.shape, dtype=np.uint64)
        for begin in range(0, len(hops), _AT_ONCE):
            progress("Looking into the ledger", begin, len(hops))
            some = hops[begin : begin + _AT_ONCE]
            present = some != 0
            keyed[begin : begin + len(some)][present] = self._digests(some[present])
        return keyed

    def sort(self, hops: Hashes, run: Ints | None) -> Sorted:
        """Sort into new ones, and those released before: all of a ``run`` that windows slide on."""
        group = np.arange(len(hops)) if run is None else dense(run)
        known = np.zeros(group.max(initial=-1) + 1, dtype=np.bool_)
        for entry in self.entries:
            known[group[_among(hops, entry.hops).any(axis=1)]] = True
        new = ~known[group]
        return Sorted(new, int((~new).sum()))

    @contextmanager
    def recording(self, release: str | os.PathLike[str]) -> Iterator["Recording"]:
        """Record a release around the block in which its files get their names: both or neither."""
        for entry in self.entries:
            if not entry.told["settled"]:
                raise FileProblem(
                    f"the run of release {entry.number}, {entry.told['release']}, was killed: see "
                    f"whether it is there with trajanon ledger verify {self.path}"
                )
        for entry in self.entries:
            if entry.told["release"] == _absolute(release):
                raise BadInput(
                    f"{release} is release {entry.number} of {self.path}: write elsewhere"
                )
        recording = Recording(self, _absolute(release))
        try:
            yield recording
        except BaseException:
            if recording.number is not None:  # Ctrl-C may come when its files have their names
                self._mend(self._entry(recording.number))
            raise
        if recording.number is not None:
            self._settle(recording.number)

    def announce(self, told: Told, hops: Hashes) -> int:
        """Add a release that is about to get its name, by what its trajectories are known by."""
        number = max((entry.number for entry in self.entries), default=0) + 1
        self._put(Entry(number, told, np.unique(hops[hops != 0])))
        return number

    def forget(self, number: int) -> Entry:
        """Remove a release: its trajectories count as new again."""
        forgotten = self._entry(number)
        with _named(self.path):
            self._database.execute("delete from releases where number = ?", (number,))
        self.entries.remove(forgotten)
        return forgotten

    def verify(self) -> list[tuple[Entry, str]]:
        """Look whether all releases are in place, changed or gone; mend those of killed runs."""
        found = []
        for entry in self.entries:
            if entry.told["settled"]:
                content = content_of(entry.told["release"])
                there = content == entry.told["content"]
                found.append((entry, "in place" if there else "changed" if content else "gone"))
            else:
                found.append((entry, self._mend(entry)))
        return found

    def _mend(self, entry: Entry) -> str:
        """Settle a release if its files have their names, and forget it if not."""
        if content_of(entry.told["release"]) == entry.told["content"]:
            self._settle(entry.number)
            return "settled"
        self.forget(entry.number)
        return "forgotten"

    def _entry(self, number: int) -> Entry:
        for entry in self.entries:
            if entry.number == number:
                return entry
        known = ", ".join(str(entry.number) for entry in self.entries) or "none"
        raise BadInput(f"there is no release {number} in {self.path}; there are: {known}")

    def _settle(self, number: int) -> None:
        old = self._entry(number)
        self._put(replace(old, told={**old.told, "settled": True}))

    def _digests(self, hashes: Hashes) -> Hashes:
        different, inverse = np.unique(hashes, return_inverse=True)
        raw, key, digest = different.astype("<u8").tobytes(), self._key, hmac.digest
        parts = (digest(key, raw[at : at + 8], "sha256")[:8] for at in range(0, len(raw), 8))
        found: Hashes = np.frombuffer(b"".join(parts), dtype="<u8").astype(np.uint64)
        return found[inverse]

    def _read(self) -> list[Entry]:
        entries = []
        rows = self._database.execute("select number, told, hops from releases order by number")
        for number, told, hops in rows:
            digests = np.frombuffer(hops, dtype="<u8").astype(np.uint64)
            entries.append(Entry(number, parsed(told, Told), digests))
        return entries

    def _put(self, entry: Entry) -> None:
        """Write a release, in place of the one of its number."""
        text = json.dumps(entry.told, ensure_ascii=False)
        hops = entry.hops.astype("<u8").tobytes()
        with _named(self.path):
            self._database.execute(
                "insert or replace into releases values (?, ?, ?, ?)",
                (entry.number, text, hops, b""),  # people, of whom it held digests once
            )
        self.entries = [one for one in self.entries if one.number != entry.number] + [entry]


class Recording:
    """A release that is being written."""

    def __init__(self, ledger: Ledger, place: str) -> None:
        self.number: int | None = None
        self._ledger, self._place = ledger, place

    def announce(
        self,
        draft: Path | Folder,
        originals: str | os.PathLike[str],
        report: dict[str, Any],
        hops: Hashes,
    ) -> None:
        """Say that a draft, of trajectories known by this, is about to become a release."""
        content = content_of(draft)
        assert content is not None
        told: Told = {
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
            "release": self._place,
            "originals": _absolute(originals),
            "content": content,
            "settled": False,
            "k": report["k"],
            "counted": report["counted"],
            "n": report["n"],
        }
        self.number = self._ledger.announce(told, hops)


@contextmanager
def opened(path: str | os.PathLike[str], *, new: bool = False) -> Iterator[Ledger]:
    """Open a ledger, for this run alone; a new one is made if there is none and that is wanted."""
    path = Path(path)
    if begun := not path.exists():
        if not new:
            raise FileProblem(
                f"there is no {path}: make one with trajanon anonymize --ledger {path}"
            )
        _make(path)
    with _named(path):
        if not path.stat().st_size:  # SQLite would begin a database in it
            raise FileProblem(f"{path} is empty, and no ledger: remove it, or name another file")
        if path.stat().st_mode & 0o077:
            path.chmod(0o600)
        database = sqlite3.connect(path, timeout=0.0, isolation_level=None)
    with closing(database):
        with _named(path):
            # The lock that the first reading takes is held until the end.
            database.execute("pragma locking_mode = exclusive")
            database.execute("begin exclusive")
            database.execute("commit")
            try:
                ledger = Ledger(path, database)
            except (ValueError, TypeError) as error:  # of what no ledger holds
                raise _damaged(path) from error
        try:
            yield ledger
        except BaseException:
            if begun and not ledger.entries:  # nothing came of it
                path.unlink(missing_ok=True)
            raise


def _make(path: Path) -> None:
    """Make an empty ledger with a random key; it has its name once it is whole."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.draft")
    with _named(path):
        try:
            draft.touch(mode=0o600, exist_ok=False)
            key = secrets.token_bytes(32)
            with closing(sqlite3.connect(draft)) as database:
                database.executescript(_TABLES)
                database.execute("insert into ledger values (?, ?)", (_VERSION, key))
                database.commit()
            os.link(draft, path)  # which fails if another run has made one meanwhile
        except FileExistsError:
            pass
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Make a sentence of an error of the file or of SQLite."""
    try:
        yield
    except TrajanonError:
        raise
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise FileProblem(f"another run holds {path}: wait for its end") from error
        raise FileProblem(f"cannot use {path} as a ledger: {error}") from error
    except sqlite3.DatabaseError as error:
        raise FileProblem(
            f"{path} is no ledger, or is damaged ({error}): name another file, or its last copy"
        ) from error
    except OSError as error:
        raise FileProblem(f"cannot use {path} as a ledger: {error.strerror}") from error


def _damaged(path: Path) -> FileProblem:
    return FileProblem(f"{path} is damaged: take its last copy")


def _among(digests: Hashes, rising: Hashes) -> Bools:
    if not len(rising):
        return np.zeros(digests.shape, dtype=np.bool_)
    place = np.minimum(np.searchsorted(rising, digests), len(rising) - 1)
    return np.asarray(rising[place] == digests)


def content_of(place: str | os.PathLike[str] | Folder) -> str | None:
    """A digest of a file, or of the files of a folder; None if there is nothing."""
    where = folder_or_file(place)
    if isinstance(where, Path):
        if not where.is_file():
            return None
        with where.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    if not where.exists:
        return None
    whole = sha256()
    for name in where.names():
        with where.open(name) as part:
            # What file systems open can `readinto`; its type does not say so.
            digest = file_digest(part, "sha256").hexdigest()  # type: ignore[arg-type]
        whole.update(f"{name} {digest}\n".encode())
    return whole.hexdigest()


def _absolute(place: str | os.PathLike[str]) -> str:
    """Write a place so that it is found from any folder."""
    text = os.fspath(place)
    return text if "://" in text else os.path.realpath(text)
