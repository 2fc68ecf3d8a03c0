"""Reading and writing of trajectories, as a GeoParquet file or a folder of such parts."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import shapely

from trajanon.common.arrays import Bools, Floats, Hashes, Ints
from trajanon.common.atomic_output import replacing
from trajanon.common.errors import BadInput, FileProblem, MergedWarning, warn
from trajanon.common.json_toml_and_regular_files import parsed
from trajanon.common.number_text import number_of
from trajanon.common.object_stores import Folder, fetched, folder_or_file
from trajanon.files import arrow, geoparquet, hilbert_order, track_rows
from trajanon.files.lines_as_wkb import points_of_wkb
from trajanon.files.parquet_parts import NAMES_OF_PARQUET, ParquetParts, parquet_of
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.provenance import Provenance, with_identities
from trajanon.trajectories.subjects import Identities, Merged, identities, merged_sentences
from trajanon.trajectories.tracks import Tracks
from trajanon.trajectories.trajectories import HOP_HASHES_KEPT, Trajectories

ROWS_PER_COPY = 5_000
"""Rows that are read at one time, with their tracks, where a few of them are copied."""

# What is given by mistake for trajectories.
_TRACE_SUFFIXES = frozenset({".csv", ".gpx", ".geojson", ".gpkg"})


def write_trajectories(path: str | os.PathLike[str], trajectories: Trajectories) -> None:
    """Write trajectories as GeoParquet: LineStrings in WGS 84 with their numbers.

    Columns: trajectory (row number), subject, trace, geometry, times, a list of seconds since 1970
    UTC, marks, true_start and true_end; with tracks also run, start, track, runs, track_times and
    track_true_ends, as `trajanon.files.track_rows` describes. What is not known has no column. The
    provenance stands in the file's metadata under ``trajanon``. The file is readable by its owner
    only.

    Examples
    --------
    >>> import geopandas
    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[41.1, 1.2], [41.1, 1.3]]])
    >>> trajanon.write_trajectories("trajectories.parquet", trajanon.Trajectories(points))
    >>> geopandas.read_parquet("trajectories.parquet").geometry[0].wkt
    'LINESTRING (1.2 41.1, 1.3 41.1)'
    """
    with replacing(Path(path)) as (draft,):
        write_parts(draft, [trajectories], trajectories.provenance)


def write_parts(
    path: str | os.PathLike[str], parts: Iterable[Trajectories], provenance: Mapping[str, object]
) -> None:
    """Write trajectories that come in parts, each a row group, as if they were one."""
    provenance_json = json.dumps(dict(provenance), ensure_ascii=False)
    with Path(path).open("wb") as file:
        geoparquet.write_tables(file, _tables(parts), {"trajanon": provenance_json})


def _tables(
    parts: Iterable[Trajectories], *, with_hilbert_keys: bool = False
) -> Iterator[pa.Table]:
    """Yield each part as a table; rows and runs are numbered through all parts."""
    rows_before = 0
    runs_before = 0
    for part in parts:
        tracks = part.tracks
        columns: dict[str, Any] = {
            "trajectory": np.arange(rows_before, rows_before + len(part)),
            "subject": part.subject,
            "trace": part.trace,
        }
        if tracks is not None:
            columns["run"] = runs_before + tracks.run
            columns["start"] = track_rows.starts_of_rows(tracks)

        columns["geometry"] = geoparquet.column_of_points(part.points)
        for name, values in (("times", part.times), ("marks", part.marks)):
            if values is not None:
                columns[name] = arrow.column_of_rows(values)
        if part.true_ends is not None:
            columns["true_start"] = part.true_ends[:, 0]
            columns["true_end"] = part.true_ends[:, 1]

        if with_hilbert_keys:
            columns |= hilbert_order.box_and_key_columns(part, rows_before)

        if tracks is not None:
            row_runs = track_rows.runs_of_rows(tracks)
            if row_runs is not None:
                runs_of_row, points_of_run = row_runs
                columns["runs"] = arrow.column_of_lists(points_of_run, runs_of_row)

            columns["track"] = geoparquet.column_of_lines(track_rows.lines_of_tracks(tracks))
            if tracks.times is not None:
                columns["track_times"] = pa.chunked_array(
                    [
                        arrow.column_of_lists(tracks.times[points], sizes)
                        for points, sizes in track_rows.places_of_rows(tracks)
                    ],
                    pa.large_list(pa.float64()),
                )
            if tracks.true_ends is not None:
                true_ends = arrow.column_of_lists(*track_rows.true_ends_of_rows(tracks))
                columns["track_true_ends"] = true_ends
            runs_before += len(tracks.first) - 1

        # What is not known has no column.
        yield pa.table({name: column for name, column in columns.items() if column is not None})
        rows_before += len(part)


def part_name(number: int) -> str:
    """Return the file name of a part by its number."""
    return f"part-{number:05d}.parquet"


def is_part(name: str) -> bool:
    """Check whether a file is named as a part is."""
    return re.fullmatch(r"part-\d{5,}\.parquet", name) is not None


def write_partition(
    folder: Path,
    parts: Iterable[Trajectories],
    provenance: Mapping[str, object],
    rows: int,
    scratch: Path,
) -> None:
    """Write trajectories that come in parts of any size as files of `rows` rows each.

    Rows are sorted by place, as `trajanon.files.hilbert_order` describes, by way of files in a
    folder, ``scratch``.
    """
    metadata = {"trajanon": json.dumps(dict(provenance), ensure_ascii=False)}
    metadata |= hilbert_order.FOOTER
    tables = hilbert_order.in_hilbert_order(_tables(parts, with_hilbert_keys=True), scratch)

    for number, table in enumerate(_tables_of_size(tables, rows)):
        box = hilbert_order.box_of(table)
        group_size = hilbert_order.ROWS_PER_GROUP
        with (folder / part_name(number)).open("wb") as file:
            geoparquet.write_tables(file, [table], metadata, box=box, rows_per_group=group_size)


def _tables_of_size(tables: Iterable[pa.Table], rows: int) -> Iterator[pa.Table]:
    """Cut tables of any size anew, into tables of this number of rows; the last may have fewer."""
    waiting = None
    for table in tables:
        waiting = table if waiting is None else pa.concat_tables([waiting, table])
        while len(waiting) >= rows:
            yield waiting[:rows]
            waiting = waiting[rows:]
    if waiting is not None and len(waiting):
        yield waiting


def read_trajectories(
    path: str | os.PathLike[str] | Folder, *, subjects_exact: bool = False
) -> Trajectories:
    """Read trajectories: what `write_trajectories` wrote, or any GeoParquet of lines.

    A file may hold any of the rows that were written, in any order. The parts of a folder are read
    one after another, in the order of their names, as if one file had all rows.

    Parameters
    ----------
    path
        GeoParquet with LineStrings of equally many points, in WGS 84; or a folder
        of such parts; by its path or a URL that fsspec knows. A column ``subject`` of any values
        names their subjects; ``times``, lists of seconds since 1970 UTC, when; columns ``run``,
        ``start``, ``track`` and ``track_times`` on what they may slide.
    subjects_exact
        Whether every different name is a different subject. Otherwise names that differ only in
        case, blanks, punctuation at the ends or the writing of a number are one subject's.

    Raises
    ------
    FileProblem
        If there is no such file or folder, or it is not GeoParquet.
    BadInput
        If its geometries are not trajectories, or not what lies on their tracks; or the parts of a
        folder are not alike.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[41.1, 1.2], [41.1, 1.3]]])
    >>> trajanon.write_trajectories("trajectories.parquet", trajanon.Trajectories(points))
    >>> trajanon.read_trajectories("trajectories.parquet").points.tolist()
    [[[41.1, 1.2], [41.1, 1.3]]]
    """
    with _opened(path) as file:
        owners, provenance = _owners(file, exact=subjects_exact)
        points, tracks, times = read_rows(file)
        return Trajectories(
            points=points,
            subject=owners.subject,
            trace=owners.trace,
            provenance=provenance,
            tracks=tracks,
            times=times,
            marks=_marks(file),
            true_ends=true_ends_of(file),
        )


def is_of_trajectories(path: Path) -> bool:
    """Check whether a file is one of trajectories, by its footer; releases have no such."""
    try:
        with _opened(path) as file:
            return geoparquet.text_of(file.schema_arrow, "trajanon") is not None
    except FileProblem:  # a release of another format
        return False


def recordings_of(path: Path) -> list[Path]:
    """List the files of recordings that a file of trajectories says it was extracted from.

    In folders of recordings each file may be one.
    """
    with _opened(path) as file:
        run = Provenance.read(provenance_of(file.schema_arrow)).source.run
    paths = run.get("paths")
    if not isinstance(paths, list):
        return []

    files = list[Path]()
    for path in map(Path, paths):
        files += path.rglob("*") if path.is_dir() else [path]
    return files


def read_ends(
    path: str | os.PathLike[str] | Folder, *, subjects_exact: bool = False
) -> tuple[Trajectories, Ints | None]:
    """Read first and last points with times, subjects and traces, and the runs that rows are on.

    One part is in memory at a time. The runs are None where rows are their own.
    """
    with _opened(path) as file:
        owners, provenance = _owners(file, exact=subjects_exact)
        run = None
        if holds_tracks(file):
            run = track_rows.whole_numbers("run", geoparquet.written_column(file, "run"))

        points = list[Floats]()
        times = list[Floats]()
        for part_points, part_times in _points_and_times(file):
            points.append(part_points[:, [0, -1]])
            if part_times is not None:
                times.append(part_times[:, [0, -1]])
    ends = Trajectories(
        np.concatenate(points),
        owners.subject,
        owners.trace,
        provenance=provenance,
        times=np.concatenate(times) if times else None,
    )
    return ends, run


def read_by_part(path: str | os.PathLike[str] | Folder) -> Iterator[tuple[Floats, Floats | None]]:
    """Read points, (n, m, 2), and times, (n, m), part by part."""
    with _opened(path) as file:
        yield from _points_and_times(file)


def _points_and_times(file: ParquetParts) -> Iterator[tuple[Floats, Floats | None]]:
    """Yield points and times of each part."""
    for part in file.each():
        points, _, times = read_rows(part, tracks=False)
        yield points, times


def copy_rows(path: str | os.PathLike[str] | Folder, rows: Bools, copy: Path) -> None:
    """Write some rows of a file or folder, as they are, to a file."""
    with _opened(path) as file, pq.ParquetWriter(copy, file.schema_arrow) as writer:
        begin = 0
        for batch in file.iter_batches(ROWS_PER_COPY, file.schema_arrow.names):
            end = begin + len(batch)
            if rows[begin:end].any():
                table = pa.Table.from_batches([batch.filter(pa.array(rows[begin:end]))])
                writer.write_table(table.cast(file.schema_arrow))
            begin = end


@contextmanager
def _opened(path: str | os.PathLike[str] | Folder) -> Iterator[ParquetParts]:
    """Open the file, or the parts of the folder, here or at a URL."""
    source = folder_or_file(path)
    if isinstance(source, Folder) and source.is_file:
        with fetched(source.url) as copy, _opened(copy) as file:
            yield replace(file, where=path)
        return

    if isinstance(source, Path) and not source.exists():
        raise FileProblem(
            f"there is no {path}; look at its name, or make it with: trajanon extract TRACKS "
            f"--out {path}"
        )
    # trips.csv.gz holds traces, and trips.csv.parquet may hold what was made of them.
    if (
        isinstance(source, Path)
        and _TRACE_SUFFIXES.intersection(map(str.lower, source.suffixes))
        and not source.name.lower().endswith(NAMES_OF_PARQUET)
    ):
        raise FileProblem(f"{path} is not a Parquet file: make one with trajanon extract {path}")

    with parquet_of(source, check_schema) as file:
        yield file
    pa.default_memory_pool().release_unused()  # Arrow keeps the memory of reading otherwise


def _owners(file: ParquetParts, *, exact: bool) -> tuple[Identities, Mapping[str, object]]:
    """Read subjects and traces as numbers, and the provenance; warn of names that were merged."""
    provenance = provenance_of(file.schema_arrow)
    nameless = Provenance.read(provenance).nameless_subject
    column = partial(geoparquet.written_column, file)
    owners = identities(column("subject"), column("trace"), exact=exact, nameless=nameless)
    warn_of_merged(file.where, owners.merged)
    return owners, with_identities(provenance, owners)


def warn_of_merged(where: object, merged: Merged) -> None:
    """Warn of names that are taken for one subject's."""
    for sentence in merged_sentences(merged):
        warn(MergedWarning(f"{where}: {sentence}", "names", str(where)))


def provenance_of(schema: pa.Schema) -> dict[str, object]:
    """Read the provenance of trajectories from the schema of their file."""
    try:
        provenance = parsed(geoparquet.text_of(schema, "trajanon") or "{}", dict[str, Any])
    except BadInput:  # another program wrote it under this name
        provenance = {}

    clock_sentence = geoparquet.text_of(schema, "times")
    if Clock.parsed(clock_sentence) is not None:
        provenance["times"] = clock_sentence  # only a release has one
    return provenance


def holds_tracks(file: ParquetParts) -> bool:
    """Check whether a file has tracks, on which windows may slide."""
    schema = file.schema_arrow
    return (
        "track" in schema.names and "track" in geoparquet.described(schema, file.where)["columns"]
    )


def read_rows(
    file: ParquetParts, *, tracks: bool = True, times: bool = True
) -> tuple[Floats, Tracks | None, Floats | None]:
    """Read points, (n, m, 2), and, if wanted and known, their tracks and times, (n, m)."""
    points = read_points(file)
    schema = file.schema_arrow
    row_tracks = None
    point_times = None
    columns = "columns run, start and track"
    try:
        if tracks and holds_tracks(file):
            row_tracks = track_rows.read_tracks(file, points, times=times)
        # A text or a number under this name is another program's.
        if times and "times" in schema.names and pa.types.is_nested(schema.field("times").type):
            columns = "the column times"
            lists = arrow.lists_of(file.read(["times"])["times"], "times")
            point_times = arrow.rows_of_size(*lists, points.shape[1])
    except BadInput as error:
        raise BadInput(f"{file.where}: {error}; extract again, or leave out {columns}") from None
    return points, row_tracks, point_times


def read_marks(path: str | os.PathLike[str] | Folder) -> Hashes:
    """Read the marks by which recordings are known again, (n, 1 + HOP_HASHES_KEPT)."""
    with _opened(path) as file:
        marks = _marks(file)
        if marks is None:
            raise BadInput(
                f"{path} has no column marks, by which a ledger knows recordings again: make it "
                "with trajanon extract"
            )
        return marks


def true_ends_of(file: ParquetParts) -> Bools | None:
    """Read whether the starts and ends of rows are true ones, (n, 2); None where not known."""
    ends = [geoparquet.written_column(file, name) for name in ("true_start", "true_end")]
    if any(end is None or end.dtype != np.bool_ for end in ends):
        return None
    return np.column_stack([end for end in ends if end is not None])


def _marks(file: ParquetParts) -> Hashes | None:
    """Read the marks, (n, 1 + HOP_HASHES_KEPT); None if a file has none."""
    if "marks" not in file.schema_arrow.names:
        return None
    column = file.read(["marks"])["marks"]
    if arrow.holds_lists(column.type):
        marks, sizes = arrow.lists_of(column, "marks")
        if marks.dtype == np.uint64 and (sizes == 1 + HOP_HASHES_KEPT).all():
            return marks.reshape(-1, 1 + HOP_HASHES_KEPT)
    raise BadInput(f"the column marks of {file.where} is not as extract writes it: extract again")


def check_schema(schema: pa.Schema, where: object) -> None:
    """Refuse a file that is not GeoParquet in WGS 84."""
    if b"geo" not in (schema.metadata or {}):
        raise FileProblem(
            f"{where} is not GeoParquet: make trajectories with: trajanon extract FILE"
        )
    geoparquet.refuse_other_system(where, geoparquet.described(schema, where))


def read_points(file: ParquetParts) -> Floats:
    """Read the points of trajectories, (n, m, 2); refuse other geometries."""
    geometry_column = geoparquet.described(file.schema_arrow, file.where)["primary_column"]
    return points_of_lines(file.where, geoparquet.batches_of(file, geometry_column), file.n)


def points_of_lines(where: object, batches: Iterable[pa.Array], n: int) -> Floats:
    """Return the points of n lines in WKB, (n, m, 2); refuse other geometries."""
    points = list[Floats]()
    sizes = set[int]()
    are_flat_lines = True
    for batch in batches:
        plain_points = points_of_wkb(batch)
        if plain_points is not None:
            sizes.add(plain_points.shape[1])
            points.append(plain_points.reshape(-1, 2))
            continue

        with geoparquet.expecting_geometries(where):
            lines = arrow.geometries_of(batch)

        sizes |= {*np.unique(shapely.get_num_coordinates(lines)).tolist()}
        is_line = shapely.get_type_id(lines) == shapely.GeometryType.LINESTRING
        are_flat_lines &= bool(is_line.all())
        are_flat_lines &= shapely.get_coordinate_dimension(lines).max(initial=2) == 2  # no heights
        points.append(shapely.get_coordinates(lines)[:, ::-1])

    shortest = min(sizes, default=0)
    longest = max(sizes, default=0)
    if shortest < longest or not are_flat_lines or longest < 2:
        raise BadInput(
            f"{where} does not hold trajectories: they are LineStrings of equally many "
            f"points without heights, and this has {number_of(n, 'line')} of {shortest} to "
            f"{longest} points; make trajectories with: trajanon extract FILE"
        )
    return np.concatenate(points).reshape(-1, longest, 2)
