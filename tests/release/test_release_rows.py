"""Rows of a release: one for each subject of a line, or each trajectory; or lines with counts."""

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from commands import Run
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import K, groups
from toy import crowd

import trajanon
from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.search_and_release_options import RowsName
from trajanon.evaluation.attacks.all_attacks import attacks
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.evaluation.evaluation import evaluate
from trajanon.evaluation.evidence import Evaluation
from trajanon.extract import Rules, Trace, cut
from trajanon.files.release_contents import MOST_ROWS
from trajanon.files.release_formats import RELEASE_FORMATS, read_lines, read_release, write_release
from trajanon.files.release_inspection import NOTHING_ELSE, compare_with_rewrite
from trajanon.release.originals import matched
from trajanon.release.release import own_rows
from trajanon.release.report import Rows
from trajanon.release.report_files import checked, report_path
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, ReleasedTrajectories, Trajectories

every_format = pytest.mark.parametrize("suffix", RELEASE_FORMATS)


def lines_of(release: ReleasedTrajectories) -> Counter[bytes]:
    """How many rows each line has."""
    return Counter(line.tobytes() for line in release.points)


def test_by_hand() -> None:
    line, subject = np.array([0, 0, 1, 0, 1, 0]), np.array([7, 7, 7, 8, 8, 7])
    for way in get_args(RowsName):
        own, told = own_rows(way, line, subject)
        assert np.flatnonzero(own).tolist() == [0, 2, 3, 4]
        assert told == Rows(way=way, trajectories=6, subjects=4, lines=2, without=[1, 5])
        own, told = own_rows(way, line, None)
        assert own.all()
        assert told.subjects is None
        assert told.way == ("lines" if way == "lines" else "trajectories")


@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 5), people=st.integers(5, 12))
@settings(max_examples=12)
def test_no_row_is_found_more_often_than_1_in_k(seed: int, k: int, people: int) -> None:
    """One row a subject of a line; a row a trajectory is found more often, if rarely for few."""
    original = crowd(seed, people=people)
    assert original.subject is not None
    release = trajanon.anonymize(original, k, effort="fast")
    found = matched(original, release.trajectories, checked(release.report))
    published = Published(
        original.points, found.lines, found.labels, k, original.subject, own_row=found.own_row
    )
    for attack in attacks(published):
        if attack.against == "release":
            assert attack.worst_case <= 1 / k + 1e-12
    copies = lines_of(release.trajectories)
    assert published.row_counts.tolist() == [copies[line.tobytes()] for line in found.lines]
    held = [set(original.subject[found.labels == group]) for group in range(len(found.lines))]
    assert published.row_counts.tolist() == [len(subjects) for subjects in held]
    assert (published.group_sizes >= published.row_counts).all()


def worst_chance(evidence: Evaluation) -> float:
    return max(one.worst_case for one in evidence.attacks if one.against == "release")


def test_nobody_has_several_rows_of_one_line() -> None:
    original = crowd(people=5)
    for way in get_args(RowsName):
        release = trajanon.anonymize(original, K, effort="fast", rows=way)
        evidence = evaluate(original, release)
        assert worst_chance(evidence) <= 1 / K
        assert evidence.holds
        sheet = evidence.datasheet.splitlines()
        told = release.report["rows"]
        sizes = evidence.rows
        expected = {
            "subjects": f"| Rows | {told['subjects']}, one for each different subject of a line |",
            "lines": f"| Rows | {told['lines']}, one for each line; their counts of subjects add "
            f"up to {told['subjects']} |",
        }
        assert expected[way] in sheet
        larger = f" to {sizes.max()}" if sizes.max() > sizes.min() else ""
        groups = f"| Groups | {told['lines']}, of {sizes.min()}{larger} "
        assert any(line.startswith(groups) for line in sheet)
        # Beside the rows nobody is told how many trajectories are of somebody with a row.
        assert "| Trajectories |" not in evidence.datasheet
        assert "already has one on that line" in evidence.html
        assert "has several rows" not in evidence.html
        assert evidence.account["rows"] == {"way": way, "released": len(release.trajectories)}
    published = evaluate(original, trajanon.anonymize(original, K, as_published=True))
    assert worst_chance(published) > 1 / K
    assert "has several rows" in published.html


# Lines with counts


def counted(points: Floats | None = None, times: Floats | None = None) -> Trajectories:
    said = {"attribution": OSM_ATTRIBUTION, "rows": "lines"}
    return Trajectories(groups() if points is None else points, provenance=said, times=times)


@cache
def counted_release(times: Any) -> trajanon.Release:
    return trajanon.anonymize(crowd(), K, effort="fast", rows="lines", times=times)


def written_counted(folder: Path, suffix: str) -> tuple[Path, ReleasedTrajectories]:
    """A file of lines with counts, and what was released in it."""
    release = counted_release("of-day" if suffix == ".mfjson" else None)
    path = folder / f"r{suffix}"
    release.write(path)
    return path, release.trajectories


@every_format
def test_a_line_is_written_once_with_its_count(tmp_path: Path, suffix: str) -> None:
    path, release = written_counted(tmp_path, suffix)
    found = read_lines(path)
    assert found.counts is not None
    copies = lines_of(release)
    assert len(found) == len(copies)
    kept = {line.tobytes(): n for line, n in zip(found.places, found.counts, strict=True)}
    assert sorted(kept.values()) == sorted(copies.values())
    got = read_release(path)
    assert lines_of(got) == copies
    assert {**got.provenance, "counted": "subjects"} == release.provenance
    assert np.array_equal(got.points, release.points)  # rows of one line stand together
    assert compare_with_rewrite(path, found) == ([], NOTHING_ELSE)
    holds = trajanon.check(path, K, trajectories=crowd(), against=path)
    assert holds.holds, holds.problems
    assert (holds.trajectories, holds.groups) == (len(release), len(copies))
    assert holds.counted
    assert holds.smallest == min(copies.values())
    few = trajanon.check(path, 1 + min(copies.values())).problems
    assert len(few) == 1
    assert "occur fewer than" in few[0]


def edited(path: Path, count: Any) -> Path:
    """Put another count into the first line of a GeoJSON file."""
    collection = json.loads(path.read_text())
    collection["features"][0]["properties"]["people"] = count
    path.write_text(json.dumps(collection))
    return path


@pytest.mark.parametrize("odd", [0, -4, 4.5, "4", None, [4], 1e300, MOST_ROWS + 1, 10**30])
def test_odd_counts_are_a_problem_of_the_file(tmp_path: Path, odd: Any) -> None:
    path = edited(written_counted(tmp_path, ".geojson")[0], odd)
    says = "1 line has a number of rows that is no whole number from 1 to 10,000,000"
    assert trajanon.check(path, K).problems[0] == says
    with pytest.raises(BadInput, match="no whole number"):
        read_release(path)


def test_counts_that_no_memory_holds_are_refused_before_they_are_rows(tmp_path: Path) -> None:
    path = edited(written_counted(tmp_path, ".geojson")[0], MOST_ROWS)
    says = "more than the 10,000,000 that a file may have"
    assert says in trajanon.check(path, K).problems[0]
    with pytest.raises(BadInput, match="more than the 10,000,000"):
        read_release(path)


@pytest.mark.parametrize("suffix", [".csv", ".gpx", ".gpkg", ".parquet"])
def test_odd_counts_are_found_in_every_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"r{suffix}"
    write_release(path, counted())
    if suffix == ".csv":
        head, first, *rest = path.read_text().splitlines()
        number, _, others = first.split(",", 2)
        path.write_text("\n".join([head, f"{number},many,{others}", *rest]))
    elif suffix == ".gpx":
        path.write_text(path.read_text().replace("<cmt>records 4<", "<cmt>records 4 or so<", 1))
    elif suffix == ".gpkg":
        import geopandas

        table = geopandas.read_file(path)
        table["records"] = table["records"].astype(float) + 0.5
        table.to_file(path, driver="GPKG", layer="anonymized")
    else:
        import pyarrow.parquet as pq

        table = pq.read_table(path)
        names = table.schema.names
        where = names.index("records")
        table = table.set_column(where, "records", table["id"].cast("string"))
        pq.write_table(table, path)
    assert "no whole number" in trajanon.check(path, K).problems[0]


def test_one_line_twice_is_not_as_trajanon_writes_it(tmp_path: Path) -> None:
    path = written_counted(tmp_path, ".geojson")[0]
    collection = json.loads(path.read_text())
    collection["features"].append(collection["features"][0])
    path.write_text(json.dumps(collection))
    assert not trajanon.check(path, K).holds


# The report


def test_rows_follow_from_the_report(tmp_path: Path) -> None:
    original = crowd()
    release = trajanon.anonymize(original, K, effort="fast")
    told = release.report["rows"]
    assert told["subjects"] == len(release.trajectories) == 60 - len(told["without"]) < 60
    rows = release.trajectories
    assert matched(original, rows, checked(release.report)).own_row.sum() == len(rows)
    for odd in ([], told["without"][1:], [60], [-1]):
        report = checked(release.report | {"rows": told | {"without": odd}})
        with pytest.raises(BadInput, match="do not belong together"):
            matched(original, rows, report)
    release.write(path := tmp_path / "r.csv")
    report_path(path).write_text(json.dumps(release.report | {"rows": {"way": 7}}))
    with pytest.raises(FileProblem, match="way"):
        trajanon.check(path, K, trajectories=original)


def test_records_have_a_row_each(tmp_path: Path) -> None:
    original = crowd()
    nobody = replace(original, subject=None)
    for source, as_published in ((nobody, False), (original, True)):
        how: dict[str, Any] = {"effort": "fast", "as_published": as_published}
        release = trajanon.anonymize(source, K, **how)
        assert len(release.trajectories) == len(original)
        assert release.report["rows"]["way"] == "trajectories"
        lines = trajanon.anonymize(source, K, rows="lines", **how)
        assert len(lines.trajectories) == len(original)
    with pytest.raises(BadInput, match="`rows` 'people' is not known"):
        trajanon.anonymize(original, K, rows="people")  # type: ignore[arg-type]


def test_the_screen_says_how_many_rows_are_written(tmp_path: Path, run: Run) -> None:
    trajectories = tmp_path / "t.parquet"
    trajanon.write_trajectories(trajectories, crowd())
    rows = {}
    for way in get_args(RowsName):
        out = tmp_path / f"{way}.csv"
        answer = run(
            "anonymize", trajectories, "-k", K, "--effort", "fast", "--rows", way, "--out", out
        )
        assert answer.code == 0
        rows[way] = len(out.read_text().splitlines()) - 1
        what = {
            "subjects": f"{rows[way]} rows for 60 trajectories",
            "lines": f"{rows[way]} lines for 60 trajectories",
        }[way]
        assert f"Wrote {what} to {out}" in answer.out
    assert rows["lines"] < rows["subjects"] < 60


def test_lines_count_records_where_the_source_names_nobody(tmp_path: Path) -> None:
    """Several recordings may be of one person."""
    ways = [np.linspace(40.0, 40.03, 30) + 1e-4 * place for place in range(6)]
    for people, column in (([None] * 6, "records"), (["Ada", None, *"bcde"], "people")):
        walks = [
            Trace(str(place), person, way, np.full(30, 2.0), np.full(30, np.nan))
            for place, (person, way) in enumerate(zip(people, ways, strict=True))
        ]
        path = tmp_path / f"{column}.csv"
        trajanon.anonymize(cut(walks, Rules()), 3, rows="lines", effort="fast").write(path)
        assert path.read_text().startswith(f"id,{column},lat1")
        assert trajanon.check(path, 3).holds
