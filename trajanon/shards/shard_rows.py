"""The rows of a shard: a range of the parts in order, or else written once, each to its shard."""

from functools import partial
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Ints, dense
from trajanon.files import arrow
from trajanon.files.parquet_parts import ParquetParts
from trajanon.files.trajectory_files import read_points, read_rows, true_ends_of
from trajanon.shards.buckets import files_of, put
from trajanon.shards.parts_table import Part, PartsTable
from trajanon.shards.survey import rows_of_part
from trajanon.trajectories.trajectories import Trajectories

_ROW = "trajanon_row"
_PERSON = "trajanon_person"
"""Columns that are written beside those of the parts."""


class ShardRows(NamedTuple):
    """The rows of a shard."""

    number: Ints  # of each in the table, rising, (n,)
    person: Ints  # whose each is, as all shards know it, (n,)
    trajectories: Trajectories


def write_part(table: PartsTable, part: Part) -> Ints:
    """Write the rows of a part by shard; count those of each."""
    import pyarrow as pa

    where = table.where(part)
    with table.opened(part) as file:
        points = read_points(where, file)
        person = table.people(where, part.first, file).person
        rows, _ = rows_of_part(table, part, file, points, person)
        columns = file.read(table.columns)
    shard = np.searchsorted(table.cuts, rows.key, side="right")

    number = np.arange(part.first, part.first + part.n)
    columns = columns.append_column(_ROW, pa.array(number))
    columns = columns.append_column(_PERSON, pa.array(person.view(np.int64)))
    columns = columns.replace_schema_metadata(table.file.schema_arrow.metadata)
    put(table.scratch, "shard", shard, part.number, columns)
    return np.bincount(shard, minlength=table.shards)


def read_shard(table: PartsTable, shard: int) -> ShardRows:
    """Read the rows of a shard: a range of the parts, or what was written of each part."""
    where = table.folder
    if table.ranges_can_be_read:
        first, end = table.range_of(shard)
        file = table.file.between(first, end)
        number = np.arange(first, end)
        person = table.people(where, first, file).person.view(np.int64)
    else:
        file = _written(table, shard)
        numbers = file.read([_ROW, _PERSON])
        number, person = (numbers[name].to_numpy() for name in (_ROW, _PERSON))

    points, tracks, times = read_rows(
        where, file, tracks=table.plan.release.align, times=table.timed
    )
    trajectories = Trajectories(
        points,
        dense(person) if table.knows_people else None,
        provenance=table.provenance,
        tracks=tracks,
        times=times,
        true_ends=true_ends_of(where, file),
    )
    return ShardRows(number, person, trajectories)


def _written(table: PartsTable, shard: int) -> ParquetParts:
    """Open what was written of a shard."""
    opened = [partial(arrow.parquet, path) for path in files_of(table.scratch, "shard", shard)]
    n = 0
    for open_file in opened:
        with open_file() as file:
            n += file.metadata.num_rows
            schema = file.schema_arrow
    return ParquetParts(opened, schema, n)
