"""Layers and geometries: which are read, and which are refused."""

import logging
from pathlib import Path
from typing import Any

import pandas as pd
import pyogrio
import pytest
import shapely
from geo_tables import FILES, LINES, in_order, lines, points, read, read_counting, write

from trajanon.errors import BadInput, FileProblem


def test_all_layers_are_read_and_keep_their_names_apart(tmp_path: Path) -> None:
    path = tmp_path / "x.gpkg"
    write(path, points(), layer="monday")
    write(path, lines(id=["a", "b"]), layer="tuesday")
    assert [one.name for one in read(path)] == [
        "f:monday#a",
        "f:monday#b",
        "f:tuesday#a",
        "f:tuesday#b",
    ]


def test_layers_of_other_things_are_left_out_with_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "x.gpkg"
    write(path, lines([shapely.box(0, 0, 1, 1)]), layer="districts")
    write(path, points().drop(columns="id"), layer="shops")
    write(path, lines(), layer="tours")
    pyogrio.write_dataframe(pd.DataFrame({"a": [1]}), path, layer="notes")
    write(path, points().iloc[:0], layer="nothing")
    with caplog.at_level(logging.WARNING):
        found = read(path)
    assert [one.name for one in found] == ["f:tours#1", "f:tours#2"]
    for said in (
        "layer 'districts' holds Polygons",
        "layer 'shops' has no column known as id",
        "layer 'notes' has no geometries",
        "layer 'nothing' holds no features",
    ):
        assert any(
            said in text and text.endswith("this layer is left out") for text in caplog.messages
        )
    assert len(caplog.messages) == 4


def test_a_table_without_geometries_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.gpkg"
    pyogrio.write_dataframe(pd.DataFrame({"id": [1]}), path)
    with pytest.raises(BadInput, match="has no geometries; save its table as CSV"):
        read(path)


@pytest.mark.parametrize("name", FILES)
def test_no_features_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "x.geojsonl":
        path.write_text("\n")
        with pytest.raises(FileProblem, match=r"begins like no GeoJSON"):
            read(path)
        return
    write(path, points().iloc[:0])
    with pytest.raises(BadInput, match=r"x\.\w+ holds no (features|points or lines)"):
        read(path)


@pytest.mark.parametrize("name", FILES)
def test_nothing_but_empty_geometries_is_refused(tmp_path: Path, name: str) -> None:
    nothing = lines([None, None], id=["a", "b"])
    path = write(tmp_path / name, nothing, **in_order(name))
    with pytest.raises(BadInput, match=r"x\.\w+ holds no points or lines"):
        read_counting(path)


@pytest.mark.parametrize(
    ("geometry", "said"),
    [
        (shapely.box(0, 0, 1, 1), "Polygon"),
        (shapely.MultiPolygon([shapely.box(0, 0, 1, 1)]), "MultiPolygon"),
        (shapely.GeometryCollection([LINES[0]]), "GeometryCollection"),
        (shapely.MultiPoint([(0, 1), (2, 3)]), "MultiPoint"),
    ],
)
@pytest.mark.parametrize("name", ["x.geojson", "x.gpkg", "x.parquet", "x.fgb"])
def test_other_geometries_are_refused(tmp_path: Path, name: str, geometry: Any, said: str) -> None:
    path = write(tmp_path / name, lines([geometry], id=["a"]))
    with pytest.raises(BadInput, match=f"holds (a )?{said}"):
        read(path)


def test_a_polygon_among_lines_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "x.geojson", lines([*LINES, shapely.box(0, 0, 1, 1)]))
    with pytest.raises(BadInput, match="holds a Polygon; traces are lines, or"):
        read(path)


def test_points_that_a_spatial_index_has_sorted_need_times(tmp_path: Path) -> None:
    path = write(tmp_path / "x.fgb", points())
    assert {one.name: sorted(one.time) for one in read(path)} == {"f#a": [10, 30], "f#b": [20, 40]}
    untimed = write(tmp_path / "untimed.fgb", points().drop(columns="time"))
    with pytest.raises(BadInput, match=r"sorted by place.*SPATIAL_INDEX=NO"):
        read(untimed)
