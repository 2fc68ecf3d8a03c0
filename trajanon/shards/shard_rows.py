"""The rows of all parts, written once, each to its shard; and those of a shard, read again.

Coordinates are written as the bits that differ from those of the point before: that is exact, and
takes two thirds of the space.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.files import arrow, geoparquet
from trajanon.files.parquet_parts import ParquetParts
from trajanon.files.trajectory_files import read_along, read_points, true_ends_of
from trajanon.shards.buckets import files_of, put
from trajanon.shards.halving import shard_count, shards_of_rows
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

    points = read_points(table.where(part), table.file.part(part.name))
    rows, _ = rows_of_part(table, part, points)
    shard = shards_of_rows(table.halves, rows.places, rows.unit)

    bits = _changed_bits(points)
    columns = {
        "row": np.arange(part.first, part.first + part.n),
        "points": pa.FixedSizeListArray.from_arrays(bits.ravel(), bits.shape[1]),
        "person": rows.person.view(np.int64),
    }
    names = table.copied_columns
    copied = table.file.part(part.name).read(names).columns if names else []
    put(
        table.scratch,
        "shard",
        shard,
        part.number,
        pa.table(columns | dict(zip(names, copied, strict=True))),
        use_dictionary=False,
        use_byte_stream_split=["points.list.element"],
    )
    return np.bincount(shard, minlength=shard_count(table.halves))


def read_shard(table: PartsTable, shard: int) -> ShardRows:
    """Read the rows of a shard."""
    paths = files_of(table.scratch, "shard", shard)
    opened = [partial(_opened, path, path.read_bytes()) for path in paths]
    n = 0
    for open_piece in opened:
        with open_piece() as piece:
            n += piece.metadata.num_rows
            schema = piece.schema_arrow
    file = ParquetParts(opened, schema, n)

    bits = [batch.flatten().to_numpy() for batch in geoparquet.batches_of(file, "points")]
    points = _points_of(np.concatenate(bits).reshape(n, -1, 2))
    tracks, times = read_along(
        table.folder, file, points, tracks="track" in schema.names, times=table.timed
    )
    numbers = file.read(["row", "person"])
    person = numbers["person"].to_numpy()
    trajectories = Trajectories(
        points,
        dense(person) if table.knows_people else None,
        provenance=table.provenance,
        tracks=tracks,
        times=times,
        true_ends=true_ends_of(table.folder, file),
    )
    return ShardRows(numbers["row"].to_numpy(), person, trajectories)


@contextmanager
def _opened(path: Path, content: bytes) -> Iterator[Any]:
    """Open what a part has of a shard, of which each column is read by itself."""
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
