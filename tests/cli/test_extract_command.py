"""trajanon extract: where, from which sources, and what it refuses."""

import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest
from commands import Run, names, track
from osm_server import Fault, OsmServer, serving

from trajanon.files.trajectory_files import read_trajectories


def test_a_file_that_is_named_twice_counts_once(run: Run, tmp_path: Path) -> None:
    for name, lat in (("a", 40.42), ("b", 40.52), ("c", 40.62)):
        (tmp_path / f"{name}.gpx").write_text(track(lat))
    sources = ["a.gpx", "b.gpx", "c.gpx", "a.gpx"]
    answer = run("extract", *sources, "--windows", "--spacing", 5, "--json")
    assert json.loads(answer.out)["counts"]["recordings read"] == 3


def drives(folder: Path, name: str, metres: int) -> None:
    """Eight drives of two people, a fix each 20 s, one of them too short for a trip."""
    rows = [
        f"{40.42 + drive / 1000},{-3.7 + fix * metres / 85_000},{drive},{drive % 2},"
        f"{1_700_000_000 + 10_000 * drive + 20 * fix}\n"
        for drive in range(8)
        for fix in range(20 if drive else 2)
    ]
    (folder / name).write_text("lat,lon,trip_id,user_id,time\n" + "".join(rows))


def test_trips_are_called_trips(run: Run, here: Path) -> None:
    drives(here, "a.csv", 300)
    answer = run("extract", "a.csv")
    assert answer.code == 0
    assert "Wrote 7 trips to trajectories.parquet. Next: trajanon anonymize -k 2" in answer.out
    assert "1 shorter than 500 m" in answer.out
    assert "trajectories " not in answer.out
    written = read_trajectories(here / "trajectories.parquet")
    assert written.times is not None
    assert written.provenance["max_gap"] == 2000
    answer = run("extract", "a.csv", "--max-gap", "none", "--points", 90, "--json")
    told = json.loads(answer.out)
    assert (told["max_gap"], told["trips"], told["spacing"]) == (None, True, None)


def test_what_leaves_out_most_trips_is_told_with_the_way_past(run: Run, here: Path) -> None:
    drives(here, "a.csv", 300)
    said = run("extract", "a.csv", "--max-gap", 200).sentence
    assert "(8 of 8) were left out: 8 with a gap; raise --max-gap" in said
    drives(here, "b.csv", 2_100)
    limits = ("--max-gap", 2_000, "--max-pause", "1h")
    answer = run("extract", "a.csv", "b.csv", *limits)
    said = "56.2 % of the trips (9 of 16) were left out: 8 with a gap, 1 shorter than 500 m; "
    assert f"{said}raise --max-gap, or" in answer.out


def test_trains_are_taken_where_their_speed_is_allowed(run: Run, here: Path) -> None:
    fixes(here, 5, 415, "ab")
    way_out = "2 with a gap; raise --max-gap, or --max-speed"
    assert way_out in run("extract", "a.csv").sentence
    told = run("extract", "a.csv", "--windows", "--spacing", 100).sentence
    assert "raise --max-gap, --max-pause or --max-speed" in told
    for speed, limit in (("90", 90.0), ("none", None)):
        answer = run("extract", "a.csv", "--max-speed", speed, "--json")
        told = json.loads(answer.out)
        assert (told["max_speed"], told["counts"]["trajectories"]) == (limit, 2)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["a.csv", "--max-speed", "fast"], "--max-speed must be a number of metres a s"),
        (["--bbox", "atlantis"], "'atlantis' is not an area: name barcelona, madrid"),
        (["--bbox", "1,2,3"], "four degrees W,S,E,N such as --bbox=-3.75,40.38"),
        (
            ["--bbox=179,-17,-179,-16", "--windows", "--spacing", "9"],
            "degrees: --bbox 179,-17,180,-16 --bbox=-180,",
        ),
        (["--bbox", "2,41,2.1,41.1", "--windows"], "windows need a spacing"),
        (["--bbox", "madrid", "--spacing", "9"], "--spacing 9 is for windows, and whole trips"),
        (["--bbox", "madrid", "--per-recording", "2"], "--per-recording 2 is for windows: add"),
        (["--bbox", "madrid", "--windows", "--per-recording", "x"], "must be 1, or all"),
        ([], "name an area: --bbox barcelona, madrid, tarraco"),
        (["--bbox", "madrid", "--windows", "--min-length", "500"], "is for whole trips: leave out"),
        (["--bbox", "madrid", "--max-gap", "far"], "number of metres, auto, or none"),
        (["--bbox", "madrid", "--max-pause", "later"], "such as 5min or 2h, auto, or none"),
        (["--bbox", "madrid", "--api-url", "osm.org"], "the server 'osm.org'"),
        (["--bbox", "madrid", "--columns", "x"], "--columns 'x' is not understood"),
        (["--bbox", "madrid", "--out", "t.csv"], "t.csv must end in .parquet"),
        (["nowhere.gpx", "--bbox", "madrid"], "there is no file or folder nowhere.gpx"),
        (["a.gpx", "osm-api", "--bbox", "madrid"], "extract them one by"),
    ],
)
def test_extract_refuses_in_one_sentence(
    run: Run, tmp_path: Path, arguments: list[str], says: str
) -> None:
    before = names(tmp_path)
    assert says in run("extract", *arguments).sentence
    assert names(tmp_path) == before


def test_no_network_is_one_sentence(run: Run, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # bound, but nobody listens
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        answer = run("extract", "--bbox", "madrid", "--api-url", url)
    assert answer.code == 2
    assert answer.out == ""
    *tries, last = answer.err.splitlines()
    assert len(tries) == 2
    assert all("trying again in" in line for line in tries)
    assert last.startswith(f"trajanon: {url} cannot be reached, or page 0 broke off")
    assert names(tmp_path) == set()


def test_a_refusal_passes_on_the_servers_words(run: Run) -> None:
    with serving(OsmServer(faults=[Fault(400, body=b"The maximum is 0.25")])) as server:
        answer = run("extract", "--bbox", "madrid", "--api-url", server.url)
    assert "(400: The maximum is 0.25)" in answer.sentence


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("nan,nan,a\n,,a\n", "points impossible, 100 % (2 of 2)"),
        ("-3.7,40.4,a\n-3.7,40.41,a\n", "look whether columns are swapped"),
        ("41.4,2.1,a\n41.41,2.1,a\n", "give their --bbox, W,S,E,N"),
        ("40.4,-3.7,a\n40.401,-3.7,a\n", "1 shorter than 500 m; lower --min-length"),
        ("", "no track points"),
    ],
)
def test_a_table_that_gives_nothing_says_why(
    run: Run, tmp_path: Path, rows: str, says: str
) -> None:
    (tmp_path / "a.csv").write_text("lat,lon,id\n" + rows)
    assert says in run("extract", "a.csv", "--bbox", "madrid").sentence
    assert names(tmp_path) == {"a.csv"}


def fixes(folder: Path, seconds: int, metres: int, animals: str = "ab") -> None:
    """Animals that walk north, with a fix every so many seconds and metres."""
    rows = [
        f"{animal},{40.4 + i * metres / 111_000:.6f},{-3.7 + lane / 100},{170e7 + i * seconds:.0f}"
        for lane, animal in enumerate(animals)
        for i in range(40)
    ]
    (folder / "a.csv").write_text("\n".join(["subject,lat,lon,time", *rows]))


@pytest.mark.parametrize(("pause", "seconds"), [("2h", 7200), ("none", None)])
def test_a_longest_pause_may_be_a_time(run: Run, here: Path, pause: str, seconds: Any) -> None:
    """Fixes an hour apart are no tracks to a limit of half an hour."""
    fixes(here, 3600, 300)
    windows = ("extract", "a.csv", "--windows", "--spacing", 200)
    assert "raise --max-gap, --max-pause or --max-speed" in run(*windows).sentence
    told = json.loads(run(*windows, "--max-pause", pause, "--json").out)
    assert (told["max_pause"], told["counts"]["trajectories"]) == (seconds, 2)


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet", "a.gpx", "a.gpx.gz"])
@pytest.mark.parametrize("content", [b"\x1f\x8b\x08\x00", b"\xff\xfe\x00"])
def test_a_file_that_is_not_what_its_name_says_is_one_sentence(
    run: Run, tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    assert name in run("extract", name, "--windows", "--spacing", 5).sentence


def test_neither_trajectories_nor_a_release_are_a_source(run: Run, here: Path) -> None:
    before = names(here)
    said = run("extract", "trajectories.parquet", "--out", "x.parquet").sentence
    assert "trajectories.parquet is what trajanon extract wrote" in said
    says = "anonymized.parquet is a release, or counts of one, not traces"
    assert says in run("extract", "anonymized.parquet", "--windows", "--spacing", 5).sentence
    assert names(here) == before
    (here / "parts").mkdir()
    (here / "anonymized.parquet").rename(here / "parts" / "part-00000.parquet")
    (here / "anonymized.report.json").rename(here / "parts.parts.report.json")
    for source, says in (
        ("parts", "parts is a release, or counts of one"),
        (".", "holds no file of traces"),
    ):
        assert says in run("extract", source, "--windows", "--spacing", 5).sentence


def test_its_options_are_few_and_stand_in_named_groups(run: Run) -> None:
    told = run("extract", "--help").out
    groups = ["Arguments", "Input", "Area", "Trajectories", "Protection", "Running", "Options"]
    assert re.findall(r"^(\w+):$", told, re.MULTILINE) == groups
    named = re.findall(r"^  (?:-\w, )?(--[\w-]+)", told, re.MULTILINE)
    assert named[-1] == "--help"
    assert len(named) - 1 <= 24
