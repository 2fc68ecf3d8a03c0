import gzip
import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely

from trajanon.errors import BadInput, FileProblem
from trajanon.extract import extract
from trajanon.extract.sources.columns import parse_columns
from trajanon.extract.sources.files import file_traces
from trajanon.extract.sources.tables import traces
from trajanon.extract.trace import Trace

ROWS = pd.DataFrame(
    {
        "lat": [40.0, 41.0, 42.0, 43.0],
        "lon": [-3.0, -3.1, -3.2, -3.3],
        "time": [10, 20, 30, 40],
        "id": ["a", "b", "a", "b"],
    }
)
"""Two traces, their rows in turn."""

UNTIMED = ROWS.drop(columns="time")  # nobody goes a degree in ten seconds


def read(*paths: Path, **columns: str) -> list[Trace]:
    return list(traces(paths, columns))


def csv(folder: Path, text: str, name: str = "points.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def times(folder: Path, *values: str) -> list[float]:
    """What becomes of times as they stand in a CSV; untimed ones are NaN."""
    rows = "".join(f"{i},2,a,{value}\n" for i, value in enumerate(values))
    (one,) = read(csv(folder, f"lat,lon,id,time\n{rows}"))
    return [float(second) for second in one.time]


def names(found: Sequence[Trace]) -> list[tuple[str, str | None]]:
    return [(one.name, one.subject) for one in found]


def is_the_two_traces(found: Sequence[Trace]) -> bool:
    return (
        names(found) == [("a", None), ("b", None)]
        and [one.lat.tolist() for one in found] == [[40, 42], [41, 43]]
        and [one.lon.tolist() for one in found] == [[-3, -3.2], [-3.1, -3.3]]
        and [one.time.tolist() for one in found] == [[10, 30], [20, 40]]
    )


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
@pytest.mark.parametrize("packed", [False, True])
def test_csv_of_any_dialect_is_read(
    tmp_path: Path, separator: str, encoding: str, packed: bool
) -> None:
    content = ROWS.to_csv(sep=separator, index=False).encode(encoding)
    path = tmp_path / ("points.csv.gz" if packed else "points.csv")
    path.write_bytes(gzip.compress(content) if packed else content)
    assert is_the_two_traces(read(path))


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_quotes_and_line_endings_make_no_difference(
    tmp_path: Path, ending: str
) -> None:
    lines = ['"id","lat","lon"', '"a, b","40","-3"', "x,41,-3"]
    path = tmp_path / "POINTS.CSV"
    path.write_bytes((ending.join(lines) + ending).encode())
    assert names(read(path)) == [("a, b", None), ("x", None)]


@pytest.mark.parametrize("suffix", [".parquet", ".geoparquet"])
def test_parquet_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"points{suffix}"
    ROWS.to_parquet(path)
    assert is_the_two_traces(read(path))


def geoparquet(path: Path, crs: str | None) -> Path:
    places = geopandas.points_from_xy(ROWS.lon, ROWS.lat, crs="EPSG:4326")
    table = geopandas.GeoDataFrame(ROWS[["time", "id"]], geometry=places)
    table = table if crs is None else table.to_crs(crs)
    table.to_parquet(path)
    return path


@pytest.mark.parametrize("crs", [None, "EPSG:4326", "OGC:CRS84"])
def test_geoparquet_of_points_is_read(tmp_path: Path, crs: str | None) -> None:
    assert is_the_two_traces(read(geoparquet(tmp_path / "points.parquet", crs)))


def test_geoparquet_in_another_reference_system_is_brought_to_degrees(
    tmp_path: Path,
) -> None:
    found = read(geoparquet(tmp_path / "points.parquet", "EPSG:25830"))
    assert names(found) == [("a", None), ("b", None)]
    np.testing.assert_allclose(found[0].lat, [40, 42], atol=1e-9)
    np.testing.assert_allclose(found[1].lon, [-3.1, -3.3], atol=1e-9)


def test_the_geometry_counts_even_beside_columns_of_coordinates(
    tmp_path: Path,
) -> None:
    places = geopandas.points_from_xy(ROWS.lon, ROWS.lat, crs="EPSG:4326")
    other = ROWS.assign(lat=[1.0] * 4, lon=[2.0] * 4)
    path = tmp_path / "points.parquet"
    geopandas.GeoDataFrame(other, geometry=places).to_parquet(path)
    assert is_the_two_traces(read(path))


def test_geoparquet_of_lines_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lines.parquet"
    ways = [shapely.LineString([(0, 0), (1, 1)])]
    geopandas.GeoDataFrame({"id": [1]}, geometry=ways, crs=4326).to_parquet(path)
    with pytest.raises(BadInput, match="holds LineString; a table source needs Points"):
        read(path)


def test_a_point_without_geometry_does_not_spoil_the_others(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    places = [shapely.Point(2, 41), None, shapely.Point(), shapely.Point(2, 42)]
    geopandas.GeoDataFrame({"id": [1] * 4}, geometry=places, crs=4326).to_parquet(path)
    (one,) = read(path)
    assert one.lat[np.isfinite(one.lat)].tolist() == [41, 42]


@pytest.mark.parametrize("role", ["id", "lat"])
def test_a_column_may_be_the_index_of_a_pandas_table(tmp_path: Path, role: str) -> None:
    path = tmp_path / "points.parquet"
    ROWS.set_index(role).to_parquet(path)
    assert is_the_two_traces(read(path))


def test_a_column_may_be_the_index_of_a_geopandas_table(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    places = geopandas.points_from_xy(ROWS.lon, ROWS.lat, crs="EPSG:4326")
    table = geopandas.GeoDataFrame(ROWS[["time", "id"]], geometry=places)
    table.set_index("id").to_parquet(path)
    assert is_the_two_traces(read(path))


@pytest.mark.parametrize("kind", ["category", "string", "object"])
def test_ids_may_be_of_any_kind(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "points.parquet"
    ROWS.assign(id=ROWS["id"].astype(kind)).to_parquet(path)
    assert is_the_two_traces(read(path))


def test_the_names_of_cabspotting_tables_are_known(tmp_path: Path) -> None:
    text = (
        "lat,lon,timestamp,trajectory_id,user_id\n"
        "40,-3,2008/06/08 07:00:59,t1,cab1\n40.1,-3,2008/06/08 07:00:00,t1,cab1\n"
        "40,-3,2008/06/08 07:00:00,t2,cab1\n"
    )
    found = read(csv(tmp_path, text))
    assert names(found) == [("t1", "cab1"), ("t2", "cab1")]
    assert found[0].time.tolist() == [1212908459, 1212908400]


def test_the_names_of_scikit_mobility_are_known(tmp_path: Path) -> None:
    text = "lat,lng,datetime,uid,tid\n40,-3,2008-06-08 07:00:00,1,7\n"
    assert names(read(csv(tmp_path, text))) == [("7", "1")]


def test_names_are_known_in_any_case_and_the_best_comes_first(tmp_path: Path) -> None:
    text = "ID,Trip_ID,Latitude,LONGITUDE\n1,9,40,-3\n2,9,41,-3\n"
    assert names(read(csv(tmp_path, text))) == [("9", None)]


def test_any_names_can_be_given(tmp_path: Path) -> None:
    text = "taxi,when,x_wgs,y_wgs\n1131,2008-02-02 15:36:08,116.5,39.9\n"
    path = csv(tmp_path, text)
    (one,) = read(path, id="taxi", time="when", lon="x_wgs", lat="y_wgs")
    assert (one.name, one.lat.tolist(), one.lon.tolist()) == ("1131", [39.9], [116.5])
    assert one.time.tolist() == [1201966568]


def test_a_name_given_wins_over_a_known_one(tmp_path: Path) -> None:
    text = "lat,lon,id,driver,user\n40,-3,a,ann,x\n"
    assert names(read(csv(tmp_path, text), subject="driver")) == [("a", "ann")]


def test_swapped_columns_can_be_set_right(tmp_path: Path) -> None:
    path = csv(tmp_path, "lat,lon,id\n-3,40,a\n")
    (one,) = read(path, lat="lon", lon="lat")
    assert (one.lat.tolist(), one.lon.tolist()) == ([40], [-3])


def test_a_table_without_ids_has_a_trace_a_subject(tmp_path: Path) -> None:
    text = "lat,lon,user\n40,-3,ann\n41,-3,bob\n42,-3,ann\n"
    found = read(csv(tmp_path, text))
    assert names(found) == [("ann", "ann"), ("bob", "bob")]


def test_equal_ids_of_two_subjects_are_two_traces(tmp_path: Path) -> None:
    text = "lat,lon,uid,tid\n40,-3,ann,1\n41,-3,bob,1\n"
    assert names(read(csv(tmp_path, text))) == [("1", "ann"), ("1", "bob")]


def test_columns_that_are_missing_are_listed_with_those_there_are(
    tmp_path: Path,
) -> None:
    path = csv(tmp_path, "northing,easting,when\n1,2,3\n")
    with pytest.raises(BadInput) as caught:
        read(path)
    said = str(caught.value)
    assert "no column known as lat or lon or id" in said
    assert "its columns are northing, easting, when" in said
    assert "--columns lat=...,lon=...,id=..." in said


def test_a_column_given_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = csv(tmp_path, "lat,lon,id\n1,2,3\n")
    with pytest.raises(BadInput, match="no column 'breite' for lat; its columns are"):
        read(path, lat="breite")


@pytest.mark.parametrize(
    "text", ["latitude=y", "lat", "lat=", "=y", "", "lat=y,,lon=x"]
)
def test_columns_that_are_not_understood_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"is not understood.*id=\.\.\.,lat=\.\.\."):
        parse_columns(text)


@pytest.mark.parametrize("text", ["lat=a,lon=a,id=b", "lat=y,lat=x"])
def test_one_column_cannot_play_two_roles_nor_one_role_be_played_twice(
    text: str,
) -> None:
    with pytest.raises(BadInput, match="--columns"):
        parse_columns(text)


@pytest.mark.parametrize(
    "text",
    [
        "2008-06-08T07:00:00Z",
        "2008-06-08T07:00:00",
        "2008-06-08 07:00:00",
        "2008-06-08T09:00:00+02:00",
        "2008-06-08T09:00:00.000+0200",
        "2008/06/08 07:00:00",
        "20080608T070000Z",
        "1212908400",
        "1212908400.0",
        "1212908400000",
        "1212908400000000",
        "1212908400000000000",
    ],
)
def test_a_time_is_understood_however_it_is_written(tmp_path: Path, text: str) -> None:
    """Without a zone it is UTC; numbers are seconds or thousandth parts of them."""
    assert times(tmp_path, text, text) == [1212908400] * 2


def test_fractions_of_seconds_are_kept(tmp_path: Path) -> None:
    assert times(tmp_path, "2008-06-08T07:00:00.25Z") == [1212908400.25]
    assert times(tmp_path, "1212908400250") == [1212908400.25]


def test_zones_may_be_mixed(tmp_path: Path) -> None:
    mixed = ["2008-06-08T07:00:00Z", "2008-06-08T09:00:01+02:00", "2008-06-08 07:00:02"]
    assert times(tmp_path, *mixed) == [1212908400, 1212908401, 1212908402]


def test_formats_may_be_mixed(tmp_path: Path) -> None:
    mixed = ["2008-06-08 07:00:00", "2008/06/08 07:00:01", "2008-06-08T07:00:02.5Z"]
    assert times(tmp_path, *mixed) == [1212908400, 1212908401, 1212908402.5]


def test_times_that_cannot_be_read_are_unknown(tmp_path: Path) -> None:
    mixed = ["2008-06-08 07:00:00", "", "tomorrow", "2008-06-08 07:00:03"]
    found = times(tmp_path, *mixed)
    assert [found[0], found[3]] == [1212908400, 1212908403]
    assert math.isnan(found[1])
    assert math.isnan(found[2])


@pytest.mark.parametrize("text", ["xx", "-", ""])
def test_a_table_without_one_readable_time_is_untimed(
    tmp_path: Path, text: str
) -> None:
    """And no library's warning reaches the screen: here it would be an error."""
    assert all(math.isnan(time) for time in times(tmp_path, text, text))


def test_one_time_that_cannot_be_read_leaves_the_numbers_numbers(
    tmp_path: Path,
) -> None:
    """Else a single dash among epochs would make the whole table untimed."""
    found = times(tmp_path, "1212908400", "-", "1212908402")
    assert [found[0], found[2]] == [1212908400, 1212908402]
    assert math.isnan(found[1])


def test_one_wild_number_does_not_change_the_unit_of_the_others(
    tmp_path: Path,
) -> None:
    found = times(tmp_path, "1212908400", "1212908401", "9999999999999")
    assert found[:2] == [1212908400, 1212908401]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Madrid"])
def test_dates_of_parquet_are_read_in_every_unit_and_zone(
    tmp_path: Path, unit: str, zone: str | None
) -> None:
    when = pd.Series([pd.Timestamp("2008-06-08 07:00:00")] * 4)
    when = when.dt.tz_localize("UTC").dt.tz_convert(zone or "UTC").dt.as_unit(unit)
    when = when.dt.tz_localize(None) if zone is None else when
    path = tmp_path / "points.parquet"
    ROWS.assign(time=when).to_parquet(path)
    assert read(path)[0].time.tolist() == [1212908400] * 2


@pytest.mark.parametrize("scale", [1, 10**3, 10**6, 10**9])
@pytest.mark.parametrize("kind", ["int64", "float64", "string"])
def test_epochs_of_parquet_are_read_in_every_unit(
    tmp_path: Path, scale: int, kind: str
) -> None:
    path = tmp_path / "points.parquet"
    when = pd.Series([1212908400 * scale] * 4).astype(kind)
    ROWS.assign(time=when).to_parquet(path)
    assert read(path)[0].time.tolist() == [1212908400] * 2


def test_descending_times_are_kept_for_sorting(tmp_path: Path) -> None:
    """As in cabspotting; cleaning sorts them."""
    assert times(tmp_path, "30", "20", "10") == [30, 20, 10]


def test_coordinates_that_are_no_numbers_are_nan(tmp_path: Path) -> None:
    text = "lat,lon,id\n40,-3,a\nnorth,-3,a\n,-3,a\n41,-3,a\n"
    (one,) = read(csv(tmp_path, text))
    assert np.isnan(one.lat).tolist() == [False, True, True, False]


@pytest.mark.parametrize("text", ["40.123456789", "4.0123456789e1", " 40.123456789 "])
def test_all_digits_of_a_coordinate_are_read(tmp_path: Path, text: str) -> None:
    (one,) = read(csv(tmp_path, f"lat,lon,id\n{text},-3,a\n"))
    assert one.lat.tolist() == [40.123456789]


def test_rows_without_an_id_are_counted_and_left_out(tmp_path: Path) -> None:
    path = csv(tmp_path, "lat,lon,id\n40,-3,a\n41,-3,\n42,-3,a\n")
    counts: Counter[str] = Counter()
    (one,) = traces([path], counts=counts)
    assert one.lat.tolist() == [40, 42]
    assert counts == {"points without an id": 1}


def test_rows_without_a_subject_are_recordings_of_unknown_subjects(
    tmp_path: Path,
) -> None:
    found = read(csv(tmp_path, "lat,lon,tid,uid\n40,-3,1,ann\n41,-3,2,\n42,-3,3,\n"))
    assert names(found) == [("1", "ann"), ("2", None), ("3", None)]


def test_numbers_as_ids_are_as_they_are_written(tmp_path: Path) -> None:
    """But for 7.0, which a gap makes of 7 in another file."""
    found = read(csv(tmp_path, "lat,lon,id\n40,-3,7\n41,-3,07\n42,-3,7.0\n43,-3,7\n"))
    assert names(found) == [("7", None), ("07", None)]


def test_a_gap_among_numeric_ids_changes_none_of_them(tmp_path: Path) -> None:
    """Parquet from pandas turns them into floats: 7.0 is 7 again."""
    path = tmp_path / "points.parquet"
    table = ROWS.assign(id=[7.0, math.nan, 8.0, 7.0])
    table.to_parquet(path)
    assert names(read(path)) == [("7", None), ("8", None)]


def test_long_numbers_as_ids_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    ROWS.assign(id=[2**60, 2**60 + 1] * 2).to_parquet(path)
    assert names(read(path)) == [(str(2**60), None), (str(2**60 + 1), None)]


def test_equal_ids_in_two_files_are_two_traces(tmp_path: Path) -> None:
    one = csv(tmp_path, "lat,lon,id\n40,-3,1\n", "one.csv")
    two = csv(tmp_path, "lat,lon,id\n41,-3,1\n", "two.csv")
    found = read(one, two)
    assert len({each.name for each in found}) == 2


def test_equal_ids_of_one_subject_in_two_files_are_one_recording(
    tmp_path: Path,
) -> None:
    """As in a table that was cut in two; its pieces are not joined, but share names."""
    one = csv(tmp_path, "lat,lon,tid,uid\n40,-3,1,ann\n", "one.csv")
    two = csv(tmp_path, "lat,lon,tid,uid\n41,-3,1,ann\n", "two.csv")
    assert names(read(one, two)) == [("1", "ann")] * 2


@pytest.mark.parametrize(
    "text",
    [
        "lat,lon,id\n",
        "lat,lon,id",
        "lat,lon,id\n1,2\n",
        "lat,lon,id,time\n1,2,,3\n",
        "lat,lon,uid\n",
        "lat,lon,uid,tid\n1,2,ann,\n",
    ],
)
def test_a_table_without_a_row_of_a_trace_gives_none(tmp_path: Path, text: str) -> None:
    assert read(csv(tmp_path, text)) == []


def test_an_empty_parquet_gives_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    ROWS.iloc[:0].to_parquet(path)
    assert read(path) == []
    geopandas.GeoDataFrame(
        ROWS.iloc[:0], geometry=geopandas.GeoSeries([], crs=4326)
    ).to_parquet(path)
    assert read(path) == []


def test_a_separator_at_the_end_of_each_row_shifts_no_column(tmp_path: Path) -> None:
    (one,) = read(csv(tmp_path, "lat,lon,id\n40,-3,a,\n41,-3,a,\n"))
    assert (one.name, one.lat.tolist(), one.lon.tolist()) == ("a", [40, 41], [-3, -3])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("empty.csv", b""),
        ("blank.csv", b"\n\n"),
        ("binary.csv", b"\xff\xfe\x00garbage\x00\x01"),
        ("latin.csv", b"lat,lon,id\n40,-3,Caf\xe9\n"),
        ("quote.csv", b'lat,lon,id\n40,-3,"a\n41,-3,b\n'),
        ("plain.csv.gz", b"lat,lon,id\n40,-3,a\n"),
        ("cut.csv.gz", gzip.compress(b"lat,lon,id\n40,-3,a\n" * 99)[:-9]),
        ("flipped.csv.gz", gzip.compress(bytes(range(256)) * 9)[:40] + b"x" * 300),
        ("text.parquet", b"lat,lon,id\n40,-3,a\n"),
        ("empty.parquet", b""),
        ("cut.parquet", b"PAR1" + b"x" * 99),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(FileProblem) as caught:
        read(path)
    said = str(caught.value)
    assert said.startswith(f"cannot read {path} as a table of points: ")
    assert "\n" not in said
    assert len(said) < 400


def test_a_folder_with_one_unreadable_file_names_it(tmp_path: Path) -> None:
    csv(tmp_path, "lat,lon,id\n40,-3,1\n", "a.csv")
    csv(tmp_path, "", "b.csv")
    with pytest.raises(FileProblem, match=r"cannot read .*b\.csv as a table"):
        list(file_traces([tmp_path]))


def test_a_folder_may_hold_tables_and_gpx_and_other_things(tmp_path: Path) -> None:
    csv(tmp_path, "lat,lon,id\n40,-3,1\n", "a.csv")
    (tmp_path / "deep").mkdir()
    ROWS.to_parquet(tmp_path / "deep" / "b.parquet")
    (tmp_path / "deep" / "c.gpx").write_text(
        '<gpx><trk><trkseg><trkpt lat="1" lon="2"/></trkseg></trk></gpx>'
    )
    (tmp_path / "README.txt").write_text("read me")
    (tmp_path / ".hidden.csv").write_text("not a table")
    assert [len(one) for one in file_traces([tmp_path])] == [1, 1, 2, 2]


def test_progress_ends_with_everything(tmp_path: Path) -> None:
    told: list[tuple[str, float, float | None]] = []

    def tell(task: str, done: float, total: float | None, note: str = "") -> None:
        told.append((task, done, total))

    one = csv(tmp_path, "lat,lon,id\n40,-3,1\n", "one.csv")
    two = tmp_path / "two.parquet"
    ROWS.to_parquet(two)
    list(traces([one, two], progress=tell))
    assert {task for task, _, _ in told} == {"Reading one.csv", "Reading two.parquet"}
    for name in ("one.csv", "two.parquet"):
        _, done, total = [each for each in told if each[0].endswith(name)][-1]
        assert done == total


def test_a_long_table_is_read_in_parts_and_is_still_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from trajanon.extract.sources import table_files

    monkeypatch.setattr(table_files, "_CHUNK", 1)
    path = tmp_path / "points.csv"
    ROWS.to_csv(path, index=False)
    assert is_the_two_traces(read(path))
    ROWS.to_parquet(tmp_path / "points.parquet")
    assert is_the_two_traces(read(tmp_path / "points.parquet"))


@pytest.mark.parametrize(
    ("first", "then"), [("1", "x"), ("2008-06-08 07:00:00", "5"), ("", "7")]
)
def test_parts_of_different_kinds_are_one_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, then: str
) -> None:
    """What a column is must not depend on where the table is cut into parts."""
    from trajanon.extract.sources import table_files

    whole = times(tmp_path, first, then)
    monkeypatch.setattr(table_files, "_CHUNK", 1)
    np.testing.assert_array_equal(times(tmp_path, first, then), whole)


Writer = Callable[[Path], Any]
UNTIMED = ROWS.drop(columns="time")


@pytest.mark.parametrize(
    "write",
    [
        lambda path: UNTIMED.to_csv(path.with_suffix(".csv"), index=False),
        lambda path: UNTIMED.to_parquet(path.with_suffix(".parquet")),
    ],
)
def test_a_table_becomes_trajectories(tmp_path: Path, write: Writer) -> None:
    write(tmp_path / "points")
    found = extract(tmp_path, spacing=10_000, points=20, max_gap=None)
    assert len(found) == 2


def test_ids_may_be_bytes_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    names = [b"\xff\x01", b"b", b"\xff\x01", b"b"]
    ROWS.assign(id=names).to_parquet(path)
    assert [len(one) for one in read(path)] == [2, 2]


def test_durations_are_times_that_begin_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "points.parquet"
    ROWS.assign(time=pd.to_timedelta(ROWS["time"], unit="s")).to_parquet(path)
    assert is_the_two_traces(read(path))


def test_a_gap_in_the_subjects_of_a_trip_makes_no_second_person(tmp_path: Path) -> None:
    text = "lat,lon,tid,uid\n1,2,a,ann\n1.1,2,a,\n1.2,2,b, ann \n1.3,2,b,ann\n"
    found = read(csv(tmp_path, text))
    assert [(one.name, one.subject, len(one)) for one in found] == [
        ("a", "ann", 2),
        ("b", "ann", 2),
    ]


def test_seven_and_seven_point_nought_are_one_person(tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("lat,lon,tid,uid\n1,2,a,7\n")
    two.write_text("lat,lon,tid,uid\n1,2,b,7.0\n")
    assert {trace.subject for trace in read(one, two)} == {"7"}


def test_times_of_day_are_refused_and_days_alone_order_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"times of day \(15:36:08\)"):
        times(tmp_path, "15:36:08", "15:36:09")
    assert all(math.isnan(t) for t in times(tmp_path, "2008-02-02", "2008-02-02"))
