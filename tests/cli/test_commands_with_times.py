"""Trips with hours from traces to a page, as people type the commands."""

import json
from pathlib import Path

import pytest
from commands import FAST, Run, names

from trajanon.data import sample
from trajanon.files.trajectory_files import write_trajectories

TIMED = ("anonymize", "-k", 3, *FAST, "--times")


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Trips of the bundled sample."""
    from trajanon.extract import extract

    path = tmp_path_factory.mktemp("trips") / "trips.parquet"
    write_trajectories(path, extract(str(sample()), "madrid"))
    return path


@pytest.mark.usefixtures("few_tried")
def test_from_traces_to_a_page(run: Run, tmp_path: Path) -> None:
    extracted = run("extract", sample(), "--bbox", "madrid")
    assert extracted.code == 0
    assert "trips to trajectories.parquet" in extracted.out
    anonymized = run(*TIMED, "of-day")
    assert anonymized.code == 0, anonymized
    assert "Departures are " in anonymized.out
    assert "trips to anonymized.parquet" in anonymized.out
    assert run("check", "-k", 3).code == 0
    counted = run("check", "-k", 3, "--trajectories", "trajectories.parquet")
    assert counted.code == 0, counted
    assert "holds for people" in counted.out
    evaluated = run("evaluate")
    assert evaluated.code == 0, evaluated
    assert "window" not in evaluated.out
    account = json.loads((tmp_path / "evaluation.json").read_text())
    assert account["holds"] is True
    sheet = (tmp_path / "anonymized.datasheet.md").read_text()
    assert "Europe/Madrid" in sheet
    assert "trips" in sheet
    for view in ("overlay", "public"):
        page = run("map", "--view", view, "--offline", "--out", f"{view}.html")
        assert page.code == 0, page


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--times", "of-day", "--timezone", "Madrid"], "--timezone 'Madrid' is not known"),
        (["--times", "of-day", "--time-step", "0.5"], "--time-step must be a whole number"),
        (["--times", "of-day", "--time-step", "soon"], "a time such as 5min or 2h (got 'soon')"),
        (["--minute-worth", "5"], "--minute-worth 5.0 is for releases with times: add --times"),
        (["--out", "a.mfjson"], "--times"),
    ],
)
def test_anonymize_refuses_odd_times_in_one_sentence(
    run: Run, trips: Path, tmp_path: Path, arguments: list[str], says: str
) -> None:
    assert says in run("anonymize", trips, "-k", 3, *arguments).sentence
    assert names(tmp_path) == set()
