"""A table beyond memory, step by step: look, write by shard, search, write lines, merge, report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import structs

from trajanon.anonymization import refuse_attribution
from trajanon.common.errors import BadInput, TrajanonError
from trajanon.common.object_stores import Folder
from trajanon.common.progress import Progress, silent
from trajanon.common.threads_and_dask import each_done
from trajanon.grouping.loss import information_loss
from trajanon.grouping.partition import Stage
from trajanon.release.assembled_release import refuse_far, released_words
from trajanon.release.holder_key import fingerprint
from trajanon.release.perturbation import GroupWidths, PublicWidths
from trajanon.release.report import (
    Alignment,
    Figures,
    Mended,
    Report,
    Rows,
    Totals,
    attribution_of,
    report_of,
    versions,
)
from trajanon.release.report_files import digest_of_file
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.release_of_shards import write_members, write_release
from trajanon.shards.scratch_and_resume import for_request, scratch_bytes
from trajanon.shards.shard_search import (
    GroupsFound,
    ShardFigures,
    search_shard,
    write_lines,
    write_part,
)
from trajanon.shards.survey_and_cuts import read_part, sample_step, surveyed
from trajanon.trajectories.distances import joined_histograms

if TYPE_CHECKING:
    from distributed import Client


class Drafts(NamedTuple):
    """Where a release in parts is written."""

    parts: Folder
    report: Path
    members: Path  # the table beside the report of a release in shards


def release_in_shards(
    table: PartsTable,
    states: Mapping[str, str],
    shards: int,
    capacity: int,
    client: "Client | None",
    progress: Progress,
    drafts: Drafts,
) -> Report:
    """Write a release, and which row is on which line; return its report.

    The table has the ``states`` of its parts when the run began. It is split into so many shards
    at most, of at most ``capacity`` rows each, which fit into memory.
    """
    since = perf_counter()
    refuse_attribution(table.origin.attribution)
    table = _split(table, states, shards, capacity, partial(each_done, client, progress))
    request = _request_of(table, states, shards)
    table = replace(table, scratch=for_request(table.scratch, request))
    read = Stage("reading", None, perf_counter() - since)

    do_each = partial(each_done, client, progress)
    shown = progress if client is None else silent  # workers cannot show bars
    groups = do_each("Grouping shards", partial(search_shard, table, shown), range(table.shards))
    # All lines are moved by one public width, which is known once all groups are.
    widths = _public_widths(groups)
    group_counts = [shard.groups for shard in groups]
    first_groups = (np.cumsum(group_counts) - group_counts).tolist()
    written = do_each(
        "Writing lines", partial(write_lines, table, widths), [*enumerate(first_groups)]
    )

    # The columns have a spread of 1: their squares add up to how many numbers there are.
    numbers = 2 * written[0].points * sum(shard.released for shard in written)
    loss = information_loss(sum(shard.squares for shard in written), float(numbers))
    searched = Stage("shards", loss, perf_counter() - since - read.seconds)
    figures = Figures(
        loss=loss,
        errors={
            name: joined_histograms([shard.errors[name] for shard in written]).summary
            for name in written[0].errors
        },
        mended=sum((shard.mended or Mended() for shard in groups), Mended()),
        widths=widths,
        stages=(read, searched),
    )
    return _merged(table, figures, written, progress, drafts)


def _split(
    table: PartsTable,
    states: Mapping[str, str],
    shards: int,
    capacity: int,
    do_each: Callable[..., Any],
) -> PartsTable:
    """Split a table into shards; write their rows, unless each is a range of rows of the parts."""
    parts = range(len(table.file.parts))
    largest = max(part.n for part in table.file.parts)
    if largest > capacity:
        raise BadInput(
            f"a part in {table.folder} has {largest:,} trajectories, and only {capacity:,} "
            "fit into the memory at once: write smaller parts, or raise `memory`"
        )

    step = sample_step(table.file.n, shards)
    surveys = do_each("Reading parts", partial(read_part, table, step), parts)
    table = surveyed(table, shards, step, surveys)

    if table.shards_are_ranges:
        rows_of_shard = np.diff(table.borders)
    else:
        if table.file.in_order:  # which promised to need less
            size = scratch_bytes(table.folder.size(states), in_order=False)
            table.scratch.refuse_without_room(size)
        rows_by_part = do_each("Writing shards", partial(write_part, table), parts)
        rows_of_shard = np.sum(rows_by_part, axis=0)
    largest_shard = rows_of_shard.max()
    if largest_shard > capacity:
        raise BadInput(
            f"{largest_shard:,} trajectories lie in one place, or are of few subjects, and only "
            f"{capacity:,} fit into the memory at once: raise `memory`"
        )
    return replace(table, plan=table.plan.with_key())  # after all checks


def _request_of(table: PartsTable, states: Mapping[str, str], shards: int) -> dict[str, object]:
    """List all on which the groups of shards depend: a run with the same may go on with them."""
    return {
        "source": table.folder.path,
        "states": states,
        "k": table.k,
        "release": asdict(table.plan.release),
        "search": asdict(table.plan.search),
        "key": None if table.plan.key is None else fingerprint(table.plan.key),
        "subjects_exact": table.subjects_exact,
        "shards": shards,
        "versions": versions(),
    }


def _merged(
    table: PartsTable,
    figures: Figures,
    shards: Sequence[ShardFigures],
    progress: Progress,
    drafts: Drafts,
) -> Report:
    """Merge the lines of all shards into the parts of the release, and report them."""
    plan = table.plan
    k = table.k
    origin = table.origin
    refuse_far(figures, k, origin.unit)
    least = min(shard.least_people for shard in shards)
    if least < k:
        raise TrajanonError(f"a group has fewer than {k} subjects; please report it")

    knows_people = table.knows_people
    attribution = attribution_of(origin, sum(shard.on_roads for shard in shards))
    words = released_words(plan, attribution, counts_people=knows_people)
    counted = write_release(table, words, drafts.parts, progress)
    write_members(table, counted.second_rows, drafts.members)

    people = None
    if knows_people:
        (people,) = table.scratch.count_different("people", "person")
    n = sum(shard.released for shard in shards)
    slid = sum(shard.slid for shard in shards)
    rows_are = plan.release.rows
    totals = Totals(
        n=n,
        groups=sum(shard.groups for shard in shards),
        lines=counted.lines,
        points=shards[0].points,
        rows=Rows(
            way=rows_are if knows_people or rows_are == "lines" else "trajectories",
            trajectories=n,
            subjects=counted.rows if knows_people else None,
            lines=counted.lines,
        ),
        people=people,
        least=least,
        alignment=Alignment(slid / n) if slid else None,
        on_roads=counted.on_roads,
        departures=None if plan.timing is None else counted.departures,
    )
    report = report_of(k, plan, origin, totals, figures)
    return structs.replace(report, shards=len(shards), members=digest_of_file(drafts.members))


def _public_widths(shards: Sequence[GroupsFound]) -> PublicWidths:
    """Compute the public widths from the medians of all groups, right to 0.2 %."""
    columns = zip(*(shard.widths for shard in shards), strict=True)
    medians = (joined_histograms(widths).summary.median for widths in columns)
    return PublicWidths.of(GroupWidths(*(np.array([median]) for median in medians)))
