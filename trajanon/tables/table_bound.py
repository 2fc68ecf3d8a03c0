"""A proven bound on the gap between the groups found and the best ones."""

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import to_builtins

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput, TooFewRecords, TrajanonWarning, warn
from trajanon.common.number_text import span
from trajanon.common.progress import Progress, silent
from trajanon.common.settings import EffortName, MissingName, Settings
from trajanon.grouping.bound.lower_bound import PAIRWISE, lower_bound, nearest_bound
from trajanon.grouping.k_promise import check_enough, check_k
from trajanon.grouping.loss import information_loss, standardise, sum_of_squares
from trajanon.grouping.microaggregation import microaggregate
from trajanon.tables.averaged_columns import Roles
from trajanon.tables.averages import units_of
from trajanon.tables.table_columns import read_table_columns
from trajanon.tables.table_files import source_of
from trajanon.tables.table_groups import Stratum, importance_within, strata_of

if TYPE_CHECKING:
    from trajanon.files.data_frames import DataFrame

_LOG = logging.getLogger(__name__)


_LESS: Mapping[EffortName, tuple[EffortName, ...]] = {
    "best": ("balanced", "fast"),
    "balanced": ("fast",),
    "fast": (),
}
"""Efforts that take less time, and give a weaker bound."""


class _Bounded(NamedTuple):
    """The loss reached in a table or a stratum, beside its bound, in squares of its units."""

    reached: float
    least: float
    certified: bool
    stopped: bool
    stages: list[dict[str, Any]]


def bound_table(
    path: "str | os.PathLike[str] | DataFrame",
    k: int,
    *,
    columns: Sequence[str] | None = None,
    strata: Sequence[str] = (),
    missing: MissingName = "refuse",
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Microaggregate a table of numbers, and bound what any groups would lose; ready for JSON."""
    k = check_k(k)
    settings = Settings(**options)  # and nothing else: the bound counts all columns alike
    if missing == "keep":
        raise BadInput("a bound needs all values: choose `missing` refuse or drop")
    read = read_table_columns(source_of(path), Roles(columns=columns, strata=strata), missing)
    records = read.records
    check_enough(len(records), k)
    for notice in read.notices:
        warn(TrajanonWarning(notice.sentence(), type(notice).__name__))

    units = units_of(records, np.arange(len(records)), None, per_subject=False)
    parts = strata_of(read, strata, units) or [Stratum("", np.arange(len(records)))]
    _LOG.info(
        "searching %s rows for groups and for a bound: %s",
        f"{len(records):,}",
        _time_to_expect([len(part.units) for part in parts], k, settings.effort),
    )

    bounded = _bound_parts(records, k, parts, settings, progress)
    reached = sum(part.reached for part in bounded)
    least = sum(part.least for part in bounded)
    sst = sum_of_squares(standardise(records))
    return {
        "n": len(records),
        "k": k,
        "columns": read.averaged,
        "strata": list(strata),
        "information_loss": information_loss(reached, sst),
        "bound": information_loss(least, sst),
        "gap": 100.0 * (reached - least) / reached if reached > 0.0 else 0.0,
        "certified": all(part.certified for part in bounded),
        "stages": bounded[0].stages if len(bounded) == 1 else [],
        "stopped": any(part.stopped for part in bounded),
    }


def _time_to_expect(sizes: Sequence[int], k: int, effort: EffortName) -> str:
    """Write how long tables of these sizes take, and what would take less."""
    words = []
    for name in (effort, *_LESS[effort]):
        about = span(max(sum(_seconds(size, k, name) for size in sizes), 1.0))
        words.append(f"some {about}" if name == effort else f"`effort={name}`: {about}")
    return "; ".join(words)


def _seconds(n: int, k: int, effort: EffortName) -> float:
    """Estimate seconds of a core: what 8 columns took at k = 3 and 5 in November 2026."""
    if effort == "fast" or n > PAIRWISE:
        return n / 2_000
    slower = max(k / 5, 1.0) ** 2
    return n / 500 * slower if effort == "balanced" else 3.0 * (n / 100) ** 1.5 * slower


def _bound_parts(
    records: Floats, k: int, parts: Sequence[Stratum], settings: Settings, progress: Progress
) -> list[_Bounded]:
    """Bound each stratum, in units of the whole table."""
    standard = standardise(records)
    bounded: list[_Bounded] = []
    for number, part in enumerate(parts):
        importance: Floats | None = None
        unit = 1.0
        if part.name:
            importance, unit = importance_within(standard[part.units])
            progress("Strata", number, len(parts))
        try:
            found = _bound(records[part.units], k, importance, settings, progress)
        except TooFewRecords as error:
            raise TooFewRecords(f"where {part.name}, {error}") from error

        bounded.append(found._replace(reached=unit * found.reached, least=unit * found.least))
        if found.stopped:  # what is left shall not take long
            settings = Settings(**{**asdict(settings), "effort": "fast"})
    return bounded


def _bound(
    records: Floats, k: int, importance: Floats | None, settings: Settings, progress: Progress
) -> _Bounded:
    """Search groups of records, and bound what any others lose."""
    partition = microaggregate(
        records, k, weights=importance, progress=progress, **settings.keywords
    )
    reached = partition.sse
    stopped = partition.stopped
    try:
        bound = lower_bound(
            records, k, weights=importance, upper=reached, effort=settings.effort, progress=progress
        )
        least = bound.sse
        certified = bound.certified
    except KeyboardInterrupt:  # what the search has found shall not be lost
        stopped = True
        least = nearest_bound(standardise(records, importance), k)
        certified = False
    stages = [to_builtins(stage.rounded) for stage in partition.stages]
    return _Bounded(reached, least, certified, stopped, stages)
