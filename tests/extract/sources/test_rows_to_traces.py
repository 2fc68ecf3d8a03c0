"""Rows in any order, in parts of any size: the same traces."""

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from errno import ENOSPC
from typing import IO, Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trajanon.common.errors import ColumnsUnclear, FileProblem
from trajanon.extract.sources import rows_to_traces
from trajanon.extract.sources.reading import TABLE_CUT_OFF, Reading
from trajanon.extract.sources.rows_to_traces import SEVERAL, traces_of_points
from trajanon.extract.trace import Trace

Row = tuple[str | None, str | None, int]
"""Subject, id, and seconds; the place follows from the seconds."""

ROWS: Sequence[Row] = [("ann", "1", 5), ("bob", "1", 6), ("ann", "1", 4), (None, "2", 3)]

nothing = st.none()
rows_of_tables = st.lists(
    st.tuples(
        nothing | st.sampled_from(["ann", "bob", " ann", "7", "7.0", "unknown"]),
        nothing | st.sampled_from(["1", "2", "3", "04", "4", ""]),
        st.integers(1, 59),  # of one time there is one place
    ),
    max_size=40,
)


def table(rows: Sequence[Row], roles: Sequence[str] = ("subject", "id")) -> pd.DataFrame:
    whole = pd.DataFrame(rows, columns=["subject", "id", "time"])
    names = whole[list(roles)].astype("str")
    times = whole["time"].map(lambda second: f"2008-06-08 07:00:{second % 60:02}")
    degrees = whole["time"].to_numpy(float)
    return names.assign(lat=degrees, lon=-degrees, time=times)


def parts(whole: pd.DataFrame, size: int) -> Iterator[pd.DataFrame]:
    for start in range(0, max(len(whole), 1), size):
        yield whole.iloc[start : start + size]


def gather(whole: pd.DataFrame, size: int = 10**6, **how: Any) -> tuple[list[Trace], Counter[str]]:
    counts: Counter[str] = Counter()
    reading = Reading(what="t", label="t", counts=counts, **how)
    return list(traces_of_points(parts(whole, size), reading)), counts


def by_hand(rows: Sequence[Row], roles: Sequence[str]) -> dict[Any, list[int]]:
    """What should be in each trace, row by row, without any array."""

    def name(text: str | None) -> str | None:
        text = (text or "").strip()
        return {"7.0": "7", "unknown": ""}.get(text, text) or None

    read = [
        (
            name(subject) if "subject" in roles else None,
            name(owner) if "id" in roles else name(subject),
            second,
        )
        for subject, owner, second in rows
    ]
    of_id: dict[str | None, set[str]] = {}
    for subject, owner, _ in read:
        of_id.setdefault(owner, set()).update({subject} if subject else ())
    traces: dict[Any, list[int]] = {}
    for subject, owner, second in read:
        if owner is None:
            continue
        if subject is None and len(of_id[owner]) == 1:
            (subject,) = of_id[owner]
        traces.setdefault((subject, owner), []).append(second)
    return traces


every_table = pytest.mark.parametrize(
    "roles", [("subject", "id"), ("id",), ("subject",)], ids="-".join
)


@every_table
@given(rows_of_tables, st.sampled_from([1, 7, 10**6]), st.sampled_from([0, 5, 10**6]))
@settings(max_examples=25)
def test_each_row_is_in_the_trace_where_it_belongs(
    roles: Sequence[str], rows: list[Row], size: int, held: int
) -> None:
    """Also those that wait in a file; then the traces of an id come one after another."""
    with patch.object(rows_to_traces, "HELD", max(held, 1)):
        found, counts = gather(table(rows, roles), size)
    expected = by_hand(rows, roles)
    prefix = "" if "subject" in roles else "t#"
    assert {(t.subject, t.name): t.lat.tolist() for t in found} == {
        (subject, prefix + owner): seconds for (subject, owner), seconds in expected.items()
    }
    in_order = [(t.subject, t.name.removeprefix("t#")) for t in found]
    assert in_order == list(expected) or (held < len(rows) and len(set(in_order)) == len(expected))
    assert counts["points without an id"] == len(rows) - sum(map(len, found))
    for trace in found:
        assert trace.lon.tolist() == [-degrees for degrees in trace.lat]
        seconds = [1212908400 + degrees % 60 for degrees in trace.lat]
        assert trace.time.tolist() == seconds


def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> IO[bytes]:
        raise OSError(ENOSPC, "No space left on device")

    monkeypatch.setattr(rows_to_traces, "HELD", 2)
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with pytest.raises(FileProblem, match=r"cannot put rows aside in .*No space .*set TMPDIR"):
        gather(table(ROWS))


def test_the_first_rows_tell_how_times_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes later cannot turn seconds into milliseconds, nor back."""
    monkeypatch.setattr(rows_to_traces, "FIRST_ROWS", 2)
    late = table(ROWS).assign(time=["1212908400", "1212908401", "9e12", "9e12"])
    for size in (2, 3, 4):
        found, _ = gather(late.assign(subject="x", id="y"), size)
        assert found[0].time[:2].tolist() == [1212908400, 1212908401]
        assert np.isnan(found[0].time[2:]).all()  # no longer than the year 2100


def walk(owner: str, minutes: int = 20, subject: str | None = None) -> pd.DataFrame:
    """A fix a minute, each 111 m north of the last."""
    minute = np.arange(minutes)
    times = pd.Timestamp("2008-06-08 07:00") + pd.to_timedelta(minute, unit="min")
    rows = {"lat": 48 + minute / 1000, "lon": 16.0, "time": times.astype(str), "id": owner}
    return pd.DataFrame(rows if subject is None else {**rows, "subject": subject})


def of_two_people(owner: str, minutes: int = 20, subject: str | None = None) -> pd.DataFrame:
    """Two fixes a minute, 111 km apart."""
    one = walk(owner, minutes, subject)
    return pd.concat([one, one.assign(lat=one["lat"] + 1.0)]).sort_values("time")


def test_a_good_recording_stays_beside_one_of_several_people_with_its_id() -> None:
    """Ids are of their subjects: only the recording of Ann's is left out."""
    good = [walk("1", subject="Bob"), *(walk(owner, subject="Eve") for owner in "2345")]
    found, counts = gather(pd.concat([of_two_people("1", subject="Ann"), *good]))
    assert [(trace.subject, trace.name) for trace in found] == [
        ("Bob", "1"),
        *(("Eve", owner) for owner in "2345"),
    ]
    assert counts[SEVERAL] == 1


def test_all_pieces_of_a_recording_of_several_people_are_left_out() -> None:
    pieces = [of_two_people("1").assign(piece=0), walk("1").assign(piece=1)]
    others = [walk(owner).assign(piece=0) for owner in "234"]
    found, counts = gather(pd.concat([*pieces, *others]))
    assert [trace.name for trace in found] == ["t#2", "t#3", "t#4"]
    assert counts[SEVERAL] == 1


def test_of_equal_ids_only_that_of_the_last_row_is_cut_off() -> None:
    reading = Reading(what="t", label="t")

    def cut_off_table() -> Iterator[pd.DataFrame]:
        yield pd.concat([walk("1", subject="Ann"), walk("1", subject="Bob")])
        reading.counts[TABLE_CUT_OFF] += 1

    found = list(traces_of_points(cut_off_table(), reading))
    assert [(trace.subject, trace.cut_off) for trace in found] == [("Ann", False), ("Bob", True)]


def test_each_file_is_a_recording_of_each_subject_if_a_user_says_so() -> None:
    """Otherwise all files of one subject would be one recording."""
    both = pd.concat([walk("", subject="Ann"), walk("", subject="Bob")]).drop(columns="id")
    found, _ = gather(both, columns={"id": "file"})
    assert [(trace.subject, trace.name) for trace in found] == [("Ann", "t#ann"), ("Bob", "t#bob")]


in_one_part_or_several = pytest.mark.parametrize("held", [10**6, 100])


@in_one_part_or_several
def test_one_large_recording_of_several_people_costs_no_table(
    monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    monkeypatch.setattr(rows_to_traces, "HELD", held)
    good = [walk(owner) for owner in "123456"]
    found, counts = gather(pd.concat([*good, of_two_people("7", minutes=100)]))
    assert sorted(trace.name for trace in found) == [f"t#{owner}" for owner in "123456"]
    assert counts[SEVERAL] == 1


@in_one_part_or_several
def test_one_large_recording_in_no_order_costs_no_table(
    monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    monkeypatch.setattr(rows_to_traces, "HELD", held)
    mixed = walk("7", minutes=200).sample(frac=1.0, random_state=0)
    whole = pd.concat([*(walk(owner) for owner in "123456"), mixed])
    found, _ = gather(whole.drop(columns="time"))
    assert sorted(trace.name for trace in found) == [f"t#{owner}" for owner in "1234567"]


@in_one_part_or_several
@pytest.mark.parametrize("problem", ["must be of several people", "lie in no order"])
def test_a_table_is_refused_before_its_first_trace(
    monkeypatch: pytest.MonkeyPatch, held: int, problem: str
) -> None:
    """Though the first part is good: of a refused file nothing is used."""
    monkeypatch.setattr(rows_to_traces, "HELD", held)
    bad = [of_two_people(owner) for owner in "56789"]
    if problem == "lie in no order":
        bad = [rows.sample(frac=1.0, random_state=0).drop(columns="time") for rows in bad]
    whole = pd.concat([*(walk(owner, minutes=25) for owner in "1234"), *bad])
    traces = traces_of_points(parts(whole, 50), Reading(what="t", label="t"))
    with pytest.raises(ColumnsUnclear, match=problem):
        next(traces)
