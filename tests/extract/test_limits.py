"""The longest hop and pause that are found from the data."""

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

from trajanon.extract import Extraction, Rules, cut, cutting
from trajanon.extract.cutting import Cutter
from trajanon.extract.split import limits_told
from trajanon.extract.trace import Trace


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
        ([], (2_000.0, 300.0)),
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
        patch.setattr(cutting, "BATCH", size)
        cutter = Cutter(Rules())
        batches = list(cutter.batches(iter(some)))
    assert [one.name for batch in batches for one in batch] == [one.name for one in some]
    list(map(cutter.cut, batches))
    assert (cutter.rules, cutter.counts) == (whole.rules, whole.counts)


def test_the_same_limits_are_found_by_several_processes(tmp_path: Path) -> None:
    for number in range(5):
        way = every(400.0 + 100.0 * number, 60.0, name="a")
        fixes = {"lat": way.lat, "lon": way.lon, "time": way.time}
        pd.DataFrame(fixes).to_csv(tmp_path / f"{number}.csv", index=False)
    one, two = (Extraction(tmp_path, jobs=jobs).trajectories() for jobs in (1, 2))
    assert one.provenance == two.provenance
    assert one.provenance["max_gap"] == pytest.approx(3_000.0, abs=1)
    assert len(one) == 5


def test_what_was_found_is_told_in_one_sentence(run: Run, tmp_path: Path) -> None:
    way = every(900, 90)
    fixes = {"lat": way.lat, "lon": way.lon, "time": way.time, "id": "a"}
    pd.DataFrame(fixes).to_csv(tmp_path / "a.csv", index=False)
    told = run("extract", "a.csv").out
    assert (
        "Found from the data: a longest hop of 4,500 m and a longest pause of 7.5 min, as half of "
        "the hops of 1 recording are below 900 m and 1.5 min. Set others with --max-gap and "
        "--max-pause."
    ) in " ".join(told.split())
    given = run("extract", "a.csv", "--max-gap", 1_000, "--max-pause", "10min").out
    assert "Found from the data" not in given
    untimed = cut([replace(line([0, 900, 1_800]), name="b")], Rules(max_gap=1_000))
    assert limits_told(untimed.provenance) == (
        "Found from the data: a longest pause of 5 min, as half of the hops of 1 recording are "
        "below 900 m. Set others with `max_pause`."
    )
