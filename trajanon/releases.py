"""A release and its report, and what every report says."""

import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from trajanon.clock import Clock
from trajanon.errors import BadInput
from trajanon.files.frames import to_collection
from trajanon.files.release import check_release_format, write_release
from trajanon.files.report import report_path
from trajanon.notebook import drawn, page, shown
from trajanon.number_text import number_of
from trajanon.outputs import json_report, replacing
from trajanon.subjects import Merged, count_of, nameless
from trajanon.trajectories import FOR_COMPARISON, Trajectories, unit_of
from trajanon.verdict import Verdict, cost, source_of, too_few, verdict

if TYPE_CHECKING:
    from geopandas import GeoDataFrame
    from pandas import DataFrame


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """What may be published, and what the holder should know of it.

    Attributes
    ----------
    trajectories
        The released trajectories, sorted by their coordinates, without subjects.
    report
        For the holder, ready for JSON. Not for publication: ``labels`` links each original to its
        group, and ``key`` undoes the perturbation of lines.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[40.1, 2.0], [40.1, 3.0]]] * 2)
    >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2)
    >>> release.trajectories.points.tolist()
    [[[40.1, 2.0], [40.1, 3.0]], [[40.1, 2.0], [40.1, 3.0]]]
    >>> release.report["groups"], release.report["sizes"]
    (1, [2])
    >>> print(repr(release).partition(";")[0])
    <Release: 2 rows of 2 points on 1 line, k = 2 records
    """

    trajectories: Trajectories
    report: dict[str, Any]

    @property
    def verdict(self) -> Verdict:
        """Whether it may be published, and what is to be said beside it, by its report."""
        return verdict(self.report)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the release, and its report beside it.

        Parameters
        ----------
        path
            Ends in .parquet, .gpkg, .geojson, .csv or .gpx, or with times in .mfjson; the report
            has the same name, ends in .report.json, and is readable by its owner only. Both are
            replaced, or neither is.

        Raises
        ------
        BadInput
            If the suffix is not that of a format, or of one of times and there are none.
        FileProblem
            If one of the two cannot be written.

        Examples
        --------
        >>> from pathlib import Path
        >>> import numpy as np
        >>> import trajanon
        >>> points = np.array([[[40.1, 2.0], [40.1, 3.0]]] * 2)
        >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2)
        >>> release.write("anonymized.csv")
        >>> print(Path("anonymized.csv").read_text())
        id,lat1,lon1,lat2,lon2
        1,40.1,2.0,40.1,3.0
        2,40.1,2.0,40.1,3.0
        <BLANKLINE>
        """
        check_release_format(path := Path(path), timed=self.trajectories.times is not None)
        with replacing(path, report_path(path), public=[path]) as drafts:
            write_drafts(self, *drafts)

    def to_geodataframe(self) -> "GeoDataFrame":
        """Give the released trajectories as LineStrings in a GeoDataFrame, in WGS 84.

        Returns
        -------
        geopandas.GeoDataFrame
            With times, their seconds stand in lists in a column ``times``.

        Examples
        --------
        >>> import numpy as np
        >>> import trajanon
        >>> points = np.array([[[40.1, 2.0], [40.1, 3.0]]] * 2)
        >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2)
        >>> release.to_geodataframe().geometry[0].wkt
        'LINESTRING (2 40.1, 3 40.1)'
        """
        return self.trajectories.to_geodataframe()

    def to_dataframe(self) -> "DataFrame":
        """Give the released trajectories as a DataFrame with a row for each point.

        Returns
        -------
        pandas.DataFrame
            As `Trajectories.to_dataframe` gives.

        Examples
        --------
        >>> import numpy as np
        >>> import trajanon
        >>> points = np.array([[[40.0, 2.0], [40.0, 3.0]], [[40.2, 2.0], [40.2, 3.0]]])
        >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2, as_published=True)
        >>> release.to_dataframe().head(2)
           trajectory   lat  lon
        0           0  40.1  2.0
        1           0  40.1  3.0
        """
        return self.trajectories.to_dataframe()

    def to_movingpandas(self) -> Any:
        """Give the released trajectories as a TrajectoryCollection of movingpandas.

        Returns
        -------
        movingpandas.TrajectoryCollection
            With times, those of a day or a week are of the week from Monday, 1 January 2001 on, in
            local time, and others in UTC; where rounded times stand still they go on from point to
            point. Without times, seconds from 1970 on number the points.

        Raises
        ------
        BadInput
            If movingpandas is not installed.

        Examples
        --------
        >>> import numpy as np
        >>> import trajanon
        >>> points = np.array([[[40.1, 2.0], [40.1, 3.0]]] * 2)
        >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2)
        >>> len(release.to_movingpandas())
        2
        """
        return to_collection(self.trajectories)

    def __repr__(self) -> str:
        return shown(type(self).__name__, [said for _, said in self._told])

    def _repr_html_(self) -> str:
        return page(self._told, drawn(self.trajectories.points))

    @property
    def _told(self) -> list[tuple[str, str]]:
        """What is in the release and what it costs, as far as the report says."""
        n, m = self.trajectories.points.shape[:2]
        report, told = self.report, f"{number_of(n, 'row')} of {m} points"
        if {"lines", "k", "counted"} <= report.keys():
            lines = number_of(report["lines"], "line")
            told += f" on {lines}, k = {report['k']} {report['counted']}"
        if not {"displacement", "information_loss"} <= report.keys():
            return [("Release", told)]
        return [("Release", told), ("Cost", cost(report))]


def write_drafts(release: Release, release_draft: Path, report_draft: Path) -> None:
    """Write the two files where somebody else moves them into place."""
    write_release(release_draft, release.trajectories)
    report_draft.write_text(json_report(release.report), encoding="utf-8")


def with_report(
    release: Release | Trajectories, report: Mapping[str, Any] | None
) -> tuple[Trajectories, Mapping[str, Any]]:
    """Take a release and its report, whether they are given as one or as two."""
    if isinstance(release, Release):
        if report is None:
            return release.trajectories, release.report
    elif report is not None:
        return release, report
    raise BadInput(
        "give the Release that anonymize made, or the released trajectories and their report"
    )


@contextmanager
def written(release: Release) -> Iterator[Path]:
    """Write a release, and its report beside it, for as long as it is looked at."""
    with TemporaryDirectory(prefix="trajanon-") as folder:
        path = Path(folder) / "release.parquet"
        release.write(path)
        yield path


class Counted(NamedTuple):
    """What k counts, and what the holder must know of it."""

    k: int  # the group size
    by_subjects: bool  # whether subjects are counted, or trajectories
    groups: int
    few: int | None  # groups of fewer than k different subjects; None if no subjects are known
    provenance: Mapping[str, Any]  # what the originals say of their source
    as_published: bool = False  # whether all was done as in the papers

    @property
    def word(self) -> str:
        """What is counted, in one word."""
        return "subjects" if self.by_subjects else "records"

    @property
    def notice(self) -> str:
        """The first line of a report."""
        notice = "For the holder of the data, not for publication."
        if self.as_published:
            notice += f" The release is {FOR_COMPARISON}."
        unknown = nameless(self.provenance)
        if self.by_subjects and not unknown:
            return notice
        if self.by_subjects:
            read = count_of(self.provenance, "recordings read")
            some = number_of(unknown, "recording")
            if read is not None:
                some = f"{unknown:,} of {number_of(read, 'recording')}"
            each = "names no subject, and" if unknown == 1 else "name no subject, and each of them"
            return f"{notice} {some} {each} was counted as a subject of its own."
        if self.few is None:
            return f"{notice} k counts trajectories: nothing is known of their subjects."
        if not self.few:
            rest = f"each group also holds {self.k} different subjects."
            return f"{notice} k counts trajectories; {rest}"
        return f"{notice} {too_few(self.k, self.groups, records=0, people=self.few)}."

    @property
    def account(self) -> dict[str, Any]:
        """What every report says of it, ready for JSON."""
        return {
            "notice": self.notice,
            "unit": unit_of(self.provenance),
            "k": self.k,
            "counted": self.word,
            "as_published": self.as_published,
            "groups": self.groups,
            "source": source_of(self.provenance),
            "subject_names_merged": Merged.told_by(self.provenance)._asdict(),
            "attribution": self.provenance.get("attribution"),
            "versions": versions(),
        }


def published_with(
    attribution: str | None, way: str, clock: Clock | None, *, by_subjects: bool
) -> dict[str, Any]:
    """What a release says of itself: its source, what has a row, and which times it bears."""
    told = {"attribution": attribution}
    if by_subjects and way != "trajectories":
        told["counted"] = "subjects"
    if way == "lines":
        told["rows"] = "lines"
    if clock is not None:
        told["times"] = clock.sentence
    return told


def versions() -> dict[str, str]:
    """What the result was made with."""
    names = ("trajanon", "numpy", "numba")
    return {name: version(name) for name in names} | {"python": platform.python_version()}
