"""The loss of a table's groups beside a bound that no groups can undercut: trajanon bound.

Every row is a record, and all columns count alike; groups are formed within strata, if there are
any. Losses are in the deviations of the whole table, so that those of strata can be added up.
"""

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np
from msgspec import to_builtins

from trajanon.common.declared_options import EffortName
from trajanon.common.errors import warn
from trajanon.common.progress import Progress, silent
from trajanon.grouping import loss
from trajanon.grouping.bound.lower_bound import lower_bound, nearest_bound
from trajanon.grouping.k_promise import check_enough, check_k
from trajanon.tables.averages import units_of
from trajanon.tables.table_columns import Roles, read_table_columns
from trajanon.tables.table_groups import Search, grouped, importance_within, strata_of

if TYPE_CHECKING:
    from trajanon.files.data_frames import DataFrame

_LOG = logging.getLogger(__name__)


class TableBound(TypedDict):
    """A loss reached, and a bound, ready for JSON."""

    n: int
    k: int
    columns: list[str]
    strata: list[str]
    information_loss: float  # of the groups found, percent
    bound: float  # no groups lose less, percent
    gap: float  # between the two, in percent of the loss
    certified: bool  # as of `trajanon.Bound`
    stages: list[dict[str, object]]
    stopped: bool  # whether Ctrl-C ended the search, or the proof


def bound_table(
    path: "str | os.PathLike[str] | DataFrame",
    k: int,
    *,
    columns: Sequence[str] | None = None,
    strata: Sequence[str] = (),
    missing: Literal["refuse", "drop"] = "refuse",
    effort: EffortName = "best",
    seed: int = 0,
    progress: Progress = silent,
) -> TableBound:
    """Group the rows of a table of numbers, and bound what any groups would lose."""
    k = check_k(k)
    read = read_table_columns(path, Roles(columns=columns, strata=strata), missing)
    records = read.records
    check_enough(len(records), k)
    for notice in read.notices:
        warn(notice)
    _LOG.info("searching %s rows for groups and for a bound", f"{len(records):,}")

    units = units_of(records, np.arange(len(records)), None, per_subject=False)
    parts = strata_of(read, units)
    partition = grouped(units, parts, Search(k, None, {"effort": effort, "seed": seed}, progress))

    # After Ctrl-C the bound shall not take long.
    effort = "fast" if partition.stopped else effort
    standard = loss.standardise(records)
    squares = loss.squares_to_means(standard, partition.labels)
    least = 0.0
    certified = True
    stopped = partition.stopped
    for number, (name, rows) in enumerate(parts):
        progress("Strata", number, len(parts))
        importance, unit = importance_within(standard[rows]) if name else (None, 1.0)
        reached = float(squares[rows].sum()) / unit if unit > 0.0 else 0.0
        try:
            bound = lower_bound(
                records[rows],
                k,
                weights=importance,
                upper=reached,
                effort=effort,
                progress=progress,
            )
            least += unit * bound.sse
            certified &= bound.certified
        except KeyboardInterrupt:  # what the search has found shall not be lost
            least += unit * nearest_bound(loss.standardise(records[rows], importance), k)
            certified = False
            stopped = True
            effort = "fast"

    lost = float(squares.sum())
    sst = loss.sum_of_squares(standard)
    return {
        "n": len(records),
        "k": k,
        "columns": read.averaged,
        "strata": list(strata),
        "information_loss": loss.information_loss(lost, sst),
        "bound": loss.information_loss(min(least, lost), sst),
        "gap": 100.0 * max(lost - least, 0.0) / lost if lost > 0.0 else 0.0,
        "certified": certified,
        "stages": [to_builtins(stage.rounded) for stage in partition.stages],
        "stopped": stopped,
    }
