"""Parquet read as one table: a file, or the parts of a folder."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from trajanon.common.arrays import Bools
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.remote_folder import Folder
from trajanon.files import arrow

ONE_EXTRACTION = "keep parts of one extraction in a folder"


@dataclass(frozen=True, slots=True, eq=False)
class ParquetParts:
    """Parquet files, read as if all rows were in one; one is open at a time."""

    opened: Sequence[Callable[[], AbstractContextManager[Any]]]  # open each that has rows
    schema_arrow: Any  # of the first
    n: int  # rows of all
    rows: Mapping[str, int] = field(default_factory=dict)  # of each part of a folder
    chosen_rows: Sequence[Bools] = ()  # of each, a mask of those that are read; empty: all

    def iter_batches(self, rows: int, columns: Sequence[str]) -> Iterator[Any]:
        """Read columns, at most a given number of rows at a time."""
        for number, opened in enumerate(self.opened):
            begin = 0
            with opened() as file:
                for batch in file.iter_batches(rows, columns=columns, use_threads=False):
                    end = begin + len(batch)
                    if not self.chosen_rows:
                        yield batch
                    elif (mask := self.chosen_rows[number][begin:end]).any():
                        yield batch.filter(mask)
                    begin = end

    def read(self, columns: Sequence[str]) -> Any:
        """Read whole columns, of types that `arrow.sound` gives."""
        import pyarrow as pa

        tables = []
        for number, opened in enumerate(self.opened):
            with opened() as file:
                table = file.read(columns, use_threads=False)
                table = pa.table({name: arrow.sound(table[name]) for name in columns})
            tables.append(table.filter(self.chosen_rows[number]) if self.chosen_rows else table)

        try:
            return pa.concat_tables(tables, promote_options="permissive")
        except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
            raise BadInput(
                f"parts write {', '.join(columns)} in several ways, {error}: {ONE_EXTRACTION}"
            ) from error

    def chosen(self, mask: Bools) -> "ParquetParts":
        """Choose rows by a mask of all; a part without any is not opened."""
        sizes = [*self.rows.values()] or [self.n]
        masks = np.split(mask, np.cumsum(sizes)[:-1])
        parts = [part for part in zip(self.opened, masks, strict=True) if part[1].any()]
        return ParquetParts(
            opened=[open_part for open_part, _ in parts],
            schema_arrow=self.schema_arrow,
            n=int(np.count_nonzero(mask)),
            chosen_rows=[part_rows for _, part_rows in parts],
        )


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
    for name, _ in sorted(before.items() ^ part_states(folder).items()):
        raise FileProblem(
            f"{folder}/{name} was written or removed while it was read: "
            "begin again when no other program writes there"
        ) from cause
    if cause is not None:
        raise cause


@contextmanager
def part_opened(folder: Folder, name: str) -> Iterator[Any]:
    """Open a part, for Arrow without threads of its own: see `arrow.opened_parquet`."""
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
            n = file.metadata.num_rows
            yield ParquetParts([partial(nullcontext, file)], file.schema_arrow, n)
        return

    schema = None
    rows = dict[str, int]()
    for name in sorted(part_states(place)):
        with part_opened(place, name) as file:
            part_schema = file.schema_arrow
            n = file.metadata.num_rows
        if n == 0:
            continue

        look(part_schema, f"{place}/{name}")
        if schema is None:
            schema = part_schema
        if difference := _difference(schema, part_schema):
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


def _difference(schema: Any, part_schema: Any) -> str:
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
