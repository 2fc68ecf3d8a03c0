"""Where, hidden places, trimmed ends and chosen windows, as people ask for them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Run
from osm_xml import OsmFile
from tracks import GEOD, line

from trajanon.extract import Trace
from trajanon.files.trajectory_files import read_trajectories

SOUTH, WEST = 47.0, 9.0
HOSPITAL = (SOUTH + 0.05, WEST + 0.05)


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """A file of a town, a tenth of a degree wide, with a hospital in its middle."""
    osm = OsmFile()
    osm.town("Vadutz", 8, [osm.square(SOUTH, WEST, 0.1)])
    osm.node(*HOSPITAL, {"amenity": "hospital"})
    return osm.write(tmp_path / "town.osm")


@pytest.fixture
def walks(tmp_path: Path) -> Path:
    """Two people, twice each, 12 km to the east through the town and beyond."""
    traces = [
        line(
            np.arange(0, 12_000, 20.0).tolist(),
            np.arange(0, 6_000, 10.0).tolist(),
            start=(HOSPITAL[0] + lane / 1e5, WEST + 0.001),
            name=f"{lane}",
            subject="ann" if lane < 2 else "bob",
        )
        for lane in range(4)
    ]
    rows = ["lat,lon,time,id,subject"]
    rows += [row for trace in traces for row in of(trace)]
    path = tmp_path / "walks.csv"
    path.write_text("\n".join(rows))
    return path


def of(trace: Trace) -> list[str]:
    rows = zip(trace.lat, trace.lon, trace.time, strict=True)
    return [f"{lat},{lon},{t},{trace.name},{trace.subject}" for lat, lon, t in rows]


def counts(run: Run, *arguments: object) -> dict[str, Any]:
    answer = run("extract", *arguments, "--windows", "--spacing", 50, "--points", 10, "--json")
    assert answer.code == 0, answer.err
    found = json.loads(answer.out)["counts"]
    assert isinstance(found, dict)
    return found


def nearest(place: tuple[float, float]) -> float:
    """Metres from a place to the nearest point of what was written, tracks included."""
    tracks = read_trajectories("trajectories.parquet").tracks
    assert tracks is not None
    many = np.ones(len(tracks.points))
    lat, lon = tracks.points[:].T
    return float(GEOD.inv(many * place[1], many * place[0], lon, lat)[2].min())


def test_a_boundary_by_its_name(run: Run, town: Path, walks: Path) -> None:
    found = counts(run, walks, "--area", "vadutz", "--pbf", town)
    trajectories = read_trajectories("trajectories.parquet")
    assert trajectories.points[:, :, 1].max() <= WEST + 0.1
    assert found["points outside the area"] > 0
    assert trajectories.provenance["area"] == "Vadutz (relation 6)"
    assert counts(run, walks, "--area", 6, "--pbf", town) == found


def test_an_outline_from_a_file(run: Run, town: Path, walks: Path, tmp_path: Path) -> None:
    side = [[WEST, SOUTH], [WEST + 0.1, SOUTH], [WEST + 0.1, SOUTH + 0.1]]
    ring = [*side, [WEST, SOUTH + 0.1], side[0]]
    (tmp_path / "town.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": [ring]}))
    by_name = counts(run, walks, "--area", "Vadutz", "--pbf", town)
    assert counts(run, walks, "--area", "town.geojson") == by_name


def test_several_boxes(run: Run, walks: Path) -> None:
    found = counts(run, walks, "--bbox", "9,47,9.05,48", "--bbox", "9.1,47,9.2,48")
    points = read_trajectories("trajectories.parquet").points
    east = points[:, :, 1]
    assert found["trajectories"] == len(points) > 0
    assert ((east <= 9.05) | (east >= 9.1)).all()
    assert ((east <= 9.05).all(axis=1) | (east >= 9.1).all(axis=1)).all()


def test_nothing_comes_near_a_hidden_place(run: Run, town: Path, walks: Path) -> None:
    whole = counts(run, walks, "--per-recording", "all")
    assert nearest(HOSPITAL) < 20
    hidden = ["--hide-near", "amenity=hospital", "--pbf", town]
    found = counts(run, walks, "--per-recording", "all", *hidden)
    assert nearest(HOSPITAL) > 150
    assert found["points near hidden places"] == pytest.approx(4 * 300 / 20, rel=0.1)
    assert found["trajectories"] < whole["trajectories"]


def test_a_place_with_its_degrees_or_of_a_file_is_hidden(run: Run, walks: Path) -> None:
    lat, lon = HOSPITAL
    point = {"type": "Point", "coordinates": [lon, lat]}
    Path("home.geojson").write_text(json.dumps(point), "utf-8")
    for place in (f"{lat},{lon}", "home.geojson"):
        found = counts(run, walks, "--per-recording", "all", "--hide-near", place)
        assert nearest(HOSPITAL) > 150
        assert found["points near hidden places"] == pytest.approx(4 * 300 / 20, rel=0.1)


def test_where_nothing_was_hidden_it_is_said(run: Run, town: Path, walks: Path) -> None:
    osm = OsmFile()
    osm.node(10.0, 10.0, {"amenity": "hospital"})
    elsewhere = osm.write(town.with_name("elsewhere.osm"))
    hide = ["--hide-near", "amenity=hospital", "--pbf"]
    answer = run("extract", walks, "--windows", "--spacing", 50, *hide, elsewhere)
    assert answer.code == 0
    assert "No point lies near a place to hide" in answer.out
    alone = run("extract", walks, "--windows", "--spacing", 50, "--hide-near", "10.0,10.0")
    assert "No point lies near a place to hide: check that these places" in alone.out
    answer = run("extract", walks, "--windows", "--spacing", 50, *hide, town)
    assert "No point lies near a place to hide" not in answer.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pbf", "town.osm"], "--pbf town.osm is for --hide-near TAGS, or"),
        (["--area", "Vaduz"], "add --pbf FILE.osm.pbf"),
        (["--area", "Madrid", "--pbf", "town.osm"], "name it, or its relation, with --area"),
        (["--hide-near", "amenity=hospital"], "add --pbf FILE.osm.pbf"),
        (["--area", "Vaduz", "--pbf", "town.osm"], "Vadutz"),
        (["--hide-near", "hospital", "--pbf", "town.osm"], "amenity=hospital"),
        (["--jobs", "0"], "--jobs must be at least 1 (got 0)"),
        (["--untimed", "maybe"], "--untimed must be accept or reject"),
        (["--trim-ends", "5000"], "lower --trim-ends"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(
    run: Run, town: Path, walks: Path, arguments: list[str], words: str
) -> None:
    answer = run("extract", walks, "--windows", "--spacing", 50, *arguments)
    assert words in answer.err.splitlines()[-1]
