"""The ledger: the holder's private list of releases, as keyed digests, in a file of SQLite.

Of each release it has a note, and digests, by a key of its own, of the *hops* (a fix with the next
one) of what was released, and of the names of the people behind it. By these a later run finds what
was released before; without the key nobody can look for a trajectory in it.

Entries are a chain: each has a *link*, a digest of itself and of the link before. So nobody can
change or remove one unseen. The report of a release holds the last link, which an older copy of the
ledger does not have.
"""

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
from trajanon.common.json_toml_and_regular_files import parsed, typed
from trajanon.common.object_stores import Folder, folder_or_file
from trajanon.common.progress import Progress, silent
from trajanon.release.report import InLedger, Link, Report

_MARKS_PER_BATCH = 100_000  # of so many trajectories
_KEY_BYTES = 32
_VERSION = 4  # of the tables

# `told` is the note of a release, as JSON; a ledger has the number and link of its last entry.
_TABLES = """
create table ledger (version integer not null, key blob not null,
  last integer not null, link blob not null);
create table releases (number integer primary key, told text not null, hops blob not null,
  people blob not null, link blob not null);
"""
_ALL_RELEASES = "select * from releases order by number"
_VERSION_2_TO_3 = ("alter table releases drop column digest",)
_VERSION_3_TO_4 = (
    "alter table ledger add column last integer not null default 0",
    "alter table ledger add column link blob not null default x''",
    "alter table releases add column link blob not null default x''",
)


class Note(TypedDict):
    """What a ledger says about a release."""

    when: str  # UTC
    release: str  # the path, or URL, where it was written
    originals: str  # the path, or URL, of what it was made of
    content: str  # digest of what was written
    settled: bool  # whether its files have their names: not while a run is at work, or was killed
    k: int
    counted: str  # what k counts
    n: int  # trajectories released
    one_line_each: NotRequired[bool]  # whether nobody may be on a further line; from version 4 on
    all_named: NotRequired[bool]  # whether each recording in the source has a name


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
        """Read all entries, and refuse a ledger of a later version, or one that is not whole."""
        self.path = path
        self._database = database
        ((version, key),) = database.execute("select version, key from ledger")
        if version not in range(2, _VERSION + 1):
            raise FileProblem(
                f"{path} is a ledger of version {version}, and this trajanon knows {_VERSION}"
            )
        if not isinstance(key, bytes) or len(key) != _KEY_BYTES or not any(key):
            raise _damaged(path)
        self._key = key
        self._links = {0: self._digest(b"begin")}  # by the number of the release
        if version < _VERSION:
            self._add_chain(version)
        self.entries = self._read()

    def _add_chain(self, version: int) -> None:
        """Add links to a ledger of an earlier version, whose entries are taken as they are."""
        database = self._database
        with database:  # all or nothing
            database.execute("begin")
            statements_of_2 = _VERSION_2_TO_3 if version == 2 else ()
            for statement in (*statements_of_2, *_VERSION_3_TO_4):
                database.execute(statement)

            number = 0
            link = self._links[0]
            for number, text, hops, people, _ in database.execute(_ALL_RELEASES).fetchall():
                link = self._link_after(link, number, parsed(text, Note), hops, people)
                database.execute("update releases set link = ? where number = ?", (link, number))
            database.execute(
                "update ledger set version = ?, last = ?, link = ?", (_VERSION, number, link)
            )

    @property
    def release_key(self) -> bytes:
        """Return the key of the lines of all its releases: the same group has the same line."""
        return hmac.digest(self._key, b"lines", "sha256")

    def digests_of_marks(self, marks: Hashes, progress: Progress = silent) -> Hashes:
        """Make digests of marks with the key, (n, 1 + HOP_HASHES_KEPT); 0 where there is no mark.

        Of each trajectory, column 0 is of the person's name, and the others are of hops.
        """
        digests = np.zeros(marks.shape, dtype=np.uint64)
        for begin in range(0, len(marks), _MARKS_PER_BATCH):
            progress("Looking into the ledger", begin, len(marks))
            batch = marks[begin : begin + _MARKS_PER_BATCH]
            is_mark = batch != 0
            digests[begin : begin + len(batch)][is_mark] = self._short_digests(batch[is_mark])
        return digests

    @property
    def releases_of_one_line_each(self) -> list[int]:
        """List the releases of which nobody may be on a line of a further one."""
        return [entry.number for entry in self.entries if entry.note.get("one_line_each")]

    def people_before(self, digests: Hashes, person: Ints) -> int:
        """Count the people, by the numbers and digests of their rows, who are in a release.

        Of an earlier version's release nobody knows the people: all may be in it.
        """
        people = [entry.people for entry in self.entries]
        is_known = _known_with_owner(digests[:, :1], people, person)
        if not all(map(len, people)):
            is_known[:] = True
        return len(np.unique(person[is_known]))

    def mark_new(
        self,
        digests: Hashes,
        recording: Ints | None,
        person: Ints | None = None,
        *,
        one_line_each: bool = False,
    ) -> tuple[Bools, InLedger]:
        """Mark the trajectories that may be released, (n,), and report why others may not.

        ``digests`` are as `digests_of_marks` makes them; ``recording`` and ``person`` are numbers
        of each trajectory, (n,). Where one window of a recording was released, no other one may be.
        Of a person who is on a line already nothing is new, if that release or this one promises
        one line each.
        """
        entries = self.entries
        # A release of one line each has names; of earlier versions, nobody knows which others had.
        without_names = [
            entry.number
            for entry in entries
            if not (entry.note.get("all_named") or entry.note.get("one_line_each"))
        ]
        if one_line_each and without_names:
            raise BadInput(
                f"release {without_names[0]} of {self.path} may have recordings without a name, so "
                "that nobody knows who is on its lines, and `one_line_each` cannot be promised: "
                "begin a new `ledger`"
            )
        released_hops = [entry.hops for entry in entries]
        was_released = _known_with_owner(digests[:, 1:], released_hops, recording)

        people_on_one_line = [
            entry.people for entry in entries if one_line_each or entry.note.get("one_line_each")
        ]
        is_on_a_line = _known_with_owner(digests[:, :1], people_on_one_line, person)
        is_on_a_line &= ~was_released
        is_new = ~was_released & ~is_on_a_line
        return is_new, InLedger(
            file=os.fsencode(self.path.name).decode("utf-8", "replace"),
            new=int(is_new.sum()),
            already_released=int(was_released.sum()),
            on_a_line=int(is_on_a_line.sum()),
            rows=np.flatnonzero(~is_new).tolist(),
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
        digests: Hashes,
    ) -> InLedger:
        """Enter a draft that is about to become a release, with the digests of what is in it.

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
                "all_named": report.counted == "subjects" and not report.source.nameless,
            },
            digests,
        )
        link = Link(self._digest(b"ledger").hex(), number, self._links[number].hex())
        return structs.replace(report.ledger, link=link)

    def announce(self, note: Note, digests: Hashes) -> int:
        """Add the entry of a release that is about to get its name; return its number."""
        last = max(self._links)
        number = last + 1
        hops = np.unique(digests[:, 1:][digests[:, 1:] != 0])
        people = np.unique(digests[:, 0][digests[:, 0] != 0])
        stored = (hops.astype("<u8").tobytes(), people.astype("<u8").tobytes())
        link = self._link_after(self._links[last], number, note, *stored)

        row = (number, json.dumps(note), *stored, link)
        with _errors_named(self.path), self._database:  # both or neither
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
        link_before = self._links[max(before for before in self._links if before < number)]
        # The link stays, so that the chain of later entries holds.
        with _errors_named(self.path):
            self._database.execute(
                "update releases set told = ?, hops = x'', people = x'' where number = ?",
                (self._forgotten_text(link_before, self._links[number]), number),
            )
        self.entries.remove(forgotten)
        return forgotten

    def compare_with_reports(self) -> None:
        """Refuse an older copy: reports beside it, or beside its releases, know of later ones."""
        places = [self.path.absolute(), *(Path(entry.note["release"]) for entry in self.entries)]
        unknown_reports = {}  # by the number of their release
        for folder in {place.parent for place in places}:
            for report in folder.glob("*.report.json"):
                link = _link_in(report)
                if link is None or link.ledger != self._digest(b"ledger").hex():
                    continue
                if self._links.get(link.releases, b"").hex() != link.chain:
                    unknown_reports[link.releases] = report

        if unknown_reports:
            first, report = min(unknown_reports.items())
            raise _not_whole(self.path, first, f"{report} is of a release that it lacks")

    def verify(self) -> list[tuple[Entry, str]]:
        """Find whether all releases are in place, changed or gone; mend those of killed runs."""
        self.compare_with_reports()
        states = []
        for entry in [*self.entries]:  # a copy, as mending may remove an entry
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
        """Note that the files of a release have their names."""
        note: Note = {**entry.note, "settled": True}
        with _errors_named(self.path):
            self._database.execute(
                "update releases set told = ? where number = ?", (json.dumps(note), entry.number)
            )
        self.entries[self.entries.index(entry)] = replace(entry, note=note)

    def _digest(self, *parts: bytes) -> bytes:
        """Make a digest with the key, of parts in their order."""
        digests = b"".join(sha256(part).digest() for part in parts)
        return hmac.digest(self._key, digests, "sha256")

    def _link_after(self, link_before: bytes, number: int, note: Note, *stored: bytes) -> bytes:
        """Make the digest of an entry and of the link before, and so of all before it."""
        lasting = {name: value for name, value in note.items() if name != "settled"}
        text = json.dumps([number, lasting], sort_keys=True).encode()
        return self._digest(b"link", link_before, text, *stored)

    def _forgotten_text(self, link_before: bytes, link: bytes) -> str:
        """Make the text in place of the note of a forgotten release: nobody else can write it."""
        return self._digest(b"forgotten", link_before, link).hex()

    def _short_digests(self, hashes: Hashes) -> Hashes:
        """Make digests of 64 bits of hashes, (h,), computed once for equal ones."""
        different, place = np.unique(hashes, return_inverse=True)
        raw = different.astype("<u8").tobytes()
        numbers = (raw[begin : begin + 8] for begin in range(0, len(raw), 8))
        digests = b"".join(hmac.digest(self._key, number, "sha256")[:8] for number in numbers)
        return np.asarray(np.frombuffer(digests, dtype="<u8").astype(np.uint64)[place])

    def _read(self) -> list[Entry]:
        """Read all entries, if nothing was changed, removed or put in place of others."""
        entries = []
        last = 0
        for number, text, hops, people, link in self._database.execute(_ALL_RELEASES):
            link_before = self._links[last]
            if text != self._forgotten_text(link_before, link):
                try:
                    note = typed(json.loads(text), Note)  # also names that are not UTF-8
                    expected_link = self._link_after(link_before, number, note, hops, people)
                except (BadInput, ValueError, TypeError, RecursionError) as error:
                    raise _not_whole(self.path, last + 1) from error
                if link != expected_link:
                    raise _not_whole(self.path, last + 1)
                digests = (np.frombuffer(part, "<u8").astype(np.uint64) for part in (hops, people))
                entries.append(Entry(number, note, *digests))
            last = number
            self._links[last] = link

        # The last releases may have been cut off.
        ((noted_last, noted_link),) = self._database.execute("select last, link from ledger")
        if (noted_last, noted_link) != (last, self._links[last]):
            raise _not_whole(self.path, last + 1)
        return entries


@contextmanager
def opened(path: str | os.PathLike[str], *, new: bool = False) -> Iterator[Ledger]:
    """Open a ledger, for this run alone; with ``new``, one is made if there is none."""
    path = Path(path)
    is_made = not path.exists()
    if is_made:
        if not new:
            raise FileProblem(
                f"there is no {path}: make one with trajanon anonymize --ledger {path}"
            )
        _make(path)

    with _errors_named(path):
        if not path.stat().st_size:  # SQLite would begin a database in it
            raise FileProblem(f"{path} is empty, and not a ledger: remove it, or name another file")
        # It does not wait for another run, and begins no transactions by itself.
        database = sqlite3.connect(path, timeout=0.0, isolation_level=None)

    with closing(database):
        with _errors_named(path):
            # The lock that the first reading takes is held until the end.
            database.execute("pragma locking_mode = exclusive")
            database.execute("begin exclusive")
            database.execute("commit")
            try:
                ledger = Ledger(path, database)
            except (ValueError, TypeError) as error:  # of what no ledger holds
                raise _damaged(path) from error
            # Only now is it known to be a ledger, and not another file, or a folder.
            if path.stat().st_mode & 0o077:
                path.chmod(0o600)
        try:
            yield ledger
        except BaseException:
            if is_made and not ledger.entries:  # nothing came of it
                path.unlink(missing_ok=True)
            raise


def _make(path: Path) -> None:
    """Make an empty ledger with a random key; it has its name once it is whole."""
    key = secrets.token_bytes(_KEY_BYTES)
    link = hmac.digest(key, sha256(b"begin").digest(), "sha256")  # as `_digest` makes it

    def write(draft: Path) -> None:
        """Write the two tables, one of them without a release."""
        with closing(sqlite3.connect(draft)) as database:
            database.executescript(_TABLES)
            database.execute("insert into ledger values (?, ?, 0, ?)", (_VERSION, key, link))
            database.commit()

    with _errors_named(path):
        make_secret_file(path, write)


@contextmanager
def _errors_named(path: Path) -> Iterator[None]:
    """Make a sentence of an error of the file or of SQLite in the block."""
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
    """Make the error of a file that holds what no ledger does."""
    return FileProblem(f"{path} is damaged: restore its latest copy")


def _not_whole(
    path: Path, number: int, why: str = "entries were changed or removed"
) -> FileProblem:
    """Make the error of a ledger with a broken chain, by the first release that is not whole."""
    return FileProblem(
        f"{path} is not whole from release {number} on ({why}): restore its latest copy"
    )


def _known_with_owner(digests: Hashes, known: Sequence[Hashes], owner: Ints | None) -> Bools:
    """Mark the rows of digests, (n, d), with a known one, and all rows of the same owner, (n,)."""
    all_known = np.concatenate([np.empty(0, dtype=np.uint64), *known])
    is_known = np.isin(digests, all_known).any(axis=1)
    return np.asarray(is_known if owner is None else np.isin(owner, owner[is_known]))


def _link_in(report: Path) -> Link | None:
    """Read what a report says of its ledger; None if there is none, or it is no report."""
    try:
        return typed(msgspec.json.decode(report.read_bytes())["ledger"]["link"], Link)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None


def content_of(place: str | os.PathLike[str] | Folder) -> str | None:
    """Compute a digest of a file, or of the files of a folder; None if there is nothing."""
    path_or_folder = folder_or_file(place)
    if isinstance(path_or_folder, Path):
        if not path_or_folder.is_file():
            return None
        with path_or_folder.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()

    if not path_or_folder.exists:
        return None
    digest_of_folder = sha256()
    for name in path_or_folder.names():
        with path_or_folder.open(name) as part:
            # What file systems open can `readinto`; its type does not say so.
            digest = file_digest(part, "sha256").hexdigest()  # type: ignore[arg-type]
        digest_of_folder.update(f"{name} {digest}\n".encode())
    return digest_of_folder.hexdigest()


def _absolute(place: str | os.PathLike[str]) -> str:
    """Write a place so that it is found from any folder."""
    text = os.fspath(place)
    return text if "://" in text else os.path.realpath(text)
