"""trajanon evaluate of several releases, or of other programs: one page, or a sentence."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from audits import N, trips_of_a_town
from commands import Run

import trajanon
from trajanon.evaluation.recordings import Originals

K = 4


@pytest.fixture(scope="module")
def originals() -> Originals:
    return trips_of_a_town()


@pytest.fixture
def here(tmp_path: Path, originals: Originals) -> Path:
    trajanon.write_trajectories(tmp_path / "trajectories.parquet", originals.trips)
    frame = originals.trips.to_dataframe().rename(columns={"trajectory": "id"})
    frame["time"] = pd.to_datetime(frame["time"], unit="s", utc=True)
    frame["lat"] += 0.001
    frame[["id", "lat", "lon", "time"]].to_parquet(tmp_path / "moved.parquet", index=False)
    release = trajanon.anonymize(originals.trips, K, effort="fast", key=bytes(range(32)))
    release.write(tmp_path / "ours.parquet")
    return tmp_path


def test_several_releases_make_one_page(run: Run, here: Path) -> None:
    answer = run("evaluate", "trajectories.parquet", "moved.parquet", "ours.parquet")
    assert answer.code == 0
    assert "not measured are" in answer.out
    assert "- Rows stand in the order of the originals" in answer.out
    page = (here / "evaluation.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 1
    assert "4 ours.parquet" in page
    told = json.loads((here / "evaluation.json").read_text(encoding="utf-8"))
    assert [one["name"] for one in told["releases"]] == [
        *("originals", "noise", "moved.parquet", "ours.parquet")
    ]

    assert "another program" not in answer.out
    matched = run("evaluate", "trajectories.parquet", "moved.parquet", "--match", "id")
    assert "There is no moved.report.json, so moved.parquet was taken for" in matched.out
    moved = json.loads((here / "evaluation.json").read_bytes())["releases"][2]
    assert moved["matched"] == N
    assert moved["metres"] == pytest.approx(111.0, abs=1.0)


def test_a_method_is_run_on_halves(run: Run, here: Path) -> None:
    (here / "copy.py").write_text("import shutil, sys; shutil.copy(*sys.argv[1:])")
    command = f"{sys.executable} copy.py {{in}} {{out}}"
    given = ("evaluate", "trajectories.parquet", "moved.parquet", "--method")
    told = json.loads(run(*given, command, "--json").out)
    assert told["releases"][2]["chances"]["membership"]["value"] == pytest.approx(1.0)
    assert "is a command that publishes {in}" in run(*given, "cp in out").sentence
    assert "failed: it wrote no {out}" in run(*given, "true {in} {out}").sentence


def test_a_release_of_other_trips_is_refused_by_its_name(
    run: Run, here: Path, originals: Originals
) -> None:
    fewer = originals.trips.take(np.arange(N - 8))
    trajanon.anonymize(fewer, K, effort="fast", key=bytes(range(32))).write(here / "other.parquet")
    answer = run("evaluate", "trajectories.parquet", "other.parquet", "moved.parquet")
    assert answer.sentence.startswith("trajanon: other.parquet: ")
    assert not (here / "evaluation.html").exists()


def test_what_does_not_fit_is_refused(run: Run, here: Path) -> None:
    both = ("evaluate", "trajectories.parquet", "moved.parquet")
    absent = run("evaluate", "trajectories.parquet", "none.parquet", "--match", "id")
    assert "there is no none.parquet" in absent.sentence
    assert "'name' is not one of 'id', 'order'" in run(*both, "--match", "name").sentence
    assert "are for one release with its report" in run(*both, "--holdout").sentence
    ours = run("evaluate", "trajectories.parquet", "ours.parquet", "--match", "id")
    assert "has its report beside it" in ours.sentence
    assert "one or more releases" in run("evaluate", "trajectories.parquet").sentence


@pytest.mark.parametrize(
    "method", ['python "m.py {in} {out}', "sh -c 'printf \"\\377\" >&2; exit 1' {in} {out}"]
)
def test_a_method_that_cannot_be_run_is_one_sentence(run: Run, here: Path, method: str) -> None:
    (here / "moved.csv").write_text("id,lat,lon\n1,40,2\n1,40,2.1\n")
    failed = run("evaluate", "trajectories.parquet", "moved.csv", "--method", method)
    assert failed.code == 2
    assert "--method" in failed.sentence


@pytest.mark.parametrize("releases", [("moved.csv", "moved.csv"), ("noise",)])
def test_releases_of_one_name_are_refused(run: Run, here: Path, releases: Sequence[str]) -> None:
    (here / "moved.csv").write_text("id,lat,lon\n1,40,2\n1,40,2.1\n")
    (here / "noise").mkdir()
    failed = run("evaluate", "trajectories.parquet", *releases)
    assert "name each once" in failed.sentence
