"""The first reading of all parts: how coordinates are spread, where rows lie, and whose."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Floats, Hashes, Ints
from trajanon.common.errors import BadInput, MergedWarning, warn
from trajanon.files.hilbert_order import keys_on_curve
from trajanon.files.parquet_parts import ParquetParts
from trajanon.files.trajectory_files import read_subjects
from trajanon.grouping.k_promise import check_enough
from trajanon.release.plan import Plan
from trajanon.shards.parts_table import PartsTable, PlacedRows, SharedRuns
from trajanon.shards.scratch_and_resume import ROWS_PER_BUCKET, buckets_of_numbers
from trajanon.trajectories.provenance import with_counts
from trajanon.trajectories.release_timing import EndsSeen, timing_for
from trajanon.trajectories.subjects import Identities, Merged, Nameless, merged_sentences

SAMPLE = 200_000
"""Rows of all parts, about, by which the curve through space is cut; more for many shards."""

SAMPLE_OF_SHARD = 4_000
"""Rows of the sample in each shard: its size is then right to some 5 %."""

_ROUNDING = 1e-9  # degrees: what differs by less is constant


class PartSurvey(NamedTuple):
    """What the rows of a part say of where a table is split, and of its people and times."""

    mean: Floats  # of each coordinate, (2 m,)
    squares: Floats  # of the differences from the mean, (2 m,)
    sample: PlacedRows
    sample_run: Ints | None  # the run of each row of the sample
    ends: EndsSeen | None  # departures are those of the sample
    nameless: int  # rows
    kind: str  # of the values that tell people, as NumPy knows them


def placed_rows_of(
    table: PartsTable, part: ParquetParts, points: Floats, person: Hashes
) -> tuple[PlacedRows, Ints | None]:
    """Find where the rows of a part lie, with all of a run at its first one, and their runs."""
    # Of parts in order, the row's number is its place on the curve; else that of its middle point.
    row_number = np.arange(part.first_row, part.first_row + part.n)
    key = row_number
    if not table.file.in_order:
        key = keys_on_curve(points[:, points.shape[1] // 2], row_number)
    rows = PlacedRows(points[:, 0].astype(np.float32), key, person)
    run = table.runs(part)
    if run is None:
        return rows, None

    _, first, number = np.unique(run, return_index=True, return_inverse=True)
    rows = rows._replace(key=key[first][number])
    if table.shared_runs is not None:  # which are known after the survey
        rows = table.shared_runs.with_runs_together(rows, run)
    return rows, run


def read_part(table: PartsTable, step: int, number: int) -> PartSurvey:
    """Survey a part: every row whose number in the table is a multiple of ``step`` is sampled.

    Names of people and runs go to scratch, where all parts' can be compared.
    """
    import pyarrow as pa

    with table.file.part(number) as part:
        trajectories = table.read(part)
        people = table.people(part)
        rows, run = placed_rows_of(table, part, trajectories.points, people.person)
    n = table.file.n
    if table.knows_people:
        # Both are hashes, mostly equal: their difference is mostly 0, and takes little room.
        spelling = people.name ^ people.person
        pairs = np.unique(np.column_stack([people.person, spelling]), axis=0)
        names = pa.table({"person": pairs[:, 0], "spelling": pairs[:, 1]})
        table.scratch.put("names", buckets_of_numbers(pairs[:, 0], n), number, names)
    if run is not None:
        runs, first, count = np.unique(run, return_index=True, return_counts=True)
        last = part.n - 1 - np.unique(run[::-1], return_index=True)[1]  # found from behind
        columns = {"run": runs, "key": rows.key[first], "rows": count}
        columns |= {"first": part.first_row + first, "last": part.first_row + last}
        table.scratch.put("runs", buckets_of_numbers(runs, n), number, pa.table(columns))

    sampled = np.arange(part.first_row, part.first_row + part.n) % step == 0
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
        kind=people.kind,
    )


def sample_step(n: int, shards: int) -> int:
    """Compute of how many rows one is in the sample."""
    return -(-n // max(SAMPLE, SAMPLE_OF_SHARD * shards))


def surveyed(
    table: PartsTable, shards: int, step: int, surveys: Sequence[PartSurvey]
) -> PartsTable:
    """Join what all parts say: how rows are split into shards, and lines into buckets."""
    if len({len(part.mean) for part in surveys}) > 1:
        raise BadInput(f"the parts in {table.folder} have trajectories of different lengths")

    n = table.file.n
    table, people = _with_people(table, surveys)
    check_enough(n, table.k, people, "trajectory", table.origin.source.unnamed)

    columns = zip(*(part.sample for part in surveys), strict=True)
    sample = PlacedRows(*map(np.concatenate, columns))
    if table.owners is not None:
        sample = sample._replace(person=table.owners[::step].astype(np.uint64))

    shared_runs = None
    runs_are_ranges = True
    runs = [part.sample_run for part in surveys if part.sample_run is not None]
    if runs:
        shared_runs, runs_are_ranges = _shared_runs(table)
        sample = shared_runs.with_runs_together(sample, np.concatenate(runs))

    # Lines go to buckets by the latitude of their start, about equally many to each.
    count = -(-n // ROWS_PER_BUCKET)
    latitudes = sample.start[:, 0].astype(np.float64)
    return replace(
        table,
        plan=_scaled(table, surveys, sample),
        cuts=keys_of_cuts(sample, table.k, shards),
        shared_runs=shared_runs,
        runs_are_ranges=runs_are_ranges,
        latitudes=np.quantile(latitudes, np.arange(1, count) / count),
    )


def _with_people(table: PartsTable, surveys: Sequence[PartSurvey]) -> tuple[PartsTable, int | None]:
    """Count the people of a table, if it tells of any; also note what was merged or has no name."""
    if not table.knows_people:
        return table, None

    nameless = sum(part.nameless for part in surveys)
    kinds = {part.kind for part in surveys}
    # Whole numbers in one part, and floats for them in another with gaps, have other hashes. Then,
    # and where names are missing, the names of all parts are read together.
    if nameless or {"i", "f"} <= kinds or {"u", "f"} <= kinds:
        owners, provenance = read_subjects(table.folder, subjects_exact=table.subjects_exact)
        assert owners is not None
        return replace(table, owners=owners, provenance=provenance), len(np.unique(owners))

    people, names = table.scratch.count_different("names", "person", "spelling")
    if "subject" in table.file.schema_arrow.names:
        found = Identities(None, None, merged=Merged(names=names - people))
    else:  # recordings alone have names: each counts as a subject
        found = Identities(None, None, Nameless(people, people))
    for sentence in merged_sentences(found.merged):
        warn(MergedWarning(f"{table.folder}: {sentence}", "names", str(table.folder)))
    return replace(table, provenance=with_counts(table.provenance, found.counts)), people


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


def _scaled(table: PartsTable, surveys: Sequence[PartSurvey], sample: PlacedRows) -> Plan:
    """Find how coordinates are spread, and times released."""
    n = table.file.n
    share = np.array([part.n for part in table.file.parts]) / n
    means = np.stack([part.mean for part in surveys])
    squares = np.sum([part.squares for part in surveys], axis=0)
    spread = np.sqrt(squares / n + share @ (means - share @ means) ** 2)
    spread[spread < _ROUNDING] = 1.0

    # Windows that may slide need times along their tracks, too.
    names = {*table.file.schema_arrow.names}
    tracks_lack_times = table.plan.release.align and "track" in names and "track_times" not in names
    ends = None
    known = [part.ends for part in surveys if part.ends is not None]
    if not tracks_lack_times and len(known) == len(surveys):
        unknown, still, departures = zip(*known, strict=True)
        ends = EndsSeen(sum(unknown), sum(still), np.concatenate(departures))

    middle = sample.start.mean(axis=0, dtype=np.float64)
    timing = timing_for(table.plan.release, table.origin, n, ends, middle)
    return replace(table.plan, timing=timing, spread=spread)


def keys_of_cuts(sample: PlacedRows, k: int, shards: int) -> Ints:
    """Choose the keys at which all shards but the first begin: equally many rows are in each.

    In each are k people at least, also of all rows: those of the sample are among them.
    """
    order = np.argsort(sample.key, kind="stable")
    key = sample.key[order]
    person = sample.person[order]

    cuts: list[int] = []
    begin = 0
    for cut in np.unique(key[len(key) * np.arange(1, shards) // shards]).tolist():
        end = int(np.searchsorted(key, cut))
        if len(np.unique(person[begin:end])) >= k:
            cuts.append(cut)
            begin = end
    if len(np.unique(person[begin:])) < k:
        cuts = cuts[:-1]
    return np.array(cuts, dtype=np.int64)
