"""Messages: escaped, as sentences for people and as lines of JSON for programs."""

import json
from pathlib import Path

import pytest
from commands import FAST, Run, track
from typer import BadParameter

from trajanon.cli.messages import (
    PROGRESS_VARIABLE,
    say,
    say_problem,
    say_written,
    tell,
    usage_error,
    with_flags,
)
from trajanon.common.errors import ColumnsUnclear

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


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("set `times=False`", "set --no-times"),
        ("set `one_line_each=True`", "set --one-line-each"),
        ("set `bbox=-3.8,40,-3,41`", "set --bbox=-3.8,40,-3,41"),
        ("name an `area`", "name an --bbox"),
        ("the column `Name`", "the column `Name`"),
    ],
)
def test_parameters_are_named_as_options(message: str, shown: str) -> None:
    assert with_flags(message) == shown


def test_a_program_reads_lines_of_json(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With parameters as the library names them, and the columns of which one has to be named."""
    unclear = ColumnsUnclear("ä.csv has no `id`", "name a column", ["id"], ["ride", "lat"])
    monkeypatch.setenv(PROGRESS_VARIABLE, "lines")
    say("raise `k`")
    say_problem(unclear, str(unclear))
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.isascii()
    assert [json.loads(line) for line in said.err.splitlines()] == [
        {"message": "raise `k`"},
        {
            "problem": {
                "sentence": "ä.csv has no `id`",
                "roles": ["id"],
                "columns": ["ride", "lat"],
                "table": "",
            }
        },
    ]


def test_people_read_sentences_beside_the_results(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(PROGRESS_VARIABLE, raising=False)
    say_problem(ValueError(), "raise `k`")
    tell("raise `k`")
    assert capsys.readouterr() == ("raise -k\n", "trajanon: raise -k\n")


@pytest.mark.parametrize(
    ("out", "command"),
    [("trajectories.parquet", "check"), ("my trips.parquet", "check 'my trips.parquet'")],
)
def test_the_next_command_names_no_file_that_it_finds(
    capsys: pytest.CaptureFixture[str], out: str, command: str
) -> None:
    say_written("3 trips", out, "trajectories.parquet", "check", 4)
    assert capsys.readouterr().out == f"Wrote 3 trips to {out}. Next: trajanon {command} -k 4\n"


def test_only_errors_of_usage_have_a_message_of_usage() -> None:
    assert usage_error(BadParameter("no number.")) == "Invalid value: no number"
    assert usage_error(KeyError("k")) == ""
