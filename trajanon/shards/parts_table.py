"""A folder of parts as the tasks of a run know it; and what is read of one part."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from trajanon.common.arrays import Column, Ints
from trajanon.common.errors import BadInput
from trajanon.common.object_stores import Folder
from trajanon.files import geoparquet, track_rows
from trajanon.files.parquet_parts import ParquetParts
from trajanon.files.trajectory_files import holds_tracks, read_rows, true_ends_of
from trajanon.release.plan import Plan
from trajanon.shards.people_of_rows import PeopleOfRows, people_of_names, people_of_recordings
from trajanon.shards.scratch_and_resume import Scratch, read_bucket
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
    runs_are_ranges: bool = True  # whether the rows of each run are side by side

    @property
    def origin(self) -> Provenance:
        """What is known of how the trajectories came about."""
        return Provenance.read(self.provenance)

    @property
    def shards_are_ranges(self) -> bool:
        """Whether each shard is a range of rows, which is read where it is."""
        return self.file.in_order and self.runs_are_ranges

    @property
    def shards(self) -> int:
        """The number of shards."""
        return len(self.cuts) + 1

    @property
    def knows_people(self) -> bool:
        """Whether rows say whose they are."""
        return bool({"subject", "trace"} & {*self.file.schema_arrow.names})

    @property
    def needs_times(self) -> bool:
        """Whether times are wanted."""
        return self.plan.release.times is not None

    @property
    def needs_tracks(self) -> bool:
        """Whether windows may slide, or it matters where their recordings begin and end."""
        return not self.plan.release.as_published

    @property
    def columns_to_copy(self) -> list[str]:
        """The columns that shards have as they are in parts."""
        schema = self.file.schema_arrow
        names = [geoparquet.described(schema, self.folder)["primary_column"]]
        names += ["true_start", "true_end"]
        if self.needs_times:
            names += ["times"]
        if self.needs_tracks and holds_tracks(self.file):
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
        points, row_tracks, times = read_rows(rows, tracks=tracks, times=self.needs_times)
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

    def people(self, rows: ParquetParts) -> PeopleOfRows:
        """Return the person of each row of a part or range; without names, it is its recording."""
        subject = geoparquet.written_column(rows, "subject")
        if subject is None:
            return self.recordings(rows)
        people = people_of_names(subject, exact=self.subjects_exact)
        is_nameless = people.person == 0
        if not is_nameless.any():
            return people
        trace = self.recordings(rows).person
        of_trace = self.shared("persons", rows, trace, people.person)
        return people._replace(person=np.where(is_nameless, of_trace, people.person))

    def recordings(self, rows: ParquetParts) -> PeopleOfRows:
        """Return the recording of each row of a part or range; without traces, it is its own."""
        trace = geoparquet.written_column(rows, "trace")
        return people_of_recordings(trace, rows.row_numbers)

    def shared(self, kind: str, rows: ParquetParts, owner: Column, values: Column) -> Column:
        """Replace values of rows by those that their owners have in other parts, where known.

        ``owner`` is the trace or the run of each row, (n,).
        """
        for part in rows.parts:
            known = read_bucket(self.scratch.bucket(kind, part.first_row))
            if known is not None:
                values = replaced(values, owner, known.to_pandas())
        return values

    def runs(self, part: ParquetParts) -> Ints | None:
        """Read which run each row is of, (n,); None if no row lies on a track."""
        if "track" not in part.schema_arrow.names:
            return None
        column = geoparquet.written_column(part, "run")
        try:
            return track_rows.whole_numbers("run", column)
        except BadInput as error:
            raise BadInput(f"{part.where}: {error}") from None


def replaced(values: Column, owner: Column, known: pd.DataFrame) -> Column:
    """Replace the values of rows whose ``owner``, (n,), is known, by that owner's value."""
    first = known.drop_duplicates("owner")
    place = pd.Index(first["owner"]).get_indexer(owner)
    is_known = place >= 0
    values = values.copy()
    values[is_known] = first["value"].to_numpy()[place[is_known]]
    return values
