"""The ledger: the holder's private list of releases, as keyed digests, in a file of SQLite."""

import hmac
import json
import os
import secrets
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import file_digest, sha256
from pathlib import Path
from typing import NotRequired, TypedDict

import msgspec
import numpy as np
from msgspec import structs

from trajanon.common.arrays import Bools, Hashes, Ints
from trajanon.common.atomic_output import make_secret_file
from trajanon.common.errors import BadInput, FileProblem, TrajanonError
from trajanon.common.inputs import parsed, typed
from trajanon.common.object_stores import Folder, folder_or_file
from trajanon.common.progress import Progress, silent
from trajanon.release.report import InLedger, Link, Report

_MARKS_PER_BATCH = 100_000  # trajectories
_KEY = 32  # bytes
_VERSION = 4
_TABLES = """
create table ledger (version integer not null, key blob not null,
  last integer not null, link blob not null);
create table releases (number integer primary key, told text not null, hops blob not null,
  people blob not null, link blob not null);
"""
_ALL = "select * from releases order by number"
_OF_VERSION_2 = ("alter table releases drop column digest",)
_OF_VERSION_3 = (
    "alter table ledger add column last integer not null default 0",
    "alter table ledger add column link blob not null default x''",
    "alter table releases add column link blob not null default x''",
)


class Note(TypedDict):
    """What a ledger says about a release."""

    when: str  # UTC
    release: str  # where it was written: a path, or a URL
    originals: str  # of what it was made
    content: str  # digest of what was written
    settled: bool  # whether its files have their names
    k: int
    counted: str  # what k counts
    n: int  # trajectories released
    one_line_each: NotRequired[bool]  # whether nobody may be on a further line; not before 4


@dataclass(frozen=True, slots=True)
class Entry:
    """A release in a ledger."""

    number: int
    note: Note
    hops: Hashes  # digests of the hops of what was released, rising
    people: Hashes  # digests of the names of the people behind it, rising


class Ledger:
    """An open ledger, locked against every other process."""

    def __init__(self, path: Path, database: sqlite3.Connection) -> None:
        self.path = path
        self._database = database
        ((version, key),) = database.execute("select version, key from ledger")
        if version not in range(2, _VERSION + 1):
            raise FileProblem(
                f"{path} is a ledger of version {version}, and this trajanon knows {_VERSION}"
            )
        if not isinstance(key, bytes) or len(key) != _KEY or not any(key):
            raise _damaged(path)
        self._key = key
        self._links = {0: self._digest(b"begin")}  # by the number of the release
        if version < _VERSION:
            self._upgrade(version)
        self.entries = self._read()

    def _upgrade(self, version: int) -> None:
        """Add a chain to a ledger of an earlier version, as it is."""
        database = self._database
        with database:  # all or nothing
            database.execute("begin")
            for statement in (*_OF_VERSION_2 * (version == 2), *_OF_VERSION_3):
                database.execute(statement)
            link = self._links[0]
            last = 0
            for last, note, *stored, _ in database.execute(_ALL).fetchall():
                link = self._linked(link, last, parsed(note, Note), *stored)
                database.execute("update releases set link = ? where number = ?", (link, last))
            database.execute(
                "update ledger set version = ?, last = ?, link = ?", (_VERSION, last, link)
            )

    @property
    def release_key(self) -> bytes:
        """Return the secret that perturbs all its releases: the same group, the same line."""
        return hmac.digest(self._key, b"lines", "sha256")

    def keyed(self, marks: Hashes, progress: Progress = silent) -> Hashes:
        """Make digests of marks with the key, (n, 1 + HOPS); 0 where there is no mark."""
        keyed = np.zeros(marks.shape, dtype=np.uint64)
        for begin in range(0, len(marks), _MARKS_PER_BATCH):
            progress("Looking into the ledger", begin, len(marks))
            batch = marks[begin : begin + _MARKS_PER_BATCH]
            present = batch != 0
            keyed[begin : begin + len(batch)][present] = self._digests(batch[present])
        return keyed

    def sort(
        self,
        keyed: Hashes,
        run: Ints | None,
        person: Ints | None = None,
        *,
        one_line_each: bool = False,
    ) -> tuple[Bools, InLedger]:
        """Mark the trajectories that may be released, (n,), and report why others may not.

        Released before is all of a ``run`` that windows slide on. Of a ``person`` who is on a line
        already nothing is new, if that release or this one promises one line each.
        """
        entries = self.entries
        early = [entry.number for entry in entries if "one_line_each" not in entry.note]
        if one_line_each and early:
            raise BadInput(
                f"release {early[0]} of {self.path} was entered by an earlier version, which kept "
                "no people, so that `one_line_each` cannot be promised: begin a new `ledger`"
            )
        known = _of_owners(keyed[:, 1:], [entry.hops for entry in entries], run)

        promising = [e.people for e in entries if one_line_each or e.note.get("one_line_each")]
        on_a_line = _of_owners(keyed[:, :1], promising, person) & ~known
        new = ~known & ~on_a_line
        return new, InLedger(
            file=self.path.name,
            new=int(new.sum()),
            already_released=int(known.sum()),
            on_a_line=int(on_a_line.sum()),
            rows=np.flatnonzero(~new).tolist(),
        )

    @contextmanager
    def recording(self, release: str | os.PathLike[str]) -> Iterator[None]:
        """Record a release around the block in which its files get their names: both or neither."""
        for entry in self._unsettled:
            raise FileProblem(
                f"the run of release {entry.number}, {entry.note['release']}, was killed: see "
                f"whether it is there with trajanon ledger verify {self.path}"
            )
        self.compare_with_reports()
        for entry in self.entries:
            if entry.note["release"] == _absolute(release):
                raise BadInput(
                    f"{release} is release {entry.number} of {self.path}: write elsewhere"
                )

        try:
            yield
        except BaseException:
            for entry in self._unsettled:  # Ctrl-C may come when its files have their names
                self._mend(entry)
            raise
        for entry in self._unsettled:
            self._settle(entry)

    def enter(
        self,
        release: str | os.PathLike[str],
        draft: Path | Folder,
        originals: str | os.PathLike[str],
        report: Report,
        keyed: Hashes,
    ) -> InLedger:
        """Enter a draft, of trajectories known by this, that is about to become a release.

        Return what the report, which is written after that, says of the ledger.
        """
        content = content_of(draft)
        assert content is not None
        assert report.ledger is not None
        number = self.announce(
            {
                "when": datetime.now(UTC).isoformat(timespec="seconds"),
                "release": _absolute(release),
                "originals": _absolute(originals),
                "content": content,
                "settled": False,
                "k": report.k,
                "counted": report.counted,
                "n": report.n,
                "one_line_each": report.one_line_each,
            },
            keyed,
        )
        link = Link(self._digest(b"ledger").hex(), number, self._links[number].hex())
        return structs.replace(report.ledger, link=link)

    def announce(self, note: Note, keyed: Hashes) -> int:
        """Add a release that is about to get its name, by what its trajectories are known by."""
        last = max(self._links)
        number = last + 1
        hops = np.unique(keyed[:, 1:][keyed[:, 1:] != 0])
        people = np.unique(keyed[:, 0][keyed[:, 0] != 0])
        stored = hops.astype("<u8").tobytes(), people.astype("<u8").tobytes()
        link = self._linked(self._links[last], number, note, *stored)

        row = (number, _text(note), *stored, link)
        with _named(self.path), self._database:  # both or neither
            self._database.execute("begin")
            self._database.execute("insert into releases values (?, ?, ?, ?, ?)", row)
            self._database.execute("update ledger set last = ?, link = ?", (number, link))
        self._links[number] = link
        self.entries.append(Entry(number, note, hops, people))
        return number

    def forget(self, number: int) -> Entry:
        """Empty the entry of a release: its trajectories count as new again."""
        by_number = {entry.number: entry for entry in self.entries}
        if (forgotten := by_number.get(number)) is None:
            known = ", ".join(map(str, by_number)) or "none"
            raise BadInput(f"there is no release {number} in {self.path}; there are: {known}")
        before = self._links[max(before for before in self._links if before < number)]
        with _named(self.path):
            self._database.execute(
                "update releases set told = ?, hops = x'', people = x'' where number = ?",
                (self._forgotten(before, self._links[number]), number),
            )
        self.entries.remove(forgotten)
        return forgotten

    def compare_with_reports(self) -> None:
        """Refuse an older copy: reports beside it, or beside its releases, know of later ones."""
        places = [self.path.absolute(), *(Path(entry.note["release"]) for entry in self.entries)]
        unknown = {}
        for folder in {place.parent for place in places}:
            for report in folder.glob("*.report.json"):
                link = _link_in(report)
                if link is None or link.ledger != self._digest(b"ledger").hex():
                    continue
                if self._links.get(link.releases, b"").hex() != link.chain:
                    unknown[link.releases] = report
        if unknown:
            first = min(unknown)
            raise _not_whole(self.path, first, f"{unknown[first]} is of a release that it lacks")

    def verify(self) -> list[tuple[Entry, str]]:
        """Find whether all releases are in place, changed or gone; mend those of killed runs."""
        self.compare_with_reports()
        states = []
        for entry in [*self.entries]:
            content = content_of(entry.note["release"])
            if not entry.note["settled"]:
                state = self._mend(entry)
            elif content == entry.note["content"]:
                state = "in place"
            else:
                state = "changed" if content else "gone"
            states.append((entry, state))
        return states

    @property
    def _unsettled(self) -> list[Entry]:
        """List the releases whose files may not have their names yet."""
        return [entry for entry in self.entries if not entry.note["settled"]]

    def _mend(self, entry: Entry) -> str:
        """Settle a release if its files have their names, and forget it if not."""
        if content_of(entry.note["release"]) == entry.note["content"]:
            self._settle(entry)
            return "settled"
        self.forget(entry.number)
        return "forgotten"

    def _settle(self, entry: Entry) -> None:
        settled = replace(entry, note={**entry.note, "settled": True})
        with _named(self.path):
            self._database.execute(
                "update releases set told = ? where number = ?", (_text(settled.note), entry.number)
            )
        self.entries[self.entries.index(entry)] = settled

    def _digest(self, *parts: bytes) -> bytes:
        """Make a digest with the key, of parts in their order."""
        digests = b"".join(sha256(part).digest() for part in parts)
        return hmac.digest(self._key, digests, "sha256")

    def _linked(self, before: bytes, number: int, note: Note, *stored: bytes) -> bytes:
        """Make the digest of an entry and of all before it."""
        lasting = {name: value for name, value in note.items() if name != "settled"}
        words = json.dumps([number, lasting], sort_keys=True).encode()
        return self._digest(b"link", before, words, *stored)

    def _forgotten(self, before: bytes, link: bytes) -> str:
        """Make what stands in place of an entry that was forgotten: nobody else can write it."""
        return self._digest(b"forgotten", before, link).hex()

    def _digests(self, hashes: Hashes) -> Hashes:
        """Make 64 bits of digest of each hash, computed once for equal ones."""
        different, inverse = np.unique(hashes, return_inverse=True)
        raw = different.astype("<u8").tobytes()
        words = (raw[start : start + 8] for start in range(0, len(raw), 8))
        digests = b"".join(hmac.digest(self._key, word, "sha256")[:8] for word in words)
        return np.asarray(np.frombuffer(digests, dtype="<u8").astype(np.uint64)[inverse])

    def _read(self) -> list[Entry]:
        """Read all entries, if nothing was changed, removed or put in place of others."""
        entries = []
        number = 0
        for following, text, hops, people, link in self._database.execute(_ALL):
            before = self._links[number]
            if text != self._forgotten(before, link):
                try:
                    note = parsed(text, Note)
                    expected = self._linked(before, following, note, hops, people)
                except (BadInput, TypeError) as error:
                    raise _not_whole(self.path, number + 1) from error
                if link != expected:
                    raise _not_whole(self.path, number + 1)
                digests = (np.frombuffer(part, "<u8").astype(np.uint64) for part in (hops, people))
                entries.append(Entry(following, note, *digests))
            number = following
            self._links[number] = link

        # The last releases may have been cut off.
        ((*end,),) = self._database.execute("select last, link from ledger")
        if end != [number, self._links[number]]:
            raise _not_whole(self.path, number + 1)
        return entries


@contextmanager
def opened(path: str | os.PathLike[str], *, new: bool = False) -> Iterator[Ledger]:
    """Open a ledger, for this run alone; a new one is made if there is none and that is wanted."""
    path = Path(path)
    begun = not path.exists()
    if begun:
        if not new:
            raise FileProblem(
                f"there is no {path}: make one with trajanon anonymize --ledger {path}"
            )
        _make(path)

    with _named(path):
        if not path.stat().st_size:  # SQLite would begin a database in it
            raise FileProblem(f"{path} is empty, and not a ledger: remove it, or name another file")
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
    key = secrets.token_bytes(_KEY)
    link = hmac.digest(key, sha256(b"begin").digest(), "sha256")

    def write(draft: Path) -> None:
        with closing(sqlite3.connect(draft)) as database:
            database.executescript(_TABLES)
            database.execute("insert into ledger values (?, ?, 0, ?)", (_VERSION, key, link))
            database.commit()

    with _named(path):
        make_secret_file(path, write)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Make a sentence of an error of the file or of SQLite."""
    try:
        yield
    except TrajanonError:
        raise
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise FileProblem(f"another run is using {path}: wait until it ends") from error
        raise FileProblem(f"cannot use {path} as a ledger: {error}") from error
    except sqlite3.DatabaseError as error:
        raise FileProblem(
            f"{path} is not a ledger, or is damaged ({error}): name another file, or restore its "
            "latest copy"
        ) from error
    except OSError as error:
        raise FileProblem(f"cannot use {path} as a ledger: {error.strerror}") from error


def _damaged(path: Path) -> FileProblem:
    return FileProblem(f"{path} is damaged: restore its latest copy")


def _not_whole(
    path: Path, number: int, why: str = "entries were changed or removed"
) -> FileProblem:
    return FileProblem(
        f"{path} is not whole from release {number} on ({why}): restore its latest copy"
    )


def _of_owners(digests: Hashes, known: Sequence[Hashes], owner: Ints | None) -> Bools:
    """Mark rows with a known digest, and all rows of the same owner, (n,)."""
    all_known = np.concatenate([np.empty(0, dtype=np.uint64), *known])
    marked = np.isin(digests, all_known).any(axis=1)
    return np.asarray(marked if owner is None else np.isin(owner, owner[marked]))


def _text(note: Note) -> str:
    return json.dumps(note, ensure_ascii=False)


def _link_in(report: Path) -> Link | None:
    """Read what a report says of its ledger; None if there is none, or it is no report."""
    try:
        return typed(msgspec.json.decode(report.read_bytes())["ledger"]["link"], Link)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None


def content_of(place: str | os.PathLike[str] | Folder) -> str | None:
    """Compute a digest of a file, or of the files of a folder; None if there is nothing."""
    where = folder_or_file(place)
    if isinstance(where, Path):
        if not where.is_file():
            return None
        with where.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()

    if not where.exists:
        return None
    of_folder = sha256()
    for name in where.names():
        with where.open(name) as part:
            # What file systems open can `readinto`; its type does not say so.
            digest = file_digest(part, "sha256").hexdigest()  # type: ignore[arg-type]
        of_folder.update(f"{name} {digest}\n".encode())
    return of_folder.hexdigest()


def _absolute(place: str | os.PathLike[str]) -> str:
    """Write a place so that it is found from any folder."""
    text = os.fspath(place)
    return text if "://" in text else os.path.realpath(text)
