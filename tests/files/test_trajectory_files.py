"""Files of trajectories, of ours and of other programs."""

from pathlib import Path

import geopandas
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from plain_releases import points_of

from trajanon.common.arrays import Ints
from trajanon.common.errors import BadInput
from trajanon.files.trajectory_files import read_trajectories, write_trajectories
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories


def trajectories(n: int = 6) -> Trajectories:
    return Trajectories(
        points_of(n),
        subject=np.arange(n) // 2,
        trace=np.arange(n)[::-1].copy(),
        provenance={
            "attribution": OSM_ATTRIBUTION,
            "box": [-3.8, 40.3, -3.6, 40.5],
            "source": ["ñ.gpx"],
            "counts": {"points read": 3},
        },
    )


def same(one: Ints | None, other: Ints | None) -> bool:
    """Whether two numberings tell the same apart."""
    if one is None or other is None:
        return one is other
    a, b = one.tolist(), other.tolist()
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


def test_trajectories_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "trajectories.parquet"
    write_trajectories(path, trajectories())
    got = read_trajectories(path)
    assert np.array_equal(got.points, trajectories().points)
    assert same(got.subject, trajectories().subject)
    assert same(got.trace, trajectories().trace)
    assert dict(got.provenance) == dict(trajectories().provenance)
    assert got.points.flags.c_contiguous


@pytest.mark.parametrize(
    "subject",
    [
        ["ann", "ann", "bob", "bob", "cid", "cid"],
        [b"ann", b"ann", b"bob", b"bob", b"cid", b"cid"],
        [1.5, 1.5, 2.5, 2.5, 3.5, 3.5],
        [2**62, 2**62, 2**62 + 1, 2**62 + 1, -5, -5],
        [True, True, False, False, None, None],
        ["ann", "ann", None, None, "cid", "cid"],
    ],
)
def test_subjects_of_any_type_are_read(tmp_path: Path, subject: list[object]) -> None:
    """As written by another program; all without a name are one."""
    path = tmp_path / "other.parquet"
    lines = shapely.linestrings(points_of()[:, :, ::-1])
    geopandas.GeoDataFrame({"subject": subject}, geometry=lines, crs="EPSG:4326").to_parquet(path)
    got = read_trajectories(path).subject
    assert got is not None
    assert got.dtype == np.int64
    for i, one in enumerate(subject):
        for j, other in enumerate(subject):
            assert (got[i] == got[j]) == (one == other)


@pytest.mark.parametrize("name", ["trips.csv.parquet", "walk.gpx.geoparquet"])
def test_parquet_may_be_named_after_what_it_was_made_of(tmp_path: Path, name: str) -> None:
    points = np.array([[[40.0, 2.0], [40.0, 3.0]]])
    write_trajectories(tmp_path / name, Trajectories(points))
    assert (read_trajectories(tmp_path / name).points == points).all()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (pa.list_(pa.float64(), 2), ""),  # as polars writes arrays
        (pa.list_(pa.float32()), ""),
        (pa.list_(pa.timestamp("us")), "its column times holds list<.*leave out the column times"),
    ],
)
def test_times_in_lists_of_any_kind_are_read_or_refused(
    tmp_path: Path, kind: pa.DataType, message: str
) -> None:
    """They were passed over, as if there were none."""
    points = np.array([[[40.0, 2.0], [40.0, 3.0]]] * 2)
    times = np.array([[1.0, 2.0], [3.0, 4.0]])
    write_trajectories(tmp_path / "a.parquet", Trajectories(points, times=times))
    table = pq.read_table(tmp_path / "a.parquet")
    lists = pa.array(times.astype(int).tolist(), kind)
    place = table.column_names.index("times")
    pq.write_table(table.set_column(place, "times", lists), tmp_path / "b.parquet")
    if message:
        with pytest.raises(BadInput, match=message):
            read_trajectories(tmp_path / "b.parquet")
    else:
        np.testing.assert_array_equal(read_trajectories(tmp_path / "b.parquet").times, times)


def test_what_other_programs_write_as_provenance_is_ignored(tmp_path: Path) -> None:
    path = tmp_path / "trajectories.parquet"
    write_trajectories(path, trajectories())
    table = pq.read_table(path)
    for text in ("", "{", "[1]", "3"):
        metadata = {**table.schema.metadata, b"trajanon": text.encode()}
        pq.write_table(table.replace_schema_metadata(metadata), path)
        assert dict(read_trajectories(path).provenance) == {}


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [shapely.LineString([(0, 0), (1, 1)]), shapely.LineString([(0, 0), (1, 1), (2, 2)])],
        [shapely.LineString([(0, 0, 5), (1, 1, 5)])],
        [shapely.Point(0, 0)],
        [shapely.Polygon([(0, 0), (1, 1), (0, 1)])],
        [None],
        [shapely.MultiLineString([[(0, 0), (1, 1)], [(5, 5), (6, 6)]])],
    ],
    ids=["none", "lengths", "heights", "points", "areas", "missing", "several"],
)
def test_other_geometries_are_no_trajectories(
    tmp_path: Path, lines: list[shapely.Geometry | None]
) -> None:
    path = tmp_path / "other.parquet"
    geopandas.GeoDataFrame(geometry=lines, crs="EPSG:4326").to_parquet(path)
    with pytest.raises(BadInput, match="does not hold trajectories"):
        read_trajectories(path)
