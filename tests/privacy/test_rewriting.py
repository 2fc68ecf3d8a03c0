"""A release that holds more than its lines is written anew with the lines alone."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from commands import Run
from planted import UNTIMED, K, groups, written

import trajanon
from trajanon.errors import BadInput, FileProblem
from trajanon.trajectories import OSM_ATTRIBUTION


def with_more(path: Path) -> Path:
    """A release with something beside its lines, in whatever format."""
    written(path)
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        pq.write_table(pq.read_table(path), path)
    else:
        text = path.read_bytes()
        end = len(text) if path.suffix == ".gpkg" else text.rindex(b"\n")
        path.write_bytes(text[:end] + b"  " + text[end:])
    assert not trajanon.check(path, K).holds
    return path


@pytest.mark.parametrize(("one", "other"), [*product(UNTIMED, UNTIMED)])
def test_the_lines_alone_are_written_anew(tmp_path: Path, one: str, other: str) -> None:
    path, clean = with_more(tmp_path / f"r{one}"), tmp_path / f"clean{other}"
    before = path.read_bytes()
    findings = trajanon.rewrite(path, clean, K)
    assert findings.holds
    assert trajanon.check(clean, K) == findings
    assert path.read_bytes() == before
    assert trajanon.read_release(clean).attribution == OSM_ATTRIBUTION
    rows, again = (
        [line.tobytes() for line in trajanon.read_release(p).points] for p in (path, clean)
    )
    assert sorted(rows) == sorted(again)


def test_they_are_rounded_and_keep_no_other_words(tmp_path: Path) -> None:
    points = groups() + 1.234567e-5
    path, clean = tmp_path / "r.csv", tmp_path / "c.csv"
    written(path, points, "alice")
    assert trajanon.rewrite(path, clean, K).holds
    told = trajanon.read_release(clean)
    assert told.attribution is None
    assert np.array_equal(np.unique(told.points), np.unique(np.round(points, 5)))


def test_lines_that_do_not_hold_are_not_written(tmp_path: Path) -> None:
    path, clean = tmp_path / "r.csv", tmp_path / "c.csv"
    written(path, groups((4, 5, 3, 7)))
    findings = trajanon.rewrite(path, clean, K)
    assert (findings.trajectories, findings.groups, findings.smallest) == (19, 4, 3)
    assert "1 of 4 different trajectories occur fewer than 4 times" in str(findings)
    path.write_text(path.read_text().replace(".", "e9.", 1), encoding="utf-8")
    with pytest.raises(FileProblem):
        trajanon.rewrite(path, clean, K)
    path.write_text("id,lat1,lon1\n1,40,-3\n")
    assert not trajanon.rewrite(path, clean, K).holds
    assert [one.name for one in tmp_path.iterdir()] == ["r.csv"]


def test_nothing_is_written_over_the_file_or_of_a_folder(tmp_path: Path) -> None:
    path = with_more(tmp_path / "r.csv")
    before = path.read_bytes()
    (tmp_path / "link.csv").symlink_to(path)
    for same in (path, tmp_path / "link.csv"):
        with pytest.raises(BadInput, match="is the file that is checked"):
            trajanon.rewrite(path, same, K)
    with pytest.raises(BadInput, match="is a release in parts"):
        trajanon.rewrite(tmp_path, tmp_path / "c.csv", K)
    with pytest.raises(BadInput, match="choose one of"):
        trajanon.rewrite(path, tmp_path / "c.txt", K)
    with pytest.raises(FileProblem, match="cannot write"):
        trajanon.rewrite(path, tmp_path / "none" / "c.csv", K)
    assert path.read_bytes() == before


def test_the_command_answers_for_the_new_file(run: Run, tmp_path: Path) -> None:
    path, clean = with_more(tmp_path / "r.csv"), tmp_path / "c.gpx"
    assert run("check", path, "-k", K).code == 1
    done = run("check", path, "-k", K, "--rewrite", clean)
    assert done.code == 0
    assert done.out.startswith(f"Wrote {clean}. It holds for rows: each of its 4 ")
    assert run("check", clean, "-k", K).code == 0
    clean.unlink()
    refused = run("check", path, "-k", 9, "--rewrite", clean)
    assert refused.code == 1
    assert "must not be published:\n- " in refused.out
    assert not clean.exists()
    assert '"holds": true' in run("check", path, "-k", K, "--rewrite", clean, "--json").out
    clean.unlink()
    for two in (("--rewrite", clean, "--against", path), ("--columns", "a")):
        answer = run("check", path, "-k", K, "--rewrite", clean, *two)
        assert "are different checks: run one after the other" in answer.sentence
    assert not clean.exists()
