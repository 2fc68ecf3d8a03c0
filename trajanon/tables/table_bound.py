"""A proven bound on the gap between the groups found and the best ones."""

import logging
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from trajanon.common.errors import TrajanonWarning, warn
from trajanon.common.progress import Progress, silent
from trajanon.common.settings import MissingName, Settings
from trajanon.grouping.bound.lower_bound import lower_bound, nearest_bound
from trajanon.grouping.k_promise import check_enough, check_k
from trajanon.grouping.loss import information_loss, standardise
from trajanon.grouping.microaggregation import microaggregate
from trajanon.tables.table_columns import read_table_columns

_LOG = logging.getLogger(__name__)

_LONG = {
    "fast": "seconds; the bound is weak, as no linear programme is solved",
    "balanced": "some seconds to minutes for a thousand (`effort='fast'`: seconds, a weak bound)",
    "best": "minutes for a thousand (`effort='balanced'`: fewer; `effort='fast'`: seconds)",
}


def bound_table(
    path: str | os.PathLike[str],
    k: int,
    *,
    columns: Sequence[str] | None = None,
    missing: MissingName = "refuse",
    progress: Progress = silent,
    **options: Any,
) -> dict[str, Any]:
    """Microaggregate a table of numbers, and bound what any groups would lose; ready for JSON."""
    k = check_k(k)
    settings = Settings(**options)  # and nothing else: the bound counts all columns alike
    table = read_table_columns(Path(path), columns, missing=missing)
    check_enough(len(table.records), k)
    for notice in table.notices:
        warn(TrajanonWarning(notice.sentence(), type(notice).__name__))
    _LOG.info(
        "searching %s rows for groups and for a bound: %s",
        f"{len(table.records):,}",
        _LONG[settings.effort],
    )

    partition = microaggregate(table.records, k, progress=progress, **asdict(settings))
    reached = partition.sse
    stopped = partition.stopped
    try:
        bound = lower_bound(
            table.records, k, upper=reached, effort=settings.effort, progress=progress
        )
        least = bound.sse
        certified = bound.certified
    except KeyboardInterrupt:  # what the search has found shall not be lost
        stopped = True
        least = nearest_bound(standardise(table.records), k)
        certified = False

    return {
        "n": len(partition.labels),
        "k": k,
        "columns": table.chosen,
        "information_loss": partition.information_loss,
        "bound": information_loss(least, partition.sst),
        "gap": 100.0 * (reached - least) / reached if reached > 0.0 else 0.0,
        "certified": certified,
        "stages": [to_builtins(stage.rounded) for stage in partition.stages],
        "stopped": stopped,
    }
