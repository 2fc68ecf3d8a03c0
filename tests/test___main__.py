"""The command line as a whole: how commands chain, answer, and refuse."""

import json
import os
import sys
from pathlib import Path

import pytest
from commands import FAST, Run, names, track

from trajanon.data import sample


def test_the_default_names_chain(run: Run, tmp_path: Path) -> None:
    extracted = run("extract", sample(), "--bbox", "madrid")
    assert extracted.code == 0
    assert extracted.err == ""
    assert "Wrote 273 trips to trajectories.parquet" in extracted.out
    assert "Next: trajanon anonymize -k 4" in extracted.out
    assert "30 recordings have no name: they count as one person (--columns nameless=different" in (
        " ".join(extracted.out.split())
    )

    anonymized = run("anonymize", "-k", 4)
    assert anonymized.code == 0
    assert anonymized.out.startswith("Ready to publish")
    assert "each shared by at least 4 people, stand for" in anonymized.out
    assert "Keep anonymized.report.json private: it says who is in which group." in anonymized.out
    assert "Next: trajanon check -k 4" in anonymized.out

    checked = run("check", "-k", 4)
    assert checked.code == 0
    assert checked.err == ""
    assert "anonymized.parquet holds" in checked.out
    assert "Next: trajanon evaluate, then trajanon map" in checked.out

    drawn = run("map")
    assert drawn.code == 0
    keep_private = "(keep it private: it shows the originals)"
    assert drawn.out == f"Open {tmp_path / 'map.html'} in a browser {keep_private}.\n"
    files = {"trajectories.parquet", "anonymized.parquet", "anonymized.report.json", "map.html"}
    assert names(tmp_path) == files


def test_the_next_command_reads_what_was_written(run: Run, here: Path) -> None:
    """Whoever copies it must not get the file of the day before."""
    (here / "a b").mkdir()
    (here / "a.gpx").write_text(track())
    (here / "b.gpx").write_text(track(40.5))
    sources = ("a.gpx", "b.gpx")
    extracted = run("extract", *sources, "--windows", "--spacing", 5, "--out", "a b/t.parquet")
    assert "Next: trajanon anonymize 'a b/t.parquet' -k 2" in extracted.out
    anonymized = run("anonymize", "-k", 4, "--out", "a b/r.csv", *FAST)
    assert "Next: trajanon check 'a b/r.csv' -k 4" in anonymized.out


def test_paths_may_have_spaces_and_letters_of_any_language(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "Ä ö ñ 日本"
    folder.mkdir()
    (folder / "a é.gpx").write_text(track())
    (folder / "b é.gpx").write_text(track(40.4205))
    trajectories, release = folder / "t ü.parquet", folder / "r ü.geojson"
    assert run("extract", folder, "--windows", "--spacing", 5, "--out", trajectories).code == 0
    assert run("anonymize", trajectories, "-k", 2, "--out", release).code == 0
    assert run("check", release, "-k", 2).code == 0
    assert run("map", trajectories, release, "--out", folder / "m ü.html").code == 0
    assert (folder / "r ü.report.json").is_file()


def test_json_is_all_that_a_script_sees(run: Run, here: Path) -> None:
    (here / "a.gpx").write_text(track())
    extracted = run("extract", "a.gpx", "--windows", "--spacing", 5, "--out", "t.parquet", "--json")
    provenance = json.loads(extracted.out)
    assert provenance["counts"]["trajectories"] == 1
    assert provenance["spacing"] == 5
    anonymized = run("anonymize", "-k", 4, "--json", "--method", "mdav")
    report = json.loads(anonymized.out)
    assert (report["k"], report["n"], report["counted"]) == (4, 259, "subjects")
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


@pytest.mark.skipif(sys.platform == "darwin", reason="its names are always UTF-8")
def test_a_file_name_that_is_no_text_is_read_all_the_same(run: Run, tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.gpx")).write_text(track())
    assert run("extract", tmp_path, "--windows", "--spacing", 5).code == 0


def test_nothing_extracted_yet_names_the_command_to_begin_with(run: Run) -> None:
    assert (
        "look at its name, or make it with: trajanon extract TRACKS --out trajectories.parquet"
        in run("anonymize", "-k", 4).sentence
    )
    assert "make it with: trajanon anonymize -k 4" in run("check", "-k", 4).sentence
    assert "make it with: trajanon" in run("map").sentence
    assert "make it with: trajanon anonymize -k 4" in run("map", "--view", "public").sentence


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
        (["anonymise", "-k", "4"], "anonymise"),
        (["--frobnicate"], "--frobnicate"),
        (["check"], "-k"),
        (["check", "-k", "1"], "k must be at least 2"),
        (["check", "a.txt", "-k", "4"], "choose one of .parquet"),
        (["check", ".", "-k", "4"], ". holds no part of a release"),
    ],
)
def test_what_is_not_understood_is_one_sentence(run: Run, arguments: list[str], says: str) -> None:
    assert says in run(*arguments).sentence
