"""The limits of hops and pauses that are found from the data."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from commands import Run
from hypothesis import given
from hypothesis import strategies as st
from recorded_trips import drives, east
from tracks import line

from trajanon.extract import cut, limits_from_data, traces_to_trajectories
from trajanon.extract.limits_from_data import head
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.trace import Trace
from trajanon.extract.traces_to_trajectories import Cutter
from trajanon.extract.why_left_out import limits_sentence


def limits(some: list[Trace], rules: Rules | None = None) -> tuple[Any, Any]:
    cutter = Cutter(rules or Rules())
    list(cutter.batches(iter(some)))
    return cutter.rules.max_gap, cutter.rules.max_pause


def every(metres: float, seconds: float, n: int = 12, name: str = "one") -> Trace:
    return east(metres * np.arange(n), seconds * np.arange(n), name)


@pytest.mark.parametrize(
    ("some", "expected"),
    [
        ([every(20, 1)], (2_000.0, 300.0)),
        ([every(900, 90)], (4_500.0, 450.0)),
        ([every(900, 90), every(20, 1, 1_000, "long"), every(800, 80, 5, "short")], (4_000, 400)),
        ([every(300, 3_600)], (2_000.0, 1_800.0)),
        ([line([0, 3_000, 6_000])], (15_000.0, 300.0)),  # without times
        ([east([0], [0])], (2_000.0, 300.0)),
    ],
)
def test_limits_are_five_times_the_median_of_the_recordings_medians(
    some: list[Trace], expected: tuple[float, float]
) -> None:
    assert limits(some) == pytest.approx(expected)
    assert limits(some, Rules(max_gap=700, max_pause=None)) == (700, None)
    assert limits(some, Rules(max_gap=700))[1] == limits(some)[1]


@given(st.lists(drives(), min_size=1, max_size=8), st.sampled_from([1, 20, 10_000]))
def test_what_is_found_does_not_depend_on_batches(some: list[Trace], size: int) -> None:
    """Nor on the points that cleaning drops, which are counted once."""
    whole = Cutter(Rules())
    list(map(whole.cut, whole.batches(iter(some))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traces_to_trajectories, "POINTS_PER_BATCH", size)
        cutter = Cutter(Rules())
        batches = list(cutter.batches(iter(some)))
    assert [one.name for batch in batches for one in batch] == [one.name for one in some]
    list(map(cutter.cut, batches))
    assert (cutter.rules, cutter.counts) == (whole.rules, whole.counts)


@pytest.mark.parametrize(
    ("limit", "most", "looked_at"),
    [("_MOST_RECORDINGS", 2, 2), ("_MOST_POINTS", 25, 3), ("_MOST_POINTS", 24, 2)],
)
def test_only_the_first_recordings_are_looked_at_and_none_is_lost(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int, looked_at: int
) -> None:
    monkeypatch.setattr(limits_from_data, limit, most)
    some = [every(20, 1, name=name) for name in "abcde"]
    unread = iter(some)
    first, everything = head(unread)
    assert first == some[:looked_at]
    assert next(unread) is some[looked_at]
    assert [trace.name for trace in everything] == [*"abcde"[:looked_at], *"abcde"[looked_at + 1 :]]


def test_what_was_found_is_told_in_one_sentence(run: Run, tmp_path: Path) -> None:
    way = every(900, 90)
    fixes = {"lat": way.lat, "lon": way.lon, "time": way.time, "id": "a"}
    pd.DataFrame(fixes).to_csv(tmp_path / "a.csv", index=False)
    told = run("extract", "a.csv").out
    found = (
        "Limits found from the hops of 1 recording: --max-gap is 4,500 m and --max-pause is "
        "7.5 min."
    )
    assert found in " ".join(told.split())
    given = run("extract", "a.csv", "--max-gap", 1_000, "--max-pause", "10min").out
    assert "Limits found" not in given
    untimed = cut([replace(line([0, 900, 1_800]), name="b")], Rules(max_gap=1_000))
    said = "Limits found from the hops of 1 recording: `max_pause` is 5 min."
    assert limits_sentence(untimed.provenance) == said
