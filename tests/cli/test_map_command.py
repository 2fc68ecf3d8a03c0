"""trajanon map: its views, and a background from OpenStreetMap."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Run
from osm_xml import OsmFile

from trajanon.extract.earth.area import Box
from trajanon.extract.earth.roads import roads_and_water
from trajanon.files.trajectory_files import write_trajectories
from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories

FAST = ("--method", "mdav", "--refine", "none")
BOX = Box(-3.8, 40.3, -3.6, 40.5)


@pytest.fixture
def here(run: Run, tmp_path: Path) -> Path:
    """A folder with trajectories and a release of them."""
    rng = np.random.default_rng(0)
    start = np.array([40.4, -3.7]) + rng.normal(0, 0.01, (20, 1, 2))
    points = start + np.cumsum(rng.normal(0, 0.001, (20, 30, 2)), axis=1)
    write_trajectories(tmp_path / "trajectories.parquet", Trajectories(points.round(7)))
    assert run("anonymize", "-k", 2, *FAST).code == 0
    return tmp_path


def page(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    found = re.search(r'id="trajanon-page">(.*?)</script>', text)
    assert found is not None
    said: dict[str, Any] = json.loads(found[1])
    return said


@pytest.mark.parametrize("view", ["overlay", "side-by-side"])
def test_a_view_is_that_of_the_page(run: Run, here: Path, view: str) -> None:
    assert run("map", "--view", view).code == 0
    assert page(here / "map.html")["view"] == view


def test_an_offline_map_is_one_without_tiles(run: Run, here: Path) -> None:
    assert run("map").code == 0
    assert "tile.openstreetmap.org" in (here / "map.html").read_text("utf-8")
    for arguments in (["--offline"], ["--tiles", "none"], ["--offline", "--tiles", "None"]):
        assert run("map", *arguments).code == 0
        text = (here / "map.html").read_text("utf-8")
        assert "tile.openstreetmap.org" not in text
        assert "default-src 'none'" in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--view", "upside-down"], "choose from overlay, side-by-side, public"),
        (["trajectories.parquet"], "map takes trajectories and their release"),
        (["1", "2", "3", "--view", "public"], "with --view public, one release"),
        (["trajectories.parquet", "a.csv", "b.csv"], "map takes trajectories and their release"),
        (["--offline", "--tiles", "OpenStreetMap"], "an offline map has no tiles"),
        (["--background", "none.osm.pbf"], "none.osm.pbf"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    run: Run, here: Path, arguments: list[str], says: str
) -> None:
    assert says in run("map", *arguments).sentence
    assert not (here / "map.html").exists()


def town() -> OsmFile:
    """Roads and waters in the box, some of them out of it, and what is neither."""
    osm = OsmFile()
    inside = [(40.40, -3.70), (40.41, -3.70), (40.42, -3.69)]
    for tags in (
        {"highway": "residential"},
        {"highway": "primary_link"},
        {"highway": "footway"},
        {"waterway": "river"},
        {"natural": "coastline"},
        {"natural": "cliff"},
    ):
        osm.way(osm.nodes(inside), tags)
    osm.way(osm.nodes([(50.0, 8.0), (50.1, 8.0)]), {"highway": "residential"})
    osm.square(40.35, -3.75, 0.02, {"natural": "water"})
    osm.square(50.0, 8.0, 0.02, {"natural": "water"})
    osm.square(40.35, -3.65, 0.02, {"natural": "wood"})
    return osm


def test_roads_and_waters_that_come_into_the_box_are_read(tmp_path: Path) -> None:
    roads, water = roads_and_water(town().write(tmp_path / "town.osm"), BOX)
    inside = np.array([(40.40, -3.70), (40.41, -3.70), (40.42, -3.69)])
    assert len(roads) == 2
    assert len(water) == 3
    for line in (*roads, *water[:2]):
        assert np.array_equal(line, inside)
    square = water[2]
    assert np.array_equal(square[0], square[-1])
    assert square.min(axis=0).tolist() == [40.35, -3.75]
    assert square.max(axis=0).tolist() == pytest.approx([40.37, -3.73])


def test_an_island_has_a_shore(tmp_path: Path) -> None:
    osm = OsmFile()
    outer, inner = osm.square(40.35, -3.75, 0.04), osm.square(40.36, -3.74, 0.01)
    tags = {"type": "multipolygon", "natural": "water"}
    osm.relation({outer: "outer", inner: "inner"}, tags)
    roads, water = roads_and_water(osm.write(tmp_path / "lake.osm"), BOX)
    assert roads == []
    extents = sorted(float(np.ptp(ring[:, 0])) for ring in water)
    assert extents == pytest.approx([0.01, 0.04])


def test_the_command_draws_them_and_credits_openstreetmap(run: Run, here: Path) -> None:
    town().write(here / "town.osm")
    for view in ("overlay", "public"):
        drawn = run("map", "--offline", "--view", view, "--background", "town.osm")
        assert drawn.code == 0, drawn.err
        assert page(here / "map.html")["attribution"] == OSM_ATTRIBUTION
        text = (here / "map.html").read_text("utf-8")
        found = re.search(r'id="trajanon-background">(.*?)</script>', text)
        assert found is not None
        behind = json.loads(found[1])
        assert len(behind["roads"]) == 2
        assert 2 <= len(behind["water"]) <= 3  # the lake, if the lines come near it
