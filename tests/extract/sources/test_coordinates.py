"""Coordinates of tables, however they are written."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from point_tables import csv, names, read

from trajanon.common.errors import BadInput
from trajanon.extract import Trace, traces
from trajanon.extract.sources.coordinates import numbers, to_degrees


def places(found: list[Trace]) -> list[tuple[float, float]]:
    return [pair for one in found for pair in zip(one.lat.tolist(), one.lon.tolist(), strict=True)]


@pytest.mark.parametrize(
    ("lat", "lon"),
    [
        ("48.25S", "16.5W"),
        ("S 48.25", "W16.5"),
        ("-48.25", "16.5 w"),
        ("48,25S", "16,5W"),
        ("-48.25°", "-16.5 °"),
        ("-48.25S", "W 16.5°"),
    ],
)
def test_signs_may_be_letters(tmp_path: Path, lat: str, lon: str) -> None:
    text = f"id;lat;lon\na;{lat};{lon}\na;{lat};{lon}\n"
    assert places(read(csv(tmp_path, text))) == [(-48.25, -16.5)] * 2


@pytest.mark.parametrize(
    "header",
    [
        "lat,N/S,lon,E/W",
        "Latitude (deg),NS,Longitude [°],EW",
        "LAT,hemisphere,LON,side",
        "LATITUDE N/S,a,LONGITUDE E/W,b",
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_letters_beside_coordinates_are_their_signs(
    tmp_path: Path, header: str, suffix: str
) -> None:
    path = csv(tmp_path, f"id,{header}\na,48.25,S,16.5,E\nb,48.25,N,16.5,W\n")
    if suffix == ".parquet":
        table = pd.read_csv(path)
        path = tmp_path / "points.parquet"
        table.to_parquet(path)
    assert places(read(path)) == [(-48.25, 16.5), (48.25, -16.5)]


@pytest.mark.parametrize(
    ("lat", "words"),
    [
        ("4815.0S", "not degrees on Earth"),
        ("48°15' S", "no lat that can be read.*as 48.2"),
        ("N48.2S", "no lat that can be read.*as 48.2"),
    ],
)
def test_degrees_and_minutes_are_refused(tmp_path: Path, lat: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        read(csv(tmp_path, f"id,lat,lon\na,{lat},16.5E\na,{lat},16.5E\n"))


@pytest.mark.parametrize("lat", ["-48.25N", "48 75 N", "48.25E", "48.5 15 N"])
def test_what_is_written_against_itself_is_no_coordinate(tmp_path: Path, lat: str) -> None:
    (one,) = read(csv(tmp_path, f"id,lat,lon\na,48.25N,16.5E\na,{lat},16.5E\n"))
    assert np.isnan(one.lat).tolist() == [False, True]


def test_letters_stand_beside_signs_of_degrees(tmp_path: Path) -> None:
    path = csv(tmp_path, "id,lat,N/S,lon,E/W\na,48.25°,S,16.5°,E\na,48.25,N,16.5°,W\n")
    assert places(read(path)) == [(-48.25, 16.5), (48.25, -16.5)]


def test_a_row_of_infinite_latitude_stays_and_has_no_place(tmp_path: Path) -> None:
    """It is counted when points are cleaned, not taken for a row marked as not valid."""
    (one,) = read(csv(tmp_path, "id,lat,lon\na,48.25,16.5\na,inf,16.5\n"))
    assert np.isnan(one.lat).tolist() == [False, True]


def test_a_system_without_latitude_and_longitude_is_refused() -> None:
    for system in ("EPSG:5773", "EPSG:4978"):  # of heights, and from the centre of the Earth
        with pytest.raises(BadInput, match="is neither geographic nor projected"):
            to_degrees(np.array([[16.5, 48.25]]), system, "the file")
    with_heights = to_degrees(np.array([[16.5, 48.25]]), "EPSG:9707", "the file")
    assert [values.tolist() for values in with_heights] == [[48.25], [16.5]]


def test_headings_are_no_signs(tmp_path: Path) -> None:
    path = csv(tmp_path, "id,lat,lon,heading\na,48.25,16.5,S\na,48.24,16.5,S\n")
    assert places(read(path)) == [(48.25, 16.5), (48.24, 16.5)]


@pytest.mark.parametrize("suffix", [".csv", ".geojson"])
def test_longitudes_to_360_are_read_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, suffix: str
) -> None:
    path = csv(tmp_path, "id,lat,lon\na,48,359.5\na,48,359.75\na,48,0.25\n")
    if suffix == ".geojson":
        line = shapely.to_geojson(shapely.LineString([(359.5, 48), (359.75, 48), (0.25, 48)]))
        path = csv(tmp_path, line, "points.geojson")
    found = list(traces(path))
    assert places(found) == [(48.0, -0.5), (48.0, -0.25), (48.0, 0.25)]
    assert "has longitudes from 0 to 360, such as 359.5: read as such" in caplog.text


@pytest.mark.parametrize("lon", ["359.5", "200"])
def test_one_longitude_beyond_180_among_western_ones_is_an_error(tmp_path: Path, lon: str) -> None:
    rows = "".join(f"a,48,{-1 - i / 1000}\n" for i in range(50))
    (one,) = read(csv(tmp_path, f"id,lat,lon\na,48,{lon}\n{rows}"))
    assert one.lon[0] == float(lon)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("spot", ['{"type":"Point","coordinates":[16.5,-48.25]}'] * 2),
        ("wkt", ["POINT (16.5 -48.25)", "POINT (16.75 -48.5)"]),
        ("where", ["SRID=4326;POINT(16.5 -48.25)", "SRID=4326;POINT(16.75 -48.5)"]),
        ("lat,lon", ["-48.25,16.5", "-48.5, 16.75"]),
        ("lonlat", ["16.5 -48.25", "16.75 -48.5"]),
        ("location", ['{"type":"Point","coordinates":[16.5,-48.25]}'] * 2),
        ("geom", [shapely.to_wkb(shapely.Point(16.5, -48.25), hex=True)] * 2),
    ],
)
def test_both_coordinates_may_be_in_one_field(tmp_path: Path, name: str, values: list[str]) -> None:
    path = tmp_path / "points.csv"
    pd.DataFrame({"id": "a", name: values}).to_csv(path, index=False)
    (one,) = traces(path, columns={"place": name} if name == "spot" else {})
    assert (one.name, one.lat[0], one.lon[0], len(one)) == ("points.csv#a", -48.25, 16.5, 2)
    binary = tmp_path / "points.parquet"
    pd.DataFrame(
        {"id": "a", "geometry": shapely.to_wkb(shapely.points([(16.5, -48.25)]))}
    ).to_parquet(binary)
    assert places(list(traces(binary))) == [(-48.25, 16.5)]
    pd.read_csv(path).to_parquet(binary)
    columns = {"place": name} if name in ("spot", "where") else {}
    assert places(list(traces(binary, columns=columns)))[0] == (-48.25, 16.5)


@pytest.mark.parametrize(
    "stored",
    [
        pa.large_binary(),  # as polars has it
        pa.binary(21),
        pa.binary_view(),
        pa.dictionary(pa.int32(), pa.binary()),
    ],
    ids=str,
)
def test_bytes_of_any_layout_may_be_places(tmp_path: Path, stored: pa.DataType) -> None:
    places_written = pa.array(shapely.to_wkb(shapely.points([(16.5, -48.25)] * 2)), pa.binary())
    layout = places_written.dictionary_encode() if pa.types.is_dictionary(stored) else None
    table = pa.table({"id": ["a", "a"], "geom": layout or places_written.cast(stored)})
    pq.write_table(table, tmp_path / "points.parquet")
    assert places(list(traces(tmp_path / "points.parquet"))) == [(-48.25, 16.5)] * 2


def test_what_is_beyond_360_is_no_longitude(tmp_path: Path) -> None:
    rows = "".join(f"a,48,{lon}\n" for lon in (359.5, 359.75, 0.25, 400.0, 540.0))
    (one,) = traces(csv(tmp_path, "id,lat,lon\n" + rows))
    assert one.lon.tolist() == [-0.5, -0.25, 0.25, 400.0, 540.0]  # dropped when points are cleaned


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_times_are_no_numbers(zone: str | None) -> None:
    moments = pd.Series(pd.to_datetime(["2020-01-01", None])).dt.tz_localize(zone)
    assert np.isnan(numbers(moments)).all()
    assert np.isnan(numbers(moments - moments[0])).all()


def test_whole_numbers_beyond_64_bits_are_read() -> None:
    assert numbers(pd.Series([2**70, 1], dtype=object)).tolist() == [2.0**70, 1.0]


def test_two_numbers_without_a_known_order_are_refused(tmp_path: Path) -> None:
    path = csv(tmp_path, 'id,position\na,"48.25,16.5"\n')
    with pytest.raises(BadInput, match=r"does not say their order: name the column lat,lon or lo"):
        list(traces(path))


def test_lines_of_wkt_are_traces_with_their_times(tmp_path: Path) -> None:
    text = (
        'trip_id,user,wkt,times\n7,Ada,"LINESTRING (2 41, 2.1 41.2)","[1683964800, 1683964860]"\n'
    )
    (one,) = traces(csv(tmp_path, text))
    assert (one.name, one.subject, one.time.tolist()) == ("7", "Ada", [1683964800.0, 1683964860.0])
    assert places([one]) == [(41.0, 2.0), (41.2, 2.1)]


def test_a_field_that_holds_no_places_is_refused(tmp_path: Path) -> None:
    places = "SRID=25832;POINT (1 2)\na,SRID=25833;POINT (1 2)"
    with pytest.raises(BadInput, match="has places in EPSG:25832 and EPSG:25833, in 'wkt'"):
        list(traces(csv(tmp_path, f"id,wkt\na,{places}\n")))
    with pytest.raises(BadInput, match=r"holds no places such as POINT .* \(but 'Vienna'\)"):
        list(traces(csv(tmp_path, "id,location\na,Vienna\n")))


def test_rows_marked_as_not_valid_are_left_out_and_counted(tmp_path: Path) -> None:
    text = """timestamp,location-long,location-lat,individual-local-identifier,visible,\
manually-marked-outlier,import-marked-outlier
2009-12-29 00:00:00,31.7,-24.2,Pepper,true,,
2009-12-29 01:00:00,31.8,-24.1,Pepper,false,,
2009-12-29 02:00:00,31.9,-24.0,Pepper,true,true,false
2009-12-29 03:00:00,31.9,-23.9,Pepper,true,false,TRUE
2009-12-29 04:00:00,31.9,-23.8,Pepper,,false,
"""
    path = csv(tmp_path, text)
    counted: Counter[str] = Counter()
    (one,) = read(path, counts=counted)
    assert one.lat.tolist() == [-24.2, -23.8]
    assert counted == {"rows marked as not valid": 3}
    parquet = tmp_path / "points.parquet"
    table = pd.read_csv(path)
    for marks in ("object", "float64"):  # as pandas has columns with gaps
        table.assign(visible=table["visible"].astype(marks)).to_parquet(parquet)
        assert read(parquet)[0].lat.tolist() == [-24.2, -23.8]
    assert names(read(path)) == [("pepper", "Pepper")]


@pytest.mark.parametrize("header", ["id,location,lat", "id,lon,geometry"])
def test_a_place_beside_one_coordinate_is_no_table_of_points(tmp_path: Path, header: str) -> None:
    with pytest.raises(BadInput, match="no column recognised as l"):
        list(traces(csv(tmp_path, f"{header}\na,1,2\n")))
