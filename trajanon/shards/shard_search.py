"""A shard searched as a table of its own, and its lines written once all shards are searched."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from msgspec import convert, to_builtins

from trajanon.anonymization import grouped
from trajanon.common.arrays import Floats, dense
from trajanon.common.progress import Progress
from trajanon.files.release_contents import in_order
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.grouping.partition import measured
from trajanon.release.assembly import GroupLines, errors_of
from trajanon.release.perturbation import PublicWidths
from trajanon.release.release import own_rows
from trajanon.release.report import Mended, line_keys
from trajanon.release.trajectory_groups import TrajectoryGroups
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.scratch import Scratch
from trajanon.shards.shard_rows import Pieces, ShardRows, read_shard
from trajanon.shards.sorted_runs import read_run, schema_of_run, write_run
from trajanon.trajectories.distances import Histogram

ROWS_MEASURED = 100_000
"""Rows whose loss is measured at one time."""

_FACTS = b"facts"


@dataclass(frozen=True, eq=False)
class Shards:
    """The shards of a table, as the tasks of a run know them."""

    table: PartsTable
    scratch: Scratch
    pieces: Pieces
    progress: Progress  # of what runs on this machine


class GroupsFound(NamedTuple):
    """What all shards have to know of the groups of one; the groups themselves are in scratch."""

    groups: int
    mended: Mended | None
    widths: tuple[Histogram, ...]  # of places, and perhaps of departures and elapsed times


class ShardFigures(NamedTuple):
    """What is to be added up over all shards; the lines themselves are in scratch."""

    released: int  # rows
    least_people: int  # or rows, where these are counted, in a group
    points: int  # of a line
    slid: int
    on_roads: int | None  # lines
    squares: float  # that are lost, of columns with a spread of 1 in the whole table
    errors: Mapping[str, Histogram]  # in metres or seconds


def search_shard(shards: Shards, shard: int) -> GroupsFound:
    """Group a shard as a table of its own, unless an earlier run did."""
    import pyarrow as pa

    path = shards.scratch.groups(shard)
    if path.is_file():
        facts = json.loads(schema_of_run(path).metadata[_FACTS])
        widths = tuple(map(_histogram_of, facts["widths"]))
        return GroupsFound(facts["groups"], convert(facts["mended"], Mended | None), widths)

    table = shards.table
    rows = read_shard(table, shards.scratch, shards.pieces, shard)
    given = rows.trajectories
    groups = grouped(given, table.k, table.plan, shards.progress)
    mended = groups.mended
    left_in = ~groups.left_out
    if groups.partition.stopped:
        raise KeyboardInterrupt

    label = np.full(len(given), -1)
    label[left_in] = groups.partition.labels
    columns = {"row": rows.number, "group": label}
    tracks = groups.trajectories.tracks
    if tracks is not None:
        start = np.zeros(len(given), dtype=np.int64)
        start[left_in] = tracks.along
        columns["start"] = start

    widths = tuple(Histogram.of(width) for width in groups.group_widths if width is not None)
    count = int(label.max()) + 1
    accounts = [_account_of(width) for width in widths]
    facts = {"groups": count, "mended": to_builtins(mended), "widths": accounts}
    found = pa.table(columns).replace_schema_metadata({_FACTS: json.dumps(facts)})
    write_run(path, found)
    return GroupsFound(count, mended, widths)


def _account_of(histogram: Histogram) -> dict[str, Any]:
    """Return a histogram, ready for JSON."""
    places = np.flatnonzero(histogram.bins)
    counts = histogram.bins[places].tolist()
    about = {"total": histogram.total, "largest": histogram.largest}
    return {"places": places.tolist(), "counts": counts, **about}


def _histogram_of(account: dict[str, Any]) -> Histogram:
    bins = Histogram.of(np.empty(0)).bins
    bins[account["places"]] = account["counts"]
    return Histogram(bins, account["total"], account["largest"])


def write_lines(shards: Shards, widths: PublicWidths, of_shard: tuple[int, int]) -> ShardFigures:
    """Write the lines of a shard, whose first group has a number; measure what is lost."""
    since = perf_counter()
    table = shards.table
    spread = table.plan.spread
    assert spread is not None

    shard, first_group = of_shard
    rows = read_shard(table, shards.scratch, shards.pieces, shard)
    trajectories = rows.trajectories
    found = read_run(shards.scratch.groups(shard))
    label = found["group"].to_numpy()
    left_out = label < 0
    released = trajectories.take(~left_out) if left_out.any() else trajectories
    if "start" in found.column_names:
        released = released.slid(found["start"].to_numpy()[~left_out])

    partition = measured(released.records, label[~left_out], "shard", since)
    groups = TrajectoryGroups(released, partition, table.plan, left_out, release_widths=widths)
    lines = GroupLines.of(trajectories, groups)
    _write_rows(shards, shard, first_group, rows, lines)

    records = groups.trajectories.records
    labels = groups.partition.labels
    flat = groups.released.reshape(-1, records.shape[1])
    squares = 0.0
    for start in range(0, len(records), ROWS_MEASURED):
        batch = slice(start, start + ROWS_MEASURED)
        squares += float((((records[batch] - flat[labels[batch]]) / spread) ** 2).sum())

    people = np.arange(len(labels)) if released.subject is None else released.subject
    return ShardFigures(
        released=len(labels),
        least_people=int(subjects_per_group(labels, people).min()),
        points=lines.lines.shape[1],
        slid=lines.slid,
        on_roads=None if lines.on_roads is None else int(lines.on_roads.sum()),
        squares=squares,
        errors={name: Histogram.of(errors) for name, errors in errors_of(groups)},
    )


def _write_rows(
    shards: Shards, shard: int, first_group: int, rows: ShardRows, groups: GroupLines
) -> None:
    """Write the different lines of a shard in their order, and which row is on which."""
    import pyarrow as pa

    scratch = shards.scratch
    released = groups.labels >= 0
    keys = line_keys(groups.lines, groups.times)
    line = dense(keys)
    first = np.unique(line, return_index=True)[1]
    line_of = line[groups.labels[released]]
    subject = rows.trajectories.subject
    people = None if subject is None else subject[released]
    has_row, _ = own_rows(shards.table.plan.release.rows, line_of, people)

    lines = groups.lines[first]
    times = None if groups.times is None else groups.times[first]
    order = in_order(lines, times)
    columns: dict[str, Any] = {
        "first": lines[order, 0, 0],
        "line": _lists(lines[order]),
        "key": keys[first][order],
        "rows": np.bincount(line_of[has_row])[order],
    }
    if times is not None:
        columns["times"] = _lists(times[order])
    if groups.on_roads is not None:
        columns["on_roads"] = groups.on_roads[first][order]
    write_run(scratch.of("lines", shard), pa.table(columns))

    of_line = {"key": keys[groups.labels], "own_row": np.zeros(len(released), dtype=np.bool_)}
    of_line["own_row"][released] = has_row
    label = np.where(released, groups.labels + first_group, -1)
    columns = {"row": rows.number, "group": label, **of_line}
    if groups.starts is not None:
        columns["start"] = groups.starts
    if rows.person is not None:
        columns["person"] = rows.person
        people = pa.table({"person": np.unique(rows.person[released])})
        write_run(scratch.of("people", shard), people)
    write_run(scratch.of("rows", shard), pa.table(columns))


def _lists(rows: Floats) -> Any:
    """Make a column of rows of as many numbers."""
    import pyarrow as pa

    flat = rows.reshape(len(rows), -1)
    return pa.FixedSizeListArray.from_arrays(flat.ravel(), flat.shape[1])
