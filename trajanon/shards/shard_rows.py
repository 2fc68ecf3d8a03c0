"""The rows of a shard: a range of the parts in order, or else written once, each to its shard.

Coordinates are written as differences from the point before, of their bits as whole numbers: that
is exact, and takes two thirds of the space.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Hashes, Ints, dense
from trajanon.files import arrow, geoparquet
from trajanon.files.parquet_parts import ParquetParts
from trajanon.files.trajectory_files import read_points, read_tracks_and_times, true_ends_of
from trajanon.shards.buckets import files_of, put
from trajanon.shards.parts_table import Part, PartsTable
from trajanon.shards.survey import rows_of_part
from trajanon.trajectories.trajectories import Trajectories


class ShardRows(NamedTuple):
    """The rows of a shard."""

    number: Ints  # of each in the table, rising, (n,)
    person: Ints  # whose each is, as all shards know it, (n,)
    trajectories: Trajectories


def write_part(table: PartsTable, part: Part) -> Ints:
    """Write the rows of a part by shard; count those of each."""
    import pyarrow as pa

    names = table.copied_columns
    with table.opened(part) as file:
        points = read_points(table.where(part), file)
        rows, _ = rows_of_part(table, part, file, points)
        copied = file.read(names).columns if names else []
    shard = np.searchsorted(table.cuts, rows.key, side="right")

    changes = _changes_of(points)
    columns = {
        "row": np.arange(part.first, part.first + part.n),
        "points": pa.FixedSizeListArray.from_arrays(changes.ravel(), changes.shape[1]),
        "person": rows.person.view(np.int64),
    }
    put(
        table.scratch,
        "shard",
        shard,
        part.number,
        pa.table(columns | dict(zip(names, copied, strict=True))),
        use_dictionary=False,
        use_byte_stream_split=["points.list.element"],
    )
    return np.bincount(shard, minlength=table.shards)


def read_shard(table: PartsTable, shard: int) -> ShardRows:
    """Read the rows of a shard: a range of the parts, or what was written of each part."""
    if table.ranges_can_be_read:
        first, end = table.range_of(shard)
        file = table.file.between(first, end)
        points = read_points(table.folder, file)
        number = np.arange(first, end)
        person = table.people(table.folder, first, file).person.view(np.int64)
    else:
        file = _written(table, shard)
        changes = [batch.flatten().to_numpy() for batch in geoparquet.batches_of(file, "points")]
        points = _points_of(np.concatenate(changes).reshape(file.n, -1, 2))
        numbers = file.read(["row", "person"])
        number, person = (numbers[name].to_numpy() for name in ("row", "person"))

    tracks, times = read_tracks_and_times(
        table.folder, file, points, tracks="track" in table.copied_columns, times=table.timed
    )
    trajectories = Trajectories(
        points,
        dense(person) if table.knows_people else None,
        provenance=table.provenance,
        tracks=tracks,
        times=times,
        true_ends=true_ends_of(table.folder, file),
    )
    return ShardRows(number, person, trajectories)


def _written(table: PartsTable, shard: int) -> ParquetParts:
    """Open what was written of a shard."""
    paths = files_of(table.scratch, "shard", shard)
    opened = [partial(_opened, path, path.read_bytes()) for path in paths]
    n = 0
    for open_piece in opened:
        with open_piece() as piece:
            n += piece.metadata.num_rows
            schema = piece.schema_arrow
    return ParquetParts(opened, schema, n)


@contextmanager
def _opened(path: Path, content: bytes) -> Iterator[Any]:
    """Open what a part has of a shard, of which each column is read by itself."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with arrow.reading(path):
        yield pq.ParquetFile(
            pa.BufferReader(content), pre_buffer=False, page_checksum_verification=True
        )


def _changes_of(points: Floats) -> Hashes:
    """Return what the bits of coordinates change by, (n, 2 m): small numbers have leading zeros."""
    bits = np.ascontiguousarray(points).view(np.int64).reshape(points.shape)
    change = np.diff(bits, axis=1, prepend=0)
    return ((change << 1) ^ (change >> 63)).view(np.uint64).reshape(len(points), -1)


def _points_of(changes: Hashes) -> Floats:
    """Return the points whose bits change like that, (n, m, 2)."""
    change = (changes >> np.uint64(1)) ^ -(changes & np.uint64(1))
    return np.cumsum(change, axis=1, dtype=np.uint64).view(np.float64)
