"""The rows of all parts, written once, each to its shard; and those of a shard, read again.

A part becomes a file in which the rows of each shard follow one another. Coordinates are written as
the bits that differ from those of the point before: that is exact, and takes two thirds of the
space.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.files import arrow, geoparquet
from trajanon.files.parquet_parts import ParquetParts
from trajanon.files.trajectory_files import read_along, true_ends_of
from trajanon.shards.halving import Half, shard_count, shards_of_rows
from trajanon.shards.parts_table import Part, PartsTable
from trajanon.shards.people_of_parts import Numbers
from trajanon.shards.scratch import Scratch, written
from trajanon.shards.survey import SharedRuns, rows_of_part
from trajanon.trajectories.trajectories import Trajectories

_ON_TRACKS = ("run", "start", "runs", "track", "track_times")
"""Columns that are written as they are read."""


class ShardRows(NamedTuple):
    """The rows of a shard."""

    number: Ints  # of each in the table, rising, (n,)
    person: Ints | None  # whose each is, as all shards know it, (n,)
    trajectories: Trajectories


class Pieces(NamedTuple):
    """Which rows and bytes of what was written of each part are a shard's, (parts, shards)."""

    rows: Ints
    ends: Ints  # of the bytes of each shard; they follow one another

    @classmethod
    def joined(cls, parts: Sequence["Pieces"]) -> "Pieces":
        """Put those of single parts together."""
        rows, ends = zip(*parts, strict=True)
        return cls(np.stack(rows), np.stack(ends))


def write_part(
    table: PartsTable, scratch: Scratch, half: Half | None, shared: SharedRuns, part: Part
) -> Pieces:
    """Write the rows of a part by shard."""
    import pyarrow as pa

    trajectories = table.read(part)
    person = table.people(part).person
    rows = shared.put_together(*rows_of_part(table, part, trajectories, person))
    shard = shards_of_rows(half, rows.places, rows.unit)
    counts = np.bincount(shard, minlength=shard_count(half))

    order = np.argsort(shard, kind="stable")
    sorted_rows = pa.table(_columns(table, part, trajectories, rows.person, pa.array(order)))
    ends = []
    begin = 0
    with written(scratch.of("part", part.number)) as draft, draft.open("wb") as file:
        for count in counts.tolist():
            if count:
                file.write(_as_bytes(sorted_rows[begin : begin + count]))
            begin += count
            ends.append(file.tell())
    pa.default_memory_pool().release_unused()
    return Pieces(counts, np.array(ends))


def _as_bytes(rows: Any) -> Any:
    """Write rows as a Parquet file of their own, in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(
        rows,
        sink,
        row_group_size=len(rows),
        compression="zstd",
        write_statistics=False,
        write_page_checksum=True,
        use_dictionary=False,
        use_byte_stream_split=["points.list.element"],
    )
    return sink.getvalue()


def _columns(
    table: PartsTable, part: Part, trajectories: Trajectories, person: Numbers, order: Any
) -> dict[str, Any]:
    """Make the columns of a part, in an order of its rows."""
    import pyarrow as pa

    rows = order.to_numpy()
    bits = _changed_bits(trajectories.points[rows])
    columns: dict[str, Any] = {
        "row": part.first + rows,
        "points": pa.FixedSizeListArray.from_arrays(bits.ravel(), bits.shape[1]),
    }
    if table.knows_people:
        columns["person"] = person[rows].view(np.int64)
    if trajectories.times is not None:
        times = trajectories.times[rows]
        columns["times"] = arrow.column_of_lists(times.ravel(), np.full(len(rows), times.shape[1]))
    if trajectories.true_ends is not None:
        columns["true_start"], columns["true_end"] = trajectories.true_ends[rows].T
    if table.on_tracks:
        names = [name for name in _ON_TRACKS if name in table.file.schema_arrow.names]
        columns |= dict(
            zip(names, table.file.part(part.name).read(names).take(order).columns, strict=True)
        )
    return columns


def read_shard(table: PartsTable, scratch: Scratch, pieces: Pieces, shard: int) -> ShardRows:
    """Read the rows of a shard."""
    begins = np.hstack([np.zeros((len(pieces.ends), 1), dtype=np.int64), pieces.ends])[:, shard]
    opened = []
    for part in np.flatnonzero(pieces.rows[:, shard]).tolist():
        path = scratch.of("part", part)
        with path.open("rb") as file:
            file.seek(begins[part])
            content = file.read(pieces.ends[part, shard] - begins[part])
        opened.append(partial(_opened, path, content))

    with opened[0]() as first:
        schema = first.schema_arrow
    n = int(pieces.rows[:, shard].sum())
    file_of_shard = ParquetParts(opened, schema, n)

    bits = [batch.flatten().to_numpy() for batch in geoparquet.batches_of(file_of_shard, "points")]
    points = _points_of(np.concatenate(bits).reshape(n, -1, 2))
    tracks, times = read_along(
        table.folder, file_of_shard, points, tracks="track" in schema.names, times=table.timed
    )
    column = partial(geoparquet.written_column, table.folder, file_of_shard)
    person = column("person")
    trajectories = Trajectories(
        points,
        None if person is None else dense(person),
        provenance=table.provenance,
        tracks=tracks,
        times=times,
        true_ends=true_ends_of(table.folder, file_of_shard),
    )
    row = column("row")
    assert row is not None
    return ShardRows(row, person, trajectories)


@contextmanager
def _opened(path: Path, content: bytes) -> Iterator[Any]:
    """Open what a part has of a shard."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with arrow.reading(path):
        yield pq.ParquetFile(
            pa.BufferReader(content), pre_buffer=False, page_checksum_verification=True
        )


def _changed_bits(points: Floats) -> Ints:
    """Return which bits of coordinates differ from those of the last point, (n, 2 m)."""
    bits = np.ascontiguousarray(points).view(np.int64).reshape(points.shape)
    changed = bits.copy()
    changed[:, 1:] ^= bits[:, :-1]
    return changed.reshape(len(points), -1)


def _points_of(changed: Ints) -> Floats:
    """Return the points whose bits changed like that, (n, m, 2)."""
    return np.bitwise_xor.accumulate(changed, axis=1).view(np.float64)
