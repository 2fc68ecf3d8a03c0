"""How a file is read, and where its reader reports what is left out, guessed and found."""

import io
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from trajanon.common.arrays import Bools
from trajanon.common.columns_read import TablesRead, persons_sentence
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.json_toml_and_regular_files import regular
from trajanon.common.number_text import number_of
from trajanon.common.progress import Notices, Progress
from trajanon.extract.sources.archives import Stream, unpacked
from trajanon.extract.sources.reader_sentences import refusal_of, warning_of

if TYPE_CHECKING:
    import pandas as pd
    from _typeshed import WriteableBuffer

# What is left out, as it is counted.
UNREADABLE = "files that could not be read"  # or members of archives
USED_IN_PART = "files from their damage on"  # what comes before it is used
TIMES_DO_NOT_MATCH = "lines with more or fewer times than points"
TABLE_CUT_OFF = "tables cut off in their last line"


def unmetered(size: int) -> None:
    """Count no bytes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reading:
    """How to read a file, and where to report what was found."""

    what: str = ""  # the file, in messages
    label: str = ""  # the same, in the names of recordings
    columns: Mapping[str, str] = field(default_factory=dict)  # of tables, by role, as a user says
    subjects_exact: bool = False
    # Times are asked for: a table with an unknown column that looks like times is refused.
    timed: bool = False
    nested: bool = False  # whether columns are named by objects in objects, as vehicle.id is
    sorted_by_place: bool = False  # whether it is sorted by place, and says nothing of any order
    counts: Counter[str] = field(default_factory=Counter)  # what was left out while reading
    tables: TablesRead = field(default_factory=TablesRead)  # what was decided of their columns
    report_bytes: Callable[[int], None] = unmetered  # called with how many bytes were read
    warned: Notices = field(default_factory=Notices)

    def of_file(self, path: Path, label: str = "") -> "Reading":
        """Return the same for a file, which names of recordings may begin with."""
        return replace(self, what=str(path), label=label or path.name)

    def with_columns(self, **columns: str) -> "Reading":
        """Return the same with roles of columns, unless a user says others."""
        return replace(self, columns={**columns, **self.columns})

    def count(self, kind: str, is_left_out: "Bools | pd.Series") -> None:
        """Count what is marked as left out, if anything is."""
        if is_left_out.any():
            self.counts[kind] += int(is_left_out.sum())

    def found(self, kind: str, count: int | None = None, **values: object) -> None:
        """Warn of what was found, by the sentence of its kind.

        With a count, that is added to the counter of the same name; a count of 0 warns of nothing.
        Each thing is warned of once, though many files have it, and at most ten things of a kind
        are, as `Notices` does.
        """
        if count:
            self.counts[kind] += count
        if count != 0:
            values = {"what": self.what, "count": count, **values}
            self.warned.warn(warning_of(kind, **values))

    def refusal(self, kind: str, **values: object) -> BadInput | FileProblem:
        """Return the error that refuses the file, by its sentence."""
        return refusal_of(kind, what=self.what, **values)

    def leave_out(self, error: Exception, points_used: int, kind: str = UNREADABLE) -> None:
        """Count a file that cannot be read, or only in part; and warn.

        ``kind`` is that of the warning, if no point of the file is used.
        """
        if points_used:
            self.found(USED_IN_PART, 1, error=error, points=number_of(points_used, "point"))
        else:
            self.counts[UNREADABLE] += 1
            self.found(kind, error=error)

    def warn_at_the_end(self) -> None:
        """Warn of what is known once everything is read."""
        if possible := persons_sentence(self.tables.account["possible_persons"]):
            self.found("persons", possible=possible)
        self.warned.warn_of_hidden()

    def open(self, path: Path) -> Stream:
        """Open a file unchanged; bytes read from it count as progress."""
        try:
            return Stream(_Metered(regular(path), self.report_bytes))
        except OSError as error:
            raise FileProblem(f"cannot read {path}: {error.strerror}") from error

    def unpacked(self, path: Path) -> Stream:
        """Open a file and unpack it, if it is packed by gzip, bzip2 or xz."""
        return unpacked(self.open(path))


class _Metered(io.FileIO):
    """A file that reports how many bytes are read of it."""

    def __init__(self, path: Path, report_bytes: Callable[[int], None]) -> None:
        super().__init__(path)
        self._report_bytes = report_bytes

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        size = super().readinto(buffer) or 0
        self._report_bytes(size)
        return size


def meter(task: str, total: int, progress: Progress) -> Callable[[int], None]:
    """Return what adds up the bytes that are read, and reports the progress."""
    done = 0

    def report_bytes(size: int) -> None:
        nonlocal done
        done = min(done + size, total)  # a reader may look at some of them twice
        progress(task, done, total)

    return report_bytes
