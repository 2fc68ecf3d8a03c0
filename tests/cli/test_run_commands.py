"""trajanon run and demo: a file of settings repeats the work, and the chain on the sample."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import FAST, Run, names, track

from trajanon.cli import run_commands

SETTINGS = """
[extract]
paths = ["tracks"]
bbox = "-3.71,40.41,-3.69,40.45"
windows = true
spacing = 10

[anonymize]
k = 3
method = "mdav"
refine = "none"
seed = 3
out = "released.csv"

[check]
k = 3
released = "released.csv"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Settings and what they read."""
    (tmp_path / "tracks").mkdir()
    for number in range(6):
        text = track(lon=-3.7 + number / 10_000, points=60)
        (tmp_path / "tracks" / f"{number}.gpx").write_text(text, "utf-8")
    (tmp_path / "settings.toml").write_text(SETTINGS, "utf-8")
    return tmp_path


def test_settings_do_what_the_commands_do(
    folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = run("run", str(folder / "settings.toml"))  # files are named from its folder on
    assert answer.code == 0, answer
    assert (
        "1. trajanon extract --bbox=-3.71,40.41,-3.69,40.45 --windows --spacing 10 tracks"
        in answer.out
    )
    assert "3. trajanon check -k 3 released.csv" in answer.out
    monkeypatch.chdir(folder)
    assert run("check", "released.csv", "-k", "3").code == 0
    again = run(
        "extract", "--bbox=-3.71,40.41,-3.69,40.45", "--windows", "--spacing", "10", "tracks"
    )
    assert again.code == 0
    assert run("anonymize", "-k", "3", *FAST, "--seed", "3", "--out", "again.csv").code == 0
    first, second = (
        sorted(line.split(",", 1)[1] for line in (folder / name).read_text("utf-8").splitlines())
        for name in ("released.csv", "again.csv")
    )
    assert first == second


def test_the_first_that_fails_ends_it(folder: Path, run: Run) -> None:
    settings = folder / "settings.toml"
    settings.write_text(SETTINGS.replace("k = 3", "k = 7", 1), "utf-8")
    answer = run("run", str(settings))
    assert answer.code == 2
    assert "7" in answer.err
    assert "3. trajanon check" not in answer.out
    assert "released.csv" not in names(folder)
    settings.write_text(SETTINGS.replace("[check]\nk = 3", "[check]\nk = 7"), "utf-8")
    assert run("run", str(settings)).code == 1  # of the check


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("k = 3", "needs a table for each command"),
        ("[publish]\nk = 3", "[publish] is not a command; choose from extract, anonymize"),
        ("[run]\nsettings = 'a'", "[run] is not a command"),
        ("[anonymize]\nkay = 3", "[anonymize] has no option kay"),
        ("[anonymize]\nk = {at-least = 3}", "[anonymize] k must be a text or a number"),
        ("[anonymize]\nk = [3, 4]", "[anonymize] k must be a text or a number"),
        # Typed, it would take the next option for its value.
        ("[anonymize]\nk = 3\nout = true", "[anonymize] out must be a text or a number"),
        # Typed, it would be turned on, and its value be a file.
        ("[anonymize]\nk = 3\none-line-each = 'false'", "one-line-each must be true or false"),
        ("[anonymize]\nk = 3\none-line-each = 1", "one-line-each must be true or false"),
        ("[anonymize]\nk = 3\ntime_step = 60\ntime-step = 90", "time-step is set twice"),
        ("[check]\nk = 3\nagainst = [true]", "against must be a text or a number, or a list"),
        ("[anonymize]\nk = 'few'", "[anonymize] Invalid value for '-k'"),
        ("[anonymize", "does not hold the settings"),
        ("\xff", "does not hold the settings, as TOML in UTF-8"),
        ("", "needs a table for each command"),
    ],
)
def test_what_is_no_setting_is_said_before_anything_begins(
    folder: Path, run: Run, text: str, said: str
) -> None:
    settings = folder / "settings.toml"
    settings.write_bytes(f"[extract]\npaths = ['tracks']\n{text}".encode("latin-1"))
    if text in ("k = 3", ""):
        settings.write_text(text, "utf-8")
    assert said in run("run", str(settings)).sentence
    assert names(folder) == {"tracks", "settings.toml"}


def test_settings_that_are_not_there_are_named(run: Run, tmp_path: Path) -> None:
    assert "cannot read the settings" in run("run", str(tmp_path / "none.toml")).sentence


def test_a_defect_is_no_mistake_in_the_settings(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_commands, "words_of", None)
    assert run("run", str(folder / "settings.toml")).code == 70


def test_demo_needs_no_network_and_no_home(tmp_path: Path) -> None:
    program = (
        "import socket, sys\n"
        "def refuse(*_): raise OSError('no network in this test')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "sys.argv = ['trajanon', 'demo', 'results']\n"
        "from trajanon.__main__ import main\n"
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
    assert "anonymized.parquet holds" in done.stdout
    assert done.stdout.rstrip().endswith(
        "map.html in a browser (keep it private: it shows the originals)."
    )
    assert (tmp_path / "results" / "map.html").stat().st_size > 10_000
    assert names(tmp_path) == {"results"}


def test_demo_in_a_place_that_cannot_be_written_says_so(run: Run) -> None:
    Path("file").touch()
    assert "cannot make the folder file/x" in run("demo", "file/x").sentence
    assert "cannot make the folder file" in run("demo", "file").sentence
