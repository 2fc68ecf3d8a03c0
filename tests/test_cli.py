"""The commands as people type them: what they print, write, and answer."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from commands import Answer, Run, files_of_at_most
from osm_server import Fault, OsmServer, serving
from shards import walks, write_folder

import trajanon
from trajanon.data import sample
from trajanon.extract import extraction
from trajanon.files.trajectories import read_trajectories, write_trajectories
from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories

FAST = ("--method", "mdav", "--refine", "none")
MADRID_BOX = "-3.7398145,40.387613,-3.653985,40.483515"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, madrid: Trajectories) -> Path:
    """Trajectories, a release and its report, under the names of the commands."""
    folder = tmp_path_factory.mktemp("made")
    write_trajectories(folder / "trajectories.parquet", madrid)
    release = trajanon.anonymize(madrid, k=4, method="mdav", refine="none")
    release.write(folder / "anonymized.parquet")
    return folder


@pytest.fixture
def here(made: Path, run: Run, tmp_path: Path) -> Path:
    """A folder of one's own that holds them."""
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {".cache"}


def track(lat: float = 40.42, lon: float = -3.7, points: int = 40) -> str:
    """A GPX file of an untimed way to the north, 11 m a step."""
    fixes = "".join(
        f'<trkpt lat="{lat + i / 10000:.4f}" lon="{lon}"/>' for i in range(points)
    )
    return f'<gpx creator="me"><trk><trkseg>{fixes}</trkseg></trk></gpx>'


# The whole way


def test_the_default_names_chain(run: Run, tmp_path: Path) -> None:
    extracted = run("extract", "--source", sample(), "--bbox", "madrid")
    assert extracted.code == 0
    assert extracted.err == ""
    assert "Wrote 406 trajectories to trajectories.parquet" in extracted.out
    assert "Next: trajanon anonymize -k 4" in extracted.out
    assert "30 recordings name no subject: each counts as its own." in extracted.out

    anonymized = run("anonymize", "-k", 4)
    assert anonymized.code == 0
    assert "Different subjects in each group" in anonymized.out
    assert "anonymized.report.json: For the holder of the data" in anonymized.out
    assert "Next: trajanon check -k 4" in anonymized.out

    checked = run("check", "-k", 4)
    assert checked.code == 0
    assert checked.err == ""
    assert "anonymized.parquet holds" in checked.out
    assert "Next: trajanon map" in checked.out

    for arguments in (["map"], ["map", "--view", "public", "--out", "public.html"]):
        drawn = run(*arguments)
        assert drawn.code == 0
        assert drawn.out == (
            f"Open {tmp_path / (arguments[-1] if len(arguments) > 1 else 'map.html')} "
            "in a browser.\n"
        )
    assert names(tmp_path) == {
        "trajectories.parquet",
        "anonymized.parquet",
        "anonymized.report.json",
        "map.html",
        "public.html",
    }


@pytest.mark.parametrize("suffix", [".parquet", ".gpkg", ".geojson", ".csv", ".gpx"])
def test_the_suffix_decides_the_format(run: Run, here: Path, suffix: str) -> None:
    out = f"out{suffix}"
    assert run("anonymize", "-k", 4, "--out", out, *FAST).code == 0
    assert (here / "out.report.json").is_file()
    checked = run("check", out, "-k", 4)
    assert checked.code == 0
    assert f"{out} holds" in checked.out
    assert run("map", "trajectories.parquet", out, "--out", "out.html").code == 0


def test_the_next_command_reads_what_was_written(run: Run, here: Path) -> None:
    """Whoever copies it must not get the file of the day before."""
    (here / "a b").mkdir()
    (here / "a.gpx").write_text(track())
    extracted = run("extract", "a.gpx", "--spacing", 5, "--out", "a b/t.parquet")
    assert "Next: trajanon anonymize 'a b/t.parquet' -k 4" in extracted.out
    anonymized = run("anonymize", "-k", 4, "--out", "a b/r.csv", *FAST)
    assert "Next: trajanon check 'a b/r.csv' -k 4" in anonymized.out


def test_paths_may_have_spaces_and_letters_of_any_language(
    run: Run, tmp_path: Path
) -> None:
    folder = tmp_path / "Ä ö ñ 日本"
    folder.mkdir()
    (folder / "a é.gpx").write_text(track())
    (folder / "b é.gpx").write_text(track(40.5))
    trajectories, release = folder / "t ü.parquet", folder / "r ü.geojson"
    assert run("extract", folder, "--spacing", 5, "--out", trajectories).code == 0
    assert run("anonymize", trajectories, "-k", 2, "--out", release).code == 0
    assert run("check", release, "-k", 2).code == 0
    assert run("map", trajectories, release, "--out", folder / "m ü.html").code == 0
    assert (folder / "r ü.report.json").is_file()


def test_demo_ends_with_the_map_to_open(run: Run, tmp_path: Path) -> None:
    answer = run("demo")
    assert answer.code == 0
    folder = tmp_path / "trajanon-demo"
    assert answer.out.splitlines()[-1] == f"Open {folder / 'map.html'} in a browser."
    assert "anonymized.parquet holds" in answer.out
    assert (folder / "map.html").stat().st_size > 10_000
    assert names(tmp_path) == {"trajanon-demo"}


def test_demo_needs_no_network_and_no_home(tmp_path: Path) -> None:
    program = (
        "import socket, sys\n"
        "def refuse(*_): raise OSError('no network in this test')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "sys.argv = ['trajanon', 'demo', 'results']\n"
        "from trajanon.cli.main import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("map.html in a browser.")


def test_demo_in_a_place_that_cannot_be_written_says_so(run: Run) -> None:
    Path("file").touch()
    assert "cannot make the folder file/x" in run("demo", "file/x").sentence
    assert "cannot make the folder file" in run("demo", "file").sentence


@pytest.mark.parametrize("way", [["--bbox", MADRID_BOX], [f"--bbox={MADRID_BOX}"]])
def test_a_box_may_begin_with_a_minus(run: Run, tmp_path: Path, way: list[str]) -> None:
    (tmp_path / "a.gpx").write_text(track())
    assert run("extract", "--source", "a.gpx", *way, "--spacing", 5).code == 0


def test_sources_may_be_named_with_and_without_the_option(
    run: Run, tmp_path: Path
) -> None:
    for name, lat in (("a", 40.42), ("b", 40.52), ("c", 40.62)):
        (tmp_path / f"{name}.gpx").write_text(track(lat))
    sources = ["--source", "a.gpx", "b.gpx", "--source", "c.gpx", "--source", "a.gpx"]
    answer = run("extract", *sources, "--spacing", 5, "--json")
    assert json.loads(answer.out)["counts"]["recordings read"] == 3


def test_the_server_is_the_default_source(run: Run, tmp_path: Path) -> None:
    head = '<gpx version="1.0" creator="OpenStreetMap.org">'
    page = track().replace('<gpx creator="me">', head)
    page = page.replace("/>", "><time>2020-01-01T00:00:00Z</time></trkpt>")
    for second in range(40):
        page = page.replace("T00:00:00Z", f"T00:0{second // 6}:{second % 6}1Z", 1)
    with serving(OsmServer([page.encode()])) as server:
        answer = run(
            "extract", "--bbox", "madrid", "--spacing", 5, "--api-url", server.url
        )
    assert answer.code == 0
    assert server.asked_for == [0, 1]
    assert OSM_ATTRIBUTION in answer.out
    assert read_trajectories(tmp_path / "trajectories.parquet").attribution


def test_tracks_are_kept_unless_they_are_not_wanted(run: Run, here: Path) -> None:
    (here / "a.gpx").write_text(track())
    extract = ["extract", "a.gpx", "--spacing", 5, "--out"]
    assert run(*extract, "with.parquet").code == 0
    assert run(*extract, "without.parquet", "--no-tracks").code == 0
    names = ["trajectory", "subject", "trace", "geometry"]
    assert pq.read_schema(here / "without.parquet").names == names
    names[3:3] = ["run", "start"]
    assert pq.read_schema(here / "with.parquet").names == [*names, "track"]
    kept = read_trajectories(here / "with.parquet")
    left = read_trajectories(here / "without.parquet")
    assert kept.tracks is not None
    assert left.tracks is None
    assert kept.provenance == left.provenance
    assert kept.points.tobytes() == left.points.tobytes()


# JSON


def test_json_is_all_that_a_script_sees(run: Run, here: Path) -> None:
    (here / "a.gpx").write_text(track())
    extracted = run("extract", "a.gpx", "--spacing", 5, "--out", "t.parquet", "--json")
    provenance = json.loads(extracted.out)
    assert provenance["counts"]["trajectories"] == 2
    assert provenance["spacing"] == 5
    anonymized = run("anonymize", "-k", 4, "--json", "--method", "mdav")
    report = json.loads(anonymized.out)
    assert (report["k"], report["n"], report["counted"]) == (4, 406, "subjects")
    assert not {"labels", "sizes", "subjects_per_group"} & set(report)
    checked = run("check", "-k", 4, "--json")
    assert checked.code == 0
    assert json.loads(checked.out)["holds"] is True
    refused = run("check", "-k", 99, "--json")
    assert refused.code == 1
    findings = json.loads(refused.out)
    assert findings["holds"] is False
    assert len(findings["problems"]) == 1
    assert {a.err for a in (extracted, anonymized, checked, refused)} == {""}


def test_json_can_be_printed_in_any_encoding(run: Run, tmp_path: Path) -> None:
    (tmp_path / "é.gpx").write_text(track())
    arguments = ["extract", "é.gpx", "--spacing", "5", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "trajanon", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["source"] == "é.gpx"


@pytest.mark.skipif(sys.platform == "darwin", reason="its names are always UTF-8")
def test_a_file_name_that_is_no_text_is_read_all_the_same(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / os.fsdecode(b"\xff.gpx")).write_text(track())
    assert run("extract", tmp_path, "--spacing", 5).code == 0


# Exit codes of check


def test_check_answers_by_its_exit_code(run: Run, here: Path) -> None:
    assert run("check", "-k", 4).code == 0
    refused = run("check", "-k", 5)
    assert refused.code == 1
    assert refused.out.startswith("anonymized.parquet must not be published:\n- ")
    assert refused.err == ""
    originals = run("check", "trajectories.parquet", "-k", 4)
    assert originals.code == 1
    assert "column 'subject'" in originals.out
    (here / "anonymized.parquet").write_bytes(b"damaged")
    assert "cannot read anonymized.parquet" in run("check", "-k", 4).sentence
    assert "there is no x.csv" in run("check", "x.csv", "-k", 4).sentence


# Bad input of extract


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--bbox", "atlantis"], "'atlantis' is not an area: name barcelona, madrid"),
        (["--bbox", ""], "'' is not an area: name barcelona, madrid, tarraco"),
        (["--bbox", "1,2,3"], "four degrees W,S,E,N such as --bbox=-3.75,40.38"),
        (["--bbox", "1,2,3,4,5"], "is not an area"),
        (["--bbox=179,-17,-179,-16", "--spacing", "9"], "west > east"),
        (
            ["--bbox=179,-17,-179,-16", "--spacing", "9"],
            "give two: --bbox=179,-17,180,-16",
        ),
        (["--bbox", "2,41,3,40", "--spacing", "9"], "south > north"),
        (["--bbox", "2,40,2,41", "--spacing", "9"], "is empty"),
        (["--bbox", "2,40,nan,41", "--spacing", "9"], "not a number"),
        (["--bbox", "2,40,3,99", "--spacing", "9"], "latitudes in -90..90"),
        (["--bbox", "2,41,2.6,41.5", "--spacing", "9"], "0.3 square degrees"),
        (["--bbox", "2,41,2.1,41.1"], "--spacing 100"),
        ([], "say where: --bbox barcelona, madrid, tarraco"),
        (["--bbox", "madrid", "--spacing", "0"], "--spacing must be a positive"),
        (["--bbox", "madrid", "--spacing", "-5"], "--spacing must be a positive"),
        (["--bbox", "madrid", "--spacing", "nan"], "--spacing must be a positive"),
        (["--bbox", "madrid", "--spacing", "x"], "--spacing"),
        (["--bbox", "madrid", "--points", "1"], "--points must be at least 2"),
        (["--bbox", "madrid", "--points", "2.5"], "--points"),
        (["--bbox", "madrid", "--max-gap", "-5"], "--max-gap must be a positive"),
        (["--bbox", "madrid", "--max-gap", "far"], "number of metres, or none"),
        (["--bbox", "madrid", "--max-per-subject", "0"], "--max-per-subject must be"),
        (["--bbox", "madrid", "--max-pages", "0"], "--max-pages must be at least 1"),
        (["--bbox", "madrid", "--api-url", "osm.org"], "the server 'osm.org'"),
        (["--bbox", "madrid", "--api-url", "http://"], "the server 'http://'"),
        (["--bbox", "madrid", "--api-url", "http://127.0.0.1:x"], "127.0.0.1:x"),
        (["--bbox", "madrid", "--api-url", "http://127.0.0.1:99999"], "99999"),
        (["--bbox", "madrid", "--columns", "x"], "--columns 'x' is not understood"),
        (["--bbox", "madrid", "--out", "t.csv"], "t.csv must end in .parquet"),
        (["--bbox", "madrid", "--out", ""], "must end in .parquet"),
        (["--bbox", "madrid", "--out", "no/t.parquet"], "there is no folder"),
        (["--bbox", "madrid", "--frobnicate"], "--frobnicate"),
        (["nowhere.gpx", "--bbox", "madrid"], "there is no nowhere.gpx"),
        (["pyproject.toml", "--bbox", "madrid"], "pyproject.toml"),
        (["a.gpx", "--source", "osm-api", "--bbox", "madrid"], "extract them one by"),
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
    assert last.startswith(f"trajanon: cannot reach {url}: check the connection")
    assert names(tmp_path) == set()


@pytest.mark.parametrize(
    "body", [b"<html>Please sign in</html>", b"<gpx><trk><trkseg><trkpt lat", b"\x00"]
)
def test_a_page_that_is_no_gpx_is_one_sentence(
    run: Run, tmp_path: Path, body: bytes
) -> None:
    (tmp_path / "trajectories.parquet").write_bytes(b"old")
    with serving(OsmServer(faults=[Fault(body=body)])) as server:
        answer = run("extract", "--bbox", "madrid", "--api-url", server.url)
    assert "sent something else than GPX as page 0" in answer.sentence
    assert (tmp_path / "trajectories.parquet").read_bytes() == b"old"


def test_an_answer_that_is_cut_off_is_one_sentence(run: Run, tmp_path: Path) -> None:
    cut = Fault(body=track().encode(), cut=True)
    with serving(OsmServer(faults=[cut] * 3)) as server:
        answer = run("extract", "--bbox", "madrid", "--api-url", server.url)
    assert answer.code == 2
    assert "broke off; run the same command again" in answer.err.splitlines()[-1]


def test_a_refusal_passes_on_the_servers_words(run: Run) -> None:
    with serving(OsmServer(faults=[Fault(400, body=b"The maximum is 0.25")])) as server:
        answer = run("extract", "--bbox", "madrid", "--api-url", server.url)
    assert "(400: The maximum is 0.25)" in answer.sentence


def test_an_empty_answer_is_one_sentence(run: Run) -> None:
    with serving(OsmServer()) as server:
        answer = run("extract", "--bbox", "madrid", "--api-url", server.url)
    assert "the source holds no track points in this area" in answer.sentence


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("nan,nan,a\n,,a\n", "none of the 2 points"),
        ("0,0,a\n0,0,a\n", "none of the 2 points"),
        ("-3.7,40.4,a\n-3.7,40.41,a\n", "latitude and longitude swapped"),
        ("116.4,39.9,a\n116.4,39.91,a\n", "latitude and longitude seem swapped"),
        ("41.4,2.1,a\n41.41,2.1,a\n", "give the box that holds them"),
        ("40.4,-3.7,a\n40.401,-3.7,a\n", "longest unbroken piece of track is 111 m"),
        ("", "no track points"),
    ],
)
def test_a_table_that_gives_nothing_says_why(
    run: Run, tmp_path: Path, rows: str, says: str
) -> None:
    (tmp_path / "a.csv").write_text("lat,lon,id\n" + rows)
    assert says in run("extract", "a.csv", "--bbox", "madrid").sentence
    assert names(tmp_path) == {"a.csv"}


def test_some_bad_rows_do_not_spoil_a_table(run: Run, tmp_path: Path) -> None:
    good = "".join(f"{40.4 + i / 1000},-3.7,a\n" for i in range(50))
    bad = "0,0,a\nnan,2,a\n,,a\n-3.7,140.4,a\n"
    (tmp_path / "a.csv").write_text("lat,lon,id\n" + bad + good + bad)
    answer = run("extract", "a.csv", "--bbox", "madrid")
    assert answer.code == 0
    assert answer.err == ""
    (line,) = [line for line in answer.out.splitlines() if "impossible" in line]
    assert "6" in line


@pytest.mark.parametrize(
    "name", ["a.csv", "a.csv.gz", "a.parquet", "a.gpx", "a.gpx.gz"]
)
@pytest.mark.parametrize(
    "content", [b"", b"\x1f\x8b\x08\x00", b"\xff\xfe\x00", b"PAR1"]
)
def test_a_file_that_is_not_what_its_name_says_is_one_sentence(
    run: Run, tmp_path: Path, name: str, content: bytes
) -> None:
    (tmp_path / name).write_bytes(content)
    assert name in run("extract", name, "--spacing", 5).sentence


def test_a_file_that_may_not_be_read_is_one_sentence(run: Run, tmp_path: Path) -> None:
    for name in ("a.gpx", "a.csv", "a.parquet"):
        (tmp_path / name).symlink_to(tmp_path / "gone")
        assert name in run("extract", name, "--spacing", 5).sentence


def test_trajectories_are_no_source(run: Run, here: Path) -> None:
    """Given where traces are wanted."""
    answer = run(
        "extract", "trajectories.parquet", "--spacing", 5, "--out", "x.parquet"
    )
    assert "trajectories.parquet is what trajanon extract wrote" in answer.sentence
    assert "trajanon anonymize" in answer.sentence


# Bad input of anonymize


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "'-k'"),
        (["-k", "1"], "k must be at least 2 (got 1)"),
        (["-k", "0"], "k must be at least 2"),
        (["-k", "-4"], "k must be at least 2"),
        (["-k", "four"], "-k"),
        (["-k", "."], "-k"),
        (["-k", "407"], "406 records cannot form a group of k = 407"),
        (["-k", "9" * 30], "406 records cannot form a group"),
        (["-k", "150"], "406 records come from 133 subjects"),
        (["-k", "150"], "or count trajectories with --count records"),
        (["-k", "407", "--count", "records"], "406 records cannot form a group"),
        (["-k", "4", "--count", "people"], "choose from subjects, records"),
        (["-k", "4", "--method", "best"], "choose from hm2, mdav, v-mdav"),
        (["-k", "4", "--heuristic", "x"], "choose from or-opt"),
        (["-k", "4", "--refine", "x"], "choose from none, anneal, descent"),
        (["-k", "4", "--effort", "x"], "choose from fast, balanced, best"),
        (["-k", "4", "--seed", "-1"], "seed must be a whole number from 0"),
        (["-k", "4", "--seed", "x"], "--seed"),
        (["-k", "4", "--out", "a"], "choose one of .parquet, .gpkg, .geojson"),
        (["-k", "4", "--out", "a.txt"], "a.txt does not end like a release"),
        (["-k", "4", "--out", ""], "does not end like a release"),
        (["-k", "4", "--out", "no/a.csv"], "cannot write no/a.csv: there is no folder"),
        (["-k", "4", "--out", "folder.csv"], "cannot write folder.csv: it is a folder"),
        (["-k", "4", "--out", "/proc/a.csv"], "cannot write /proc/a.csv"),
        (["none.parquet", "-k", "4"], "there is no none.parquet; make it with: trajan"),
        (["folder.csv", "-k", "4", "--out", "a.csv"], "folder.csv"),
        (["damaged.parquet", "-k", "4"], "cannot read damaged.parquet as Parquet"),
        (["table.parquet", "-k", "4"], "table.parquet"),
        (["trajectories.parquet", "more.parquet", "-k", "4"], "more.parquet"),
    ],
)
def test_anonymize_refuses_in_one_sentence(
    run: Run, here: Path, arguments: list[str], says: str
) -> None:
    (here / "folder.csv").mkdir()
    (here / "damaged.parquet").write_bytes(
        (here / "trajectories.parquet").read_bytes()[:-99]
    )
    pd.DataFrame({"lat": [1.0], "lon": [2.0]}).to_parquet(here / "table.parquet")
    release = (here / "anonymized.parquet").read_bytes()
    before = names(here)
    assert says in run("anonymize", *arguments).sentence
    assert names(here) == before
    assert (here / "anonymized.parquet").read_bytes() == release


def test_nothing_extracted_yet_names_the_command_to_begin_with(run: Run) -> None:
    assert (
        "make it with: trajanon extract --bbox madrid"
        in run("anonymize", "-k", 4).sentence
    )
    assert "make it with: trajanon anonymize -k 4" in run("check", "-k", 4).sentence
    assert "make it with: trajanon" in run("map").sentence
    assert (
        "make it with: trajanon anonymize -k 4"
        in run("map", "--view", "public").sentence
    )


def test_counting_records_is_said_in_the_first_line_of_the_report(
    run: Run, here: Path
) -> None:
    answer = run("anonymize", "-k", 150, "--count", "records")
    assert answer.code == 0
    assert "k counts trajectories, not subjects" in answer.out
    first = (here / "anonymized.report.json").read_text().splitlines()[0]
    assert "k counts trajectories, not subjects" in first


# Tables of numbers

TABLE = "name,income,age,town\n" + "".join(
    f"n{i},{1000 + 7 * i * i},{20 + i},{'AB'[i % 2]}\n" for i in range(9)
)


@pytest.fixture
def table(run: Run, tmp_path: Path) -> Path:
    """A folder with people.csv: a name, two columns of numbers, a town."""
    (tmp_path / "people.csv").write_text(TABLE)
    return tmp_path


def words(answer: Answer) -> str:
    """What was said, without the frame of the table and its line breaks."""
    return " ".join(answer.out.replace("│", " ").split())


def test_a_table_is_microaggregated(run: Run, table: Path) -> None:
    answer = run("microaggregate", "people.csv", "-k", 3)
    assert answer.code == 0
    assert answer.err == ""
    for said in (
        "Rows 9 ",
        "Columns microaggregated income, age ",
        "Columns dropped name, town ",
        "Groups 3 ",
        "Rows in each group at least 3 ",
        "Group sizes 3 to 3 ",
        "Time for the path ",
        "Information loss after MHM ",
        "Information loss after descent ",
        "Information loss after annealing ",
        "The rows keep the order of people.csv: whoever knows that order knows whose",
        "k counts rows: if several can be of one person or company, name the column",
    ):
        assert said in words(answer), said
    assert "kept" not in answer.out
    assert answer.out.endswith("Wrote 9 rows to microaggregated.csv.\n")
    assert names(table) == {"people.csv", "microaggregated.csv"}
    lines = (table / "microaggregated.csv").read_text().splitlines()
    assert lines[0] == "income,age"
    assert lines[1:] == [line for line in lines[1::3] for _ in range(3)]
    assert (table / "people.csv").read_text() == TABLE


def test_kept_columns_are_named_in_a_warning(run: Run, table: Path) -> None:
    answer = run(
        "microaggregate", "people.csv", "-k", 3, "--keep", "town", "--columns", "age"
    )
    assert "Columns microaggregated age " in words(answer)
    assert "Columns kept town " in words(answer)
    assert "Columns dropped name, income " in words(answer)
    assert (
        "Warning: kept as they are: town. Such columns can identify; only the "
        "microaggregated ones are k-anonymous." in answer.out
    )
    assert (table / "microaggregated.csv").read_text().startswith("age,town\n21.0,A\n")


def test_a_subject_is_counted_and_not_written(run: Run, table: Path) -> None:
    answer = run("microaggregate", "people.csv", "-k", 2, "--subject", "town")
    assert "Different subjects in each group at least 2 " in words(answer)
    assert "Columns dropped name, town " in words(answer)
    assert "k counts rows" not in answer.out


def test_names_of_columns_are_printed_as_they_are(run: Run, table: Path) -> None:
    """Brackets are markup to rich, and commas part names."""
    (table / "odd.csv").write_text('"[red]a[/red], b",[bold],:c:\n1,2,3\n1,2,3\n')
    answer = run(
        "microaggregate", "odd.csv", "-k", 2, "--columns", '"[red]a[/red], b",[bold]'
    )
    assert "Columns microaggregated [red]a[/red], b, [bold] " in words(answer)
    assert "Columns dropped :c: " in words(answer)


def test_json_of_a_table_is_all_that_a_script_sees(run: Run, table: Path) -> None:
    answer = run(
        "microaggregate", "people.csv", "-k", 3, "--keep", "all", "--json", *FAST
    )
    assert answer.err == ""
    report = json.loads(answer.out)
    assert report.pop("information_loss") == report["stages"][-1]["information_loss"]
    assert [stage["name"] for stage in report.pop("stages")] == ["mdav"]
    assert "name, town" in report.pop("notices")[0]
    assert report == {
        "n": 9,
        "k": 3,
        "counted": "rows",
        "columns": ["income", "age"],
        "kept": ["name", "town"],
        "dropped": [],
        "groups": 3,
        "sizes": {"min": 3, "max": 3},
        "stopped": False,
        "out": "microaggregated.csv",
    }


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "file"),
        (["people.csv"], "'-k'"),
        (["people.csv", "-k", "1"], "k must be at least 2 (got 1)"),
        (["people.csv", "-k", "x"], "-k"),
        (["people.csv", "-k", "10"], "9 records cannot form a group of k = 10; lower"),
        (["people.csv", "-k", "3", "--subject", "town"], "come from 2 subjects"),
        (["people.csv", "-k", "3", "--columns", "a\nb"], "as column names between"),
        (["people.csv", "-k", "3", "--method", "x"], "choose from hm2, mdav, v-mdav"),
        (["people.csv", "-k", "3", "--seed", "-1"], "seed must be a whole number"),
        (["people.csv", "-k", "3", "--out", "a.txt"], "choose one of .csv, .parquet"),
        (["people.csv", "-k", "3", "--out", "people.csv"], "is read as input"),
        (["people.csv", "-k", "3", "--columns", ""], "no column of people.csv is"),
        (["people.csv", "-k", "3", "--columns", "agee"], "has no column 'agee'; did"),
        (["people.csv", "-k", "3", "--columns", "age,"], "has no column ''"),
        (["people.csv", "-k", "3", "--columns", "town"], "column 'town' of people.csv"),
        (["people.csv", "-k", "3", "--keep", "all,age"], "has no column 'all'"),
        (["people.csv", "-k", "3", "--subject", "who"], "has no column 'who'"),
        (
            ["people.csv", "-k", "3", "--columns", "age", "--keep", "town,age"],
            "column 'age' is named by both --columns and --keep",
        ),
        (["none.csv", "-k", "3"], "there is no none.csv; name a table that ends in"),
        (["people.txt", "-k", "3"], "people.txt does not end like a table"),
        (["folder.csv", "-k", "3"], "cannot read folder.csv as a table"),
        (["people.csv", "people.csv", "-k", "3"], "people.csv"),
    ],
)
def test_microaggregate_refuses_in_one_sentence(
    run: Run, table: Path, arguments: list[str], says: str
) -> None:
    (table / "folder.csv").mkdir()
    (table / "microaggregated.csv").write_text("old")
    before = names(table)
    assert says in run("microaggregate", *arguments).sentence
    assert names(table) == before
    assert (table / "microaggregated.csv").read_text() == "old"
    assert (table / "people.csv").read_text() == TABLE


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "a.csv is empty; a table has a header"),
        (b"\n\n", "a.csv is empty"),
        (b"\xef\xbb\xbf", "a.csv is empty"),
        (b"a,b\n", "a.csv has a header but no rows; add a row"),
        (b"a,b,a\n1,2,3\n", "a.csv has two columns 'a'; rename one of them"),
        (b",a\n1,2\n", "column 1 of a.csv has no name; name it in the header"),
        (b"a;b\n1;2\n", "a.csv has one column, 'a;b': its values seem to be separated"),
        (b"a;b\n1,5;2,5\n", "separated by ';'; save it with commas"),
        (b"a\tb\n1\t2\n", "separated by '\\t'"),
        (b"sep=;\na;b\n1;2\n", "separated by ';'"),
        (b"a,b\n1,2\n1,2,3\n", "in line 3, saw 3; each row needs as many values"),
        (b'a,b\n1,"2\n3,4\n', "cannot read a.csv as a table"),
        (b"a,b\n1,2\n3,\n", "column 'b' of a.csv is empty in data row 2; fill it in"),
        (b"a,b\n1,2\n3\n", "column 'b' of a.csv is empty in data row 2"),
        (b"a,b\n1,2\n1,NA\n", "holds 'NA' in data row 2, which is no finite number"),
        (b"a,b\n1,2\n1,2\n1,2o\n", "column 'b' of a.csv holds '2o' in data row 3"),
        (b"a,b\n1,2\n-inf,2\n", "column 'a' of a.csv holds '-inf' in data row 2"),
        (b"a,b\n1,2\n1,1e999\n", "column 'b' of a.csv holds '1e999' in data row 2"),
        (b"a,b\nx,y\nx,y\n", "no column of a.csv is there to microaggregate"),
        (b"a,b\n\xf1,2\n", "save it as UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "save it as UTF-8"),
    ],
)
def test_a_table_that_cannot_be_used_is_one_sentence(
    run: Run, tmp_path: Path, content: bytes, says: str
) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    arguments = ["--columns", "b"] if b"NA" in content else []
    assert says in run("microaggregate", "a.csv", "-k", 2, *arguments).sentence
    assert names(tmp_path) == {"a.csv"}


@pytest.mark.parametrize("content", [b"", b"PAR1", b"a,b\n1,2\n"])
def test_what_is_no_parquet_is_one_sentence(
    run: Run, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / "a.parquet").write_bytes(content)
    said = run("microaggregate", "a.parquet", "-k", 2).sentence
    assert "cannot read a.parquet as a table" in said


def test_a_row_that_is_too_rare_is_not_written(
    run: Run, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the cause: the file is looked at as it was written."""
    from trajanon.files import numeric_table

    write = numeric_table.write

    def rounds(path: Path, released: pd.DataFrame) -> None:
        released.iloc[0, 0] += 1e-9
        write(path, released)

    monkeypatch.setattr(numeric_table, "write", rounds)
    said = run("microaggregate", "people.csv", "-k", 2).sentence
    assert "occurs 1 times as written, and k is 2" in said
    assert names(table) == {"people.csv"}


# Outputs


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        (["extract", "points.parquet", "--spacing", "5"], "points.parquet"),
        (["anonymize", "-k", "4"], "trajectories.parquet"),
        (["map"], "trajectories.parquet"),
        (["map"], "anonymized.parquet"),
        (["map"], "anonymized.report.json"),
        (["map", "--view", "public", "anonymized.parquet"], "anonymized.parquet"),
        (["microaggregate", "points.parquet", "-k", "2"], "points.parquet"),
    ],
)
def test_an_input_is_never_an_output(
    run: Run, here: Path, arguments: list[str], read: str
) -> None:
    pd.DataFrame({"lat": [1.0], "lon": [2.0], "id": 1}).to_parquet("points.parquet")
    before = (here / read).read_bytes()
    link = "link.html" if arguments[0] == "map" else "link.parquet"
    (here / link).symlink_to(here / read)
    assert "is read as input" in run(*arguments, "--out", link).sentence
    assert read in run(*arguments, "--out", read).sentence
    assert (here / read).read_bytes() == before


def test_the_report_of_a_release_is_no_input_either(run: Run, here: Path) -> None:
    """--out a.csv writes a.report.json too."""
    (here / "t.report.json").write_bytes((here / "trajectories.parquet").read_bytes())
    answer = run("anonymize", "t.report.json", "-k", 4, "--out", "t.csv")
    assert "t.report.json is read as input" in answer.sentence


def test_a_source_inside_a_folder_is_no_output(run: Run, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    source = tmp_path / "folder" / "a.parquet"
    source.write_bytes(b"a table")
    answer = run("extract", "folder", "--spacing", 5, "--out", source)
    assert "is read as input" in answer.sentence
    assert source.read_bytes() == b"a table"


@pytest.mark.parametrize(
    "arguments",
    [
        ["extract", str(sample()), "--bbox", "madrid", "--out", "{}.parquet"],
        ["anonymize", "-k", "4", "--out", "{}.csv"],
        ["map", "--out", "{}.html"],
        ["microaggregate", "points.csv", "-k", "2", "--out", "{}.csv"],
    ],
)
@pytest.mark.parametrize(
    ("place", "says"),
    [("no/out", "there is no folder"), ("folder", "it is a folder"), ("/proc/out", "")],
)
def test_an_output_that_cannot_be_written_is_found_out_before_the_work(
    run: Run, here: Path, arguments: list[str], place: str, says: str
) -> None:
    out = arguments[-1].format(place)
    if place == "folder":
        (here / out).mkdir()
    before = names(here)
    answer = run(*arguments[:-1], out)
    assert f"cannot write {out}: {says}" in answer.sentence
    assert names(here) == before


@pytest.mark.parametrize(
    ("arguments", "out"),
    [
        (["extract", str(sample()), "--bbox", "madrid"], "trajectories.parquet"),
        (["anonymize", "-k", "2", *FAST], "anonymized.parquet"),
        (["anonymize", "-k", "2", *FAST, "--out", "a.csv"], "a.csv"),
        (["anonymize", "-k", "2", *FAST, "--out", "a.gpkg"], "a.gpkg"),
        (["map"], "map.html"),
        (["microaggregate", "long.csv", "-k", "2", *FAST], "microaggregated.csv"),
    ],
)
def test_a_full_disk_is_one_sentence(
    run: Run, here: Path, arguments: list[str], out: str
) -> None:
    (here / "long.csv").write_text("a\n" + "0.123456789012345\n" * 1000)
    before = {name: (here / name).read_bytes() for name in names(here)}
    with files_of_at_most(9000):
        answer = run(*arguments)
    assert answer.sentence.startswith(f"trajanon: cannot write {out}: ")
    assert {name: (here / name).read_bytes() for name in names(here)} == before


# Bad input of map


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["one.parquet"], "map takes two files"),
        (["1", "2", "3"], "map takes two files"),
        (["--view", "public", "1", "2", "3"], "map takes two files"),
        (["none.parquet", "anonymized.parquet"], "there is no none.parquet"),
        (["trajectories.parquet", "none.parquet"], "there is no none.parquet"),
        (["anonymized.parquet", "trajectories.parquet"], "trajectories.report.json"),
        (["--tiles", "Nowhere"], "no street map is called 'Nowhere'"),
        (["--out", "map"], ".html"),
        (["--out", "precious.parquet"], ".html"),
    ],
)
def test_map_refuses_in_one_sentence(
    run: Run, here: Path, arguments: list[str], says: str
) -> None:
    before = names(here)
    assert says in run("map", *arguments).sentence
    assert names(here) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["trajectories.parquet"],
        ["anonymized.parquet", "trajectories.parquet"],
    ],
)
def test_a_public_map_never_shows_originals(
    run: Run, here: Path, arguments: list[str]
) -> None:
    """Arguments are easily swapped, and the page would say that it is the release."""
    assert "trajectories.parquet" in run("map", "--view", "public", *arguments).sentence
    assert not (here / "map.html").exists()


def test_a_missing_report_names_the_ways_out(run: Run, here: Path) -> None:
    (here / "anonymized.report.json").unlink()
    said = run("map").sentence
    assert "there is no anonymized.report.json" in said
    assert "trajanon anonymize again" in said
    assert "--view public" in said
    assert run("map", "--view", "public").code == 0


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"n": 1}', "\x00"])
def test_a_damaged_report_is_one_sentence(run: Run, here: Path, text: str) -> None:
    (here / "anonymized.report.json").write_text(text)
    assert "trajanon anonymize again" in run("map").sentence


def test_a_report_of_another_release_is_one_sentence(run: Run, here: Path) -> None:
    report = here / "anonymized.report.json"
    text = report.read_bytes()
    assert run("anonymize", "-k", 7, *FAST).code == 0
    report.write_bytes(text)
    assert "do not belong together: run trajanon anonymize again" in run("map").sentence


def test_originals_of_another_release_are_one_sentence(run: Run, here: Path) -> None:
    (here / "a.gpx").write_text(track())
    assert run("extract", "a.gpx", "--spacing", 5).code == 0
    assert "do not belong together: run trajanon anonymize again" in run("map").sentence


# The command line itself


@pytest.mark.parametrize("arguments", [["-h"], ["--help"], ["extract", "--help"]])
def test_help_is_on_standard_output(run: Run, arguments: list[str]) -> None:
    answer = run(*arguments)
    assert answer.code == 0
    assert answer.err == ""
    assert answer.out.startswith("Usage: ")
    assert "GPS" in answer.out


def test_no_command_shows_what_there_is(run: Run) -> None:
    """As a help, not as an error."""
    answer = run()
    assert answer.code == 0
    assert answer.err == ""
    assert answer.out.startswith("Usage: ")
    assert "Begin with: trajanon demo" in " ".join(answer.out.split())


def test_the_version_is_told(run: Run) -> None:
    from importlib.metadata import version

    answer = run("--version")
    assert answer.code == 0
    assert version("trajanon") in answer.out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["frobnicate"], "frobnicate"),
        (["anonymise", "-k", "4"], "anonymise"),
        (["--frobnicate"], "--frobnicate"),
        (["check"], "-k"),
        (["check", "-k"], "-k"),
        (["check", "-k", "1"], "k must be at least 2"),
        (["check", "a.txt", "-k", "4"], "choose one of .parquet"),
        (["check", ".", "-k", "4"], ". holds no part of a release"),
    ],
)
def test_what_is_not_understood_is_one_sentence(
    run: Run, arguments: list[str], says: str
) -> None:
    assert says in run(*arguments).sentence


def test_a_mistake_of_ours_is_not_hidden(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only a user's mistake is one sentence; a bug keeps its traceback."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(extraction.Extraction, "write", broken)
    answer = run("extract", str(sample()), "--bbox", "madrid")
    assert answer.code not in (0, 1, 2)  # 1 is a release that does not hold
    assert "Traceback" in answer.err
    assert "ZeroDivisionError" in answer.err


def test_an_end_of_file_inside_is_not_taken_for_ctrl_c(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise EOFError

    monkeypatch.setattr(extraction.Extraction, "write", broken)
    try:
        code = run("extract", str(sample()), "--bbox", "madrid").code
    except EOFError:
        return
    assert code != 130


# Ctrl-C


def test_ctrl_c_is_one_sentence(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(extraction.Extraction, "write", interrupted)
    before, old = names(here), (here / "trajectories.parquet").read_bytes()
    answer = run("extract", str(sample()), "--bbox", "madrid")
    assert answer.code == 130
    assert answer.err.strip() == "trajanon: stopped; no file was left half-written"
    assert names(here) == before
    assert (here / "trajectories.parquet").read_bytes() == old


@contextmanager
def command(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command in a process of its own, which ends with the test."""
    with subprocess.Popen(
        [sys.executable, "-m", "trajanon", *arguments],
        cwd=folder,
        env={**os.environ, "NO_PROXY": "127.0.0.1", "XDG_CACHE_HOME": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def is_stopped_in_one_sentence(process: subprocess.Popen[str]) -> bool:
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert out == ""
    assert "Traceback" not in err
    return err.strip() == "trajanon: stopped; no file was left half-written"


def test_ctrl_c_stops_a_download(tmp_path: Path) -> None:
    """The server takes the request and never answers."""
    (tmp_path / "trajectories.parquet").write_bytes(b"old")
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
        with command(
            tmp_path, "extract", "--bbox", "madrid", "--api-url", url
        ) as process:
            connection, _ = server.accept()
            with connection:
                assert connection.recv(3) == b"GET"
                time.sleep(0.5)  # now it waits for the answer
                stopped = is_stopped_in_one_sentence(process)
    assert (tmp_path / "trajectories.parquet").read_bytes() == b"old"
    assert names(tmp_path) <= {"trajectories.parquet", "trajanon"}
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]
    assert stopped


def test_ctrl_c_stops_the_search(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    n = 20_000
    points = np.cumsum(random.normal(0, 0.001, (n, 30, 2)), axis=1)
    points += np.array((40.0, -3.0)) + random.normal(0, 0.1, (n, 1, 2))
    write_trajectories(
        tmp_path / "trajectories.parquet",
        Trajectories(points, np.arange(n), np.arange(n)),
    )
    for name in ("anonymized.parquet", "anonymized.report.json"):
        (tmp_path / name).write_bytes(b"old")
    before = names(tmp_path)
    with command(tmp_path, "anonymize", "-k", "4") as process:
        while names(tmp_path) == before and process.poll() is None:
            time.sleep(0.01)  # until its drafts are there
        stopped = is_stopped_in_one_sentence(process)
    assert names(tmp_path) == before
    assert (tmp_path / "anonymized.parquet").read_bytes() == b"old"
    assert (tmp_path / "anonymized.report.json").read_bytes() == b"old"
    assert stopped


@pytest.mark.parametrize(("end", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_an_end_from_outside_leaves_no_originals(
    tmp_path: Path, end: str, code: int
) -> None:
    write_folder(tmp_path / "trips", walks(20_000), rows=20_000)
    with command(tmp_path, "anonymize", "trips", "-k", "4") as process:
        while names(tmp_path) == {"trips"} and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(getattr(signal, end))
        _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Traceback" not in err
    assert names(tmp_path) == {"trips"}


# Progress


def test_bars_are_silent_where_nobody_looks(tmp_path: Path) -> None:
    with command(tmp_path, "extract", str(sample()), "--bbox", "madrid") as process:
        out, err = process.communicate()
    assert process.returncode == 0
    assert err == ""
    assert "\x1b" not in out
    assert "What became of the points" in out


def test_bars_are_shown_on_a_terminal_and_go_away(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "trajanon",
            "extract",
            str(sample()),
            "--bbox",
            "madrid",
        ],
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm"},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux says so when the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait() == 0
    assert b"Reading 12 files" in shown
    assert b"\x1b[?25h" in shown  # the cursor is back
