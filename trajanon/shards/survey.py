"""The first reading of all parts: how coordinates are spread, where rows lie, and whose."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Floats, Ints
from trajanon.common.errors import BadInput, MergedWarning, warn
from trajanon.files.trajectory_files import read_subjects
from trajanon.grouping.k_promise import check_enough
from trajanon.release.plan import Plan
from trajanon.shards.halving import Places, Rows
from trajanon.shards.parts_table import Part, PartsTable, places_of
from trajanon.shards.people_of_parts import Numbers
from trajanon.shards.scratch import Scratch
from trajanon.shards.sorted_runs import count_different, merged, write_run
from trajanon.trajectories.provenance import with_counts
from trajanon.trajectories.subjects import Identities, Merged, Nameless, merged_sentences
from trajanon.trajectories.times import EndsSeen, timing_for
from trajanon.trajectories.trajectories import Trajectories

SAMPLE = 200_000
"""Rows of all parts by which space is halved, at least."""

SAMPLE_OF_SHARD = 4_000
"""Rows of the sample in each shard: its size is then right to some 5 %."""

_ROUNDING = 1e-9  # degrees: what differs by less is constant


class PartSurvey(NamedTuple):
    """What the rows of a part say of where a table is split, and of its people and times."""

    n: int
    mean: Floats  # of each coordinate, (2 m,)
    squares: Floats  # of the differences from the mean, (2 m,)
    sample: Rows
    sample_run: Ints | None  # the run of each row of the sample
    ends: EndsSeen | None  # departures are those of the sample
    nameless: int  # rows
    kind: str  # of the values that tell people, as NumPy knows them


class SharedRuns(NamedTuple):
    """Runs with rows in several parts, and the first row of each."""

    run: Ints  # rising
    unit: Ints
    places: Places

    def put_together(self, rows: Rows, run: Ints | None) -> Rows:
        """Return rows with those of these runs where the first row of the run is."""
        if run is None or not len(self.run):
            return rows
        number = np.searchsorted(self.run, run).clip(max=len(self.run) - 1)
        shared = self.run[number] == run
        unit = np.where(shared, self.unit[number], rows.unit)
        places = np.where(shared[:, None], self.places[number], rows.places)
        return Rows(places, unit, rows.person)


class Survey(NamedTuple):
    """What is known of a table once all parts were read."""

    table: PartsTable  # with a timing and a spread, provenance and perhaps owners
    sample: Rows
    shared: SharedRuns


def rows_of_part(
    table: PartsTable, part: Part, trajectories: Trajectories, person: Numbers
) -> tuple[Rows, Ints | None]:
    """Find where the rows of a part lie, with all of a run at its first one, and their runs."""
    places = places_of(trajectories)
    number = np.arange(part.first, part.first + part.n)
    run = table.runs(part)
    if run is None:
        return Rows(places, number, person), None
    _, first, unit = np.unique(run, return_index=True, return_inverse=True)
    return Rows(places[first][unit], number[first][unit], person), run


def read_part(table: PartsTable, scratch: Scratch, step: int, part: Part) -> PartSurvey:
    """Look at the rows of a part; keep every so many of them for the sample."""
    import pyarrow as pa

    trajectories = table.read(part)
    people = table.people(part)
    rows, run = rows_of_part(table, part, trajectories, people.person)

    if table.knows_people:
        pairs = np.unique(np.column_stack([people.person, people.name]).view(np.int64), axis=0)
        names = pa.table({"person": pairs[:, 0], "name": pairs[:, 1]})
        write_run(scratch.of("names", part.number), names)
    if run is not None:
        runs, first = np.unique(run, return_index=True)
        columns = {f"place{axis}": rows.places[first, axis] for axis in range(6)}
        firsts = pa.table({"run": runs, "unit": rows.unit[first], **columns})
        write_run(scratch.of("runs", part.number), firsts)

    sampled = np.arange(part.first, part.first + part.n) % step == 0
    ends = None
    if trajectories.times is not None:
        ends = EndsSeen.of(trajectories.times[:, [0, -1]])
        departures = trajectories.times[sampled, 0]
        ends = ends._replace(departures=departures[~np.isnan(departures)])

    records = trajectories.records
    mean = records.mean(axis=0)
    return PartSurvey(
        n=part.n,
        mean=mean,
        squares=((records - mean) ** 2).sum(axis=0),
        sample=rows.take(sampled),
        sample_run=None if run is None else run[sampled],
        ends=ends,
        nameless=int(people.missing.sum()),
        kind=people.kind,
    )


def sample_step(n: int, shards: int) -> int:
    """Compute of how many rows one is in the sample."""
    return -(-n // max(SAMPLE, SAMPLE_OF_SHARD * shards))


def surveyed(
    table: PartsTable, scratch: Scratch, step: int, surveys: Sequence[PartSurvey]
) -> Survey:
    """Join what all parts say."""
    if len({len(part.mean) for part in surveys}) > 1:
        raise BadInput(f"the parts in {table.folder} have trajectories of different lengths")

    n = table.file.n
    table, people = _with_people(table, scratch, surveys)
    check_enough(n, table.k, people, "trajectory", table.origin.source.unnamed)

    columns = zip(*(part.sample for part in surveys), strict=True)
    sample = Rows(*map(np.concatenate, columns))
    if table.owners is not None:
        sample = sample._replace(person=table.owners[::step].astype(np.uint64))

    shared = _shared_runs(table, scratch)
    runs = [part.sample_run for part in surveys if part.sample_run is not None]
    sample = shared.put_together(sample, np.concatenate(runs) if runs else None)
    return Survey(replace(table, plan=_scaled(table, surveys, sample)), sample, shared)


def _with_people(
    table: PartsTable, scratch: Scratch, surveys: Sequence[PartSurvey]
) -> tuple[PartsTable, int | None]:
    """Count the people of a table, if it tells of any, and what is one person's."""
    if not table.knows_people:
        return table, None

    nameless = sum(part.nameless for part in surveys)
    kinds = {part.kind for part in surveys}
    if nameless or {"i", "f"} <= kinds or {"u", "f"} <= kinds:
        owners, provenance = read_subjects(table.folder, subjects_exact=table.subjects_exact)
        assert owners is not None
        return replace(table, owners=owners, provenance=provenance), len(np.unique(owners))

    paths = [scratch.of("names", part.number) for part in table.parts]
    people = count_different(paths, "person")
    if "subject" not in table.file.schema_arrow.names:
        found = Identities(None, None, Nameless(people, people))
    else:
        merged_names = count_different(paths, "person", "name") - people
        found = Identities(None, None, merged=Merged(names=merged_names))
    for sentence in merged_sentences(found.merged):
        warn(MergedWarning(f"{table.folder}: {sentence}", "names", str(table.folder)))
    return replace(table, provenance=with_counts(table.provenance, found.counts)), people


def _shared_runs(table: PartsTable, scratch: Scratch) -> SharedRuns:
    """Find runs with rows in several parts: as extract writes them, one at each end of a part."""
    shared: list[NDArray[Any]] = []
    paths = [scratch.of("runs", part.number) for part in table.parts]
    columns = ["unit", *(f"place{axis}" for axis in range(6))]
    for firsts in merged(paths, "run", columns) if paths[0].exists() else []:
        rows = firsts.to_pandas()
        rows = rows[rows["run"].duplicated(keep=False)].sort_values(["run", "unit"])
        shared.append(rows.drop_duplicates("run").to_numpy(np.float64))

    of_all = np.concatenate(shared) if shared else np.empty((0, 8))
    run, unit = of_all[:, :2].T.astype(np.int64)
    return SharedRuns(run, unit, of_all[:, 2:].astype(np.float32))


def _scaled(table: PartsTable, surveys: Sequence[PartSurvey], sample: Rows) -> Plan:
    """Find how coordinates are spread, and times released."""
    n = table.file.n
    share = np.array([part.n for part in surveys]) / n
    means = np.stack([part.mean for part in surveys])
    squares = np.sum([part.squares for part in surveys], axis=0)
    spread = np.sqrt(squares / n + share @ (means - share @ means) ** 2)
    spread[spread < _ROUNDING] = 1.0

    # Windows that may slide need times along their tracks, too.
    names = {*table.file.schema_arrow.names}
    bare = table.plan.release.align and "track" in names and "track_times" not in names
    ends = None
    known = [part.ends for part in surveys if part.ends is not None]
    if not bare and len(known) == len(surveys):
        unknown, still, departures = zip(*known, strict=True)
        ends = EndsSeen(sum(unknown), sum(still), np.concatenate(departures))

    middle = sample.places.mean(axis=0, dtype=np.float64).reshape(3, 2).mean(axis=0)
    timing = timing_for(table.plan.release, table.origin, n, ends, middle)
    return replace(table.plan, timing=timing, spread=spread)
