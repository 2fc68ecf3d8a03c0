"""Parquet read as one table, a file or the parts of a folder; and numbers for its subjects."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.arrays import Bools, Hashes, Ints
from trajanon.errors import BadInput, FileProblem
from trajanon.files import arrow
from trajanon.files.geoparquet import written_column
from trajanon.hashing import hashed
from trajanon.remote_folder import Folder
from trajanon.subjects import Merged, key_of, spelled, text_of_subject

ID_COLUMNS = ("subject", "trace")

_OF_TRACES = np.uint64(0x9E3779B97F4A7C15)
"""Keeps the numbers of traces from being those of subjects."""

ONE_EXTRACTION = "keep parts of one extraction in a folder"

_SAID = (b"trajanon", b"attribution", b"times")
"""Texts that belong to a whole file, and must be the same in all parts."""


@dataclass(frozen=True, slots=True, eq=False)
class ParquetParts:
    """Parquet files, read as if all rows were in one; one is open at a time."""

    opened: Sequence[Callable[[], AbstractContextManager[Any]]]  # open each that has rows
    schema_arrow: Any  # of the first
    n: int  # rows of all
    groups: Mapping[str, Sequence[int]] = field(default_factory=dict)  # rows of each row group of
    # each part of a folder
    which: Sequence[Bools] = ()  # of the rows of each, those that are read; empty: all

    def iter_batches(self, rows: int, columns: Sequence[str]) -> Iterator[Any]:
        """Read columns, at most a given number of rows at a time."""
        for number, opened in enumerate(self.opened):
            begin = 0
            with opened() as file:
                for batch in file.iter_batches(rows, columns=columns, use_threads=False):
                    some = self.which[number][begin : begin + len(batch)] if self.which else None
                    begin += len(batch)
                    if some is None or some.any():
                        yield batch if some is None else batch.filter(some)

    def read(self, columns: Sequence[str]) -> Any:
        """Read whole columns, of types that `arrow.sound` gives."""
        import pyarrow as pa

        tables = []
        for number, opened in enumerate(self.opened):
            with opened() as file:
                table = file.read(columns, use_threads=False)
                table = pa.table({name: arrow.sound(table[name]) for name in columns})
            tables.append(table.filter(self.which[number]) if self.which else table)
        try:
            return pa.concat_tables(tables, promote_options="permissive")
        except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
            raise BadInput(
                f"parts write {', '.join(columns)} in several ways, {error}: {ONE_EXTRACTION}"
            ) from error

    def chosen(self, which: Bools) -> "ParquetParts":
        """Take some of the rows, by a mask of all; a part without any is not opened."""
        sizes = [*map(sum, self.groups.values())] or [self.n]
        masks = np.split(which, np.cumsum(sizes)[:-1])
        opened, some = zip(
            *((one, mask) for one, mask in zip(self.opened, masks, strict=True) if mask.any()),
            strict=True,
        )
        return ParquetParts(opened, self.schema_arrow, int(np.count_nonzero(which)), which=some)


def part_states(folder: Folder) -> dict[str, str]:
    """Give the state of each part of a folder. Hidden files are drafts, maybe of a part."""
    states = folder.states()
    parts = (name for name in states if name.lower().endswith((".parquet", ".geoparquet")))
    return {name: states[name] for name in parts if not name.startswith(".")}


@contextmanager
def unchanged(folder: Folder, before: Mapping[str, str]) -> Iterator[None]:
    """Refuse to go on if parts, which are read several times, were changed in this block."""
    cause = None
    try:
        yield
    except Exception as error:
        cause = error
    for name, _ in sorted(before.items() ^ part_states(folder).items()):
        raise FileProblem(
            f"{folder}/{name} was written or removed while it was read: "
            "begin again when no other program writes there"
        ) from cause
    if cause is not None:
        raise cause


@contextmanager
def part_opened(folder: Folder, name: str) -> Iterator[Any]:
    """Open a part, for Arrow without threads of its own: see `arrow.opened`."""
    import pyarrow.parquet as pq

    with folder.named(name), arrow.reading(f"{folder}/{name}"), folder.open(name) as stream:
        file = pq.ParquetFile(stream, pre_buffer=False)  # or it keeps all that it has read
        arrow.refuse_doubles(file.schema_arrow, f"{folder}/{name}")
        yield file


@contextmanager
def groups_opened(folder: Folder, name: str, groups: Sequence[int]) -> Iterator[Any]:
    """Open some row groups of a part as if they were a file."""
    with part_opened(folder, name) as file:
        yield SimpleNamespace(
            iter_batches=partial(file.iter_batches, row_groups=[*groups]),
            read=partial(file.read_row_groups, [*groups]),
        )


@contextmanager
def parquet_of(
    place: Path | Folder, look: Callable[[Any, object], object]
) -> Iterator[ParquetParts]:
    """Open a file, or all parts of a folder, which must be alike; ``look`` at each schema."""
    if isinstance(place, Path):
        with arrow.parquet(place) as file:
            look(file.schema_arrow, place)
            rows = file.metadata.num_rows
            yield ParquetParts([partial(nullcontext, file)], file.schema_arrow, rows)
        return
    opened, schema, groups, first = [], None, dict[str, list[int]](), ""
    for name in sorted(part_states(place)):
        with part_opened(place, name) as file:
            other, about = file.schema_arrow, file.metadata
            rows = [about.row_group(number).num_rows for number in range(about.num_row_groups)]
        if not sum(rows):
            continue
        look(other, f"{place}/{name}")
        if schema is None:
            first, schema = name, other
        if odd := _difference(schema, other):
            raise BadInput(f"{place}/{name} is not like {first}: {odd}; {ONE_EXTRACTION}")
        opened.append(partial(part_opened, place, name))
        groups[name] = rows
    if schema is None:
        raise FileProblem(
            f"{place} has no parts with trajectories; make some with: trajanon extract "
            "--partition 100000"
        )
    with arrow.reading(place):
        yield ParquetParts(opened, schema, sum(map(sum, groups.values())), groups)


def _difference(schema: Any, other: Any) -> str:
    """Say in what two parts differ; empty if they are alike."""
    if columns := sorted({*schema.names} ^ {*other.names}):
        return f"it has other columns ({', '.join(columns)})"
    said, more = (some.metadata or {} for some in (schema, other))
    words = [name.decode() for name in _SAID if said.get(name) != more.get(name)]
    return f"it has other words on all rows in its footer ({', '.join(words)})" if words else ""


class ColumnIds(NamedTuple):
    """The values of a column, as numbers."""

    number: Hashes  # of each row's value, (r,): the same in all parts
    missing: Bools  # rows without a value, (r,); their numbers mean nothing
    spellings: Hashes  # of each different name: hashes of it as written, with blanks and accents
    # made alike, and with case, too, (names, 3)


@dataclass(frozen=True, eq=False)
class RowIds:
    """The subjects of rows; a trace without one is its own subject, and so is a row without both.

    A trace that names its subject in some rows only has the first of them in all.
    """

    subject: Ints  # number of each row's subject, (r,)
    nobody: Bools  # rows that have neither a subject nor a trace, (r,)
    nameless: Bools  # rows of subjects without a name, (r,)
    merged: Merged  # names that were another one's spelling

    @property
    def unnamed(self) -> int:
        """How many subjects have no name."""
        return len(np.unique(self.subject[self.nameless]))

    @classmethod
    def of(cls, columns: Sequence[tuple[ColumnIds, ColumnIds]]) -> "RowIds":
        """Take subjects and traces of all rows, in several pieces."""
        (number, lacks, spellings), (trace, untraced, _) = (
            ColumnIds(*map(np.concatenate, zip(*some, strict=True)))
            for some in zip(*columns, strict=True)
        )
        names = ~lacks & ~untraced
        named = pd.Series(number[names], index=trace[names])
        named = named[~named.index.duplicated()]
        place = named.index.get_indexer(trace)
        place[untraced] = -1
        nobody = lacks & untraced
        subject = np.where(lacks, trace, number)
        known = lacks & (place >= 0)
        subject[known] = named.to_numpy()[place[known]]
        rows = np.flatnonzero(nobody).astype(np.uint64)
        subject[nobody] = hashed(hashed(rows) ^ _OF_TRACES)
        merged = Merged.among(*({*column.tolist()} for column in spellings.T))
        return cls(subject.view(np.int64), nobody, lacks & (place < 0), merged)


def row_ids(where: object, file: Any, *, exact: bool) -> tuple[ColumnIds, ColumnIds]:
    """Number what a file says of the subjects and traces of its rows; traces may be subjects."""
    nothing = ColumnIds(
        np.zeros(file.n, np.uint64), np.ones(file.n, np.bool_), np.empty((0, 3), np.uint64)
    )
    columns = {name: written_column(where, file, name) for name in ID_COLUMNS}
    found = [
        _numbered(where, values, name, exact or name == "trace")
        for name, values in columns.items()
        if values is not None
    ]
    one, other = [*found, nothing, nothing][: len(ID_COLUMNS)]
    return one, other


def _numbered(where: object, column: NDArray[Any], name: str, exact: bool) -> ColumnIds:
    """Make a number of each value, equal for 7 and "7", and mark missing ones."""
    code, values = pd.factorize(column)
    if values.dtype.kind == "f":
        most = 2.0 ** (np.finfo(values.dtype).nmant + 1)
        if (np.abs(values) >= most).any():
            # Another part may write the same one in full, and it would count as two.
            raise BadInput(
                f"{where} has a {name} of {most:,.0f} or more as a floating-point number "
                "that cannot tell it from the next one: write whole numbers, or names"
            )
    names = [text_of_subject(value) for value in values]
    spelt = [spelled(one) for one in names]
    keys = [key_of(one, exact=exact) for one in spelt]
    hashes = [
        pd.util.hash_array(np.array([*words, ""], dtype=object)) for words in (names, spelt, keys)
    ]
    spellings = np.column_stack(hashes)
    blank = np.array([not key for key in [*keys, ""]], dtype=np.bool_)
    salt = _OF_TRACES if name == "trace" else np.uint64(0)
    return ColumnIds(spellings[code, 2] ^ salt, blank[code], spellings[~blank])
