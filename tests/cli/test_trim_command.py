"""trajanon trim: one person's tracks, before they are shared."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import Run
from tracks import GEOD, line

from trajanon.extract import traces

HOME = (40.4, -3.7)
RIDE = """<?xml version="1.0"?>
<gpx version="1.1" creator="Watch 9" xmlns="http://www.topografix.com/GPX/1/1"
 xmlns:h="http://www.garmin.com/xmlschemas/TrackPointExtension/v1">
<metadata><name>From home</name><author><name>Ada</name></author></metadata>
<wpt lat="40.4" lon="-3.7"><name>Home</name></wpt>
<trk><name>Ada's ride</name><desc>secret</desc><trkseg>{points}</trkseg></trk></gpx>
"""
POINT = (
    '<trkpt lat="{:.7f}" lon="{:.7f}"><ele>651</ele><time>2026-05-01T10:{:02}:{:02}.5Z</time>'
    "<extensions><h:TrackPointExtension><h:hr>151</h:hr></h:TrackPointExtension></extensions>"
    "</trkpt>"
)


@pytest.fixture
def ride(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ride of 4 km with all that a watch writes, and a key."""
    monkeypatch.chdir(tmp_path)
    track = line(list(np.arange(0.0, 4_000.0, 10.0)))
    fixes = zip(track.lat, track.lon, strict=True)
    text = "".join(POINT.format(*fix, *divmod(number, 60)) for number, fix in enumerate(fixes))
    Path("ride.gpx").write_text(RIDE.format(points=text), "utf-8")
    return Path("ride.gpx")


def test_a_ride_keeps_its_way_and_times_and_nothing_else(run: Run, ride: Path) -> None:
    answer = run("trim", ride, "--key", "key")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0].startswith("This is not k-anonymity")
    assert " of 4.0 km" in answer.out or " of 3,990 m" in answer.out
    assert "A place where you stay once is left in: name it with --hide." in answer.out
    assert "Drew 2 circles around places to hide. Cut " in answer.out

    text = Path("trimmed.gpx").read_text("utf-8")
    for word in ("Watch", "Ada", "Home", "secret", "ele", "hr", "desc", "name", ".5Z"):
        assert word not in text
    (left,) = traces("trimmed.gpx")
    home = np.tile(HOME, (len(left), 1))
    metres = np.array(GEOD.inv(home[:, 1], home[:, 0], left.lon, left.lat)[2])
    assert 200.0 < metres.min() < 900.0
    assert metres.max() < 3_790.0
    assert (np.diff(left.time) == 1.0).all()


def test_without_times_none_is_written_and_a_table_comes_out(run: Run, ride: Path) -> None:
    answer = run("trim", ride, "--key", "key", "--no-times", "--out", "ride.csv", "--json")
    counts = json.loads(answer.out)
    assert counts["tracks"] == counts["tracks_left"] == 1
    assert 400.0 < counts["metres_cut"] < counts["metres"] == pytest.approx(3_990.0, abs=1.0)
    rows = pd.read_csv("ride.csv")
    assert list(rows.columns) == ["id", "part", "lat", "lon", "time"]
    assert rows["time"].isna().all()
    assert len(rows) > 200


def test_a_place_in_a_file_is_hidden_too(run: Run, ride: Path) -> None:
    lon, lat, _ = GEOD.fwd(HOME[1], HOME[0], 90.0, 2_000.0)
    point = {"type": "Point", "coordinates": [lon, lat]}
    Path("school.geojson").write_text(json.dumps(point), "utf-8")
    for hide in ("school.geojson", f"{lat},{lon}"):
        run("trim", ride, "--key", "key", "--radius", "100-220", "--hide", hide, "--out", "x.csv")
        rows = pd.read_csv("x.csv")
        away = GEOD.inv([lon] * len(rows), [lat] * len(rows), rows["lon"], rows["lat"])[2]
        assert min(away) > 100.0


def test_several_names_are_taken_as_one_person(run: Run, ride: Path) -> None:
    table = pd.DataFrame({"lat": np.arange(40.0, 40.1, 0.0005), "lon": 2.0})
    both = [table.assign(id=name, subject=name) for name in ("Ada", "Bob")]
    pd.concat(both).to_csv("both.csv", index=False)
    answer = run("trim", "both.csv", "--key", "key")
    assert "2 names of people, and are treated as one person's" in answer.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ride.gpx", "--radius", "500-200"], "--radius"),
        (["ride.gpx", "--radius", "1500-3000"], "nothing is left"),
        (["ride.gpx", "--hide", "nowhere"], "'nowhere' is not a place: write a latitude"),
        (["ride.gpx", "--hide", "240.4,3"], "no places on Earth"),
        (["ride.gpx", "--hide", "wide.geojson"], "name several points in it"),
        (["ride.gpx", "--out", "ride.fit"], "ride.fit must end in .gpx or .csv"),
        (["ride.gpx", "--out", "ride.gpx"], "ride.gpx"),
        (["none.gpx"], "none.gpx"),
        (["empty.csv"], "no points on Earth"),
    ],
)
def test_what_cannot_be_trimmed_is_one_sentence(
    run: Run, ride: Path, arguments: list[str], words: str
) -> None:
    Path("empty.csv").write_text("id,lat,lon\na,0,0\n", "utf-8")
    square = [[[2.0, 41.0], [2.1, 41.0], [2.1, 41.1], [2.0, 41.0]]]
    Path("wide.geojson").write_text(json.dumps({"type": "Polygon", "coordinates": square}), "utf-8")
    before = ride.read_text("utf-8")
    answer = run("trim", *arguments, "--key", "key")
    assert (answer.code, answer.out) == (2, "")
    assert words in answer.err
    assert ride.read_text("utf-8") == before
    assert not Path("trimmed.gpx").exists()
    # Only where circles had to be drawn was a key made.
    assert Path("key").exists() == (words == "nothing is left")
