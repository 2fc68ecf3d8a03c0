"""One person under several spellings is one subject, wherever names come in."""

from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trajanon
from trajanon.errors import BadInput, TooFewRecords, TooFewSubjects
from trajanon.subjects import Merged, key_of, numbered, spelled
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


def test_floats_that_are_whole_are_those_numbers() -> None:
    column = np.array([2.0, 1.0, np.nan, 2.0, np.nan])
    assert numbered(column).number.tolist() == [0, 1, 2, 0, 3]
    assert numbered([*column.tolist(), "2"]).number.tolist() == [0, 1, 2, 0, 3, 0]


@given(st.text(max_size=6))
def test_a_spelling_stays_as_it_is(name: str) -> None:
    assert spelled(spelled(name)) == spelled(name)
    assert key_of(spelled(name)) == key_of(name) == key_of(key_of(name))
    assert key_of(f"\u200b {name}\u00a0") == key_of(name)


def test_what_is_no_name_is_refused() -> None:
    with pytest.raises(BadInput, match="subjects must be names or numbers"):
        numbered(np.array([{1}, {2}], dtype=object))
    one: Any = ["a"]
    with pytest.raises(BadInput, match="subject must have one number or name"):
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
        "Subject names that differ from another one count as the same subject: 1 only "
        "in upper and lower case (--subjects-exact keeps these apart) and 1 only in "
        "blanks or in how accents are encoded."
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
    assert "1 recordings name no subject" in report["notice"]


@settings(max_examples=12)
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
def test_any_numbers_tell_subjects_apart(
    tmp_path: Path, ids: list[Any], dtype: Any
) -> None:
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


def test_no_trajectories_are_refused_in_one_sentence(tmp_path: Path) -> None:
    none = Trajectories(points=np.empty((0, 3, 2)), subject=np.empty(0, dtype=np.int64))
    with pytest.raises(TooFewRecords, match="0 records cannot form a group of k = 2"):
        trajanon.anonymize(none, 2)
    some = lines(range(4))
    release = trajanon.anonymize(some, 2, effort="fast")
    out = tmp_path / "anonymized.csv"
    release.write(out)
    with pytest.raises(BadInput, match="do not belong together"):
        trajanon.evaluate(none, release.trajectories, release.report)
    with pytest.raises(BadInput, match="do not belong together"):
        trajanon.check(out, 2, trajectories=none)
    with pytest.raises(BadInput, match="0 records cannot form a group"):
        trajanon.microaggregate(np.empty((0, 2)), 2, subjects=[])
