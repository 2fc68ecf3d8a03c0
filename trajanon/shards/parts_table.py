"""A folder of parts as the tasks of a run know it; and what is read of one part."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from trajanon.common.arrays import Ints
from trajanon.common.errors import BadInput
from trajanon.common.object_stores import Folder
from trajanon.files import geoparquet, track_rows
from trajanon.files.parquet_parts import ParquetParts
from trajanon.files.trajectory_files import holds_tracks, read_rows, true_ends_of
from trajanon.release.plan import Plan
from trajanon.shards.scratch_and_resume import Scratch
from trajanon.trajectories.provenance import Provenance
from trajanon.trajectories.trajectories import Trajectories

_NOWHERE = Scratch(Path(os.devnull))  # in which no task can write


@dataclass(frozen=True, eq=False)
class PartsTable:
    """A folder of parts, what was asked for, and, once all parts were read, how rows are split."""

    folder: Folder
    file: ParquetParts
    k: int
    plan: Plan
    scratch: Scratch = _NOWHERE
    subjects_exact: bool = False
    provenance: Mapping[str, object] = field(default_factory=dict)
    nameless_people: tuple[int, ...] = ()  # who stand for all recordings without a name: hashes
    cuts: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # keys of shards, rising
    keys_rise: bool = False  # from row to row, so that the rows of each shard are side by side

    @property
    def origin(self) -> Provenance:
        """What is known of how the trajectories came about."""
        return Provenance.read(self.provenance)

    @property
    def shards_are_ranges(self) -> bool:
        """Whether each shard is a range of rows, which is read where it is."""
        return self.file.in_order and self.keys_rise

    @property
    def shards(self) -> int:
        """The number of shards."""
        return len(self.cuts) + 1

    @property
    def knows_people(self) -> bool:
        """Whether rows say whose they are."""
        return bool({"subject", "trace"} & {*self.file.schema_arrow.names})

    @property
    def columns_to_copy(self) -> list[str]:
        """The columns that shards have as they are in parts."""
        schema = self.file.schema_arrow
        names = [geoparquet.described(schema, self.folder)["primary_column"]]
        names += ["true_start", "true_end"]
        if self.plan.release.times is not None:
            names += ["times"]
        if holds_tracks(self.file):
            names += ["run", "start", "runs", "track", "track_times", "track_true_ends"]
        return [name for name in names if name in schema.names]

    @property
    def borders(self) -> list[int]:
        """The first row of each shard of a table in order, and the number of all rows."""
        return [0, *self.cuts.tolist(), self.file.n]

    def read(
        self, rows: ParquetParts, subject: Ints | None = None, *, tracks: bool = False
    ) -> Trajectories:
        """Read rows, whose subjects are known or not wanted; refuse what are no trajectories."""
        with_times = self.plan.release.times is not None
        points, row_tracks, times = read_rows(rows, tracks=tracks, times=with_times)
        try:
            return Trajectories(
                points,
                subject,
                provenance=self.provenance,
                tracks=row_tracks,
                times=times,
                true_ends=true_ends_of(rows),
            )
        except BadInput as error:
            raise BadInput(f"{rows.where}: {error}") from None

    @contextmanager
    def naming_wrong_part(self) -> Iterator[None]:
        """Read each part by itself after an error, to name the one that is wrong, and the row."""
        try:
            yield
        except BadInput:
            for number in range(len(self.file.parts)):
                with self.file.part(number) as part:
                    self.read(part, tracks=True)
            raise

    def runs(self, part: ParquetParts) -> Ints | None:
        """Read which run each row is of, (n,); None if no row lies on a track."""
        if "track" not in part.schema_arrow.names:
            return None
        column = geoparquet.written_column(part, "run")
        try:
            return track_rows.whole_numbers("run", column)
        except BadInput as error:
            raise BadInput(f"{part.where}: {error}") from None
