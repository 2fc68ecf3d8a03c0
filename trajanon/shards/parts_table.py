"""A folder of parts as the tasks of a run know it; and what is read of one part."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Ints
from trajanon.common.errors import BadInput
from trajanon.common.remote_folder import Folder
from trajanon.files import geoparquet, track_rows
from trajanon.files.parquet_parts import ParquetParts
from trajanon.files.trajectory_files import holds_tracks, read_rows, true_ends_of
from trajanon.release.plan import Plan
from trajanon.shards.halving import Places
from trajanon.shards.people_of_parts import PeopleOfRows, people_of_names, people_of_recordings
from trajanon.trajectories.provenance import Provenance
from trajanon.trajectories.trajectories import Trajectories


class Part(NamedTuple):
    """A part of a table."""

    number: int
    name: str
    first: int  # the number of its first row in the table
    n: int


@dataclass(frozen=True, eq=False)
class PartsTable:
    """A folder of parts, as the tasks of a run know it."""

    folder: Folder
    file: ParquetParts
    k: int
    plan: Plan
    subjects_exact: bool = False
    provenance: Mapping[str, object] = field(default_factory=dict)
    owners: Ints | None = None  # of all rows, if whose one is cannot be told by itself

    @property
    def origin(self) -> Provenance:
        """What is known of how the trajectories came about."""
        return Provenance.read(self.provenance)

    @cached_property
    def parts(self) -> list[Part]:
        """The parts, in the order of their names."""
        sizes = [*self.file.rows.values()]
        firsts = (np.cumsum(sizes) - sizes).tolist()
        known = zip(range(len(sizes)), self.file.rows, firsts, sizes, strict=True)
        return [Part(*part) for part in known]

    @property
    def knows_people(self) -> bool:
        """Whether rows say whose they are."""
        return bool({"subject", "trace"} & {*self.file.schema_arrow.names})

    @property
    def timed(self) -> bool:
        """Whether times are wanted."""
        return self.plan.release.times is not None

    @property
    def on_tracks(self) -> bool:
        """Whether rows may slide on tracks."""
        schema = self.file.schema_arrow
        return self.plan.release.align and holds_tracks(self.folder, schema)

    def where(self, part: Part) -> str:
        """Return the path of a part."""
        return f"{self.folder}/{part.name}"

    def read(self, part: Part) -> Trajectories:
        """Read a part, without tracks and names; refuse what are no trajectories."""
        where = self.where(part)
        file = self.file.part(part.name)
        points, _, times = read_rows(where, file, tracks=False, times=self.timed)
        ends = true_ends_of(where, file)
        try:
            return Trajectories(points, provenance=self.provenance, times=times, true_ends=ends)
        except BadInput as error:
            raise BadInput(f"{where}: {error}") from None

    def people(self, part: Part) -> PeopleOfRows:
        """Find whose the rows of a part are; without names, each is its recording's."""
        column = partial(geoparquet.written_column, self.where(part), self.file.part(part.name))
        if self.owners is not None:
            number = self.owners[part.first : part.first + part.n].astype(np.uint64)
            return PeopleOfRows(number, number, np.zeros(part.n, dtype=np.bool_), "")
        subject = column("subject")
        if subject is not None:
            return people_of_names(subject, exact=self.subjects_exact)
        trace = column("trace")
        if trace is not None:
            return people_of_recordings(trace, part.first)
        row = np.arange(part.first, part.first + part.n, dtype=np.uint64)
        return PeopleOfRows(row, row, np.zeros(part.n, dtype=np.bool_), "")

    def runs(self, part: Part) -> Ints | None:
        """Read which run each row is of, (n,); None if rows are their own."""
        if "track" not in self.file.schema_arrow.names:
            return None
        column = geoparquet.written_column(self.where(part), self.file.part(part.name), "run")
        return track_rows.whole_numbers("run", column)


def places_of(trajectories: Trajectories) -> Places:
    """Return the first, middle and last point of each row, (n, 6)."""
    m = trajectories.points.shape[1]
    ends = trajectories.points[:, [0, m // 2, m - 1]]
    return ends.reshape(-1, 6).astype(np.float32)
