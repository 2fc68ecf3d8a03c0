"""Traces cut at hops, pauses and borders; the limits found from the data."""

import math
from collections import Counter
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import shapely
from commands import Run
from hypothesis import given
from hypothesis import strategies as st
from recorded_trips import drives, east
from tracks import line, pieces, points, trace

from trajanon.extract import cut, traces_to_trajectories
from trajanon.extract.clip_to_area import clip
from trajanon.extract.earth.area import Region
from trajanon.extract.gaps_and_stays import split_at_gaps
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.trace import Trace
from trajanon.extract.traces_to_trajectories import Cutter
from trajanon.extract.why_left_out import limits_sentence

PAUSES, LONG, FAST = "cuts at pauses", "cuts at long hops", "cuts at impossible speeds"


def cut_at(
    *traces: Trace, max_gap: float | None = 500.0, max_pause: float | None = 300.0
) -> tuple[list[int], dict[str, int]]:
    counts: Counter[str] = Counter()
    after = split_at_gaps(
        points(*traces), Rules(spacing=10, max_gap=max_gap, max_pause=max_pause), counts
    )
    return pieces(after), {name: count for name, count in counts.items() if count}


def test_a_pause_of_over_five_minutes_ends_a_piece() -> None:
    walked = line([0, 10, 20, 30, 40], [0, 300, 600.001, 601, 602])
    assert cut_at(walked) == ([2, 3], {PAUSES: 1})


def test_pauses_may_be_longer_where_somebody_says_so() -> None:
    walked = line([0, 10, 20, 30], [0, 3600, 10_800, 18_001])
    assert cut_at(walked, max_pause=7200) == ([3, 1], {PAUSES: 1})
    assert cut_at(walked, max_pause=math.inf) == ([4], {})
    assert cut_at(walked, max_pause=None) == ([4], {})


def test_a_hop_longer_than_the_gap_ends_a_piece() -> None:
    walked = line([0, 499, 1000, 1400], [0, 10, 20, 30])
    assert cut_at(walked) == ([2, 2], {LONG: 1})
    assert cut_at(walked, max_gap=502) == ([4], {})
    assert cut_at(walked, max_gap=401) == ([1, 1, 2], {LONG: 2})


def test_without_a_gap_only_pause_and_speed_count() -> None:
    walked = line([0, 10_000, 20_000], [0, 299, 301])
    assert cut_at(walked, max_gap=None) == ([2, 1], {FAST: 1})
    jumps = trace([(lat, -3.0) for lat in (40.0, 40.1, 55.0, 55.1)])
    for no_limit in (None, 1e7):  # 1,650 km: wrong, and 33,000 points 50 m apart
        assert cut_at(jumps, max_gap=no_limit) == ([2, 2], {LONG: 1})


def test_noise_of_up_to_fifty_metres_is_no_speed() -> None:
    walked = line([0, 49.9, 99.8, 150.2], [0, 0.1, 0.2, 0.3])
    assert cut_at(walked) == ([3, 1], {FAST: 1})


def test_each_cut_counts_once() -> None:
    """A pause that is also a long hop, and a long hop that is also too fast."""
    walked = line([0, 10, 9000, 9010, 20_000, 20_060.1], [0, 1, 400, 401, 402, 403])
    assert cut_at(walked) == ([2, 2, 1, 1], {PAUSES: 1, LONG: 1, FAST: 1})


BANKS = Region(
    shapely.union(shapely.box(2.0, 41.0, 2.4, 42.0), shapely.box(2.6, 41.0, 3.0, 42.0)), "banks"
)
"""The land on both banks of a river that runs along the meridian of 2.5 degrees."""


def eastward(*lon: float) -> Trace:
    return trace([(41.5, x) for x in lon])


@given(st.lists(st.floats(2.001, 2.999), max_size=20), st.data())
def test_what_is_kept_keeps_its_order_and_pieces_end_where_one_must(
    lon: list[float], data: st.DataObject
) -> None:
    broken = data.draw(st.integers(0, len(lon)))
    inside = clip(points(eastward(*lon[:broken]), eastward(*lon[broken:])), BANKS)
    sides = [0 if 2.4 < x < 2.6 else (1 if x > 2.5 else -1) for x in lon]
    assert inside.lon.tolist() == [x for x, side in zip(lon, sides, strict=True) if side]
    expected = [
        len(list(run))
        for part in (sides[:broken], sides[broken:])
        for side, run in groupby(part)
        if side
    ]
    assert pieces(inside) == expected or {2.4, 2.6} & set(lon)  # at the bank, it may end


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
