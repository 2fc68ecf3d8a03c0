"""Command lines that a shell and the commands take apart again."""

import shlex

import pytest
from commands import Run

from trajanon.common.command_lines import (
    Option,
    command_line,
    options_in,
    with_value,
    words_of_files,
)


@pytest.mark.parametrize(
    ("flag", "text", "words"),
    [
        ("--seed", "3", ["--seed", "3"]),
        ("--bbox", "-3,40,-2,41", ["--bbox=-3,40,-2,41"]),
        ("-k", "-1", ["-k-1"]),
    ],
)
def test_a_value_is_not_taken_for_an_option(flag: str, text: str, words: list[str]) -> None:
    assert with_value(flag, text) == words


def test_a_file_is_not_taken_for_an_option() -> None:
    assert words_of_files(["a.gpx"]) == ["a.gpx"]
    assert words_of_files(["a.gpx", "-1.gpx"]) == ["--", "a.gpx", "-1.gpx"]


def test_a_command_line_is_read_by_the_command(run: Run) -> None:
    """Each value reaches its option: refusals name it as it was."""
    line = command_line("anonymize", {"k": -1, "trajectories": "-1.parquet"})
    assert "k must be at least 2 (got -1)" in run(*shlex.split(line)[1:]).sentence
    line = command_line("anonymize", {"k": 2, "trajectories": "-a b.parquet"})
    assert "there is no -a b.parquet" in run(*shlex.split(line)[1:]).sentence


def test_options_without_a_value_are_left_out_and_files_come_last() -> None:
    options: dict[str, Option] = {
        "paths": ["it's.gpx"],
        "windows": True,
        "times": False,
        "hide": ["a", "b"],
    }
    assert command_line("extract", options) == (
        "trajanon extract --windows --hide a --hide b " + shlex.quote("it's.gpx")
    )


@pytest.mark.parametrize("account", [None, [], "k", {"k": {}, "a": [1], "b": b"x"}])
def test_what_is_no_option_is_passed_over(account: object) -> None:
    assert options_in(account) == {}
