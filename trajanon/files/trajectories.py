"""Trajectories <-> GeoParquet: the holder's file between extract and anonymize."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.errors import BadInput, FileProblem
from trajanon.files import geoparquet, pieces
from trajanon.partition import number_subjects
from trajanon.tracks import Tracks
from trajanon.trajectories import Trajectories


def write_trajectories(
    path: str | os.PathLike[str], trajectories: Trajectories
) -> None:
    """Write trajectories as GeoParquet: LineStrings in WGS 84 with their numbers.

    Columns: trajectory (row number), subject, trace, geometry; with tracks also run,
    start and track, as `trajanon.files.pieces` describes. The provenance stands in the
    file's metadata under ``trajanon``.
    """
    write_parts(path, [trajectories], trajectories.provenance)


def write_parts(
    path: str | os.PathLike[str],
    parts: Iterable[Trajectories],
    provenance: Mapping[str, Any],
) -> None:
    """Write trajectories that come in parts, each a row group, as if they were one.

    All parts have subjects, traces and tracks, or none has.
    """
    text = json.dumps(dict(provenance), ensure_ascii=False)
    with Path(path).open("wb") as file:
        geoparquet.write_lines(file, _rows(parts), {"trajanon": text})


def _rows(parts: Iterable[Trajectories]) -> Iterator[geoparquet.Rows]:
    n = runs = 0
    for part in parts:
        columns = {"trajectory": n + np.arange(len(part))}
        n += len(part)
        for name in ("subject", "trace"):
            if (numbers := getattr(part, name)) is not None:
                columns[name] = numbers
        further = {}
        if (tracks := part.tracks) is not None:
            columns |= {"run": runs + tracks.run, "start": tracks.start}
            further["track"] = pieces.of_rows(tracks)
            runs += len(tracks.first) - 1
        yield columns, part.points, further


def read_trajectories(path: str | os.PathLike[str]) -> Trajectories:
    """Read trajectories: what `write_trajectories` wrote, or any GeoParquet of lines.

    Some of the rows, in any order, are as good as all.

    Parameters
    ----------
    path
        GeoParquet whose geometries are LineStrings of equally many points, in WGS 84.
        A column ``subject`` of any values says whose they are; columns ``run``,
        ``start`` and ``track`` on what they may slide.

    Raises
    ------
    FileProblem
        If there is no such file, or it is not GeoParquet.
    BadInput
        If its geometries are not trajectories, or not what lies on their tracks.
    """
    path = Path(path)
    if not path.exists():
        msg = f"there is no {path}; make it with: trajanon extract --bbox madrid"
        raise FileProblem(msg)
    table = geoparquet.read(path)
    _refuse_other_system(path, table)
    points = _points(path, table.geometries)
    subject, trace = _subjects_and_traces(path, table)
    return Trajectories(
        points=points,
        subject=subject,
        trace=trace,
        provenance=_provenance(table.metadata.get("trajanon", "{}")),
        tracks=_tracks(path, table, points),
    )


def _points(path: Path, geometries: NDArray[Any]) -> NDArray[np.float64]:
    """Read points (lat, lon), shape (n, m, 2)."""
    import shapely

    lengths = shapely.get_num_coordinates(geometries)
    lines = shapely.get_type_id(geometries) == shapely.GeometryType.LINESTRING
    flat = lines & ~shapely.has_z(geometries)
    if hasattr(shapely, "has_m"):
        flat &= ~shapely.has_m(geometries)
    if not len(geometries) or np.ptp(lengths) or not flat.all():
        msg = (
            f"{path} does not hold trajectories: they are LineStrings of equally many "
            f"points without heights, and this has {len(geometries)} lines of "
            f"{min(lengths, default=0)} to {max(lengths, default=0)} points; "
            "make trajectories with: trajanon extract --source FILE"
        )
        raise BadInput(msg)
    places = shapely.get_coordinates(geometries).reshape(len(geometries), -1, 2)
    return np.ascontiguousarray(places[:, :, ::-1])


def _subjects_and_traces(
    path: Path, table: geoparquet.Table
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]:
    """Number them; a trace without a subject is its own."""
    try:
        subject, trace = (
            number_subjects(table.columns[name]) if name in table.columns else None
            for name in ("subject", "trace")
        )
        if subject is None or trace is None:
            return (trace if subject is None else subject), trace
        missing = pd.isna(table.columns["subject"])
    except TypeError as error:
        msg = f"{path} has a subject or trace column that holds no single values"
        raise BadInput(msg) from error
    return np.where(missing, subject.max() + 1 + trace, subject), trace


def _tracks(
    path: Path, table: geoparquet.Table, points: NDArray[np.float64]
) -> Tracks | None:
    """Read the tracks; None where another program means something else by the word."""
    column = table.columns.get
    track = column("track")
    if track is None or "track" not in table.geo.get("columns", {}):
        return None
    try:
        return pieces.read(column("run"), column("start"), track, points)
    except BadInput as error:
        msg = (
            f"{path}: {error}; extract again, or leave out the columns run, start and "
            "track"
        )
        raise BadInput(msg) from None


def _refuse_other_system(path: Path, table: geoparquet.Table) -> None:
    from pyproj import CRS
    from pyproj.exceptions import CRSError

    column = table.geo.get("columns", {}).get(table.geometry, {})
    system = column.get("crs", "OGC:CRS84")  # the default of GeoParquet
    with suppress(CRSError):
        if system is None or CRS.from_user_input(system).equals(
            "OGC:CRS84", ignore_axis_order=True
        ):
            return
    msg = f"{path} is not in WGS 84; convert it to EPSG:4326 first"
    raise BadInput(msg)


def _provenance(text: str) -> dict[str, Any]:
    """Read the provenance; what another program wrote under its name is ignored."""
    try:
        provenance = json.loads(text)
    except ValueError:
        return {}
    return provenance if isinstance(provenance, dict) else {}
