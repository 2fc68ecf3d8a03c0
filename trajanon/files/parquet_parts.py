"""Parquet read as one table: a file, or the parts of a folder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from trajanon.common.arrays import Ints
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.object_stores import Folder
from trajanon.files import arrow
from trajanon.files.hilbert_order import is_in_order

ONE_EXTRACTION = "keep parts of one extraction in a folder"

NAMES_OF_PARQUET = (".parquet", ".geoparquet")
"""How the names of its files end."""

Opener = Callable[[], AbstractContextManager[pq.ParquetFile]]


class Part(NamedTuple):
    """A file with some of the rows."""

    where: object  # its path
    open: Opener
    first_row: int  # the number of its first row among all rows
    n: int  # number of its rows


@dataclass(frozen=True, slots=True, eq=False)
class ParquetParts:
    """Rows of Parquet files, read as if all were in one; one file is open at a time."""

    where: object  # path of the file or folder
    parts: Sequence[Part]
    schema_arrow: pa.Schema  # of the first file
    n: int  # number of rows
    rows_to_skip: int = 0  # of the first file
    in_order: bool = False  # whether all files are in the order of `hilbert_order`
    # In which columns of single values are read: those of all parts, also where one is read alone.
    types: Mapping[str, pa.DataType] = field(default_factory=dict)
    bytes_per_row: float = 0.0  # before compression, of the file where rows have most

    @property
    def first_row(self) -> int:
        """Return the number of the first row among all rows of the folder."""
        return self.parts[0].first_row + self.rows_to_skip

    @property
    def row_numbers(self) -> Ints:
        """Return the numbers of the rows among all rows of the folder, (n,)."""
        return np.arange(self.first_row, self.first_row + self.n)

    def between(self, first: int, end: int) -> "ParquetParts":
        """Return the rows of a folder from a first one until before another."""
        parts = [
            part for part in self.parts if part.first_row < end and first < part.first_row + part.n
        ]
        rows_to_skip = first - parts[0].first_row
        return replace(self, parts=parts, n=end - first, rows_to_skip=rows_to_skip)

    @contextmanager
    def part(self, number: int) -> Iterator["ParquetParts"]:
        """Open one file as a table of its own, once for all of its columns."""
        part = self.parts[number]
        with part.open() as file:
            opened = part._replace(open=partial(nullcontext, file))
            yield replace(self, where=part.where, parts=[opened], n=part.n)

    def each(self) -> Iterator["ParquetParts"]:
        """Open one file after another, each as a table of its own."""
        for number in range(len(self.parts)):
            with self.part(number) as part:
                yield part

    def iter_batches(self, rows: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read columns, at most a given number of rows at a time.

        Row groups without a row of this table are not read: a few rows of a large file take little.
        """
        begin = self.rows_to_skip
        rows_left = self.n
        for part in self.parts:
            end = min(begin + rows_left, part.n)
            with part.open() as file:
                row_groups = map(file.metadata.row_group, range(file.num_row_groups))
                sizes = np.array([row_group.num_rows for row_group in row_groups], dtype=np.int64)
                group_ends = np.cumsum(sizes)
                groups = np.flatnonzero((group_ends - sizes < end) & (group_ends > begin))
                before = int(sizes[group_ends <= begin].sum())
                for batch in file.iter_batches(
                    rows, row_groups=groups.tolist(), columns=columns, use_threads=False
                ):
                    wanted = batch[max(begin - before, 0) : max(end - before, 0)]
                    before += len(batch)
                    if len(wanted):
                        yield wanted

            rows_left -= end - begin
            begin = 0

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Read whole columns, of types that `arrow.sound` gives."""
        types = [(name, self.types[name]) for name in columns if name in self.types]
        if self.n == 0:  # no batch tells of the other columns
            types = [(name, self.schema_arrow.field(name).type) for name in columns]
        tables = [pa.schema(types).empty_table()]
        tables += [
            pa.table({name: arrow.sound(batch[name]) for name in columns})
            for batch in self.iter_batches(max(self.n, 1), columns)
        ]
        try:
            return pa.concat_tables(tables, promote_options="permissive").select(columns)
        except pa.ArrowException as error:  # as of long numbers beside fractions
            names = ", ".join(columns)
            raise BadInput(
                f"parts write {names} in several ways, {error}: {ONE_EXTRACTION}"
            ) from error


def part_states(folder: Folder) -> dict[str, str]:
    """Read the state of each part of a folder. Hidden files are drafts, maybe of a part."""
    states = folder.states()
    parts = (name for name in states if name.lower().endswith(NAMES_OF_PARQUET))
    return {name: states[name] for name in parts if not name.startswith(".")}


@contextmanager
def refusing_changes(folder: Folder, before: Mapping[str, str]) -> Iterator[None]:
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
def part_opened(folder: Folder, name: str) -> Iterator[pq.ParquetFile]:
    """Open a part, which Arrow reads without threads of its own: see `arrow.opened_parquet`."""
    where = f"{folder}/{name}"
    local = folder.local
    with (
        folder.naming_errors(name),
        folder.open(name) if local is None else arrow.opened_parquet(local / name) as stream,
        arrow.reading(where),
    ):
        yield arrow.parquet_file(stream, where)


@contextmanager
def parquet_of(
    place: Path | Folder, check: Callable[[pa.Schema, object], object]
) -> Iterator[ParquetParts]:
    """Read the footer of a file, or of all parts of a folder, which must be alike.

    ``check`` gets each schema with the name of its file, and refuses one that cannot be read.
    """
    if isinstance(place, Path):
        with arrow.parquet(place) as file:
            check(file.schema_arrow, place)
            n = file.metadata.num_rows
            part = Part(place, partial(nullcontext, file), 0, n)
            yield ParquetParts(place, [part], file.schema_arrow, n)
        return

    schema = None
    types: dict[str, pa.DataType] = {}
    parts = list[Part]()
    n = 0
    in_order = True
    bytes_per_row = 0.0
    for name in sorted(part_states(place)):
        where = f"{place}/{name}"
        with part_opened(place, name) as file:
            part_schema = file.schema_arrow
            part_rows = file.metadata.num_rows
            if part_rows == 0:
                continue
            bytes_per_row = max(bytes_per_row, _bytes_per_row(file.metadata))

        check(part_schema, where)
        if schema is None:
            schema = part_schema
            types = _value_types(schema)
        if difference := _difference(schema, part_schema) or _other_type(types, part_schema):
            first = Path(str(parts[0].where)).name
            raise BadInput(f"{where} is not like {first}: {difference}; {ONE_EXTRACTION}")

        parts.append(Part(where, partial(part_opened, place, name), n, part_rows))
        n += part_rows
        in_order &= is_in_order(part_schema)

    if schema is None:
        raise FileProblem(
            f"{place} has no parts with trajectories; if it holds traces, make "
            f"trajectories.parquet with: trajanon extract {place}"
        )
    with arrow.reading(place):
        yield ParquetParts(
            place, parts, schema, n, in_order=in_order, types=types, bytes_per_row=bytes_per_row
        )


def _bytes_per_row(metadata: pq.FileMetaData) -> float:
    """Compute how many bytes a row of a file has on average, before compression."""
    row_groups = map(metadata.row_group, range(metadata.num_row_groups))
    size: int = sum(row_group.total_byte_size for row_group in row_groups)
    return size / int(metadata.num_rows)


def _difference(schema: pa.Schema, part_schema: pa.Schema) -> str:
    """Return how a part differs from the first; empty if they are alike."""
    if columns := sorted({*schema.names} ^ {*part_schema.names}):
        return f"it has other columns ({', '.join(columns)})"

    footer = schema.metadata or {}
    part_footer = part_schema.metadata or {}
    words = [
        name
        for name in ("trajanon", "attribution", "times")
        if footer.get(name.encode()) != part_footer.get(name.encode())
    ]
    if words:
        return f"its footer has another extraction, attribution or clock ({', '.join(words)})"
    return ""


def _value_types(schema: pa.Schema) -> dict[str, pa.DataType]:
    """Return the types in which columns of single values are read."""
    types = {}
    for column in schema:
        if not pa.types.is_nested(column.type):
            with suppress(pa.ArrowException):  # who reads it will say what is wrong
                types[column.name] = arrow.sound(pa.array([], column.type)).type
    return types


def _other_type(types: dict[str, pa.DataType], schema: pa.Schema) -> str:
    """Find a column whose values cannot stand beside those of earlier parts; widen their types."""
    for name, part_type in _value_types(schema).items():
        both = [pa.schema([(name, kind)]) for kind in (types.get(name, part_type), part_type)]
        try:
            types[name] = pa.unify_schemas(both, promote_options="permissive").field(name).type
        except (pa.ArrowTypeError, pa.ArrowInvalid):
            return f"its column {name} holds {part_type}, and that of earlier parts {types[name]}"
    return ""
