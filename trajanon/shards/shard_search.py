"""A shard: its rows written and read, searched as a table of their own, and its lines written."""

from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from trajanon.anonymization import grouped
from trajanon.common.arrays import Floats, Hashes, Ints, renumbered
from trajanon.common.errors import FileProblem
from trajanon.common.object_stores import Folder
from trajanon.common.progress import Progress
from trajanon.files.arrow import column_of_lists, column_of_rows
from trajanon.files.parquet_parts import parquet_of
from trajanon.files.rounding_order_and_keys_of_lines import in_order, line_keys, numbers_of
from trajanon.files.trajectory_files import check_schema
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.grouping.partition import unmeasured
from trajanon.release.assembled_release import errors_of, lines_of_few_named
from trajanon.release.lines_of_groups import TrajectoryGroups
from trajanon.release.perturbed_places_and_times import PublicWidths
from trajanon.release.release import own_rows
from trajanon.release.report import Mended
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.places_of_rows import places_of_part
from trajanon.shards.release_of_shards import lines_per_group
from trajanon.shards.scratch_and_resume import buckets_of_numbers, read_table, write_table
from trajanon.shards.survey_and_cuts import Moments
from trajanon.trajectories.distances import Histogram
from trajanon.trajectories.trajectories import Trajectories

_ROW_COLUMN = "trajanon_row"  # beside the columns of the parts: the number of each row
_PERSON_COLUMN = "trajanon_person"  # and the hash of its person

ROWS_PER_BUCKET = 100_000
"""Rows of members in a bucket, which the driver reads at one time."""

ROWS_MEASURED = 100_000
"""Rows whose loss is measured at one time."""

_MENDED = b"mended"  # in the metadata of a shard's groups


class ShardRows(NamedTuple):
    """The rows of a shard."""

    number: Ints  # the number of each row in the table, rising, (n,)
    person: Hashes  # of its person, the same in all shards, (n,)
    trajectories: Trajectories


class GroupsFound(NamedTuple):
    """What the driver needs of a shard's groups."""

    groups: int
    mended: Mended
    histograms: dict[str, Histogram]  # widths of places, and perhaps of departures, elapsed times


class ShardFigures(NamedTuple):
    """What the driver needs of a shard's lines."""

    least_people: int  # in the smallest group; where nothing is known of people, rows
    groups_of_few_named: int  # groups of fewer than k people who have a name
    points: int  # of a line
    slid: int  # windows
    on_roads: int  # lines
    moments: Moments  # of what is released
    squares: Floats  # of the differences of each coordinate from its line's, (2 m,)
    histograms: dict[str, Histogram]  # errors, in metres or seconds


def write_part(table: PartsTable, number: int) -> Ints:
    """Write the rows of a part by shard; count those of each."""
    key, person = places_of_part(table, table.file.parts[number])
    shard = np.searchsorted(table.cuts, key, side="right")
    with table.file.part(number) as part:
        columns = part.read(table.columns_to_copy)
        columns = columns.append_column(_ROW_COLUMN, pa.array(part.row_numbers))

    columns = columns.append_column(_PERSON_COLUMN, pa.array(person))
    columns = columns.replace_schema_metadata(table.file.schema_arrow.metadata)
    table.scratch.put("shard", shard, number, columns)
    return np.bincount(shard, minlength=table.shards)


def read_shard(table: PartsTable, shard: int) -> ShardRows:
    """Read the rows of a shard: a range of the parts, or what was written of each part."""
    if table.shards_are_ranges:
        first, end = table.borders[shard : shard + 2]
        file = table.file.between(first, end)
        number = file.row_numbers
        persons = [places_of_part(table, part).person for part in file.parts]
        person = np.concatenate(persons)[file.rows_to_skip :][: file.n]
    else:
        # The rows of this shard are a folder of parts themselves.
        with parquet_of(Folder(table.scratch.bucket("shard", shard)), check_schema) as file:
            numbers = file.read([_ROW_COLUMN, _PERSON_COLUMN])
        number, person = (column.to_numpy() for column in numbers.columns)

    # Files are opened again for each column that is read.
    subject = renumbered(person) if table.knows_people else None
    file = replace(file, where=table.folder)
    return ShardRows(number, person, table.read(file, subject, tracks=True))


def search_shard(table: PartsTable, progress: Progress, shard: int) -> GroupsFound:
    """Group a shard as a table of its own, unless an earlier run did."""
    rows = read_shard(table, shard)
    path = table.scratch.groups(shard)
    searched = None
    with suppress(FileProblem):  # if it is not there, or, after a power cut, not whole
        searched = read_table(path)

    if searched is None:
        groups = grouped(rows.trajectories, table.k, table.plan, progress)
        if groups.partition.stopped:
            # A search that Ctrl-C cut short is not kept: it would be taken for a finished one.
            raise KeyboardInterrupt
        columns = {"row": rows.number, "group": groups.labels_of_all}
        if groups.starts_of_all is not None:
            columns["start"] = groups.starts_of_all
        mended = msgspec.json.encode(groups.mended)
        searched = pa.table(columns).replace_schema_metadata({_MENDED: mended})
        write_table(path, searched)

    groups = _groups_of(table, rows, searched)
    widths = {
        name: Histogram.of(width)
        for name, width in groups.group_widths._asdict().items()
        if width is not None
    }
    return GroupsFound(len(groups.means), groups.mended or Mended(), widths)


def _groups_of(
    table: PartsTable, rows: ShardRows, searched: pa.Table, widths: PublicWidths | None = None
) -> TrajectoryGroups:
    """Return the groups that a search found."""
    label_of_row = searched["group"].to_numpy()
    left_out = label_of_row < 0
    released = rows.trajectories.take(~left_out) if left_out.any() else rows.trajectories
    if "start" in searched.column_names:
        released = released.slid(searched["start"].to_numpy()[~left_out])

    partition = unmeasured(released.records, label_of_row[~left_out])
    mended = msgspec.json.decode(searched.schema.metadata[_MENDED], type=Mended)
    return TrajectoryGroups(released, partition, table.plan, left_out, mended, widths)


def write_lines(
    table: PartsTable, widths: PublicWidths, shard_and_first_group: tuple[int, int]
) -> ShardFigures:
    """Write the lines of a shard, and measure what is lost.

    Its first group has this number among the groups of all shards.
    """
    shard, first_group = shard_and_first_group
    rows = read_shard(table, shard)
    groups = _groups_of(table, rows, read_table(table.scratch.groups(shard)), widths)
    _write_lines(table, shard, first_group, rows, groups)

    records = groups.trajectories.records
    labels = groups.partition.labels
    line_records = groups.released_lines.reshape(-1, records.shape[1])
    squares = np.zeros(records.shape[1])
    for start in range(0, len(records), ROWS_MEASURED):
        batch = slice(start, start + ROWS_MEASURED)
        difference = records[batch] - line_records[labels[batch]]
        squares += np.square(difference, out=difference).sum(axis=0)

    subject = groups.trajectories.subject
    people = np.arange(len(labels)) if subject is None else subject
    nameless_people = np.array(table.nameless_people, np.uint64)
    nameless = np.isin(rows.person[~groups.left_out], nameless_people)
    return ShardFigures(
        least_people=int(subjects_per_group(labels, people).min()),
        groups_of_few_named=lines_of_few_named(nameless, people, labels, table.k),
        points=groups.released_lines.shape[1],
        slid=groups.slid_windows(rows.trajectories),
        on_roads=0 if groups.on_roads is None else int(groups.on_roads.sum()),
        moments=Moments.of(records),
        squares=squares,
        histograms={name: Histogram.of(errors) for name, errors in errors_of(groups)},
    )


def _write_lines(
    table: PartsTable, shard: int, first_group: int, rows: ShardRows, groups: TrajectoryGroups
) -> None:
    """Write the different lines of a shard in the order of a release, and the line of each row."""
    times = groups.released_times
    keys = line_keys(groups.released_lines, times)
    line_of_group = renumbered(keys)
    group_of_line = np.unique(line_of_group, return_index=True)[1]  # the first one

    released = np.flatnonzero(~groups.left_out)
    line_of_released = line_of_group[groups.partition.labels]
    subject = rows.trajectories.subject
    people = None if subject is None else subject[released]
    has_row, _ = own_rows(table.plan.release.rows, line_of_released, people)

    # Trajectories with a row of their own, line by line.
    by_line = np.argsort(line_of_released[has_row], kind="stable")
    with_row = released[has_row][by_line]
    size = np.bincount(line_of_released[has_row])
    lines = groups.released_lines[group_of_line]
    line_times = None if times is None else times[group_of_line]
    on_roads = groups.on_roads
    line_columns = {
        "numbers": column_of_rows(numbers_of(lines, line_times)),
        "rows": column_of_lists(rows.number[with_row], size),
        "people": column_of_lists(rows.person[with_row], size),
        "on_roads": np.zeros(len(lines), np.bool_) if on_roads is None else on_roads[group_of_line],
    }
    line_table = pa.table(line_columns).take(in_order(lines, line_times))
    write_table(table.scratch.lines(shard), line_table, lines_per_group(table.shards))

    label_of_row = groups.labels_of_all
    is_left_out = label_of_row < 0
    has_own_row = np.zeros(len(label_of_row), dtype=np.bool_)
    has_own_row[with_row] = True
    member_columns = {
        "row": rows.number,
        "group": np.where(is_left_out, -1, label_of_row + first_group),
        "key": np.where(is_left_out, 0, keys[label_of_row]),
        "own_row": has_own_row,
    }
    start = groups.starts_of_all
    if start is not None:
        member_columns["start"] = start
    bucket = rows.number // ROWS_PER_BUCKET  # buckets follow in the order of rows
    table.scratch.put("members", bucket, shard, pa.table(member_columns))

    if table.knows_people:
        person = np.unique(rows.person[released])
        bucket = buckets_of_numbers(person, table.file.n)
        table.scratch.put("people", bucket, shard, pa.table({"person": person}))
