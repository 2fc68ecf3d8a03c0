"""An option of the version before is answered by what takes its place."""

from pathlib import Path

import pytest
from commands import Run

from trajanon.cli.messages import REMOVED

CASES = [(command, name) for command, gone in REMOVED.items() for name in gone]


@pytest.mark.parametrize(("command", "name"), CASES)
def test_a_removed_option_says_what_takes_its_place(run: Run, command: str, name: str) -> None:
    said = run(command, f"--{name}=5").sentence
    assert said.startswith(f"trajanon: --{name} was removed: {REMOVED[command][name]}; see ")


def test_so_it_is_in_a_file_of_settings(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text('[extract]\nsource = ["a.gpx"]\n')
    said = run("run", "s.toml").sentence
    assert "s.toml: [extract] --source was removed: name the files and folders alone" in said


def test_an_option_of_another_command_was_not_removed(run: Run) -> None:
    assert "No such option: --resume" in run("check", "--resume").sentence
