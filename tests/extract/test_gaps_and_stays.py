"""Traces cut at hops and pauses."""

import math
from collections import Counter

from tracks import line, pieces, points, trace

from trajanon.extract.gaps_and_stays import split_at_gaps
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.trace import Trace

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
