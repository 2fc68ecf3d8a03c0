"""The rows of all parts, written once, each to its shard; and those of a shard, read again.

A part becomes a file with a group of rows for each shard that has any. Coordinates are written as
the bits that differ from those of the point before: that is exact, and takes two thirds of the
space.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from trajanon.common.arrays import Floats, Ints, dense
from trajanon.common.remote_folder import Folder
from trajanon.files import arrow, geoparquet
from trajanon.files.parquet_parts import ParquetParts, part_opened
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


def write_part(
    table: PartsTable, scratch: Scratch, half: Half | None, shared: SharedRuns, part: Part
) -> Ints:
    """Write the rows of a part by shard; return how many each shard has."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    trajectories = table.read(part)
    person = table.people(part).person
    rows = shared.put_together(*rows_of_part(table, part, trajectories, person))
    shard = shards_of_rows(half, rows.places, rows.unit)
    counts = np.bincount(shard, minlength=shard_count(half))

    order = np.argsort(shard, kind="stable")
    columns = _columns(table, part, trajectories, rows.person, pa.array(order))
    sorted_rows = pa.table(columns)
    with (
        written(scratch.of("part", part.number)) as draft,
        pq.ParquetWriter(
            draft,
            sorted_rows.schema,
            compression="zstd",
            write_statistics=False,
            write_page_checksum=True,
            use_dictionary=False,
            use_byte_stream_split=["points.list.element"],
        ) as writer,
    ):
        ends = np.cumsum(counts)
        for begin, end in zip((ends - counts).tolist(), ends.tolist(), strict=True):
            if begin < end:
                writer.write_table(sorted_rows[begin:end], row_group_size=end - begin)
    pa.default_memory_pool().release_unused()
    return counts


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


def read_shard(table: PartsTable, scratch: Scratch, counts: Ints, shard: int) -> ShardRows:
    """Read the rows of a shard, of which each part has so many, (parts, shards)."""
    folder = Folder(scratch.rows)
    with_rows = np.flatnonzero(counts[:, shard])
    paths = [scratch.of("part", number) for number in with_rows.tolist()]
    opened = [partial(part_opened, folder, path.name) for path in paths]
    with opened[0]() as first:
        schema = first.schema_arrow
    groups = np.count_nonzero(counts[with_rows, :shard], axis=1).tolist()
    n = int(counts[:, shard].sum())
    file = ParquetParts(opened, schema, n, row_groups=groups)

    bits = [batch.flatten().to_numpy() for batch in geoparquet.batches_of(file, "points")]
    points = _points_of(np.concatenate(bits).reshape(n, -1, 2))
    tracks, times = read_along(
        table.folder, file, points, tracks="track" in schema.names, times=table.timed
    )
    column = partial(geoparquet.written_column, table.folder, file)
    person = column("person")
    trajectories = Trajectories(
        points,
        None if person is None else dense(person),
        provenance=table.provenance,
        tracks=tracks,
        times=times,
        true_ends=true_ends_of(table.folder, file),
    )
    number = column("row")
    assert number is not None
    return ShardRows(number, person, trajectories)


def _changed_bits(points: Floats) -> Ints:
    """Return which bits of coordinates differ from those of the last point, (n, 2 m)."""
    bits = np.ascontiguousarray(points).view(np.int64).reshape(points.shape)
    changed = bits.copy()
    changed[:, 1:] ^= bits[:, :-1]
    return changed.reshape(len(points), -1)


def _points_of(changed: Ints) -> Floats:
    """Return the points whose bits changed like that, (n, m, 2)."""
    return np.bitwise_xor.accumulate(changed, axis=1).view(np.float64)
