"""Reports on the screen, and without their long lists."""

from typing import Any

import pytest
from reports import reported

from trajanon.cli.report_tables import rows_in_words, show_path, show_release, without_lists


def test_json_keeps_the_lists_that_are_not_of_rows() -> None:
    kept = {
        "rows": {"way": "lines"},
        "times": {"alone": {"hours": ["04:00"]}},
        "source": {"run": {"paths": ["a.gpx"]}},
        "stages": [{"name": "path"}],
    }
    report = {**kept, "labels": [0, 0], "rows": {"way": "lines", "without": [1]}}
    assert without_lists(report) == kept


@pytest.mark.parametrize(
    ("rows", "n", "words"),
    [
        ({"way": "trajectories", "trajectories": 500}, 500, "500 trips"),
        ({"way": "subjects", "subjects": 420}, 500, "420 rows for 500 trips"),
        ({"way": "lines", "lines": 1}, 500, "1 line for 500 trips"),
    ],
)
def test_rows_are_counted_with_what_they_stand_for(
    rows: dict[str, object], n: int, words: str
) -> None:
    assert rows_in_words(reported(n=n, rows=rows)) == words


STAGES: list[dict[str, Any]] = [
    {"name": "path", "information_loss": None, "seconds": 1.0, "chosen": {"heuristic": "or-opt"}},
    {"name": "descent", "information_loss": 0.0, "seconds": 1.0},
]


def test_the_screen_says_how_a_search_ended(capsys: pytest.CaptureFixture[str]) -> None:
    show_release(reported(stages=STAGES, stopped=True))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Ready to publish")
    assert any(line.startswith("Nothing was lost, because the members") for line in lines)
    assert any(line.startswith("Stopped by Ctrl-C") for line in lines)
    show_release(reported(stages=[STAGES[1] | {"information_loss": 1.0}]))
    said = capsys.readouterr().out
    assert "Nothing was lost" not in said
    assert "Stopped" not in said


def test_the_path_that_was_chosen_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    show_path(reported(stages=STAGES))
    show_path(reported(stages=STAGES[1:]))
    assert capsys.readouterr().out == "Path: or-opt.\n"
