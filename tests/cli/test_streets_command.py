"""trajanon streets, and the streets of trajanon evaluate."""

import json
import re
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from unittest.mock import patch

import geopandas
import numpy as np
import pandas as pd
import pytest
import shapely
from commands import FAST, Run, mode, names
from osm_xml import OsmFile
from shards import shards_of, write_parts

import trajanon
from trajanon.release import release
from trajanon.trajectories.subjects import DRAWN_ANEW, NAMELESS
from trajanon.trajectories.trajectories import Trajectories

LAT, LON = 47.0, 9.5


def write_town(folder: Path, **tags: str) -> Path:
    """A street of 2 km from west to east."""
    osm = OsmFile()
    osm.way(osm.nodes([(LAT, LON), (LAT, LON + 0.03)]), {"highway": "residential", **tags})
    return osm.write(folder / "town.osm")


def drives(n: int = 40) -> Trajectories:
    random, share = np.random.default_rng(0), np.linspace(0.1, 0.9, 30)
    points = np.empty((n, 30, 2))
    points[..., 0] = LAT + random.normal(0, 5e-5, (n, 30))
    points[..., 1] = LON + 0.03 * share + random.normal(0, 1e-4, (n, 1))
    begin = 1_212_904_800.0 + random.integers(0, 86_400, (n, 1))
    return Trajectories(
        points, np.arange(n), times=begin + 300.0 * share, provenance={"trips": True}
    )


@pytest.fixture
def here(run: Run, tmp_path: Path) -> Path:
    write_town(tmp_path)
    trajanon.write_trajectories(tmp_path / "trajectories.parquet", drives())
    assert run("anonymize", "-k", 4, "--times", "of-day", *FAST).code == 0
    return tmp_path


@pytest.mark.parametrize("suffix", ["parquet", "gpkg", "geojson", "csv"])
def test_a_table_is_written_in_each_format(run: Run, here: Path, suffix: str) -> None:
    out = here / f"out.{suffix}"
    answer = run("streets", "--roads", "town.osm", "--out", out.name)
    assert answer.code == 0
    assert "Wrote 1 street to out." in answer.out
    of = "Of the 40 trips (several of one person on one line count as one) on the 10 lines of the"
    assert f"{of} release, 100 % pass" in answer.out
    assert "At least 4 different people stand behind each count." in answer.out
    assert "trajanon evaluate --roads" in answer.out
    if suffix == "csv":
        found = pd.read_csv(out)
        assert found.geometry[0].startswith("LINESTRING (9.5 47")
    else:
        found = geopandas.read_parquet(out) if suffix == "parquet" else geopandas.read_file(out)
        assert found.geometry[0].length == pytest.approx(0.03)
    assert found.trips.tolist() == [40]
    assert found.speed_kmh.to_numpy() == pytest.approx([27.4], rel=0.2)
    assert mode(out) == mode(here / "anonymized.parquet")
    sheet = (here / "out.datasheet.md").read_text()
    assert "OpenStreetMap" in sheet
    assert sha256((here / "anonymized.parquet").read_bytes()).hexdigest() in sheet
    assert not re.search(r"\d\.\d{4}", sheet)
    assert "on San Francisco's cabs" not in answer.err
    before = out.read_bytes()
    assert run("streets", "--roads", "town.osm", "--out", out.name).code == 0
    assert out.read_bytes() == before


def test_a_router_gets_a_file_for_each_part_of_the_day(run: Run, here: Path) -> None:
    answer = run("streets", "--roads", "town.osm", "--for", "osrm")
    assert answer.code == 0
    assert "Wrote 1 pair of nodes to speeds.csv" in answer.out
    assert "At least 4 different people stand behind each speed." in answer.out
    start, end, speed = (here / "speeds.csv").read_text().strip().split(",")
    assert (start, end) == ("1", "2")
    assert float(speed) == pytest.approx(27.4, rel=0.3)
    assert "50 % of the length of all streets" in (here / "speeds.datasheet.md").read_text()

    parts = ["--hours", "0-12,12-24", "--out", "at.csv", "--json"]
    told = json.loads(run("streets", "--roads", "town.osm", "--for", "osrm", *parts).out)
    assert told["files"] == ["at.0-12.csv", "at.12-24.csv"]
    assert told["rows"] == 1
    assert (here / "at.0-12.csv").exists()


@pytest.mark.parametrize("suffix", ["parquet", "pmtiles"])
def test_cells_are_counted_without_roads(run: Run, here: Path, suffix: str) -> None:
    out = here / f"heat.{suffix}"
    answer = run("streets", "--cells", 500, "--out", out.name)
    assert answer.code == 0
    assert "100 % pass one of these cells." in answer.out
    assert "a cell narrower than the distance" in answer.out
    if suffix == "parquet":
        found = geopandas.read_parquet(out)
        assert found.trips.max() == 40
        assert found.trips.min() >= 4
    assert "cells" in (here / "heat.datasheet.md").read_text()


@pytest.mark.parametrize("names_drawn_anew", [0, 40])
def test_counts_repeat_the_conditions_of_their_release(
    run: Run, tmp_path: Path, names_drawn_anew: int
) -> None:
    """At least k people stand behind each count only if these hold."""
    provenance = {"trips": True, "counts": {DRAWN_ANEW: names_drawn_anew}}
    trips = replace(drives(), provenance=provenance)
    trajanon.write_trajectories(tmp_path / "trajectories.parquet", trips)
    assert run("anonymize", "-k", 4, *FAST).code == 0
    answer = run("streets", "--cells", 500)
    condition = "each person has one name in all recordings"
    for text in (answer.out, (tmp_path / "cells.datasheet.md").read_text()):
        assert "The verdict on the release: Ready to publish" in text
        assert (condition in text) == bool(names_drawn_anew)


def test_flows_are_counted_without_roads(run: Run, here: Path) -> None:
    answer = run("streets", "--od", 50_000, "--json")
    told = json.loads(answer.out)
    assert (told["rows"], told["of_trips"]) == (1, 40)
    assert geopandas.read_parquet(here / "od.parquet").trips.tolist() == [40]
    zone = geopandas.GeoDataFrame(geometry=geopandas.points_from_xy([LON], [LAT]).buffer(1))
    zone.set_crs(4326).to_file(here / "zones.geojson")
    assert run("streets", "--od", "zones.geojson", "--out", "od.csv").code == 0
    assert pd.read_csv(here / "od.csv").trips.tolist() == [40]
    assert "od.csv is a release, or counts of one" in run("extract", "od.csv").sentence


def test_streets_without_a_name_are_written_beside_others(run: Run, here: Path) -> None:
    osm = OsmFile()
    nodes = osm.nodes(
        [(LAT, LON), (LAT, LON + 0.015), (LAT, LON + 0.03), (LAT + 0.01, LON + 0.015)]
    )
    osm.way(nodes[:2], {"highway": "residential", "name": "West"})
    osm.way(nodes[1:3], {"highway": "residential"})
    osm.way(nodes[1::2], {"highway": "residential"})
    osm.write(here / "town.osm")
    assert run("streets", "--roads", "town.osm", "--out", "out.csv").code == 0
    assert pd.read_csv(here / "out.csv").name.fillna("").tolist() == ["West", ""]


def test_counts_say_how_good_their_cells_are(run: Run, here: Path) -> None:
    """As the certificate of this very release says."""
    command = "streets", "--od", 1_500, "--json"
    written = here / "anonymized.certificate.json"

    def warned(cell: str | None, sha: str | None = None) -> str:
        release = {"rows": 40, "groups": 10, "sha256": {"anonymized.parquet": sha}}
        flows = {"cell": cell, "right": 0.77 if cell else [0.5, 0.6]}
        said = {"release": release, "promise": {"k": 4}, "cost": {"flows": flows}}
        written.write_text(json.dumps(said))
        answer = run(*command)
        assert answer.code == 0
        return " ".join(json.loads(answer.out)["sentences"])

    digest = sha256((here / "anonymized.parquet").read_bytes()).hexdigest()
    assert "Between cells of 1 km, 77 % of the counts are right." in warned("1 km", digest)
    assert "Warning: cells of 1,500 m are too small" in warned("2 km", digest)
    unfit = "not fit for use. Even between cells of 3 km only 50 % to 60 %"
    assert unfit in warned(None, digest)
    assert "is not known" in warned("1 km", "of another file")
    written.write_text("{}")
    assert "is not a certificate of trajanon" in run(*command).sentence


def test_flows_of_one_line_each_are_warned_of(run: Run, here: Path) -> None:
    assert "flows are of one line alone" in run("streets", "--od", 2).out
    assert "of one line alone" not in run("streets", "--od", 50_000).out


@pytest.mark.usefixtures("few_tried")
def test_the_certificate_names_the_cells_for_flows(run: Run, here: Path) -> None:
    assert run("evaluate").code == 0
    certified = json.loads((here / "anonymized.certificate.json").read_text())
    evaluated = json.loads((here / "evaluation.json").read_text())
    assert certified["cost"]["flows"]["cell"] == evaluated["od_cell"]
    assert "is not known" not in run("streets", "--od", 3_000).out

    # Files may have other names than when they were certified.
    for name in ("parquet", "report.json", "certificate.json"):
        (here / f"anonymized.{name}").rename(here / f"madrid.{name}")
    assert "is not known" not in run("streets", "madrid.parquet", "--od", 3_000).out


@pytest.mark.parametrize("suffix", ["parquet", "geojson", "csv"])
def test_names_of_strangers_are_no_formulas_and_steer_no_terminal(
    run: Run, here: Path, suffix: str
) -> None:
    told, seen = '=1+cmd|"/C calc"!A1\x9b2J\u202e', '=1+cmd|"/C calc"!A12J'
    write_town(here, name=told)
    zone = geopandas.GeoDataFrame({"zone": [told]}, geometry=[shapely.box(9, 46, 10, 48)])
    zone.set_crs(4326).to_file(here / "zones.geojson")
    out = here / f"out.{suffix}"
    for column, words in (
        ("name", ("--roads", "town.osm")),
        ("to_zone", ("--od", "zones.geojson")),
    ):
        assert run("streets", *words, "--out", out.name).code == 0
        if suffix == "csv":
            assert pd.read_csv(out)[column].tolist() == [f"'{seen}"]
        else:
            found = geopandas.read_parquet(out) if suffix == "parquet" else geopandas.read_file(out)
            assert found[column].tolist() == [seen]
        assert not {"\x9b", "\u202e"} & {*out.read_text("utf-8", "replace")}


def test_what_cannot_be_counted_is_refused(run: Run, here: Path) -> None:
    before = names(here)
    for words, says in (
        ([], "streets takes one of --roads"),
        (["--roads", "town.osm", "--od", "500"], "streets takes one of --roads"),
        (["--od", "500", "--for", "osrm"], "--for osrm needs the --roads"),
        (["--roads", "town.osm", "--for", "valhalla"], "'valhalla' is not one of 'osrm'"),
        (["--roads", "town.osm", "--for", "osrm", "--out", "x.gpkg"], "x.gpkg must end in .csv"),
        (["--cells", "x"], "cells are metres, or h3:0 to h3:12"),
        (["--cells", "h3:9", "--out", "x.pmtiles"], "takes cells of so many metres"),
        (["--cells", "500", "--hours", "9"], "parts of the day such as 7-9,9-16"),
        (["--roads", "town.osm", "--mode", "boat"], "'boat' is not known"),
        (["--roads", "no.osm.pbf"], "no.osm.pbf"),
        (["--roads", "town.osm", "--out", "out.txt"], "must end in .parquet"),
        (["--roads", "town.osm", "--out", "anonymized.parquet"], "is read as input"),
        (["--od", "no.geojson"], "cannot read no.geojson as zones: No such file"),
    ):
        assert says in run("streets", *words).sentence
    originals = run("streets", "trajectories.parquet", "--roads", "town.osm")
    assert "trajectories.parquet is not a release" in originals.sentence
    assert names(here) == before


def test_parts_are_counted_together(run: Run, tmp_path: Path) -> None:
    write_town(tmp_path)
    write_parts(tmp_path / "trips", drives(100))
    with shards_of(50), patch.object(release, "ROWS_PER_PART", 30):
        assert run("anonymize", "trips", "-k", 4, "--out", "out", "--effort", "fast").code == 0
    assert run("streets", "out", "--roads", "town.osm", "--out", "a.csv").code == 0
    assert pd.read_csv(tmp_path / "a.csv").trips.tolist() == [100]


@pytest.mark.usefixtures("few_tried")
def test_an_evaluation_compares_streets(run: Run, here: Path) -> None:
    answer = run("evaluate", "--roads", "town.osm", "--json")
    assert answer.code == 0
    told = json.loads(answer.out)["streets"]
    assert (told["streets"], told["busiest_error"]) == (1, 0.0)
    assert told["speed_error"] < 0.2
    assert "Counts of trips on 1 streets" in (here / "evaluation.html").read_text()


def test_recordings_without_names_are_not_called_people(run: Run, here: Path) -> None:
    nobody = drives()
    counts = {NAMELESS: 40}
    nobody = replace(nobody, provenance={"trips": True, "counts": counts})
    trajanon.write_trajectories(here / "nobody.parquet", nobody)
    out = ("--out", "nobody.release.parquet", "--times", "of-day")
    assert run("anonymize", "nobody.parquet", "-k", 4, *out, *FAST).code == 0
    for arguments in (
        ["--cells", 500],
        ["--roads", "town.osm"],
        ["--roads", "town.osm", "--for", "osrm"],
    ):
        answer = run("streets", "nobody.release.parquet", *arguments)
        assert answer.code == 0
        assert "At least 4 different recordings stand behind each" in answer.out
        assert "people stand" not in answer.out


def test_tiles_do_not_drop_the_hours_in_silence(run: Run, here: Path) -> None:
    hours = ("--hours", "0-12,12-24")
    refused = run("streets", "--cells", 500, *hours, "--out", "heat.pmtiles").sentence
    assert "counts of all hours together: leave out --hours" in refused
    assert not (here / "heat.pmtiles").exists()


def test_steps_of_k_are_named_where_k_is_known(run: Run, here: Path) -> None:
    assert "small ones to steps of k" in run("streets", "--cells", 500).out
    (here / "anonymized.report.json").unlink()
    said = run("streets", "--cells", 500).out
    assert "Counts are rounded to two digits." in said
