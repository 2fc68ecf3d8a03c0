"""A shard: its rows written and read, searched as a table of their own, and its lines written."""

from collections.abc import Mapping
from time import perf_counter
from typing import Any, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct

from trajanon.anonymization import grouped
from trajanon.common.arrays import Ints, dense
from trajanon.common.object_stores import Folder
from trajanon.common.progress import Progress
from trajanon.files.arrow import column_of_lists, column_of_rows
from trajanon.files.parquet_parts import parquet_of
from trajanon.files.release_contents import line_keys
from trajanon.files.trajectory_files import check_schema, read_points, read_rows, true_ends_of
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.grouping.partition import measured
from trajanon.release.assembled_release import errors_of
from trajanon.release.lines_of_groups import TrajectoryGroups
from trajanon.release.perturbation import PublicWidths
from trajanon.release.release import own_rows
from trajanon.release.report import Mended
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.scratch_and_resume import (
    buckets_of_numbers,
    buckets_of_rows,
    read_table,
    write_table,
)
from trajanon.shards.survey_and_cuts import placed_rows_of
from trajanon.trajectories.distances import Histogram
from trajanon.trajectories.trajectories import Trajectories

_ROW = "trajanon_row"
_PERSON = "trajanon_person"
"""Columns that are written beside those of the parts."""


class ShardRows(NamedTuple):
    """The rows of a shard."""

    number: Ints  # of each in the table, rising, (n,)
    person: Ints  # whose each is, as all shards know it, (n,)
    trajectories: Trajectories


def write_part(table: PartsTable, number: int) -> Ints:
    """Write the rows of a part by shard; count those of each."""
    import pyarrow as pa

    with table.file.part(number) as part:
        points = read_points(part.where, part)
        person = table.people(part).person
        rows, _ = placed_rows_of(table, part, points, person)
        columns = part.read(table.columns_to_copy)
    shard = np.searchsorted(table.cuts, rows.key, side="right")

    row_number = np.arange(part.first_row, part.first_row + part.n)
    columns = columns.append_column(_ROW, pa.array(row_number))
    columns = columns.append_column(_PERSON, pa.array(person.view(np.int64)))
    columns = columns.replace_schema_metadata(table.file.schema_arrow.metadata)
    table.scratch.put("shard", shard, number, columns)
    return np.bincount(shard, minlength=table.shards)


def read_shard(table: PartsTable, shard: int) -> ShardRows:
    """Read the rows of a shard: a range of the parts, or what was written of each part."""
    where = table.folder
    if table.shards_are_ranges:
        first, end = table.borders[shard : shard + 2]
        file = table.file.between(first, end)
        number = np.arange(first, end)
        person = table.people(file).person.view(np.int64)
    else:
        # What the parts gave to this shard is a folder of parts, too.
        with parquet_of(Folder(table.scratch.bucket("shard", shard)), check_schema) as file:
            numbers = file.read([_ROW, _PERSON])
        number, person = (numbers[name].to_numpy() for name in (_ROW, _PERSON))

    points, tracks, times = read_rows(
        where, file, tracks=table.plan.release.align, times=table.needs_times
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


ROWS_MEASURED = 100_000
"""Rows whose loss is measured at one time."""

_FOUND = b"groups_found"  # key of `GroupsFound` in the metadata of a shard's groups


class GroupsFound(Struct):
    """What all shards have to know of the groups of one; the groups themselves are in scratch."""

    groups: int
    mended: Mended | None
    widths: list[Histogram]  # of places, and perhaps of departures and elapsed times


class ShardFigures(NamedTuple):
    """What is to be added up over all shards; the lines themselves are in scratch."""

    groups: int
    released: int  # rows
    least_people: int  # or rows, where these are counted, in a group
    points: int  # of a line
    slid: int
    on_roads: int  # lines
    squares: float  # that are lost, of columns with a spread of 1 in the whole table
    errors: Mapping[str, Histogram]  # in metres or seconds


def search_shard(table: PartsTable, progress: Progress, shard: int) -> GroupsFound:
    """Group a shard as a table of its own, unless an earlier run did."""
    import pyarrow as pa

    path = table.scratch.groups(shard)
    if path.is_file():
        found_json = read_table(path).schema.metadata[_FOUND]
        return msgspec.json.decode(
            found_json, type=GroupsFound, dec_hook=lambda _, numbers: np.array(numbers)
        )

    rows = read_shard(table, shard)
    trajectories = rows.trajectories
    groups = grouped(trajectories, table.k, table.plan, progress)
    if groups.partition.stopped:
        raise KeyboardInterrupt

    label = groups.labels_of_all
    columns = {"row": rows.number, "group": label}
    start = groups.starts_of_all
    if start is not None:
        columns["start"] = start

    widths = [Histogram.of(width) for width in groups.group_widths if width is not None]
    found = GroupsFound(int(label.max()) + 1, groups.mended, widths)
    found_json = msgspec.json.encode(found, enc_hook=np.ndarray.tolist)
    write_table(path, pa.table(columns).replace_schema_metadata({_FOUND: found_json}))
    return found


def write_lines(
    table: PartsTable, widths: PublicWidths, shard_and_first_group: tuple[int, int]
) -> ShardFigures:
    """Write the lines of a shard, whose groups are numbered from one on; measure what is lost."""
    since = perf_counter()
    spread = table.plan.spread
    assert spread is not None

    shard, first_group = shard_and_first_group
    rows = read_shard(table, shard)
    trajectories = rows.trajectories
    searched = read_table(table.scratch.groups(shard))
    label = searched["group"].to_numpy()
    left_out = label < 0
    released = trajectories.take(~left_out) if left_out.any() else trajectories
    if "start" in searched.column_names:
        released = released.slid(searched["start"].to_numpy()[~left_out])

    partition = measured(released.records, label[~left_out], "shard", since)
    groups = TrajectoryGroups(released, partition, table.plan, left_out, release_widths=widths)
    _write_lines(table, shard, first_group, rows, groups)

    records = groups.trajectories.records
    labels = groups.partition.labels
    flat = groups.released_lines.reshape(-1, records.shape[1])
    squares = 0.0
    for start in range(0, len(records), ROWS_MEASURED):
        batch = slice(start, start + ROWS_MEASURED)
        squares += float((((records[batch] - flat[labels[batch]]) / spread) ** 2).sum())

    people = np.arange(len(labels)) if released.subject is None else released.subject
    return ShardFigures(
        groups=len(groups.released_lines),
        released=len(labels),
        least_people=int(subjects_per_group(labels, people).min()),
        points=groups.released_lines.shape[1],
        slid=groups.slid_windows(trajectories),
        on_roads=0 if groups.on_roads is None else int(groups.on_roads.sum()),
        squares=squares,
        errors={name: Histogram.of(errors) for name, errors in errors_of(groups)},
    )


def _write_lines(
    table: PartsTable, shard: int, first_group: int, rows: ShardRows, groups: TrajectoryGroups
) -> None:
    """Write the different lines of a shard, and which row is on which."""
    import pyarrow as pa

    times = groups.released_times
    keys = line_keys(groups.released_lines, times)
    line = dense(keys)
    first = np.unique(line, return_index=True)[1]

    released = np.flatnonzero(~groups.left_out)
    line_of = line[groups.partition.labels]
    subject = rows.trajectories.subject
    people = None if subject is None else subject[released]
    has_row, _ = own_rows(table.plan.release.rows, line_of, people)

    # Of whom each line has a row, line by line.
    own = released[has_row][np.argsort(line_of[has_row], kind="stable")]
    size = np.bincount(line_of[has_row])
    columns: dict[str, Any] = {
        "line": column_of_rows(groups.released_lines[first]),
        "key": keys[first],
        "rows": column_of_lists(rows.number[own], size),
        "people": column_of_lists(rows.person[own], size),
    }
    if times is not None:
        columns["times"] = column_of_rows(times[first])
    if groups.on_roads is not None:
        columns["on_roads"] = groups.on_roads[first]
    latitude = groups.released_lines[first, 0, 0]
    bucket = np.searchsorted(table.latitudes, latitude, side="right")
    table.scratch.put("lines", bucket, shard, pa.table(columns))

    label = groups.labels_of_all
    own_row = np.zeros(len(label), dtype=np.bool_)
    own_row[own] = True
    columns = {
        "row": rows.number,
        "group": np.where(label < 0, -1, label + first_group),
        "key": keys[label],
        "own_row": own_row,
    }
    start = groups.starts_of_all
    if start is not None:
        columns["start"] = start
    table.scratch.put("members", buckets_of_rows(rows.number), shard, pa.table(columns))

    person = np.unique(rows.person[released])
    bucket = buckets_of_numbers(person, table.file.n)
    table.scratch.put("people", bucket, shard, pa.table({"person": person}))
