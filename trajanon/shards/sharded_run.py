"""A table beyond memory, step by step: look, write by shard, search, write lines, merge, report."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from msgspec import structs

from trajanon.anonymization import refuse_attribution
from trajanon.common.errors import BadInput, TrajanonError
from trajanon.common.progress import Progress, silent
from trajanon.common.remote_folder import Folder
from trajanon.common.workers import each_done
from trajanon.grouping.loss import information_loss
from trajanon.grouping.partition import Stage
from trajanon.release.assembly import (
    Figures,
    Totals,
    refuse_far,
    released_words,
    report_of,
    versions,
)
from trajanon.release.holder_key import fingerprint
from trajanon.release.perturbation import GroupWidths, PublicWidths
from trajanon.release.plan import Plan
from trajanon.release.report import Mended, Report, Rows, digest_of_file
from trajanon.shards.halving import halved
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.release_of_shards import ShardLines, write_members, write_release
from trajanon.shards.scratch import Scratch, keep_results
from trajanon.shards.shard_rows import Pieces, write_part
from trajanon.shards.shard_search import (
    GroupsFound,
    ShardFigures,
    Shards,
    search_shard,
    write_lines,
)
from trajanon.shards.sorted_runs import count_different
from trajanon.shards.survey import Survey, read_part, sample_step, surveyed
from trajanon.trajectories.distances import joined_histograms

if TYPE_CHECKING:
    from distributed import Client


@dataclass(frozen=True, eq=False)
class ShardedRun:
    """A table that is anonymised in shards, on this machine or a cluster."""

    table: PartsTable
    states: Mapping[str, str]  # of its parts
    client: "Client | None"
    shards: int  # that are wanted
    capacity: int  # rows that fit into memory
    scratch: Scratch
    progress: Progress

    def release(self, out: Folder, members: Path) -> Report:
        """Write the release, and which row is on which line; return its report."""
        since = perf_counter()
        refuse_attribution(self.table.origin.attribution)
        survey = self._surveyed()
        plan = survey.table.plan.with_key()  # after all checks
        survey = survey._replace(table=replace(survey.table, plan=plan))
        shards = self._partitioned(survey)
        keep_results(self.scratch, self._asked(plan))
        count = shards.pieces.rows.shape[1]
        read = Stage("reading", None, perf_counter() - since)

        groups = self._each("Grouping shards", partial(search_shard, shards), range(count))
        # All lines are moved by one public width, which is known once all groups are.
        widths = _public_widths(groups)
        firsts = np.cumsum([0, *(shard.groups for shard in groups)])
        of_shards = [*zip(range(count), firsts.tolist(), strict=False)]
        task = partial(write_lines, shards, widths)
        written = self._each("Writing lines", task, of_shards)

        loss = _loss_of(written)
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
        return self._merged(shards.table, figures, groups, written, out, members)

    def _asked(self, plan: Plan) -> dict[str, object]:
        """Return what decides on the groups of all shards."""
        return {
            "source": self.table.folder.path,
            "states": self.states,
            "k": self.table.k,
            "release": asdict(plan.release),
            "search": asdict(plan.search),
            "key": None if plan.key is None else fingerprint(plan.key),
            "subjects_exact": self.table.subjects_exact,
            "shards": self.shards,
            "versions": versions(),
        }

    def _each(self, what: str, task: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        return each_done(self.client, self.progress, what, task, items)

    def _surveyed(self) -> Survey:
        """Read all parts once, to know where and whose their rows are."""
        largest = max(part.n for part in self.table.parts)
        if largest > self.capacity:
            raise BadInput(
                f"a part in {self.table.folder} has {largest:,} trajectories, and only "
                f"{self.capacity:,} fit into the memory at once: write smaller parts, or raise "
                "`memory`"
            )
        step = sample_step(self.table.file.n, self.shards)
        task = partial(read_part, self.table, self.scratch, step)
        parts = self._each("Reading parts", task, self.table.parts)
        return surveyed(self.table, self.scratch, step, parts)

    def _partitioned(self, survey: Survey) -> Shards:
        """Read all parts again, and write each row once to its shard."""
        half = halved(survey.sample, self.table.k, self.shards)
        task = partial(write_part, survey.table, self.scratch, half, survey.shared)
        pieces = Pieces.joined(self._each("Writing shards", task, self.table.parts))
        largest = int(pieces.rows.sum(axis=0).max())
        if largest > self.capacity:
            raise BadInput(
                f"{largest:,} trajectories lie in one place, or are of few subjects, and only "
                f"{self.capacity:,} fit into the memory at once: raise `memory`"
            )
        # Workers cannot show bars.
        shown = self.progress if self.client is None else silent
        return Shards(survey.table, self.scratch, pieces, shown)

    def _merged(
        self,
        table: PartsTable,
        figures: Figures,
        groups: Sequence[GroupsFound],
        written: Sequence[ShardFigures],
        out: Folder,
        members: Path,
    ) -> Report:
        """Merge the lines of all shards into the parts of the release, and report them."""
        plan = table.plan
        k = table.k
        timing = plan.timing
        origin = table.origin
        refuse_far(figures, k, origin.unit)
        least = min(shard.least_people for shard in written)
        if least < k:
            raise TrajanonError(f"a group has fewer than {k} subjects; please report it")

        on_roads = [shard.on_roads for shard in written if shard.on_roads is not None]
        way: Literal["subjects", "trajectories", "lines"] = plan.release.rows
        totals = Totals(
            n=sum(shard.released for shard in written),
            groups=sum(shard.groups for shard in groups),
            lines=0,
            points=written[0].points,
            rows=Rows(way=way if table.knows_people or way == "lines" else "trajectories"),
            people=self._people(len(written)) if table.knows_people else None,
            least=least,
            slid=sum(shard.slid for shard in written),
            on_roads=sum(on_roads) if on_roads else None,
            departures=None,
        )
        report = report_of(k, plan, origin, totals, figures)
        lines = ShardLines(self.scratch, len(written), timing)
        write_release(lines, released_words(plan, report), out, self.progress)
        write_members(self.scratch, len(written), lines.rowless, members)

        totals = totals._replace(
            lines=lines.count,
            rows=Rows(
                way=totals.rows.way,
                trajectories=totals.n,
                subjects=lines.rows if table.knows_people else None,
                lines=lines.count,
            ),
            on_roads=lines.on_roads if on_roads else None,
            departures=None if timing is None else lines.departures,
        )
        report = report_of(k, plan, origin, totals, figures)
        return structs.replace(report, shards=len(written), members=digest_of_file(members))

    def _people(self, shards: int) -> int:
        """Count the people in the release."""
        return count_different([self.scratch.of("people", n) for n in range(shards)], "person")


def _public_widths(shards: Sequence[GroupsFound]) -> PublicWidths:
    """Compute the public widths from the medians of all groups, right to 0.2 %."""
    columns = zip(*(shard.widths for shard in shards), strict=True)
    medians = (joined_histograms(widths).summary.median for widths in columns)
    return PublicWidths.of(GroupWidths(*(np.array([median]) for median in medians)))


def _loss_of(shards: Sequence[ShardFigures]) -> float:
    """Compute the information loss in percent; the total is that of columns with a spread of 1."""
    numbers = 2 * shards[0].points * sum(shard.released for shard in shards)
    return information_loss(sum(shard.squares for shard in shards), float(numbers))
