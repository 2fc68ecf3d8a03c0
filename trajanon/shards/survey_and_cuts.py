"""The first reading of all parts: how coordinates are spread, where rows lie, whose they are."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.common.arrays import Floats, Hashes, Ints
from trajanon.common.errors import BadInput
from trajanon.files.hilbert_order import keys_on_curve
from trajanon.files.trajectory_files import warn_of_merged
from trajanon.grouping.k_promise import check_enough
from trajanon.release.plan import Plan
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.people_of_rows import NO_NAME, hashes_of_nameless, people_of_part
from trajanon.shards.places_of_rows import (
    PlacedRows,
    places_of_part,
    put_owners,
    put_places,
    put_traces,
    share_keys_of_runs,
    share_persons_of_traces,
)
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
        difference = records - mean
        return cls(len(records), mean, np.square(difference, out=difference).sum(axis=0))


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


class PartSurvey(NamedTuple):
    """What one part adds to the survey."""

    moments: Moments
    starts: NDArray[np.float32]  # where sampled rows begin, in degrees, (s, 2)
    ends: EndsSeen | None  # departures are those of sampled rows
    lacks_names: bool  # of some rows


def sampled_rows(first_row: int, step: int) -> slice:
    """Return which rows of a part are sampled: each whose number is a multiple of ``step``."""
    return slice(-first_row % step, None, step)


def read_part(table: PartsTable, step: int, number: int) -> PartSurvey:
    """Survey a part. Scratch gets the places of its rows, and what is compared over all parts."""
    with table.file.part(number) as part:
        trajectories = table.read(part)
        people = people_of_part(part, exact=table.subjects_exact)
        run = table.runs(part)
        sampled = sampled_rows(part.first_row, step)

        # In parts that are in order, the number of a row is its place. In others it is that of its
        # middle point on the curve.
        key = part.row_numbers
        if not table.file.in_order:
            middle = trajectories.points[:, trajectories.points.shape[1] // 2]
            key = keys_on_curve(middle, part.row_numbers)

    rows = pd.DataFrame({"key": key, "person": people.person})
    if run is not None:
        rows["run"] = run
        rows["key"] = rows.groupby("run")["key"].transform("first")
        put_owners(table, part, "runs", run, rows["key"])
    put_places(table, part, rows)

    has_name = people.person != NO_NAME
    if table.knows_people:
        put_owners(table, part, "names", people.person[has_name], people.name[has_name])

    ends = None
    if trajectories.times is not None:
        ends = EndsSeen.of(trajectories.times[:, [0, -1]])
        departures = trajectories.times[sampled, 0]
        ends = ends._replace(departures=departures[~np.isnan(departures)])

    return PartSurvey(
        moments=Moments.of(trajectories.records),
        starts=trajectories.points[sampled, 0].astype(np.float32),
        ends=ends,
        lacks_names=not has_name.all(),
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

    people = None
    if table.knows_people:
        lacks_names = any(part.lacks_names for part in surveys)
        table, people = _with_people(table, do_each, lacks_names=lacks_names)
    origin = table.origin
    check_enough(n, table.k, people, origin.unit, origin.source.unnamed)
    if "track" in table.file.schema_arrow.names:
        share_keys_of_runs(table)

    samples = [*do_each("Choosing shards", partial(read_sample, table, step), parts)]
    key, person, ends = map(np.concatenate, zip(*samples, strict=True))
    return replace(
        table,
        plan=_plan_of_survey(table, surveys),
        cuts=keys_of_cuts(PlacedRows(key, person), table.k, shards),
        keys_rise=bool((np.diff(ends) >= 0).all()),
    )


def read_sample(table: PartsTable, step: int, number: int) -> tuple[Ints, Hashes, Ints]:
    """Read the keys and persons of the sampled rows of a part, and keys that rise if all do.

    These are the first and the last one; and, where a key is lower than the one before, these two.
    """
    part = table.file.parts[number]
    key, person = places_of_part(table, part)
    falls = np.flatnonzero(np.diff(key) < 0)[:1]
    ends = key[[0, *falls, *(falls + 1), -1]]
    sampled = sampled_rows(part.first_row, step)
    return key[sampled], person[sampled], ends


def _with_people(
    table: PartsTable, do_each: DoEach, *, lacks_names: bool
) -> tuple[PartsTable, int]:
    """Count people, and find the persons of rows without a name, if there are any.

    The provenance then counts the names that were merged, and the recordings without one.
    """
    nameless_people = hashes_of_nameless(table.origin.nameless_subject)
    people = table.scratch.count_different("names", "owner")
    names = table.scratch.count_different("names", "value")
    merged = Merged(names=names - people)
    nameless = Nameless()
    if "subject" not in table.file.schema_arrow.names:  # each recording counts as a person
        nameless = Nameless(people, people)
    elif lacks_names:
        if people > 0:
            nameless_people += (int(NO_NAME),)
        parts = range(len(table.file.parts))
        for _ in do_each("Reading names", partial(put_traces, table), parts):
            pass
        nameless = share_persons_of_traces(table, some_have_names=people > 0)
        people += nameless.subjects

    warn_of_merged(table.folder, merged)
    provenance = with_identities(table.provenance, Identities(None, None, nameless, merged))
    return replace(table, provenance=provenance, nameless_people=nameless_people), people


def _plan_of_survey(table: PartsTable, surveys: Sequence[PartSurvey]) -> Plan:
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

    starts = np.concatenate([part.starts for part in surveys]).astype(np.float64)
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
