"""The command line as a whole: how commands chain, answer, and refuse."""

import json
import os
import subprocess
import sys
from inspect import signature
from pathlib import Path

import pytest
from commands import FAST, Run, names, track

from trajanon.__main__ import _COMMANDS
from trajanon.cli.options import COMMAND_NAMES, HELP
from trajanon.cli.report_tables import without_lists
from trajanon.data import sample
from trajanon.extract import extraction


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


@pytest.mark.parametrize("mistake", [ZeroDivisionError, EOFError])
def test_a_mistake_of_ours_is_not_hidden(
    run: Run, monkeypatch: pytest.MonkeyPatch, mistake: type[Exception]
) -> None:
    """It keeps its traceback; typer would take an end of file for Ctrl-C."""

    def broken(*_: object, **__: object) -> None:
        raise mistake

    monkeypatch.setattr(extraction, "extract_to", broken)
    answer = run("extract", str(sample()), "--bbox", "madrid")
    assert answer.code == 70
    assert "Traceback" in answer.err
    assert mistake.__name__ in answer.err


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(["check", "-k", "99", "--json"], 1), (["microaggregate", "t.csv", "-k", "2", *FAST], 0)],
)
def test_a_pipe_that_closes_changes_no_answer(here: Path, arguments: list[str], code: int) -> None:
    (here / "t.csv").write_text("a\n1\n2\n")
    ours, theirs = os.pipe()
    os.close(ours)  # as head does
    errors = theirs if code else subprocess.PIPE
    program = [sys.executable, "-m", "trajanon", *arguments]
    done = subprocess.run(program, cwd=here, stdout=theirs, stderr=errors, check=False)
    os.close(theirs)
    assert done.returncode == code
    assert not done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_answer_that_cannot_be_written_is_none(here: Path) -> None:
    program = [sys.executable, "-m", "trajanon", "check", "-k", "4"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(program, cwd=here, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr == b"trajanon: the system: No space left on device\n"


NAME = "a\x1b[2Jb\u202ec\x9b\udcffd\n" + 2_000 * "e"


def test_no_name_steers_the_terminal(run: Run, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in what is refused, nor in findings, warnings, tables or bars."""
    short = NAME[:12]
    (here / f"{short}.gpx").write_text(track())
    column = NAME.replace("\udcff", "").replace("\n", "")
    (here / "bad.gpx").write_text(f"<gpx><{column}")
    (here / "t.csv").write_text(f"{column},b\n1,2\n3,4\n")
    collection = json.loads('{"type": "FeatureCollection", "features": []}')
    (here / "r.geojson").write_text(json.dumps({**collection, NAME: NAME}))
    answers = [
        run("anonymize", NAME, "-k", 4),
        run(NAME),
        run("extract", f"{short}.gpx", "--windows", "--spacing", 5, "--out", f"{short}.parquet"),
        run("extract", here, "--windows", "--spacing", 5, "--out", "o.parquet"),
        run("check", "r.geojson", "-k", 4),
        run("microaggregate", "t.csv", "-k", 2, *FAST),
        run("microaggregate", "t.csv", "-k", 2, "--columns", NAME),
        run("map", NAME, NAME),
    ]
    for answer in answers:
        for line in (answer.out + answer.err).splitlines():
            assert line.isprintable(), line
            assert len(line) <= 1_100
    assert not [a.err[-900:] for a in answers if a.code == 70]
    assert {answer.code for answer in answers} == {0, 1, 2}


def test_the_table_of_helps_lists_what_each_command_takes() -> None:
    """A parameter that is not in it would be no option."""
    for command in _COMMANDS:
        listed = COMMAND_NAMES.get(command.__name__, command.__name__)
        if listed in HELP:
            code = command.__code__  # the signature is what the table made of it
            taken = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            assert {*taken} <= {*signature(command).parameters}, listed


def test_json_keeps_the_lists_that_are_not_of_rows() -> None:
    kept = {
        "rows": {"way": "lines"},
        "times": {"alone": {"hours": ["04:00"]}},
        "source": {"run": {"paths": ["a.gpx"]}},
        "stages": [{"name": "path"}],
    }
    report = {**kept, "labels": [0, 0], "rows": {"way": "lines", "without": [1]}}
    assert without_lists(report) == kept
