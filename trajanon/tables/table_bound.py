"""The loss of a table's groups beside a bound that no groups can undercut: trajanon bound.

Every row is a record, and all columns count alike.
"""

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypedDict

from msgspec import to_builtins

from trajanon.common.declared_options import EffortName, Settings
from trajanon.common.errors import warn
from trajanon.common.progress import Progress, silent
from trajanon.grouping import loss
from trajanon.grouping.bound.lower_bound import lower_bound, nearest_bound
from trajanon.grouping.k_promise import check_enough, check_k
from trajanon.grouping.microaggregation import microaggregate
from trajanon.tables.table_columns import Roles, read_table_columns

if TYPE_CHECKING:
    from trajanon.files.data_frames import DataFrame

_LOG = logging.getLogger(__name__)


class TableBound(TypedDict):
    """A loss reached, and a bound, ready for JSON."""

    n: int
    k: int
    columns: list[str]
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
    missing: Literal["refuse", "drop"] = "refuse",
    effort: EffortName = "best",
    seed: int = 0,
    progress: Progress = silent,
) -> TableBound:
    """Group the rows of a table of numbers, and bound what any groups would lose."""
    k = check_k(k)
    settings = Settings(effort=effort, seed=seed)  # refused before the table is read
    read = read_table_columns(path, Roles(columns=columns), missing)
    records = read.records
    check_enough(len(records), k)
    for notice in read.notices:
        warn(notice)
    _LOG.info("searching %s rows for groups and for a bound", f"{len(records):,}")

    partition = microaggregate(records, k, progress=progress, **settings.keywords)
    lost = partition.sse
    stopped = partition.stopped
    try:
        # After Ctrl-C the bound shall not take long.
        bound_effort: EffortName = "fast" if stopped else effort
        bound = lower_bound(records, k, upper=lost, effort=bound_effort, progress=progress)
        least = bound.sse
        certified = bound.certified
    except KeyboardInterrupt:  # what the search has found shall not be lost
        least = nearest_bound(loss.standardise(records), k)
        certified = False
        stopped = True

    return {
        "n": len(records),
        "k": k,
        "columns": read.averaged,
        "information_loss": partition.information_loss,
        "bound": loss.information_loss(min(least, lost), partition.sst),
        "gap": 100.0 * max(lost - least, 0.0) / lost if lost > 0.0 else 0.0,
        "certified": certified,
        "stages": [to_builtins(stage.rounded) for stage in partition.stages],
        "stopped": stopped,
    }
