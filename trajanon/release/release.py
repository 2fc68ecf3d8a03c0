"""A release and its report, and which rows it has."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import structs

from trajanon.common.arrays import Bools, Floats, Ints, renumbered
from trajanon.common.atomic_output import replacing
from trajanon.common.errors import BadInput
from trajanon.common.number_text import Displayed, number_of
from trajanon.common.object_stores import Folder, is_url
from trajanon.common.search_and_release_options import RowsName
from trajanon.files.release_formats import check_release_format, write_release
from trajanon.release.release_words import cost
from trajanon.release.report import Report, Rows
from trajanon.release.report_files import checked, json_ready, json_report, new_report_path
from trajanon.release.verdict import Verdict, verdict
from trajanon.trajectories.trajectories import ReleasedTrajectories

if TYPE_CHECKING:
    from geopandas import GeoDataFrame
    from pandas import DataFrame


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Release(Displayed):
    """What may be published, and what the holder should know of it.

    Attributes
    ----------
    trajectories
        The released trajectories, sorted by their coordinates, without subjects.
    report
        For the holder, ready for JSON. Not for publication: ``labels`` links each original to its
        group. The key is not in it.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[40.1, 2.0], [40.1, 3.0]]] * 2)
    >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2)
    >>> release.trajectories.points.shape  # rows, points, latitude and longitude
    (2, 2, 2)
    >>> bool((release.trajectories.points[0] == release.trajectories.points[1]).all())
    True
    >>> release.report["groups"], release.report["sizes"]
    (1, [2])
    >>> print(repr(release).partition(";")[0])
    <Release: 2 rows of 2 points on 1 line, k = 2 records
    """

    trajectories: ReleasedTrajectories
    report: dict[str, Any]

    @property
    def verdict(self) -> Verdict:
        """Judge by its report whether it may be published, and with which remarks."""
        return verdict(checked(self.report))

    def write(self, path: str | os.PathLike[str] | IO[bytes], *, format: str | None = None) -> None:
        """Write the release, and its report beside it.

        Parameters
        ----------
        path
            Ends in .parquet, .gpkg, .geojson, .csv or .gpx, or with times in .mfjson; the report
            has the same name, ends in .report.json, and is readable by its owner only. Both are
            replaced, or neither is. To a URL, which fsspec opens, to a buffer or an open file the
            release is written alone: nobody knows who reads there.
        format
            Of a buffer: parquet, gpkg, geojson, csv, gpx or mfjson.

        Raises
        ------
        BadInput
            If the suffix or format is not known, or is one of times and there are none.
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
        >>> lines = Path("anonymized.csv").read_text().splitlines()
        >>> print(lines[0], len(lines))
        id,lat1,lon1,lat2,lon2 3
        >>> from io import BytesIO
        >>> release.write(buffer := BytesIO(), format="csv")
        >>> len(buffer.getvalue().splitlines())
        3
        """
        if not isinstance(path, str | os.PathLike):
            self._write_stream(path, format)
            return
        if format is not None:
            raise BadInput("`format` is for buffers: the suffix of a path names the format")
        has_times = self.trajectories.times is not None
        if isinstance(path, str) and is_url(path):
            folder, _, name = path.rpartition("/")
            check_release_format(Path(name), timed=has_times)
            with Folder(folder).writing(name) as stream:
                self._write_stream(stream, Path(name).suffix)
            return

        path = Path(path)
        check_release_format(path, timed=has_times)
        text = json_report(self.report)
        report = new_report_path(path, text)
        with replacing(path, report, public=[path]) as (release_draft, report_draft):
            write_release(release_draft, self.trajectories)
            report_draft.write_text(text, encoding="utf-8")

    def _write_stream(self, stream: IO[bytes], format: str | None) -> None:
        """Write the release alone, as one of the formats, where bytes can be written."""
        if not hasattr(stream, "write"):
            raise BadInput(f"`path` must be a path, a URL or a buffer (got {stream!r:.40})")
        if format is None:
            raise BadInput("a buffer has no name that shows the format: add `format`, such as csv")
        with TemporaryDirectory(prefix="trajanon-") as folder:
            draft = Path(folder) / f"release.{format.removeprefix('.')}"
            self.write(draft)
            try:
                stream.write(draft.read_bytes())
            except TypeError as error:
                raise BadInput(f"`path` must take bytes, as BytesIO does: {error}") from error

    def to_geodataframe(self) -> "GeoDataFrame":
        """Return the released trajectories as LineStrings in a GeoDataFrame, in WGS 84.

        Returns
        -------
        geopandas.GeoDataFrame
            As `Trajectories.to_geodataframe` gives.
        """
        return self.trajectories.to_geodataframe()

    def to_dataframe(self) -> "DataFrame":
        """Return the released trajectories as a DataFrame with a row for each point.

        Returns
        -------
        pandas.DataFrame
            As `Trajectories.to_dataframe` gives.
        """
        return self.trajectories.to_dataframe()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows of `to_dataframe` to libraries such as polars, pyarrow and DuckDB."""
        return self.trajectories.__arrow_c_stream__(requested_schema)

    @property
    def _facts(self) -> list[tuple[str, str]]:
        """Return the content and cost of the release, as far as the report has them."""
        n, m = self.trajectories.points.shape[:2]
        rows = f"{number_of(n, 'row')} of {m} points"
        if "lines" not in self.report:  # made by hand, and still to be shown
            return [("Release", rows)]
        report = checked(self.report)
        lines = number_of(report.lines, "line")
        facts = f"{rows} on {lines}, k = {report.k} {report.counted}"
        return [("Release", facts), ("Cost", cost(report))]


ROWS_PER_PART = 50_000
"""Rows in a part of a release, about: of more, writing them takes most of a driver's memory."""


class LinesWithCopies(NamedTuple):
    """Lines that all differ, in the order of a release, and how many rows each has."""

    points: Floats  # (l, m, 2), in degrees
    times: Floats | None  # (l, m), in seconds
    copies: Ints  # (l,)

    def between(self, begin: int, end: int | None) -> "LinesWithCopies":
        """Return the lines from one on, until before another."""
        times = None if self.times is None else self.times[begin:end]
        return LinesWithCopies(self.points[begin:end], times, self.copies[begin:end])

    def followed_by(self, others: "LinesWithCopies") -> "LinesWithCopies":
        """Return these lines and others."""
        times = self.times
        if times is not None and others.times is not None:
            times = np.concatenate([times, others.times])
        points = np.concatenate([self.points, others.points])
        return LinesWithCopies(points, times, np.concatenate([self.copies, others.copies]))

    def rows(self, words: Mapping[str, str | None]) -> ReleasedTrajectories:
        """Repeat each line as often as it has rows; ``words`` are what the release says."""
        points = np.repeat(self.points, self.copies, axis=0)
        times = None if self.times is None else np.repeat(self.times, self.copies, axis=0)
        return ReleasedTrajectories(points, provenance=words, times=times)


def cut_into_parts(blocks: Iterable[LinesWithCopies], rows: int) -> Iterator[LinesWithCopies]:
    """Cut blocks of lines into parts of about ``rows`` rows, each with whole lines."""
    last_lines = None  # of the block before, whose part may go on
    rows_before = 0  # in all parts so far
    for block in blocks:
        lines = block if last_lines is None else last_lines.followed_by(block)
        last_row = rows_before + np.cumsum(lines.copies) - 1
        begin = 0
        # A line is in the part of its last row, so that no part is cut within a line.
        for end in (np.flatnonzero(np.diff(last_row // rows)) + 1).tolist():
            yield lines.between(begin, end)
            rows_before = int(last_row[end - 1]) + 1
            begin = end
        last_lines = lines.between(begin, None)
    if last_lines is not None:
        yield last_lines


def parts_of(
    blocks: Iterable[LinesWithCopies], words: Mapping[str, str | None]
) -> Iterator[tuple[ReleasedTrajectories, int]]:
    """Yield the rows of each part of a release, and its first id."""
    first_id = 1
    for lines in cut_into_parts(blocks, ROWS_PER_PART):
        rows = lines.rows(words)
        yield rows, first_id
        # A file that counts rows has one, and one id, for each line.
        first_id += len(lines.copies) if "rows" in words else len(rows)
        del rows  # free before the next part is made


@dataclass(frozen=True, slots=True, eq=False)
class DistinctLines:
    """A release before its rows are made."""

    lines: LinesWithCopies
    words: Mapping[str, str | None]  # what the release says of itself
    report: Report

    @property
    def rows(self) -> ReleasedTrajectories:
        """Return all rows of the release."""
        return self.lines.rows(self.words)

    def reporting(self, **added: object) -> "DistinctLines":
        """Return the same lines with a report that has these fields, too."""
        return replace(self, report=structs.replace(self.report, **added))

    @property
    def release(self) -> Release:
        """Return the release with all of its rows."""
        return Release(self.rows, json_ready(self.report))


def with_report(
    release: Release | ReleasedTrajectories, report: Report | Mapping[str, object] | None
) -> tuple[ReleasedTrajectories, Report]:
    """Return the rows of a release and its report, whether they are given as one or as two."""
    if isinstance(release, Release):
        if report is None:
            return release.trajectories, checked(release.report)
    elif report is not None:
        return release, checked(report)
    raise BadInput(
        "pass the Release that anonymize made, or the released trajectories and their report"
    )


@contextmanager
def on_disk(release: Release) -> Iterator[Path]:
    """Write a release, and its report beside it, while it is examined."""
    with TemporaryDirectory(prefix="trajanon-") as folder:
        path = Path(folder) / "release.parquet"
        release.write(path)
        yield path


def own_rows(way: RowsName, lines: Ints, subjects: Ints | None) -> tuple[Bools, Rows]:
    """Mark the trajectories that have a row of their own, (n,), and report it.

    Of all trajectories of a subject on a line, the first has one; without subjects, each has one.
    ``lines`` and ``subjects`` are numbers of each trajectory, (n,). ``way`` is only reported: a
    file with a row a line counts the same trajectories.
    """
    has_row = np.ones(len(lines), dtype=np.bool_)
    if subjects is not None:
        # There are at most n subjects, so that each pair of line and subject has its own number.
        line_and_subject = lines * len(lines) + renumbered(subjects)
        first_of_pair = np.unique(line_and_subject, return_index=True)[1]
        has_row[:] = False
        has_row[first_of_pair] = True

    people_rows = int(has_row.sum()) if subjects is not None else None
    rows = Rows.of(way, len(lines), people_rows, int(lines.max()) + 1)
    return has_row, structs.replace(rows, without=np.flatnonzero(~has_row).tolist())
