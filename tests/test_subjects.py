"""One person under several spellings is one subject, wherever names come in."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pandas as pd
import pytest
from commands import FAST, Run
from geopandas import GeoDataFrame, points_from_xy
from hypothesis import given, settings
from hypothesis import strategies as st

import trajanon
from trajanon.errors import BadInput, TooFewSubjects
from trajanon.extract import Rules, cut, extract, from_frame
from trajanon.files.trajectory_files import read_trajectories
from trajanon.subjects import BY_BLANKS, BY_CASE, Merged, key_of, numbered, spelled
from trajanon.trajectories import Trajectories

ANN = ["ann", "ann ", " ann", "ann\u00a0", "\ufeffann\u200b", "Ann", "ANN"]
"""One person; three names but for blanks, one but for case."""

JOSE = ["Jos\u00e9", "Jose\u0301"]


def lines(subject: Any, trace: Any = None) -> Trajectories:
    """Lines near each other, one for each subject given."""
    n = len(subject)
    points = 40.0 + np.random.default_rng(n).normal(0, 1e-3, (n, 3, 2))
    return Trajectories(points=points, subject=subject, trace=trace)


def test_spellings_of_one_name_are_one_subject() -> None:
    found = numbered([*ANN, *JOSE, "bob", 7, "7", 7.0, "7.0", " ", "", None])
    assert found.number.tolist() == [0] * 7 + [1, 1, 2, 3, 3, 3, 3, 4, 5, 6]
    assert found.missing.tolist() == [False] * 14 + [True] * 3
    assert found.merged == Merged(case=2, blanks=6)
    exact = numbered([*ANN, *JOSE], exact=True)
    assert exact.number.tolist() == [0, 0, 0, 0, 0, 1, 2, 3, 3]
    assert exact.merged == Merged(case=0, blanks=5)


@given(st.text(max_size=6))
def test_a_spelling_stays_as_it_is(name: str) -> None:
    assert spelled(spelled(name)) == spelled(name)
    assert key_of(spelled(name)) == key_of(name) == key_of(key_of(name))
    assert key_of(f"\u200b {name}\u00a0") == key_of(name)


def test_what_is_no_name_is_refused() -> None:
    with pytest.raises(BadInput, match="subjects must be names or numbers"):
        numbered(np.array([{1}, {2}], dtype=object))
    one: Any = ["a"]
    ragged: Any = [["a"], ["b", "c"]]
    with pytest.raises(BadInput, match="subjects must be names or numbers"):
        Trajectories(points=np.zeros((2, 3, 2)), subject=ragged)
    with pytest.raises(BadInput, match="subject must have shape"):
        Trajectories(points=np.zeros((2, 3, 2)), subject=one)


def test_one_person_fills_no_group() -> None:
    for one in (lines(ANN), lines(JOSE * 2)):
        with pytest.raises(TooFewSubjects, match="come from 1 subject"):
            trajanon.anonymize(one, 2, effort="fast")
    with pytest.raises(TooFewSubjects, match="come from 1 subject"):
        trajanon.microaggregate(np.arange(7.0)[:, None], 2, subjects=ANN)


def test_names_that_differ_in_case_are_kept_apart_if_asked_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    X = np.arange(4.0)[:, None]
    subjects = ["ann", "Ann", "bob", "bob "]
    with pytest.raises(TooFewSubjects):
        trajanon.microaggregate(X, 3, subjects=subjects)
    (told,) = caplog.messages
    assert told == (
        "Spellings of one name count as one subject: 1 differed in upper and lower "
        "case (`subjects_exact=True` keeps these apart), 1 differed in blanks or in the "
        "encoding of accents."
    )
    found = trajanon.microaggregate(X, 3, subjects=subjects, subjects_exact=True)
    assert found.labels.tolist() == [0] * 4


def test_trajectories_count_what_was_merged() -> None:
    names: Any = [*ANN, *JOSE, "bob", None, None]
    some = lines(names, [*range(10), 9, 10])
    assert some.subject is not None
    assert some.subject.tolist() == [0] * 7 + [1, 1, 2, 2, 3]
    report = trajanon.anonymize(some, 2, effort="fast").report
    assert report["subject_names_merged"] == {"case": 2, "blanks": 5}
    assert "1 recording has no subject" in report["notice"]


@settings(max_examples=6)
@given(
    ids=st.lists(
        st.one_of(
            st.integers(-(2**63), 2**63 - 1),
            st.sampled_from([0, -1, 2**63 - 1, -(2**63), "ann", "Ann "]),
        ),
        min_size=6,
        max_size=16,
    ),
    dtype=st.sampled_from([None, np.int64, np.uint64, object]),
)
def test_any_numbers_tell_subjects_apart(tmp_path: Path, ids: list[Any], dtype: Any) -> None:
    if dtype in (np.int64, np.uint64):
        ids = [one if isinstance(one, int) else 5 for one in ids]
        if dtype is np.uint64:
            ids = [one + 2**63 for one in ids]
    subject = ids if dtype is None else np.array(ids, dtype=dtype)
    some = lines(subject)
    whose = np.array([str(one).strip().lower() for one in ids])
    k = min(len(set(whose.tolist())), 3)
    if k < 2:
        with pytest.raises(TooFewSubjects):
            trajanon.anonymize(some, 2, effort="fast")
        return
    release = trajanon.anonymize(some, k, effort="fast")
    labels = np.array(release.report["labels"])
    assert naive.holds(labels, whose, k)
    assert min(release.report["subjects_per_group"]) >= k
    assert trajanon.evaluate(some, release.trajectories, release.report).holds
    out = tmp_path / "anonymized.csv"
    release.write(out)
    assert not trajanon.check(out, k, trajectories=some).problems
    found = trajanon.microaggregate(some.records, k, subjects=subject, refine="none")
    assert naive.holds(found.labels, whose, k)


def points_of(names: Sequence[str | None]) -> pd.DataFrame:
    """A table of points: 60 for each name, some metres apart on a way of its own."""
    rows = [
        {
            "lat": 40.0 + 0.01 * way + 1e-4 * step,
            "lon": -3.7,
            "time": 1e9 + 5 * step + 1e5 * way,
            "subject": name,
            "id": f"t{way}",
        }
        for way, name in enumerate(names)
        for step in range(60)
    ]
    return pd.DataFrame(rows)


def test_extraction_merges_spellings_and_counts_them(run: Run) -> None:
    points_of([*ANN, *JOSE, "bob"]).to_csv("t.csv", index=False)
    command = ("extract", "t.csv", "--windows", "--spacing", 20, "--points", 5)
    answer = run(*command)
    assert answer.code == 0, answer.err
    said = " ".join(answer.out.split())
    assert "2 differed in upper and lower case (--subjects-exact keeps" in said
    assert "5 differed in blanks or in the encoding of accents." in said
    assert of_file(exact=False) == (3, 2, 5)
    assert run(*command, "--subjects-exact").code == 0
    assert of_file(exact=True) == (5, None, 5)


def of_file(*, exact: bool) -> tuple[int, int | None, int | None]:
    """Subjects in the file, and how many names were merged."""
    found = read_trajectories("trajectories.parquet", subjects_exact=exact)
    counts = found.provenance["counts"]
    assert found.subject is not None
    subjects = len(set(found.subject.tolist()))
    assert counts["subjects read"] == subjects
    return subjects, counts.get(BY_CASE), counts.get(BY_BLANKS)


@pytest.mark.parametrize(("jobs", "size"), [(1, 1), (2, 10**9)])
def test_what_is_merged_does_not_depend_on_files_or_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int, size: int
) -> None:
    monkeypatch.setattr("trajanon.extract.cutting.BATCH", size)
    for number, name in enumerate(ANN):
        table = points_of([*["bob"] * number, name]).iloc[60 * number :]
        table.to_parquet(tmp_path / f"{number}.parquet")
    found = extract(tmp_path, spacing=20, points=5, jobs=jobs)
    assert found.subject is not None
    assert set(found.subject.tolist()) == {0}
    counts = found.provenance["counts"]
    assert (counts[BY_CASE], counts[BY_BLANKS]) == (2, 4)


def test_a_geo_file_and_frames_merge_spellings(tmp_path: Path) -> None:
    table = points_of(ANN)
    frame = GeoDataFrame(
        table[["id", "subject", "time"]],
        geometry=points_from_xy(table["lon"], table["lat"]),
        crs="EPSG:4326",
    )
    frame.to_file(tmp_path / "t.gpkg")
    for exact, subjects in ((False, 1), (True, 3)):
        rules = Rules(spacing=20, points=5, subjects_exact=exact)
        of_frame = cut(from_frame(frame, subjects_exact=exact), rules)
        of_file = extract(tmp_path / "t.gpkg", spacing=20, points=5, subjects_exact=exact)
        for found in (of_frame, of_file):
            assert found.subject is not None
            assert len(set(found.subject.tolist())) == subjects
            assert found.provenance["counts"][BY_BLANKS] == 4


def test_files_of_other_programs_merge_spellings(run: Run) -> None:
    some = lines(range(7))
    frame = some.to_geodataframe()
    frame["subject"] = ANN
    frame["trace"] = np.arange(7)
    frame.to_parquet("trajectories.parquet")
    refused = run("anonymize", "-k", 2, *FAST)
    assert refused.code == 2
    assert "Spellings of one name count as one subject" in refused.err
    assert "come from 1 subject" in refused.err
    made = run("anonymize", "-k", 2, "--subjects-exact", *FAST)
    assert made.code == 0
    report = json.loads(Path("anonymized.report.json").read_text(encoding="utf-8"))
    assert report["subject_names_merged"] == {"case": 0, "blanks": 4}
    by_holder = ("check", "-k", 2, "--trajectories", "trajectories.parquet")
    assert run(*by_holder, "--subjects-exact").code == 0
    assert run("evaluate", "--subjects-exact").code == 0
    assert run(*by_holder).code == run("evaluate").code == 1


def test_a_table_merges_spellings(run: Run) -> None:
    table = pd.DataFrame({"x": np.arange(8.0), "who": [*ANN, "bob"]})
    table.to_csv("t.csv", index=False)
    command = ("microaggregate", "t.csv", "-k", 2, "--subject", "who", *FAST)
    answer = run(*command)
    assert answer.code == 0
    assert "2 differed in upper and lower case (--subjects-exact" in answer.out
    assert pd.read_csv("microaggregated.csv")["x"].nunique() == 1
    assert run(*command, "--subjects-exact").code == 0
    assert pd.read_csv("microaggregated.csv")["x"].nunique() == 2
