"""trajanon check: its exit codes, and the holder's files."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from commands import Run
from toy import toy

import trajanon


def test_check_answers_by_its_exit_code(run: Run, here: Path) -> None:
    (here / "new").mkdir()
    assert run("check", "-k", 4).code == 0
    refused = run("check", "-k", 5)
    assert refused.code == 1
    assert refused.out.startswith("anonymized.parquet must not be published:\n- ")
    assert refused.err == ""
    assert "--subjects-exact is for --tra" in run("check", "-k", 4, "--subjects-exact").sentence
    originals = run("check", "trajectories.parquet", "-k", 4)
    assert originals.code == 1
    assert "column 'subject'" in originals.out
    # The report beside a file may be of another release, written later under its name.
    trajanon.anonymize(toy(), 2, effort="fast").write(here / "new" / "anonymized.parquet")
    report = here / "anonymized.report.json"
    report.write_bytes((here / "new" / report.name).read_bytes())
    for words in (("check", "-k", 4), ("streets", "--od", 1000)):
        assert f"{report.name} is the report of another release" in run(*words).sentence
    again = run("anonymize", "-k", 4, "--out", "anonymized.csv").sentence
    assert "anonymized.report.json belongs to anonymized.parquet: give anonymized.csv" in again
    (here / "anonymized.parquet").write_bytes(b"damaged")
    assert "cannot read anonymized.parquet as Parquet" in run("check", "-k", 4).sentence
    assert "there is no x.csv" in run("check", "x.csv", "-k", 4).sentence


def test_what_is_counted_where_nobody_is_named_is_recordings(run: Run, tmp_path: Path) -> None:
    walks_of = [walk(number) for number in range(6)]
    (tmp_path / "walks.csv").write_text("\n".join(["id,lat,lon", *walks_of]))
    assert run("extract", "walks.csv", "--columns", "nameless=different").code == 0
    assert run("anonymize", "-k", 3, "--effort", "fast").code == 0
    answer = run("check", "-k", 3, "--trajectories", "trajectories.parquet")
    assert "holds for recordings: each of its" in answer.out
    assert "; at least 3 different recordings in each group, where 6 recordings" in answer.out


def walk(number: int) -> str:
    """A table's rows of a walk to the north, beside those of other numbers."""
    steps = range(30)
    return "\n".join(f"{number},{40 + step / 1000},{-3 + number / 1000}" for step in steps)


@pytest.fixture
def toys(tmp_path: Path) -> Path:
    """A folder with a small release, and its trajectories."""
    trajanon.write_trajectories(tmp_path / "trajectories.parquet", toy())
    trajanon.anonymize(toy(), 2, effort="fast").write(tmp_path / "anonymized.parquet")
    return tmp_path


def test_check_takes_the_holders_files(run: Run, toys: Path) -> None:
    held = run("check", "-k", 2, "--trajectories", "trajectories.parquet")
    assert held.code == 0
    assert "2 different people in each group" in held.out
    assert "without a name" not in held.out
    some = replace(toy(), provenance={"counts": {"recordings of unknown subjects": 3}})
    trajanon.write_trajectories(toys / "some.parquet", some)
    told = run("check", "-k", 2, "--trajectories", "some.parquet").out
    assert "in each group, where 3 recordings without a name count as 3" in told
    beside = ("--trajectories", "trajectories.parquet", "--against", "anonymized.parquet")
    told = run("check", "-k", 2, *beside).out
    assert "; also beside anonymized.parquet no fewer than 2 stand behind each." in told
    same = run("check", "-k", 2, *beside, "--json")
    assert same.code == 0
    assert json.loads(same.out)["holds"]
    (toys / "anonymized.report.json").unlink()
    assert "--against needs --trajectories" in run("check", "-k", 2, *beside[2:]).sentence
    cannot = run("check", "-k", 2, *beside)
    assert "there is no anonymized.report.json" in cannot.sentence
