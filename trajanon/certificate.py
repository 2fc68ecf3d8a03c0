"""How far the groups found are from the best there can be, as a proof."""

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trajanon.bound.lower_bound import Bound, lower_bound, nearest_bound
from trajanon.files import numeric_table
from trajanon.loss import information_loss, standardise
from trajanon.microaggregation import microaggregate
from trajanon.partition import Partition
from trajanon.progress import Progress, silent
from trajanon.table_columns import choose_columns, complete

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """The groups found, and a bound that no others can undercut."""

    columns: list[str]  # those whose loss is meant
    k: int  # least number of rows in a group
    partition: Partition  # the groups found
    bound: Bound  # below the SSE of every partition into groups of at least k

    @property
    def gap(self) -> float:
        """How much of the loss a better partition could save at most, percent."""
        reached = self.partition.sse
        return 100.0 * (reached - self.bound.sse) / reached if reached > 0.0 else 0.0

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "n": len(self.partition.labels),
            "k": self.k,
            "columns": self.columns,
            "information_loss": self.partition.information_loss,
            "bound": self.bound.information_loss,
            "gap": self.gap,
            "certified": self.bound.certified,
            "stages": [stage.account for stage in self.partition.stages],
            "stopped": self.partition.stopped,
        }


def certify_table(
    path: str | os.PathLike[str],
    k: int,
    *,
    columns: Sequence[str] | None = None,
    missing: str = "refuse",
    progress: Progress = silent,
    **options: Any,
) -> Certificate:
    """Microaggregate a table of numbers, and bound what any groups would lose."""
    path = Path(path)
    table = numeric_table.read_table(path)
    parts = choose_columns(path, table, columns)
    chosen = parts.chosen
    table, told = complete(path, table, chosen, (), missing)
    for warning in filter(None, (parts.warning, told)):
        _LOG.warning(warning)
    records = numeric_table.records(path, table[chosen])
    partition = microaggregate(records, k, progress=progress, **options)
    try:
        bound = lower_bound(records, k, upper=partition.sse, progress=progress)
    except KeyboardInterrupt:  # what the search has found shall not be lost
        partition = replace(partition, stopped=True)
        sse = nearest_bound(standardise(records), k)
        bound = Bound(sse, information_loss(sse, partition.sst), certified=False)
    return Certificate(chosen, k, partition, bound)
