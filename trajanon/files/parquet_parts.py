"""Parquet read as one table: a file, or the parts of a folder one after another."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, count, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from trajanon.arrays import Bools, Floats
from trajanon.errors import BadInput, FileProblem
from trajanon.files import arrow
from trajanon.remote_folder import Folder
from trajanon.subjects import text_of_subject

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
        except pa.ArrowTypeError:  # such as names in one part, and numbers in another
            return pa.concat_tables(map(_as_texts, tables))
        except pa.ArrowInvalid as error:
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


def _listed(column: Any) -> list[Any]:
    """List the values of a column; those of a time that no date can be, by their numbers."""
    try:
        values: list[Any] = column.to_pylist()
    except (OverflowError, ValueError):
        values = column.cast("int64").to_pylist()
    return values


def _as_texts(table: Any) -> Any:
    import pyarrow as pa

    columns = [
        [None if value is None or value != value else text_of_subject(value) for value in column]
        for column in map(_listed, table.columns)
    ]
    return pa.table([pa.array(some, pa.large_string()) for some in columns], table.column_names)


def part_states(folder: Folder) -> dict[str, str]:
    """Give the state of each part of a folder. Hidden files are drafts, maybe of a part."""
    states = folder.states()
    parts = (name for name in states if name.lower().endswith((".parquet", ".geoparquet")))
    return {name: states[name] for name in parts if not name.startswith(".")}


@contextmanager
def unchanged(folder: Folder, before: Mapping[str, str]) -> Iterator[None]:
    """Refuse to go on if parts were changed while they were read in this block.

    Rows are read several times. If they were others the next time, a group could have too few
    subjects, or rows could be missing.
    """
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
    """Open a part; an error of reading it in the block becomes one sentence.

    Arrow must not read this file of Python's in threads of its own: see `arrow.opened`.
    """
    import pyarrow.parquet as pq

    with folder.named(name), arrow.reading(f"{folder}/{name}"), folder.open(name) as stream:
        file = pq.ParquetFile(stream, pre_buffer=False)  # or it keeps all that it has read
        arrow.refuse_doubles(file.schema_arrow, f"{folder}/{name}")
        yield file


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
    import pyarrow as pa

    one, two = (
        Counter((field.name, pa.types.is_nested(field.type)) for field in some)
        for some in (schema, other)
    )
    if columns := sorted({name for name, _ in (one - two) + (two - one)}):
        return f"it has other columns ({', '.join(columns)})"
    said, more = (some.metadata or {} for some in (schema, other))
    words = [name.decode() for name in _SAID if said.get(name) != more.get(name)]
    return f"it has other words on all rows in its footer ({', '.join(words)})" if words else ""


def coordinate_columns(schema: Any) -> list[str]:
    """List the columns lat1, lon1, lat2, lon2, ... of a table; none if it has geometries."""
    if b"geo" in (schema.metadata or {}):
        return []
    pairs = ([f"lat{number}", f"lon{number}"] for number in count(1))
    names = [*chain(*takewhile({*schema.names}.issuperset, pairs))]
    return names if len(names) > 2 else []


def columns_of_numbers(where: object, file: ParquetParts, names: Sequence[str]) -> Floats:
    """Read columns of numbers, (n, columns); a missing number is NaN."""
    import pyarrow as pa

    for name in names:
        kind = file.schema_arrow.field(name).type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise BadInput(f"{where} has a column {name} of {kind}, and not of numbers")
    columns = file.read(names).columns
    return np.column_stack([column.cast(pa.float64()).to_numpy() for column in columns])
