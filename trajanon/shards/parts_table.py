"""A folder of parts as the tasks of a run know it; and what is read of one part."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Hashes, Ints
from trajanon.common.errors import BadInput
from trajanon.common.object_stores import Folder
from trajanon.files import geoparquet, track_rows
from trajanon.files.parquet_parts import ParquetParts
from trajanon.files.trajectory_files import holds_tracks, read_rows, true_ends_of
from trajanon.release.plan import Plan
from trajanon.shards.people_of_rows import (
    PeopleOfRows,
    people_of_names,
    people_of_recordings,
    people_of_rows,
)
from trajanon.shards.scratch_and_resume import Scratch, read_bucket
from trajanon.trajectories.provenance import Provenance
from trajanon.trajectories.trajectories import Trajectories


class PlacedRows(NamedTuple):
    """Where rows begin, and where they are on the curve: those of a run where its first row is."""

    start: NDArray[np.float32]  # latitude and longitude in degrees, (n, 2)
    key: Ints  # place on the Hilbert curve, (n,); equal only for rows of one run
    person: Hashes  # of the person, (n,)


class SharedRuns(NamedTuple):
    """Runs with rows in several parts, and the key of the first row of each."""

    run: Ints  # numbers of these runs, rising, (s,)
    key: Ints  # on the Hilbert curve, (s,)

    def with_runs_together(self, rows: PlacedRows, run: Ints) -> PlacedRows:
        """Set the keys of all rows of such a run to its first row's; ``run`` has each row's run."""
        is_shared = np.isin(run, self.run)
        key = rows.key.copy()
        key[is_shared] = self.key[np.searchsorted(self.run, run[is_shared])]
        return rows._replace(key=key)


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
    is_named_by_trace: bool = False  # whether scratch has the persons of rows without a name
    cuts: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # keys of shards, rising
    shared_runs: SharedRuns | None = None
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
    def columns_to_copy(self) -> list[str]:
        """The columns that shards have as they are in parts."""
        schema = self.file.schema_arrow
        names = [geoparquet.described(schema, self.folder)["primary_column"]]
        names += ["true_start", "true_end"]
        if self.needs_times:
            names += ["times"]
        if self.plan.release.align and holds_tracks(self.folder, schema):
            names += ["run", "start", "runs", "track", "track_times"]
        return [name for name in names if name in schema.names]

    @property
    def borders(self) -> list[int]:
        """The first row of each shard of a table in order, and the number of all rows."""
        return [0, *self.cuts.tolist(), self.file.n]

    def read(self, part: ParquetParts, *, tracks: bool = False) -> Trajectories:
        """Read a part without names; refuse what are no trajectories."""
        points, row_tracks, times = read_rows(
            part.where, part, tracks=tracks, times=self.needs_times
        )
        ends = true_ends_of(part.where, part)
        try:
            return Trajectories(
                points, provenance=self.provenance, tracks=row_tracks, times=times, true_ends=ends
            )
        except BadInput as error:
            raise BadInput(f"{part.where}: {error}") from None

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
        subject = geoparquet.written_column(rows.where, rows, "subject")
        if subject is None:
            return self.recordings(rows)
        people = people_of_names(subject, exact=self.subjects_exact)
        return self._named_by_trace(rows, people) if self.is_named_by_trace else people

    def recordings(self, rows: ParquetParts) -> PeopleOfRows:
        """Return the recording of each row of a part or range; without traces, it is its own."""
        trace = geoparquet.written_column(rows.where, rows, "trace")
        if trace is None:
            return people_of_rows(rows.row_numbers)
        return people_of_recordings(trace, rows.row_numbers)

    def _named_by_trace(self, rows: ParquetParts, people: PeopleOfRows) -> PeopleOfRows:
        """Set the person of rows without a name to the one that is named by their trace."""
        person = people.person.copy()
        for part in rows.parts:
            owned = read_bucket(self.scratch.bucket("owners", part.first_row))
            if owned is not None:
                place = owned["row"].to_numpy() - rows.first_row
                is_inside = (place >= 0) & (place < rows.n)
                person[place[is_inside]] = owned["person"].to_numpy()[is_inside]
        return people._replace(person=person)

    def runs(self, part: ParquetParts) -> Ints | None:
        """Read which run each row is of, (n,); None if no row lies on a track."""
        if "track" not in part.schema_arrow.names:
            return None
        column = geoparquet.written_column(part.where, part, "run")
        try:
            return track_rows.whole_numbers("run", column)
        except BadInput as error:
            raise BadInput(f"{part.where}: {error}") from None
