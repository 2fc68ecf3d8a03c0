"""The first reading of all parts: how coordinates are spread, where rows lie, whose they are."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from trajanon.common.arrays import Floats, Hashes, Ints
from trajanon.common.errors import BadInput
from trajanon.files.hilbert_order import keys_on_curve
from trajanon.files.parquet_parts import ParquetParts
from trajanon.files.trajectory_files import warn_of_merged
from trajanon.grouping.k_promise import check_enough
from trajanon.release.plan import Plan
from trajanon.shards.parts_table import PartsTable, PlacedRows, SharedRuns
from trajanon.shards.scratch_and_resume import buckets_of_numbers
from trajanon.trajectories.provenance import with_counts
from trajanon.trajectories.release_timing import EndsSeen, timing_for
from trajanon.trajectories.subjects import Identities, Merged, Nameless

SAMPLE = 200_000
"""Rows in the sample by which the curve is cut, at least, if there are as many."""

SAMPLE_OF_SHARD = 4_000
"""Rows of the sample in each shard: its size is then right to some 5 %."""

_CONSTANT_DEGREES = 1e-9  # what differs by less is constant

DoEach = Callable[[str, Callable[[int], Any], Sequence[int]], Any]
"""Does a task with each item, and yields the results, as `each_done`."""


class PartSurvey(NamedTuple):
    """What one part adds to the survey."""

    mean: Floats  # of each coordinate, (2 m,)
    squares: Floats  # of the differences from the mean, (2 m,)
    sample: PlacedRows
    sample_run: Ints | None  # the run of each row of the sample
    ends: EndsSeen | None  # departures are those of the sample
    nameless: int  # rows without a name


def placed_rows_of(
    table: PartsTable, part: ParquetParts, points: Floats, person: Hashes
) -> tuple[PlacedRows, Ints | None]:
    """Return the place of each row of a part, all rows of a run at its first; and their runs."""
    # In parts that are in order, the number of a row is its place. In others it is that of its
    # middle point on the curve.
    key = part.row_numbers
    if not table.file.in_order:
        key = keys_on_curve(points[:, points.shape[1] // 2], part.row_numbers)
    rows = PlacedRows(points[:, 0].astype(np.float32), key, person)
    run = table.runs(part)
    if run is None:
        return rows, None

    _, first, place_of_run = np.unique(run, return_index=True, return_inverse=True)
    rows = rows._replace(key=key[first][place_of_run])
    if table.shared_runs is not None:  # known only when rows are written
        rows = table.shared_runs.with_runs_together(rows, run)
    return rows, run


def read_part(table: PartsTable, step: int, number: int) -> PartSurvey:
    """Survey a part: every row whose number in the table is a multiple of ``step`` is sampled.

    Names of people and runs go to scratch, where those of all parts can be compared.
    """
    with table.file.part(number) as part:
        trajectories = table.read(part)
        people = table.people(part)
        rows, run = placed_rows_of(table, part, trajectories.points, people.person)

    if table.knows_people:
        # Name and person are mostly equal: stored as a difference they are mostly 0, which packs.
        spelling = people.name ^ people.person
        pairs = np.column_stack([people.person, spelling])[~people.missing]
        person, spelling = np.unique(pairs, axis=0).T
        names = pa.table({"person": person, "spelling": spelling})
        bucket = buckets_of_numbers(person, table.file.n)
        table.scratch.put("names", bucket, number, names)

    if run is not None:
        runs, first, count = np.unique(run, return_index=True, return_counts=True)
        # np.unique finds first rows, so the last ones are found in the reverse order.
        last = part.n - 1 - np.unique(run[::-1], return_index=True)[1]
        columns = {"run": runs, "key": rows.key[first], "rows": count}
        columns |= {"first": part.first_row + first, "last": part.first_row + last}
        bucket = buckets_of_numbers(runs, table.file.n)
        table.scratch.put("runs", bucket, number, pa.table(columns))

    sampled = part.row_numbers % step == 0
    ends = None
    if trajectories.times is not None:
        ends = EndsSeen.of(trajectories.times[:, [0, -1]])
        departures = trajectories.times[sampled, 0]
        ends = ends._replace(departures=departures[~np.isnan(departures)])

    records = trajectories.records
    mean = records.mean(axis=0)
    return PartSurvey(
        mean=mean,
        squares=((records - mean) ** 2).sum(axis=0),
        sample=PlacedRows(*(column[sampled] for column in rows)),
        sample_run=None if run is None else run[sampled],
        ends=ends,
        nameless=int(people.missing.sum()),
    )


def surveyed(table: PartsTable, shards: int, do_each: DoEach) -> PartsTable:
    """Read all parts; return the table with all that is known of it, and how it is split."""
    n = table.file.n
    # Every so many rows, one is in the sample.
    step = -(-n // max(SAMPLE, SAMPLE_OF_SHARD * shards))
    parts = range(len(table.file.parts))
    surveys = [*do_each("Reading parts", partial(read_part, table, step), parts)]
    if len({len(part.mean) for part in surveys}) > 1:
        raise BadInput(f"the parts in {table.folder} have trajectories of different lengths")

    columns = zip(*(part.sample for part in surveys), strict=True)
    sample = PlacedRows(*map(np.concatenate, columns))
    people = None
    if table.knows_people:
        table, sample, people = _with_people(table, surveys, sample, step, do_each)
    origin = table.origin
    check_enough(n, table.k, people, origin.unit, origin.source.unnamed)

    runs = [part.sample_run for part in surveys if part.sample_run is not None]
    if runs:
        shared_runs, runs_are_ranges = _shared_runs(table)
        sample = shared_runs.with_runs_together(sample, np.concatenate(runs))
        table = replace(table, shared_runs=shared_runs, runs_are_ranges=runs_are_ranges)

    plan = _plan_of_survey(table, surveys, sample)
    return replace(table, plan=plan, cuts=keys_of_cuts(sample, table.k, shards))


def _with_people(
    table: PartsTable, surveys: Sequence[PartSurvey], sample: PlacedRows, step: int, do_each: DoEach
) -> tuple[PartsTable, PlacedRows, int]:
    """Count people, and find the persons of rows without a name.

    The provenance then counts the names that were merged, and the recordings without one.
    """
    people, names = table.scratch.count_different("names", "person", "spelling")
    merged = Merged(names=names - people)
    if "subject" not in table.file.schema_arrow.names:  # each recording counts as a person
        nameless = Nameless(people, people)
    elif any(part.nameless for part in surveys):
        table, sample, nameless = _named_by_trace(table, sample, step, do_each, known=people > 0)
        people += nameless.subjects
    else:
        nameless = Nameless()

    warn_of_merged(table.folder, merged)
    counts = Identities(None, None, nameless, merged).counts
    return replace(table, provenance=with_counts(table.provenance, counts)), sample, people


def read_traces(table: PartsTable, number: int) -> None:
    """Write the rows of a part without a name, and the first with one of each trace, by trace."""
    with table.file.part(number) as part:
        row = part.row_numbers
        people = table.people(part)
        trace = table.recordings(part).person

    named = np.flatnonzero(~people.missing)
    first_named = named[np.unique(trace[named], return_index=True)[1]]
    kept = np.append(np.flatnonzero(people.missing), first_named)
    rows = pa.table({"trace": trace, "row": row, "person": people.person}).take(pa.array(kept))
    table.scratch.put("traces", buckets_of_numbers(trace[kept], table.file.n), number, rows)


def _named_by_trace(
    table: PartsTable, sample: PlacedRows, step: int, do_each: DoEach, *, known: bool
) -> tuple[PartsTable, PlacedRows, Nameless]:
    """Find whose rows without a name are: the person whom another row of their trace names.

    Traces without any name are of one person, or each of its own if nobody is ``known``. Also
    return the sample with these persons, and count such traces.
    """
    parts = table.file.parts
    first_rows = np.array([part.first_row for part in parts])
    for _ in do_each("Reading names", partial(read_traces, table), range(len(parts))):
        pass  # they are in scratch

    sampled_person = sample.person.copy()
    traces = 0
    for number, bucket in enumerate(table.scratch.buckets("traces")):
        rows = bucket.to_pandas().sort_values("row")
        is_named = rows["person"] != 0
        named = rows.loc[is_named, ["trace", "person"]].drop_duplicates("trace")  # by first rows
        nameless = rows.loc[~is_named, ["trace", "row"]]
        owned = nameless.merge(named, on="trace")
        traces += nameless["trace"].nunique() - owned["trace"].nunique()
        if not known:
            owned = nameless.assign(person=nameless["trace"])

        row = owned["row"].to_numpy()
        person = owned["person"].to_numpy()
        is_sampled = row % step == 0
        sampled_person[row[is_sampled] // step] = person[is_sampled]

        # Whoever reads a part finds them by its first row.
        part = first_rows[np.searchsorted(first_rows, row, side="right") - 1]
        table.scratch.put("owners", part, number, pa.table({"row": row, "person": person}))

    sample = sample._replace(person=sampled_person)
    subjects = min(traces, 1) if known else traces
    return replace(table, is_named_by_trace=True), sample, Nameless(traces, subjects)


def _shared_runs(table: PartsTable) -> tuple[SharedRuns, bool]:
    """Find runs with rows in several parts; and whether all runs have their rows side by side."""
    shared: list[NDArray[np.int64]] = [np.empty((0, 2), np.int64)]
    are_ranges = True
    for bucket in table.scratch.buckets("runs"):
        # A run has a row for each part with rows of it, of which the first has its key.
        rows = bucket.to_pandas().sort_values(["run", "first"])
        runs = rows.groupby("run").agg({"first": "min", "last": "max", "rows": "sum"})
        are_ranges &= bool((runs["last"] - runs["first"] + 1 == runs["rows"]).all())
        several = rows[rows["run"].duplicated(keep=False)].drop_duplicates("run")
        shared.append(several[["run", "key"]].to_numpy(np.int64))

    runs_and_keys = np.concatenate(shared)
    run, key = runs_and_keys[runs_and_keys[:, 0].argsort()].T
    return SharedRuns(run, key), are_ranges


def _plan_of_survey(table: PartsTable, surveys: Sequence[PartSurvey], sample: PlacedRows) -> Plan:
    """Add the spread of coordinates, and the timing, to the plan."""
    n = table.file.n
    # The variance of all rows is that within parts and that between the means of parts.
    share = np.array([part.n for part in table.file.parts]) / n
    means = np.stack([part.mean for part in surveys])
    squares = np.sum([part.squares for part in surveys], axis=0)
    spread = np.sqrt(squares / n + share @ (means - share @ means) ** 2)
    spread[spread < _CONSTANT_DEGREES] = 1.0

    # Windows that may slide need times along their tracks, too.
    names = {*table.file.schema_arrow.names}
    tracks_lack_times = table.plan.release.align and "track" in names and "track_times" not in names
    ends = None
    ends_by_part = [part.ends for part in surveys if part.ends is not None]
    if not tracks_lack_times and len(ends_by_part) == len(surveys):
        unknown, still, departures = zip(*ends_by_part, strict=True)
        ends = EndsSeen(sum(unknown), sum(still), np.concatenate(departures))

    starts = sample.start.astype(np.float64)
    timing = timing_for(table.plan.release, table.origin, n, ends, starts)
    return replace(table.plan, timing=timing, spread=spread)


def keys_of_cuts(sample: PlacedRows, k: int, shards: int) -> Ints:
    """Choose the keys at which all shards but the first begin.

    Each shard gets about equally many rows, and at least k people: the sample shows k of them, and
    all rows only more.
    """
    order = np.argsort(sample.key, kind="stable")
    key = sample.key[order]
    person = sample.person[order]

    cuts: list[int] = []
    begin = 0
    borders = len(key) * np.arange(1, shards) // shards
    for cut in np.unique(key[borders]).tolist():
        end = int(np.searchsorted(key, cut))
        if len(np.unique(person[begin:end])) >= k:
            cuts.append(cut)
            begin = end
    if len(np.unique(person[begin:])) < k:
        cuts = cuts[:-1]
    return np.array(cuts, dtype=np.int64)
