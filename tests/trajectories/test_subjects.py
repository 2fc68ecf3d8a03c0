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
from trajanon.common.errors import BadInput, TooFewSubjects
from trajanon.extract import Rules, cut, extract, from_frame
from trajanon.files.trajectory_files import read_trajectories
from trajanon.trajectories.subjects import (
    NAMES_MERGED,
    Merged,
    identities,
    merged_sentences,
    numbered,
)
from trajanon.trajectories.trajectories import Trajectories

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
    assert found.number.tolist() == [0] * 7 + [1, 1, 2, 3, 3, 3, 3, 4, 4, 4]
    assert found.missing.tolist() == [False] * 14 + [True] * 3
    assert found.merged == Merged(names=8)
    exact = numbered([*ANN, *JOSE], exact=True)
    assert exact.number.tolist() == list(range(9))
    assert exact.merged == Merged()


def test_whoever_has_no_name_is_one_person_beside_names() -> None:
    names: Any = ["Ada", None, " ", "Bob", None, None]
    named = identities(names, [0, 1, 1, 2, 2, 3])
    assert named.subject is not None
    assert named.subject.tolist() == [0, 1, 1, 2, 2, 1]  # a trace is all of whom it names
    assert named.nameless == (2, 1)
    nobody = identities(np.full(3, None), [0, 0, 1])
    assert nobody.subject is not None
    assert nobody.subject.tolist() == [0, 0, 1]
    assert nobody.nameless == (2, 2)
    assert identities(None, [5, 5, 6]).nameless == (2, 2)


# Each name beside the person whom it names; None where it names nobody.
PERSONS = {"Ann": "ann", " ANN": "ann", "Bob": "bob", "7": "seven", "07.0": "seven", 7: "seven"}

NAMES = st.sampled_from([*PERSONS, None, "", " ", float("nan")])

TRACES = st.sampled_from(["A", "a", "B", 7, None])


@given(st.lists(st.tuples(NAMES, TRACES), max_size=9), st.booleans())
def test_persons_and_recordings_are_numbered_as_by_hand(
    rows: list[tuple[Any, Any]], traced: bool
) -> None:
    names = [name for name, _ in rows]
    traces: list[Any] = [trace for _, trace in rows] if traced else [None] * len(rows)
    recordings = [i if trace is None else str(trace) for i, trace in enumerate(traces)]

    # A recording is of whom its first row with a name names.
    owner: dict[object, str] = {}
    for name, recording in zip(names, recordings, strict=True):
        if name in PERSONS:
            owner.setdefault(recording, PERSONS[name])
    nameless = {recording for recording in recordings if recording not in owner}
    persons = [
        PERSONS.get(name) or owner.get(recording) or ("nobody" if owner else recording)
        for name, recording in zip(names, recordings, strict=True)
    ]

    found = identities(names, traces if traced else None)
    assert found.subject is not None
    assert found.subject.tolist() == [[*dict.fromkeys(persons)].index(person) for person in persons]
    assert found.nameless == (len(nameless), min(len(nameless), 1) if owner else len(nameless))
    assert (found.trace is not None) == traced
    if found.trace is not None:
        assert found.trace.dtype == np.int64
        apart = np.equal.outer(found.trace, found.trace)
        assert (apart == np.array([[a == b for a in recordings] for b in recordings])).all()


def test_where_nothing_names_a_person_each_recording_is_one() -> None:
    traces: list[Any] = ["a", "A", "a", None, None]
    found = identities(None, traces)
    for numbers in (found.subject, found.trace):
        assert numbers is not None
        assert numbers.tolist() == [0, 1, 0, 2, 3]
    assert found.nameless == (4, 4)
    assert identities(None, None) == (None, None, (0, 0), Merged(), None)
    assert identities(None, []).nameless == (0, 0)


def test_rows_without_a_name_have_one_number_or_each_its_own() -> None:
    names = ["a", None, "b", None]
    assert numbered(names).number.tolist() == [0, 2, 1, 2]
    assert numbered(names, missing_differ=True).number.tolist() == [0, 2, 1, 3]
    assert numbered([None, None]).number.tolist() == [0, 1]
    assert numbered([1.5, float("nan"), 1.5]).number.tolist() == [0, 1, 0]
    assert numbered([]).number.tolist() == []
    for column in (np.array([5, 5, 9]), np.array(["x", "x", "y"])):
        found = numbered(column)
        assert found.number.tolist() == [0, 0, 1]
        assert found.missing.dtype == np.bool_
        assert not found.missing.any()


def test_what_was_merged_is_said_of_one_and_of_several() -> None:
    assert merged_sentences(Merged()) == []
    one_name, one_copy = merged_sentences(Merged(names=1, copies=1))
    names, copies = merged_sentences(Merged(names=2, copies=3), "no way out")
    assert one_name.startswith("1 name differs from another only in case")
    assert one_name.endswith("(`subjects_exact=True` takes names as they are).")
    assert names.startswith("2 names differ from another only in case")
    assert names.endswith("(no way out).")
    assert one_copy.startswith("1 person fewer: some recordings are copies, of the same way")
    assert copies.startswith("3 people fewer: some recordings are copies, of the same way")


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
        with pytest.raises(TooFewSubjects, match=r"come from 1 subject, .*; add s.* trajanon trim"):
            trajanon.anonymize(one, 2, effort="fast")
    with pytest.raises(TooFewSubjects, match=r"come from 1 subject, .* group; add subjects$"):
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
        "2 names differ from another only in case, spaces, punctuation at the ends or the writing "
        "of a number: they count as one person (`subjects_exact=True` takes names as they are)."
    )
    found = trajanon.microaggregate(X, 4, subjects=subjects, subjects_exact=True)
    assert found.labels.tolist() == [0] * 4


@settings(max_examples=12)
@given(
    st.lists(st.sampled_from(["ann", "Ann", "bob", "cy", "dee", None, "", None]), min_size=6),
    st.sampled_from(["hm2", "mdav", "v-mdav", "mf-tsp", "decomposition"]),
)
def test_k_counts_the_nameless_as_one_whatever_the_method(names: list[Any], method: str) -> None:
    whose = np.array([(name or "").lower() or "nobody" for name in names])
    if set(whose.tolist()) == {"nobody"}:
        whose = np.arange(len(names)).astype(str)  # k counts records
    k = min(len(set(whose.tolist())), 3)
    X: Any = np.random.default_rng(len(names)).normal(size=(len(names), 2))
    given: dict[str, Any] = {"subjects": names, "method": method, "effort": "fast"}
    if k < 2:
        with pytest.raises(TooFewSubjects):
            trajanon.microaggregate(X, 2, **given)
        return
    assert naive.holds(trajanon.microaggregate(X, k, **given).labels, whose, k)


def test_no_line_stands_for_the_nameless_alone(tmp_path: Path) -> None:
    """Eight trips of one person without a name, alike, among those of 1,000 who have one."""
    rng = np.random.default_rng(0)
    places = np.append(rng.uniform(0.0, 0.1, (1_000, 1, 2)), np.full((8, 1, 2), 0.3), axis=0)
    way = np.array([[40.0, 2.0], [40.02, 2.0], [40.04, 2.0]])
    points = way + places + rng.normal(0.0, 1e-4, (1_008, 3, 2))
    names: Any = [*(f"p{number}" for number in range(1_000)), *[None] * 8]
    some = Trajectories(points, subject=names, trace=np.arange(1_008))
    release = trajanon.anonymize(some, 4, effort="fast")
    labels = np.array(release.report["labels"])
    with_nameless = np.unique(labels[-8:])
    for group in with_nameless[with_nameless >= 0]:
        assert (np.flatnonzero(labels == group) < 1_000).sum() >= 3
    out = tmp_path / "anonymized.parquet"
    release.write(out)
    assert not trajanon.check(out, 4, trajectories=some).problems
    alone = Trajectories(points, subject=np.minimum(np.arange(1_008), 1_000), trace=some.trace)
    assert not trajanon.check(out, 4, trajectories=alone).problems


def test_too_many_without_a_name_are_told_the_way_out() -> None:
    names: Any = ["ann", "bob", *[None] * 20]
    with pytest.raises(TooFewSubjects) as error:
        trajanon.anonymize(lines(names, np.arange(22)), 4, effort="fast")
    assert str(error.value) == (
        "the 22 trajectories come from 3 subjects, and k = 4 needs 4 different ones in each group; "
        "lower k or add subjects; 20 recordings without a name count as one person: extract with "
        "`columns` nameless=different if each is a different person's"
    )


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
    assert "7 names differ from another only in case, spaces," in said
    assert "they count as one person (--subjects-exact takes names as they are)." in said
    assert of_file(exact=False) == (3, 7)
    assert run(*command, "--subjects-exact").code == 0
    assert of_file(exact=True)[0] > 5


def of_file(*, exact: bool) -> tuple[int, int | None]:
    """Subjects in the file, and how many names were merged."""
    found = read_trajectories("trajectories.parquet", subjects_exact=exact)
    counts = found.provenance["counts"]
    assert found.subject is not None
    subjects = len(set(found.subject.tolist()))
    assert counts["subjects read"] == subjects
    return subjects, counts.get(NAMES_MERGED)


@pytest.mark.parametrize(("jobs", "size"), [(1, 1), (2, 10**9)])
def test_what_is_merged_does_not_depend_on_files_or_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int, size: int
) -> None:
    monkeypatch.setattr("trajanon.extract.traces_to_trajectories.POINTS_PER_BATCH", size)
    for number, name in enumerate(ANN):
        table = points_of([*["bob"] * number, name]).iloc[60 * number :]
        table.to_parquet(tmp_path / f"{number}.parquet")
    found = extract(tmp_path, spacing=20, points=5, jobs=jobs)
    assert found.subject is not None
    assert set(found.subject.tolist()) == {0}
    counts = found.provenance["counts"]
    assert counts[NAMES_MERGED] == 6


def test_a_geo_file_and_frames_merge_spellings(tmp_path: Path) -> None:
    table = points_of(ANN)
    frame = GeoDataFrame(
        table[["id", "subject", "time"]],
        geometry=points_from_xy(table["lon"], table["lat"]),
        crs="EPSG:4326",
    )
    frame.to_file(tmp_path / "t.gpkg")
    for exact, subjects in ((False, 1), (True, len(ANN))):
        rules = Rules(spacing=20, points=5, subjects_exact=exact)
        of_frame = cut(from_frame(frame, subjects_exact=exact), rules)
        of_file = extract(tmp_path / "t.gpkg", spacing=20, points=5, subjects_exact=exact)
        for found in (of_frame, of_file):
            assert found.subject is not None
            assert len(set(found.subject.tolist())) == subjects
            assert found.provenance["counts"].get(NAMES_MERGED, 0) == len(ANN) - subjects


def test_files_of_other_programs_merge_spellings(run: Run) -> None:
    some = lines(range(7))
    frame = some.to_geodataframe()
    frame["subject"] = ANN
    frame["trace"] = np.arange(7)
    frame.to_parquet("trajectories.parquet")
    refused = run("anonymize", "-k", 2, *FAST)
    assert refused.code == 2
    assert "6 names differ from another only in case" in refused.err
    assert "come from 1 subject" in refused.err
    made = run("anonymize", "-k", 2, "--subjects-exact", *FAST)
    assert made.code == 0
    report = json.loads(Path("anonymized.report.json").read_text(encoding="utf-8"))
    assert report["subjects_merged"] == {"names": 0, "copies": 0}
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
    assert "(--subjects-exact takes names as they are)" in answer.out
    assert pd.read_csv("microaggregated.csv")["x"].nunique() == 1
    assert run(*command, "--subjects-exact").code == 0
    assert pd.read_csv("microaggregated.csv")["x"].nunique() > 1


def test_trajectories_count_what_was_merged() -> None:
    names: Any = [*ANN, *JOSE, "bob", None, None]
    some = lines(names, [*range(10), 9, 10])
    assert some.subject is not None
    assert some.subject.tolist() == [0] * 7 + [1, 1, 2, 2, 3]
    report = trajanon.anonymize(some, 2, effort="fast").report
    assert report["subjects_merged"] == {"names": 7, "copies": 0}
    assert "1 recording has no name: it counts as 1 person." in report["notice"]
