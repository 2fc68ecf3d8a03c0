"""The loss of a table's groups beside a bound that no groups can undercut: trajanon bound.

Every row is a record, and all columns count alike.
"""

import logging
import os
from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from msgspec import to_builtins

from trajanon.common.arrays import Bools, DataFrame, Floats
from trajanon.common.effort_of_the_search import EffortName
from trajanon.common.errors import warn
from trajanon.common.number_text import span
from trajanon.common.progress import Progress, silent
from trajanon.common.search_and_release_options import MissingName, Settings
from trajanon.grouping.bound.certified_lower_bound import MOST_RECORDS_PAIRED, lower_bound
from trajanon.grouping.k_promise import check_enough, check_k
from trajanon.grouping.loss import information_loss
from trajanon.tables.averages import Losses, averages_of, columns_of, losses, units_of
from trajanon.tables.missing_values import shared_squares
from trajanon.tables.table_columns import Roles, read_table_columns, refuse_texts
from trajanon.tables.table_groups import Search, Stratum, grouped, importance_within, strata_of

_LOG = logging.getLogger(__name__)

_EFFORTS: tuple[EffortName, ...] = ("best", "balanced", "fast")
"""From the strongest bound to the one that takes least time."""

_DISTANCES_PER_BLOCK = 2_000_000  # in memory at once
_ROUNDS = 6  # of Dinkelbach's, in which a mean by weights comes down to its least


class TableBound(TypedDict):
    """A loss reached, and a bound, ready for JSON."""

    n: int
    k: int
    columns: list[str]
    strata: list[str]
    survey_weight: str | None
    information_loss: float  # of the groups found, percent
    bound: float  # no groups lose less, percent
    gap: float  # between the two, in percent of the loss
    certified: bool  # as of `trajanon.Bound`
    stages: list[dict[str, object]]
    stopped: bool  # whether Ctrl-C ended the search, or the proof


def bound_table(
    path: str | os.PathLike[str] | DataFrame,
    k: int,
    *,
    columns: Sequence[str] | None = None,
    strata: Sequence[str] = (),
    survey_weight: str | None = None,
    missing: MissingName = "refuse",
    effort: EffortName = "best",
    seed: int = 0,
    progress: Progress = silent,
) -> TableBound:
    """Group the rows of a table of numbers, and bound what any groups would lose.

    With survey weights, or values that stay missing, the bound is made of distances alone.
    """
    k = check_k(k)
    Settings(effort=effort, seed=seed)  # refuses them before the table is read
    refuse_texts(columns=columns, strata=strata)
    roles = Roles(columns=columns, strata=strata, survey_weight=survey_weight)
    read = read_table_columns(path, roles, missing)
    records = read.records
    check_enough(len(records), k)
    for notice in read.notices:
        warn(notice)

    units = units_of(records, np.arange(len(records)), read.survey_weights, per_subject=False)
    parts = strata_of(read, units)
    _LOG.info(
        "searching %s rows for groups and for a bound: %s",
        f"{len(records):,}",
        _time_to_expect([len(part.units) for part in parts], k, effort),
    )

    partition = grouped(units, parts, Search(k, None, {"effort": effort, "seed": seed}, progress))
    means = averages_of(units, partition.labels, k, [None] * records.shape[1])
    lost = losses(records, means.exact, read.survey_weights)
    least, certified, stopped = _bound(
        records, lost, parts, k, "fast" if partition.stopped else effort, progress
    )

    reached = float(lost.sse.sum())
    sst = float(lost.sst.sum())
    return {
        "n": len(records),
        "k": k,
        "columns": read.averaged,
        "strata": list(strata),
        "survey_weight": survey_weight,
        "information_loss": information_loss(reached, sst),
        "bound": information_loss(min(least, reached), sst),
        "gap": 100.0 * max(reached - least, 0.0) / reached if reached > 0.0 else 0.0,
        "certified": certified,
        "stages": [to_builtins(stage.rounded) for stage in partition.stages],
        "stopped": stopped or partition.stopped,
    }


def _time_to_expect(sizes: Sequence[int], k: int, effort: EffortName) -> str:
    """Write how long tables of these sizes take, and what would take less."""
    words = []
    for name in _EFFORTS[_EFFORTS.index(effort) :]:
        about = span(max(sum(_seconds(size, k, name) for size in sizes), 1.0))
        words.append(f"some {about}" if name == effort else f"`effort={name}`: {about}")
    return "; ".join(words)


def _seconds(n: int, k: int, effort: EffortName) -> float:
    """Estimate seconds of a core for n records, by rates fitted to measurements.

    They are what 8 columns took at k = 3 and 5 in November 2026.
    """
    if effort == "fast" or n > MOST_RECORDS_PAIRED:
        return n / 2_000
    slower = max(k / 5, 1.0) ** 2
    return n / 500 * slower if effort == "balanced" else 3.0 * (n / 100) ** 1.5 * slower


def _bound(
    records: Floats,
    lost: Losses,
    parts: Sequence[Stratum],
    k: int,
    effort: EffortName,
    progress: Progress,
) -> tuple[float, bool, bool]:
    """Bound the SSE of any groups within the strata; whether certified; whether stopped.

    `lower_bound` takes only complete records that weigh the same. Others, and strata that are left
    after Ctrl-C, get the bound by distances.
    """
    standard = columns_of(records, lost.weight).standardised
    present = ~np.isnan(records)
    by_distances = not present.all() or len(np.unique(lost.weight)) > 1
    least = 0.0
    certified = not by_distances
    stopped = False
    for number, (name, members) in enumerate(parts):
        progress("Strata", number, len(parts))
        if not (by_distances or stopped):
            # A search counts in deviations of its own stratum: `unit` turns its SSE to that of the
            # whole table. A table without strata is one, which has no name.
            importance, unit = importance_within(standard[members]) if name else (None, 1.0)
            reached = float(np.sum(lost.away[members] ** 2)) / unit if unit > 0.0 else 0.0
            try:
                bound = lower_bound(
                    records[members],
                    k,
                    weights=importance,
                    upper=reached,
                    effort=effort,
                    progress=progress,
                )
                least += unit * bound.sse
                certified &= bound.certified
                continue
            except KeyboardInterrupt:  # what the search has found shall not be lost
                stopped = True
                certified = False
        weights = lost.weight[members]
        least += distance_bound(standard[members], present[members], weights, k, progress)
    return least, certified, stopped


def distance_bound(
    standard: Floats, present: Bools, weights: Floats, k: int, progress: Progress = silent
) -> float:
    """Bound the weighted SSE of any groups of at least k by distances, where values may be missing.

    A group loses half of the sum of ``w m`` over its records: w is a record's weight, and m the
    mean by weights of the squared distances to all of the group, itself among them, over the
    columns that both have. With whatever k - 1 or more others, m is at least that of the best.
    """
    n, p = standard.shape
    rows = np.arange(n)
    # A squared distance may come out too large by rounding, at most by this.
    slip = 16.0 * p * np.finfo(float).eps * float((standard**2).sum(axis=1).max())
    lightest = float(np.sort(weights)[: k - 1].sum())  # what k - 1 others weigh at least

    # Where all weigh the same, the nearest are the best at once: one round finds their mean, and
    # the next one its bound.
    rounds = _ROUNDS if np.ptp(weights) > 0.0 else 2
    block = max(_DISTANCES_PER_BLOCK // n, 1)
    total = 0.0
    for begin in range(0, n, block):
        progress("Distances for a bound", begin, n)
        block_rows = rows[begin : begin + block]
        squares = np.maximum(shared_squares(standard, present, block_rows, rows) - slip, 0.0)
        # A record is none of its own others.
        squares[np.arange(len(block_rows)), block_rows] = np.inf

        # Dinkelbach: for a mean, the best others are those that add least to what lies above it.
        mean = np.zeros(len(block_rows))
        for _ in range(rounds):
            # Chosen are all that lower the mean, and k - 1 in any case.
            above = weights * (squares - mean[:, None])
            chosen = above < 0.0
            nearest = np.argpartition(above, k - 2, axis=1)[:, : k - 1]
            np.put_along_axis(chosen, nearest, True, axis=1)
            rest = np.where(chosen, above, 0.0).sum(axis=1) - mean * weights[block_rows]

            # A set of others with a lower mean adds less than 0 to `rest`, but no less than `rest`
            # itself; spread over its weight, which is at least that of the lightest others, this
            # is how far below the present mean its own may lie.
            bound = mean + np.minimum(rest, 0.0) / (weights[block_rows] + lightest)
            mean += rest / (np.where(chosen, weights, 0.0).sum(axis=1) + weights[block_rows])
        total += 0.5 * float((weights[block_rows] * bound).sum())
    return total * (1.0 - 2.0**-40)  # lowered a little, for the rounding of the sums
