"""Reading folders of parts: what is taken, and what is refused in one sentence."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from shards import walks, write_folder

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.object_stores import Folder
from trajanon.files.parquet_parts import parquet_of
from trajanon.files.trajectory_files import check_schema, write_trajectories
from trajanon.release.plan import Plan
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.people_of_rows import PeopleOfRows, people_of_part
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories


def surveyed(folder: Path) -> PartsTable:
    with parquet_of(Folder(str(folder)), check_schema) as file:
        plan = Plan.of({"align": False})
    return PartsTable(Folder(str(folder)), file, 2, plan)


def all_of(table: PartsTable) -> Floats:
    points = []
    for number in range(len(table.file.parts)):
        with table.file.part(number) as part:
            points.append(table.read(part).points)
    return np.concatenate(points)


def whose(table: PartsTable) -> PeopleOfRows:
    with table.file.part(0) as part:
        return people_of_part(part, exact=False)


GEO = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": {}}}


def as_columns(points: Floats) -> dict[str, Any]:
    return {"geometry": shapely.to_wkb(shapely.linestrings(points[:, :, ::-1]))}


def write_tables(folder: Path, *tables: pa.Table) -> Path:
    """Write tables as parts a.parquet, b.parquet, ..."""
    folder.mkdir(exist_ok=True)
    for name, table in zip("abcdefgh", tables, strict=False):
        metadata = {"geo": json.dumps(GEO)} if "geometry" in table.column_names else None
        pq.write_table(table.replace_schema_metadata(metadata), folder / f"{name}.parquet")
    return folder


def test_parts_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    points = walks(100)
    parts = surveyed(write_folder(tmp_path / "trips", points, rows=30))
    assert [part.first_row for part in parts.file.parts] == [0, 30, 60, 90]
    assert (all_of(parts) == points).all()
    assert not parts.knows_people


def test_a_part_without_rows_is_passed_over(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "trips", walks(60), rows=30)
    pq.write_table(pa.table({"other": pa.array([], pa.int8())}), folder / "a.parquet")
    assert len(all_of(surveyed(folder))) == 60
    for path in folder.glob("part*"):
        path.unlink()
    with pytest.raises(FileProblem, match=r"trips has no parts with traj"):
        surveyed(folder)
    (folder / "a.parquet").unlink()
    with pytest.raises(FileProblem, match="trips has no parts with traj"):
        surveyed(folder)
    with pytest.raises(FileProblem, match=r"cannot use .*/nowhere: there is no such"):
        surveyed(tmp_path / "nowhere")


@pytest.mark.parametrize("kept", [0, 100, 2000])
def test_a_part_cut_short_is_named(tmp_path: Path, kept: int) -> None:
    folder = write_folder(tmp_path / "trips", walks(90), rows=30)
    path = folder / "part-00001.parquet"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(FileProblem, match=r"cannot read .*part-00001\.parquet as Parq"):
        surveyed(folder)


def test_a_part_damaged_within_is_named_when_it_is_read(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "trips", walks(90), rows=30)
    path = folder / "part-00001.parquet"
    whole = bytearray(path.read_bytes())
    whole[200:1200] = bytes(1000)
    path.write_bytes(whole)
    with pytest.raises((FileProblem, BadInput), match=r"part-00001\.parquet"):
        all_of(surveyed(folder))


def test_a_part_with_another_type_is_named_with_its_column(tmp_path: Path) -> None:
    names = pa.table(as_columns(walks(2)) | {"subject": ["ann", "bob"]})
    numbers = pa.table(as_columns(walks(2)) | {"subject": [1, 2]})
    nobody = pa.table(as_columns(walks(2)) | {"subject": pa.array([None, None], pa.null())})
    says = r"b\.parquet is not like a\.parquet: its column subject holds int64, and .* string"
    with pytest.raises(BadInput, match=says):
        surveyed(write_tables(tmp_path / "trips", names, numbers))
    assert surveyed(write_tables(tmp_path / "alike", names, nobody)).knows_people


def test_flipped_bytes_are_found(tmp_path: Path) -> None:
    """Also where they leave numbers that could be places: pages have checksums."""
    folder = write_folder(tmp_path / "trips", walks(90), rows=30)
    path = folder / "part-00001.parquet"
    with pq.ParquetFile(path) as file:
        names = file.schema_arrow.names
        column = file.metadata.row_group(0).column(names.index("geometry"))
        begin = column.dictionary_page_offset or column.data_page_offset
        place = begin + column.total_compressed_size - 20
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    with pytest.raises(FileProblem, match=r"cannot read .*part-00001\.parquet as Parquet.*CRC"):
        all_of(surveyed(folder))


def other_parts() -> dict[str, tuple[Trajectories, str]]:
    points = walks(20)
    some = np.arange(20)
    return {
        "nobody": (
            Trajectories(points),
            r"b\.parquet is not like a\.parquet: it has other columns \(subject\)",
        ),
        "attribution": (
            Trajectories(points, subject=some, provenance={"attribution": OSM_ATTRIBUTION}),
            r"b\.parquet is not like a\.parquet: its footer has another ext.* \(trajanon\)",
        ),
    }


@pytest.mark.parametrize("what", other_parts())
def test_parts_that_are_not_alike_are_refused(tmp_path: Path, what: str) -> None:
    part, says = other_parts()[what]
    folder = tmp_path / "trips"
    folder.mkdir()
    write_trajectories(folder / "a.parquet", Trajectories(walks(20), subject=np.arange(20)))
    write_trajectories(folder / "b.parquet", part)
    with pytest.raises(BadInput, match=says):
        all_of(surveyed(folder))


def test_what_is_no_table_of_trajectories_is_refused(tmp_path: Path) -> None:
    folder = write_tables(tmp_path / "trips", pa.table({"a": [1, 2]}))
    with pytest.raises(FileProblem, match="is not GeoParquet: make trajectories with"):
        surveyed(folder)
    table = pa.table(as_columns(walks(1)) | {"subject": [[1]]})
    folder = write_tables(tmp_path / "trips", table)
    says = r"'subject' of .*a\.parquet holds list.*, and not one value a row; leave it out"
    with pytest.raises(BadInput, match=says):
        whose(surveyed(folder))


@pytest.mark.parametrize(
    ("row", "lat", "says"),
    [(1, np.nan, "trajectory 1 .* is not"), (0, 140.0, "trajectory 0 .* not on Earth.*swapped")],
)
def test_rows_that_make_no_sense_are_refused(
    tmp_path: Path, row: int, lat: float, says: str
) -> None:
    points = walks(2)
    points[row, 2, 0] = lat
    with np.errstate(invalid="ignore"):
        table = pa.table(as_columns(points) | {"subject": [1.0, 2.0]})
    parts = surveyed(write_tables(tmp_path / "trips", table))
    with pytest.raises(BadInput, match=rf"a\.parquet: {says}"):
        all_of(parts)


@pytest.mark.parametrize(
    ("geometry", "says"),
    [
        (shapely.LineString([(0, 0), (1, 1), (2, 2)]), "3 lines of 3 to 4 points"),
        (shapely.Point(0, 0), "they are LineStrings .* 3 lines of 1 to 4 points"),
        (shapely.LineString([(0, 0, 0)] * 4), "without heights"),
        (None, "they are LineStrings .* 3 lines of 0 to 4 points"),
        (b"no", "no readable geometry column"),
    ],
)
def test_a_part_with_a_line_unlike_the_others_is_named(
    tmp_path: Path, geometry: object, says: str
) -> None:
    folder = write_folder(tmp_path / "trips", walks(3))
    (path,) = folder.iterdir()
    table = pq.read_table(path)
    wkb = table["geometry"].to_pylist()
    is_shape = isinstance(geometry, shapely.Geometry)
    wkb[1] = shapely.to_wkb(geometry) if is_shape else geometry
    changed = table.set_column(1, "geometry", pa.array(wkb, pa.binary()))
    pq.write_table(changed.replace_schema_metadata(table.schema.metadata), path)
    with pytest.raises((BadInput, FileProblem), match=rf"part-00000\.parquet .*{says}"):
        all_of(surveyed(folder))


def test_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    table = pa.table(as_columns(walks(2)) | {"subject": [1, 2]})
    twice = table.append_column("subject", pa.array([1.0, 2.0]))
    folder = write_tables(tmp_path / "trips", table, twice)
    with pytest.raises(BadInput, match=r"b\.parquet has two columns 'subject'; rename one"):
        surveyed(folder)


def test_names_that_are_no_text_are_refused(tmp_path: Path) -> None:
    raw = pa.array([b"\xff", b"b"])
    subject = pa.Array.from_buffers(pa.string(), 2, raw.buffers())
    table = pa.table(as_columns(walks(2)) | {"subject": subject})
    folder = write_tables(tmp_path / "trips", table)
    with pytest.raises(FileProblem, match=r"cannot read .*a\.parquet .* not UTF-8: write it anew"):
        whose(surveyed(folder))


def write_lines_of(folder: Path, line: object, **about: object) -> None:
    folder.mkdir()
    column = {"encoding": "WKB", "geometry_types": ["LineString"]}
    geo = {"primary_column": "geometry", "columns": {"geometry": column | about}}
    wkb = pa.array([None if line is None else shapely.to_wkb(line)] * 3, pa.binary())
    table = pa.table({"geometry": wkb})
    metadata = {"geo": json.dumps(geo)}
    pq.write_table(table.replace_schema_metadata(metadata), folder / "a.parquet")


def test_parts_in_another_system_are_refused(tmp_path: Path) -> None:
    line = shapely.LineString([(0, 0), (1, 1)])
    write_lines_of(tmp_path / "trips", line, crs="EPSG:25830")
    with pytest.raises(BadInput, match=r"a\.parquet is not in WGS 84; convert"):
        surveyed(tmp_path / "trips")
    write_lines_of(tmp_path / "right", line, crs="EPSG:4326")
    assert len(all_of(surveyed(tmp_path / "right"))) == 3
