"""The first reading of all parts: how coordinates are spread, where rows lie, whose they are."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from trajanon.common.arrays import Floats, Hashes, Ints
from trajanon.common.errors import BadInput
from trajanon.files.hilbert_order import keys_on_curve
from trajanon.files.parquet_parts import ParquetParts
from trajanon.files.trajectory_files import warn_of_merged
from trajanon.grouping.k_promise import check_enough
from trajanon.release.plan import Plan
from trajanon.shards.parts_table import PartsTable, replaced
from trajanon.shards.people_of_rows import NO_NAME, hashes_of_nameless
from trajanon.shards.scratch_and_resume import buckets_of_numbers
from trajanon.trajectories.provenance import with_identities
from trajanon.trajectories.release_timing import EndsSeen, timing_for
from trajanon.trajectories.subjects import Identities, Merged, Nameless

SAMPLE = 200_000
"""Rows in the sample by which the curve is cut, at least, if there are as many."""

SAMPLE_OF_SHARD = 4_000
"""Rows of the sample in each shard: its size is then right to some 5 %."""

_CONSTANT_DEGREES = 1e-9  # what differs by less is constant

DoEach = Callable[[str, Callable[[int], Any], Sequence[int]], Any]
"""Does a task with each item, and yields the results, as `each_done`."""


class Moments(NamedTuple):
    """How coordinates are spread over some rows."""

    n: int  # rows
    mean: Floats  # of each coordinate, (2 m,)
    squares: Floats  # sum of the squared differences from the mean, (2 m,)

    @classmethod
    def of(cls, records: Floats) -> "Moments":
        """Measure records, (n, 2 m)."""
        mean = records.mean(axis=0)
        return cls(len(records), mean, ((records - mean) ** 2).sum(axis=0))


def spread_of(parts: Sequence[Moments]) -> Floats:
    """Return the standard deviation of each coordinate in all parts, (2 m,); 0 of a constant."""
    # The variance of all rows is that within parts and that between the means of parts.
    rows = np.array([part.n for part in parts])
    n = int(rows.sum())
    share = rows / n
    means = np.stack([part.mean for part in parts])
    squares = np.sum([part.squares for part in parts], axis=0)
    spread: Floats = np.sqrt(squares / n + share @ (means - share @ means) ** 2)
    return np.where(spread < _CONSTANT_DEGREES, 0.0, spread)


class PlacedRows(NamedTuple):
    """Where rows begin, and where they are on the curve: those of a run where its first row is."""

    start: NDArray[np.float32]  # latitude and longitude in degrees, (n, 2)
    key: Ints  # place on the Hilbert curve, (n,); equal only for rows of one run
    person: Hashes  # of the person, (n,)


class PartSurvey(NamedTuple):
    """What one part adds to the survey."""

    moments: Moments
    sample: PlacedRows
    sample_run: Ints | None  # the run of each row of the sample
    ends: EndsSeen | None  # departures are those of the sample
    nameless: int  # rows without a name


def keys_of_rows(table: PartsTable, part: ParquetParts, points: Floats, run: Ints | None) -> Ints:
    """Return the place of each row of a part on the curve, (n,); that of its run's first row."""
    # In parts that are in order, the number of a row is its place. In others it is that of its
    # middle point on the curve.
    key = part.row_numbers
    if not table.file.in_order:
        key = keys_on_curve(points[:, points.shape[1] // 2], part.row_numbers)
    if run is None:
        return key

    _, first, place_of_run = np.unique(run, return_index=True, return_inverse=True)
    return table.shared("keys", part, run, key[first][place_of_run])


def read_part(table: PartsTable, step: int, number: int) -> PartSurvey:
    """Survey a part: every row whose number in the table is a multiple of ``step`` is sampled.

    Names of people and runs go to scratch, where those of all parts can be compared.
    """
    with table.file.part(number) as part:
        trajectories = table.read(part)
        people = table.people(part)
        run = table.runs(part)
        key = keys_of_rows(table, part, trajectories.points, run)

    if table.knows_people:
        # Name and person are mostly equal: stored as a difference they are mostly 0, which packs.
        spelling = people.name ^ people.person
        pairs = np.column_stack([people.person, spelling])[people.person != 0]
        person, spelling = np.unique(pairs, axis=0).T
        names = pa.table({"person": person, "spelling": spelling})
        bucket = buckets_of_numbers(person, table.file.n)
        table.scratch.put("names", bucket, number, names)

    if run is not None:
        part_rows = pd.DataFrame({"owner": run, "value": key, "row": part.row_numbers})
        runs = part_rows.groupby("owner", as_index=False).agg(
            value=("value", "first"),
            first=("row", "min"),
            last=("row", "max"),
            rows=("row", "size"),
        )
        runs["part"] = part.first_row
        bucket = buckets_of_numbers(runs["owner"].to_numpy(), table.file.n)
        table.scratch.put("runs", bucket, number, pa.Table.from_pandas(runs))

    sampled = part.row_numbers % step == 0
    ends = None
    if trajectories.times is not None:
        ends = EndsSeen.of(trajectories.times[:, [0, -1]])
        departures = trajectories.times[sampled, 0]
        ends = ends._replace(departures=departures[~np.isnan(departures)])

    return PartSurvey(
        moments=Moments.of(trajectories.records),
        sample=PlacedRows(
            start=trajectories.points[sampled, 0].astype(np.float32),
            key=key[sampled],
            person=people.person[sampled],
        ),
        sample_run=None if run is None else run[sampled],
        ends=ends,
        nameless=int((people.person == 0).sum()),
    )


def surveyed(table: PartsTable, shards: int, do_each: DoEach) -> PartsTable:
    """Read all parts; return the table with all that is known of it, and how it is split."""
    n = table.file.n
    # Every so many rows, one is in the sample.
    step = -(-n // max(SAMPLE, SAMPLE_OF_SHARD * shards))
    parts = range(len(table.file.parts))
    surveys = [*do_each("Reading parts", partial(read_part, table, step), parts)]
    if len({len(part.moments.mean) for part in surveys}) > 1:
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
        sample, runs_are_ranges = _with_runs_together(table, sample, np.concatenate(runs))
        table = replace(table, runs_are_ranges=runs_are_ranges)

    plan = _plan_of_survey(table, surveys, sample)
    return replace(table, plan=plan, cuts=keys_of_cuts(sample, table.k, shards))


def _with_people(
    table: PartsTable, surveys: Sequence[PartSurvey], sample: PlacedRows, step: int, do_each: DoEach
) -> tuple[PartsTable, PlacedRows, int]:
    """Count people, and find the persons of rows without a name.

    The provenance then counts the names that were merged, and the recordings without one.
    """
    nameless_people = hashes_of_nameless(table.origin.nameless_subject)
    people, names = table.scratch.count_different("names", "person", "spelling")
    merged = Merged(names=names - people)
    if "subject" not in table.file.schema_arrow.names:  # each recording counts as a person
        nameless = Nameless(people, people)
    elif any(part.nameless for part in surveys):
        if people > 0:
            nameless_people += (NO_NAME,)
        sample, nameless = _named_by_trace(table, sample, step, do_each, known=people > 0)
        people += nameless.subjects
    else:
        nameless = Nameless()

    warn_of_merged(table.folder, merged)
    provenance = with_identities(table.provenance, Identities(None, None, nameless, merged))
    table = replace(table, provenance=provenance, nameless_people=nameless_people)
    return table, sample, people


def read_traces(table: PartsTable, step: int, number: int) -> Hashes:
    """Write the traces of a part, with the first person that each names; with 0 where one lacks.

    Return the traces of the rows in the sample.
    """
    with table.file.part(number) as part:
        person = table.people(part).person
        trace = table.recordings(part).person

    # A trace may have rows with a name and rows without one.
    columns = {"owner": trace, "part": part.first_row, "value": person, "is_named": person != 0}
    traces = pd.DataFrame(columns).drop_duplicates(["owner", "is_named"])
    bucket = buckets_of_numbers(traces["owner"].to_numpy(), table.file.n)
    table.scratch.put("traces", bucket, number, pa.Table.from_pandas(traces, preserve_index=False))
    sampled: Hashes = trace[part.row_numbers % step == 0]
    return sampled


def _named_by_trace(
    table: PartsTable, sample: PlacedRows, step: int, do_each: DoEach, *, known: bool
) -> tuple[PlacedRows, Nameless]:
    """Find whose rows without a name are: the person whom another row of their trace names.

    Traces without any name are of one person, or each of its own if nobody is ``known``. Return the
    sample with these persons, and count such traces. Scratch has them for all parts.
    """
    parts = range(len(table.file.parts))
    trace = np.concatenate([*do_each("Reading names", partial(read_traces, table, step), parts)])

    person = sample.person
    nameless_traces = 0
    for number, rows in enumerate(_by_owner(table, "traces")):
        nameless = rows.loc[~rows["is_named"], ["owner", "part"]]
        named = rows.loc[rows["is_named"], ["owner", "value"]].drop_duplicates("owner")
        owned = nameless.merge(named, on="owner")
        nameless_traces += nameless["owner"].nunique() - owned["owner"].nunique()
        if not known:
            owned = nameless.assign(value=nameless["owner"])

        _share(table, "persons", number, owned)
        person = np.where(sample.person == 0, replaced(person, trace, owned), person)

    subjects = min(nameless_traces, 1) if known else nameless_traces
    return sample._replace(person=person), Nameless(nameless_traces, subjects)


def _with_runs_together(
    table: PartsTable, sample: PlacedRows, run: Ints
) -> tuple[PlacedRows, bool]:
    """Set the keys of runs with rows in several parts to their first; ``run`` is of the sample.

    Also return whether all runs have their rows side by side. Scratch has the keys for all parts.
    """
    key = sample.key
    are_ranges = True
    for number, rows in enumerate(_by_owner(table, "runs")):
        runs = rows.groupby("owner").agg({"first": "min", "last": "max", "rows": "sum"})
        are_ranges &= bool((runs["last"] - runs["first"] + 1 == runs["rows"]).all())

        # A run has a row for each part with rows of it, of which the first has its key.
        rows["value"] = rows.groupby("owner")["value"].transform("first")
        _share(table, "keys", number, rows[rows["owner"].duplicated()])
        key = replaced(key, run, rows)
    return sample._replace(key=key), are_ranges


def _by_owner(table: PartsTable, kind: str) -> Iterator[pd.DataFrame]:
    """Read what parts know of runs or traces, all of an owner together, in the order of parts."""
    for bucket in table.scratch.buckets(kind):
        yield bucket.to_pandas().sort_values("part", kind="stable")


def _share(table: PartsTable, kind: str, number: int, owned: pd.DataFrame) -> None:
    """Write the values of owners where each part finds its own, which `PartsTable.shared` reads."""
    values = pa.Table.from_pandas(owned[["owner", "value"]], preserve_index=False)
    table.scratch.put(kind, owned["part"].to_numpy(), number, values)


def _plan_of_survey(table: PartsTable, surveys: Sequence[PartSurvey], sample: PlacedRows) -> Plan:
    """Add the spread of coordinates, and the timing, to the plan."""
    spread = spread_of([part.moments for part in surveys])
    spread[spread == 0.0] = 1.0  # of what is constant, no deviation counts for more

    # Windows that may slide need times along their tracks, too.
    names = {*table.file.schema_arrow.names}
    tracks_lack_times = table.plan.release.align and "track" in names and "track_times" not in names
    ends = None
    ends_by_part = [part.ends for part in surveys if part.ends is not None]
    if not tracks_lack_times and len(ends_by_part) == len(surveys):
        unknown, still, departures = zip(*ends_by_part, strict=True)
        ends = EndsSeen(sum(unknown), sum(still), np.concatenate(departures))

    starts = sample.start.astype(np.float64)
    timing = timing_for(table.plan.release, table.origin, table.file.n, ends, starts)
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
