"""Parquet read as one table: a file, or the parts of a folder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.object_stores import Folder
from trajanon.files import arrow

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ONE_EXTRACTION = "keep parts of one extraction in a folder"


Opener = Callable[[], AbstractContextManager["pq.ParquetFile"]]


@dataclass(frozen=True, slots=True, eq=False)
class ParquetParts:
    """Rows of Parquet files, read as if all were in one; one file is open at a time."""

    opened: Sequence[Opener]  # open each that has rows
    schema_arrow: "pa.Schema"  # of the first
    n: int  # rows of all
    rows: Mapping[str, int] = field(default_factory=dict)  # of each part of a folder
    first: int = 0  # the row of the first file from which on rows are read

    def between(self, first: int, end: int) -> "ParquetParts":
        """Return the rows of a folder from a first one until before another."""
        part_ends = np.cumsum([*self.rows.values()])
        first_part = int(np.searchsorted(part_ends, first, side="right"))
        last_part = int(np.searchsorted(part_ends, end))
        first_in_part = first - int(part_ends[first_part]) + [*self.rows.values()][first_part]
        opened = self.opened[first_part : last_part + 1]
        return ParquetParts(opened, self.schema_arrow, end - first, first=first_in_part)

    @contextmanager
    def part(self, number: int) -> Iterator["ParquetParts"]:
        """Open one file as a table of its own, once for all of its columns."""
        with self.opened[number]() as file:
            opened = partial(nullcontext, file)
            yield ParquetParts([opened], self.schema_arrow, file.metadata.num_rows)

    def each(self) -> Iterator["ParquetParts"]:
        """Open one file after another, each as a table of its own."""
        for number in range(len(self.opened)):
            with self.part(number) as part:
                yield part

    def iter_batches(self, rows: int, columns: Sequence[str]) -> Iterator["pa.RecordBatch"]:
        """Read columns, at most a given number of rows at a time."""
        rows_to_skip = self.first
        rows_to_read = self.n
        for opened in self.opened:
            with opened() as file:
                for batch in file.iter_batches(rows, columns=columns, use_threads=False):
                    inside = batch[rows_to_skip : rows_to_skip + rows_to_read]
                    rows_to_skip = max(rows_to_skip - len(batch), 0)
                    rows_to_read -= len(inside)
                    if len(inside):
                        yield inside

    def read(self, columns: Sequence[str]) -> "pa.Table":
        """Read whole columns, of types that `arrow.sound` gives."""
        import pyarrow as pa

        tables = []
        for opened in self.opened:
            with opened() as file:
                table = file.read(columns, use_threads=False)
                tables.append(pa.table({name: arrow.sound(table[name]) for name in columns}))
        try:
            together = pa.concat_tables(tables, promote_options="permissive")
        except pa.ArrowException as error:  # as of long numbers beside fractions
            names = ", ".join(columns)
            raise BadInput(
                f"parts write {names} in several ways, {error}: {ONE_EXTRACTION}"
            ) from error
        return together[self.first : self.first + self.n]


def part_states(folder: Folder) -> dict[str, str]:
    """Read the state of each part of a folder. Hidden files are drafts, maybe of a part."""
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

    # A change explains an error better than the error does.
    changed = sorted(before.items() ^ part_states(folder).items())
    if changed:
        name, _ = changed[0]
        raise FileProblem(
            f"{folder}/{name} was written or removed while it was read: "
            "begin again when no other program writes there"
        ) from cause
    if cause is not None:
        raise cause


@contextmanager
def part_opened(folder: Folder, name: str) -> Iterator["pq.ParquetFile"]:
    """Open a part, which Arrow reads without threads of its own: see `arrow.opened_parquet`."""
    where = f"{folder}/{name}"
    with folder.naming_errors(name), arrow.reading(where), folder.open(name) as stream:
        yield arrow.parquet_file(stream, where)


@contextmanager
def parquet_of(
    place: Path | Folder, check: Callable[["pa.Schema", object], object]
) -> Iterator[ParquetParts]:
    """Open a file, or all parts of a folder, which must be alike.

    ``check`` gets each schema with the name of its file, and refuses one that cannot be read.
    """
    if isinstance(place, Path):
        with arrow.parquet(place) as file:
            check(file.schema_arrow, place)
            n = file.metadata.num_rows
            yield ParquetParts([partial(nullcontext, file)], file.schema_arrow, n)
        return

    schema = None
    types: dict[str, pa.DataType] = {}
    rows = dict[str, int]()
    for name in sorted(part_states(place)):
        with part_opened(place, name) as file:
            part_schema = file.schema_arrow
            n = file.metadata.num_rows
        if n == 0:
            continue

        check(part_schema, f"{place}/{name}")
        if schema is None:
            schema = part_schema
            types = _value_types(schema)
        if difference := _difference(schema, part_schema) or _other_type(types, part_schema):
            first = next(iter(rows))
            raise BadInput(f"{place}/{name} is not like {first}: {difference}; {ONE_EXTRACTION}")
        rows[name] = n

    if schema is None:
        raise FileProblem(
            f"{place} has no parts with trajectories; make some with: trajanon extract "
            "--partition 100000"
        )
    opened = [partial(part_opened, place, name) for name in rows]
    with arrow.reading(place):
        yield ParquetParts(opened, schema, sum(rows.values()), rows)


def _difference(schema: "pa.Schema", part_schema: "pa.Schema") -> str:
    """Find in what a part differs from the first; empty if they are alike."""
    if columns := sorted({*schema.names} ^ {*part_schema.names}):
        return f"it has other columns ({', '.join(columns)})"

    footer = schema.metadata or {}
    part_footer = part_schema.metadata or {}
    words = [
        name
        for name in ("trajanon", "attribution", "times")
        if footer.get(name.encode()) != part_footer.get(name.encode())
    ]
    return f"it has other words on all rows in its footer ({', '.join(words)})" if words else ""


def _value_types(schema: "pa.Schema") -> dict[str, "pa.DataType"]:
    """Return the types in which columns of single values are read."""
    import pyarrow as pa

    types = {}
    for column in schema:
        if not pa.types.is_nested(column.type):
            with suppress(pa.ArrowException):  # who reads it will say what is wrong
                types[column.name] = arrow.sound(pa.array([], column.type)).type
    return types


def _other_type(types: dict[str, "pa.DataType"], schema: "pa.Schema") -> str:
    """Find a column whose values cannot stand beside those of earlier parts; widen their types."""
    import pyarrow as pa

    for name, part_type in _value_types(schema).items():
        both = [pa.schema([(name, kind)]) for kind in (types.get(name, part_type), part_type)]
        try:
            types[name] = pa.unify_schemas(both, promote_options="permissive").field(name).type
        except (pa.ArrowTypeError, pa.ArrowInvalid):
            return f"its column {name} holds {part_type}, and theirs {types[name]}"
    return ""
