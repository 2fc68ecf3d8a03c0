"""A table beyond memory, step by step: look, write by shard, search, write lines, merge, report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial, reduce
from operator import add
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from msgspec import structs

from trajanon.anonymization import refuse_attribution
from trajanon.common.errors import BadInput, TrajanonError
from trajanon.common.object_stores import Folder
from trajanon.common.progress import Progress, silent
from trajanon.common.threads_and_dask import each_done
from trajanon.files.trajectory_files import holds_tracks
from trajanon.grouping.loss import information_loss
from trajanon.grouping.partition import Stage
from trajanon.release.assembled_release import refuse_far, released_words
from trajanon.release.holder_key import fingerprint
from trajanon.release.perturbed_places_and_times import GroupWidths, PublicWidths
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
from trajanon.shards.release_of_shards import LineMerger, lines_in_order, write_members, write_parts
from trajanon.shards.scratch_and_resume import for_request, scratch_bytes
from trajanon.shards.shard_search import (
    GroupsFound,
    ShardFigures,
    search_shard,
    write_lines,
    write_part,
)
from trajanon.shards.survey_and_cuts import DoEach, spread_of, surveyed
from trajanon.trajectories.distances import Histogram, Summary

if TYPE_CHECKING:
    from distributed import Client


Shard = TypeVar("Shard", GroupsFound, ShardFigures)


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

    ``states`` are those of the parts when the run began. The table is split into at most ``shards``
    shards of at most ``capacity`` rows.
    """
    since = perf_counter()
    refuse_attribution(table.origin.attribution)
    table.plan.refuse_ends_of(table.origin.unit, has_tracks=holds_tracks(table.file))
    do_each = partial(each_done, client, progress)
    table = _split(table, states, shards, capacity, do_each)
    # The key, which was just read or made, is part of the request.
    scratch = for_request(table.scratch, _request_of(table, states, shards))
    table = replace(table, scratch=scratch)
    reading = Stage("reading", None, perf_counter() - since)

    shown = progress if client is None else silent  # workers cannot show bars
    with table.naming_wrong_part():
        groups_found = do_each(
            "Grouping shards", partial(search_shard, table, shown), range(table.shards)
        )
        found, widths_of_groups = _gathered(groups_found)

    # All lines are moved by one public width, which is known once all groups are.
    medians = {name: np.array([width.median]) for name, width in widths_of_groups.items()}
    widths = PublicWidths.of(GroupWidths(**medians))

    group_counts = [shard.groups for shard in found]
    first_groups = (np.cumsum(group_counts) - group_counts).tolist()
    shard_figures = do_each(
        "Writing lines", partial(write_lines, table, widths), [*enumerate(first_groups)]
    )
    written, errors = _gathered(shard_figures)

    # In standard deviations of what is released; what is equal in all of it counts nothing.
    moments = [shard.moments for shard in written]
    spread = spread_of(moments)
    varies = spread > 0.0
    squares = np.sum([shard.squares for shard in written], axis=0)
    sse = float((squares[varies] / spread[varies] ** 2).sum())
    loss = information_loss(sse, float(sum(shard.n for shard in moments) * varies.sum()))
    searching = Stage("shards", loss, perf_counter() - since - reading.seconds)
    figures = Figures(
        loss=loss,
        errors=errors,
        mended=sum((shard.mended for shard in found), Mended()),
        widths=widths,
        stages=(reading, searching),
    )
    return _merged(table, figures, sum(group_counts), written, progress, drafts)


def _split(
    table: PartsTable, states: Mapping[str, str], shards: int, capacity: int, do_each: DoEach
) -> PartsTable:
    """Read all parts and split the table; write rows by shard, unless shards are ranges."""
    largest = max(part.n for part in table.file.parts)
    if largest > capacity:
        raise BadInput(
            f"a part in {table.folder} has {largest:,} trajectories, and only {capacity:,} "
            "fit into the memory at once: write smaller parts, or raise `memory`"
        )

    table = surveyed(table, shards, do_each)
    if table.shards_are_ranges:
        rows_of_shard = np.diff(table.borders)
    else:
        if table.file.in_order:  # which promised to need less
            size = scratch_bytes(table.folder.size(states), in_order=False)
            table.scratch.refuse_without_room(size)
        parts = range(len(table.file.parts))
        rows_of_shard = reduce(add, do_each("Writing shards", partial(write_part, table), parts))

    largest_shard = rows_of_shard.max()
    if largest_shard > capacity:
        raise BadInput(
            f"{largest_shard:,} trajectories lie in one place, or are of few subjects, and only "
            f"{capacity:,} fit into the memory at once: raise `memory`"
        )
    return replace(table, plan=table.plan.with_key())  # what is refused leaves no key behind


def _request_of(table: PartsTable, states: Mapping[str, str], shards: int) -> dict[str, object]:
    """Return what the groups depend on: a run with an equal request continues from them."""
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
    groups: int,
    written: Sequence[ShardFigures],
    progress: Progress,
    drafts: Drafts,
) -> Report:
    """Merge the lines of all shards into the parts of the release, and report them."""
    plan = table.plan
    k = table.k
    origin = table.origin
    refuse_far(figures, k, origin.unit)
    least = min(shard.least_people for shard in written)
    if least < k:
        raise TrajanonError(f"a group has fewer than {k} subjects; please report it")

    knows_people = table.knows_people
    attribution = attribution_of(origin, sum(shard.on_roads for shard in written))
    counts_people = knows_people and origin.source.names_people
    words = released_words(plan, attribution, counts_people=counts_people)
    merger = LineMerger(plan.timing)
    lines = merger.merged(lines_in_order(table.scratch, table.shards))
    write_parts(lines, words, drafts.parts, progress)
    write_members(table, merger.rows_already_on_line, drafts.members)

    people = None
    if knows_people:
        people = table.scratch.count_different("people", "person")
    n = sum(shard.moments.n for shard in written)
    slid = sum(shard.slid for shard in written)
    people_rows = merger.rows if knows_people else None
    totals = Totals(
        n=n,
        groups=groups,
        lines=merger.lines,
        points=written[0].points,
        rows=Rows.of(plan.release.rows, n, people_rows, merger.lines),
        people=people,
        least=least,
        alignment=Alignment(slid / n) if slid else None,
        on_roads=merger.on_roads,
        departures=None if plan.timing is None else merger.departures,
    )
    # Groups with equal lines count apart here, which is rare and errs on the safe side.
    few_named = sum(shard.groups_of_few_named for shard in written)
    return structs.replace(
        report_of(k, plan, origin, totals, figures),
        lines_of_few_named=few_named if table.nameless_people else None,
        shards=table.shards,
        members=digest_of_file(drafts.members),
    )


def _gathered(shards: Iterator[Shard]) -> tuple[list[Shard], dict[str, Summary]]:
    """List what was found of shards; sum up their histograms, of which all would fill memory."""
    found = list[Shard]()
    totals = dict[str, Histogram]()
    for shard in shards:
        for name, histogram in shard.histograms.items():
            totals[name] = totals[name].plus(histogram) if name in totals else histogram
        shard.histograms.clear()
        found.append(shard)
    return found, {name: total.summary for name, total in totals.items()}
