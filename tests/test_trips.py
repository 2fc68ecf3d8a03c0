"""Whole trips: what is one, what is left out, and the points and times along it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from naive_trips import along_way, equal_shares, places_of, trips
from tracks import GEOD, START, Leg, bent, distance, line, points, trace

from trajanon.errors import BadInput, NoTrajectories
from trajanon.extract import Extraction, Rules, checkpoint, cut, cutting, extract
from trajanon.extract.cutting import Cutter
from trajanon.extract.earth.box import Box
from trajanon.extract.earth.places import Zone, around
from trajanon.extract.earth.regions import Region
from trajanon.extract.resample import windows
from trajanon.extract.sources.source import Source, joined_pieces
from trajanon.extract.trace import Trace
from trajanon.extract.trips import BEYOND, FOUND, LEFT_OUT
from trajanon.files.trajectories import read_trajectories
from trajanon.partition import dense
from trajanon.trajectories import Trajectories

RULES = Rules(trips=True, points=7)
BOX = Box(-3.74, 40.375, -3.66, 40.425)

_METRES = st.sampled_from([3.717, 19.951, 57.309, 211.733, 733.117, 1_511.391, 2_711.173])
_SECONDS = st.sampled_from([7, 20, 45, 61, 140, 299, 300, 301, 2_000])


@st.composite
def drives(draw: st.DrawFn) -> Trace:
    """Fixes in order, at different times and places: stays, pauses, long hops and false ones."""
    legs = draw(st.lists(st.tuples(st.floats(0, 360), _METRES, _SECONDS), max_size=40))
    recorded = bent([(azimuth, metres) for azimuth, metres, _ in legs])
    time = 1.2e9 + np.cumsum([0, *(seconds for *_, seconds in legs)])
    return replace(recorded, time=time, name=str(draw(st.integers(0, 10**9))))


def found(
    some: Sequence[Trace], rules: Rules = RULES, **more: Any
) -> tuple[Trajectories, Counter[str]]:
    """All trips of some recordings, in one batch, and the counts."""
    cutter = Cutter(rules, key=12345, **more)
    return cutter.cut(some)[0], cutter.counts


def times_of(trajectories: Trajectories) -> Any:
    assert trajectories.times is not None
    return trajectories.times


@given(drives(), st.sampled_from([None, BOX]), st.sampled_from([0.0, 500.0, 3_000.0]))
def test_trips_are_those_that_are_found_one_by_one(
    recorded: Trace, box: Box | None, least: float
) -> None:
    rules = replace(RULES, min_length=least)
    whole, counts = found([recorded], rules, area=box)
    expected = trips(recorded, rules, box)
    kept = [trip.fixes for trip in expected if not trip.why]
    at = places_of(recorded)
    assert whole.points[:, 0].tolist() == at[[fixes[0] for fixes in kept]].tolist()
    assert whole.points[:, -1].tolist() == at[[fixes[-1] for fixes in kept]].tolist()
    assert times_of(whole)[:, 0].tolist() == [recorded.time[fixes[0]] for fixes in kept]
    assert times_of(whole)[:, -1].tolist() == [recorded.time[fixes[-1]] for fixes in kept]
    why = Counter(trip.why for trip in expected if trip.why)
    assert {name: counts[name] for name in LEFT_OUT if counts[name]} == why
    assert counts[FOUND] == len(whole) + why.total()
    for row, fixes in enumerate(kept):
        places, seconds = equal_shares(recorded, fixes, rules.points)
        slowest = np.diff(recorded.time[fixes]) / [
            distance(at[one], at[other]) for one, other in pairwise(fixes)
        ]
        for place, near in zip(places, whole.points[row], strict=True):
            assert distance(place, near) < 0.01
        assert times_of(whole)[row] == pytest.approx(seconds, abs=0.01 * slowest.max(), rel=0)


@given(st.lists(drives(), min_size=1, max_size=5), st.sampled_from([1, 20, 10_000]), st.booleans())
def test_trips_do_not_depend_on_batches(some: list[Trace], size: int, trims: bool) -> None:
    rules = replace(RULES, trim_ends=60.0 * trims)
    together, counts = found(some, rules)
    cutter = Cutter(rules, key=12345)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "BATCH", size)
        parts = [cutter.cut(batch)[0] for batch in cutting.batches(some, rules)]
    assert cutter.counts == counts
    for name in ("points", "times"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        assert joined.tobytes() == getattr(together, name).tobytes()


@given(drives(), st.floats(20, 250), st.booleans(), st.integers(2, 9))
def test_times_of_windows_lie_along_each_hop(
    recorded: Trace, spacing: float, keep: bool, size: int
) -> None:
    rules = Rules(spacing=spacing, points=size)
    batch = windows(points(recorded), rules, keep_tracks=keep)
    at = places_of(recorded)
    hops = [distance(one, other) for one, other in pairwise(at)]
    many = batch.times.size
    assert batch.times.shape == batch.points.shape[:2]
    if not many:
        return
    expected = along_way(at, recorded.time, hops, [spacing * step for step in range(many)])
    slowest = 0.01 * (np.diff(recorded.time) / hops).max()
    assert batch.times.ravel() == pytest.approx([t for _, t in expected], abs=slowest, rel=0)
    assert (np.diff(batch.times.ravel()) >= 0.0).all()
    if batch.tracks is not None:
        tracks = batch.tracks
        assert tracks.times is not None
        of_windows = tracks.times_of_windows(size)
        assert of_windows is not None
        assert of_windows.tobytes() == batch.times.tobytes()
        steps = [spacing / 4 * step for step in range(len(tracks.times))]
        expected = along_way(at, recorded.time, hops, steps)
        assert tracks.times == pytest.approx([t for _, t in expected], abs=slowest, rel=0)


def test_untimed_recordings_have_no_times() -> None:
    way = np.linspace(0, 5_000, 60).tolist()
    untimed = line(way, name="untimed")
    timed = east(way, 10.0 * np.arange(60), "timed", start=(40.3, -3.7))
    for rules in (Rules(spacing=100, points=5), RULES):
        both = cut([untimed, timed], rules)
        none = np.isnan(times_of(both)).all(axis=1)
        assert none.any()
        assert not none.all()
        assert both.provenance["counts"]["trajectories without times"] == none.sum()
        alone = cut([untimed], rules)
        assert alone.times is None
        assert alone.tracks is None or alone.tracks.times is None


def test_times_beyond_all_calendars_are_no_times() -> None:
    way = east(np.linspace(0, 5_000, 60).tolist(), 1e12 + 10.0 * np.arange(60))
    assert cut([way], RULES).times is None
    assert cut([way], Rules(spacing=100, points=5)).times is None


def east(metres: Any, seconds: Any, name: str = "one", **more: Any) -> Trace:
    """A way to the east, timed."""
    return line(list(metres), list(1e9 + np.asarray(seconds)), name=name, **more)


def there_and_back_again(stay: float, noise: float = 0.0) -> Trace:
    """Two ways of 3 km, a fix each 10 s, with a recorded stay between them."""
    there, here = np.arange(0, 3_001, 100.0), np.arange(0, stay, 10.0)
    drift = 3_000 + noise * (1 + np.arange(len(here)) % 2) + 0.01 * np.arange(len(here))
    away = drift[-1] + np.arange(100, 3_001, 100.0)
    metres = np.concatenate([there, drift[1:], away])
    return east(metres, 10.0 * np.arange(len(metres)))


@pytest.mark.parametrize("noise", [0.0, 20.0])
def test_a_stay_ends_a_trip_and_begins_the_next(noise: float) -> None:
    recorded = there_and_back_again(600.0, noise)
    whole, counts = found([recorded])
    assert len(whole) == 2
    assert counts["stays"] == 1
    times = times_of(whole)
    assert times[1, 0] - times[0, -1] >= 500.0
    assert distance(whole.points[0, -1], whole.points[1, 0]) <= 100.0
    assert whole.trace is not None
    assert whole.trace.tolist() == [0, 0]


@pytest.mark.parametrize(("metres", "many"), [(97.0, 2), (103.0, 1)])
def test_a_stay_is_within_a_hundred_metres(metres: float, many: int) -> None:
    ways = [0, 1_000, 2_000, 2_000 + metres, 3_000 + metres, 4_000 + metres]
    whole, _ = found([east(ways, [0, 60, 120, 420, 480, 540])])
    assert len(whole) == many


def test_who_stops_for_less_has_not_arrived() -> None:
    whole, counts = found([there_and_back_again(200.0)])
    assert len(whole) == 1
    assert counts["stays"] == 0
    shorter = replace(RULES, max_pause=100.0)
    assert len(found([there_and_back_again(200.0)], shorter)[0]) == 2


def test_a_pause_ends_a_trip_wherever_the_next_begins() -> None:
    ways = [0.0, 400.0, 800.0, 9_000.0, 9_400.0, 9_800.0]
    seconds = [0, 20, 40, 400, 420, 440]
    recorded = east(ways, seconds)
    assert len(found([recorded])[0]) == 2
    assert len(found([recorded], replace(RULES, max_pause=None))[0]) == 0  # of a long hop


@pytest.mark.parametrize(
    ("ways", "seconds", "why"),
    [
        ([0, 500, 2_600, 3_000], [0, 20, 90, 110], "trips with a long hop"),
        ([0, 500, 1_400, 1_800], [0, 20, 30, 50], "trips with an impossible speed"),
        ([0, 200, 450], [0, 20, 40], "trips too short"),
    ],
)
def test_what_is_left_out_is_left_out_whole(
    ways: list[float], seconds: list[float], why: str
) -> None:
    whole, counts = found([east(ways, seconds)])
    assert len(whole) == 0
    assert counts[why] == counts[FOUND] == 1


def test_a_trip_that_leaves_the_area_between_two_points_is_left_out() -> None:
    """Though both ends of each hop lie in the area."""
    lat, lon = START
    bay = shapely.box(lon - 0.02, lat - 0.01, lon + 0.02, lat + 0.01).difference(
        shapely.box(lon - 0.001, lat - 0.001, lon + 0.001, lat + 0.02)
    )
    area = Region(bay, "a bay")
    over = trace([(lat, lon - 0.01), (lat, lon - 0.002), (lat, lon + 0.002)], [1e9, 1e9 + 60, 2e9])
    over = replace(over, time=np.array([1e9, 1e9 + 60.0, 1e9 + 120.0]))
    whole, counts = found([over], replace(RULES, min_length=100.0), area=area)
    assert len(whole) == 0
    assert counts["trips that leave the area"] == 1
    beside = trace([(lat - 0.005, lon - 0.01), (lat - 0.005, lon + 0.01)], [1e9, 1e9 + 60])
    assert len(found([beside], area=area)[0]) == 1


def test_points_lie_in_the_box_though_a_geodesic_bulges_over_its_border() -> None:
    north = Box(-3.8, 40.3, -3.6, 40.4)
    along = trace([(40.4, -3.75), (40.4, -3.73)], [1e9, 1e9 + 100])
    whole, _ = found([along], area=north)
    assert len(whole) == 1
    assert (whole.points[..., 0] <= 40.4).all()


def test_clocks_that_stand_still_or_run_back() -> None:
    ways, seconds = np.arange(0, 2_001, 100.0).tolist(), 10.0 * np.arange(21)
    right = east(ways, seconds.tolist())
    back = replace(right, lat=right.lat[::-1], lon=right.lon[::-1], time=right.time[::-1])
    expected, _ = found([right])
    turned, _ = found([back])
    assert turned.points.tobytes() == expected.points.tobytes()
    assert times_of(turned).tobytes() == times_of(expected).tobytes()
    stands, counts = found([east(ways, np.zeros(21).tolist())])
    assert (len(stands), counts[FOUND]) == (0, 0)
    assert counts["points alone between pauses and stays"] == 1


def test_a_way_too_short_to_be_measured_is_a_trip_of_no_length() -> None:
    short = trace([(START[0], START[1]), (np.nextafter(START[0], 90.0), START[1])], [0.0, 10.0])
    trip, _ = found([short], replace(RULES, min_length=0.0))
    assert np.abs(trip.points - START).max() < 1e-9
    assert times_of(trip)[0, [0, -1]].tolist() == [0.0, 10.0]
    assert len(found([short], RULES)[0]) == 0


def test_two_points_are_the_ends() -> None:
    whole, _ = found([there_and_back_again(600.0)], replace(RULES, points=2))
    assert whole.points.shape == (2, 2, 2)


def test_limits_choose_among_trips() -> None:
    some = [replace(there_and_back_again(600.0), name=str(n), subject=str(n % 2)) for n in range(4)]
    for n, one in enumerate(some):
        one.time[:] += 1e5 * n
    assert len(cut(some, RULES)) == 8
    assert len(cut(some, replace(RULES, limit=3))) == 3
    first = cut(some, replace(RULES, windows="first"))
    assert len(first) == 4
    assert (np.diff(times_of(first)[:, 0]) == 1e5).all()
    assert len(cut(some, replace(RULES, max_per_subject=1))) == 2


def test_standing_still_and_lines_are_of_the_trips_own_length() -> None:
    rules = replace(RULES, points=13)
    ring = bent([(azimuth, 50.0) for azimuth in range(0, 361, 5)])
    ring = replace(ring, time=np.arange(1e9, 1e9 + 10.0 * len(ring), 10.0))
    straight = east([0, 1_900, 3_800], [0, 60, 120], name="two")
    assert len(found([ring, straight], rules)[0]) == 2
    assert len(found([ring, straight], replace(rules, min_displacement=0.5))[0]) == 1
    kept, counts = found([ring, straight], replace(rules, max_fill=0.2))
    assert len(kept) == 1
    assert counts["trajectories on lines nobody recorded"] == 1


# Ends and hidden places


@given(drives(), st.floats(10, 200))
def test_no_trimmed_trip_comes_near_its_own_ends(recorded: Trace, metres: float) -> None:
    rules = replace(RULES, trim_ends=metres, min_length=0.0)
    whole, counts = found([recorded], rules)
    assert counts[FOUND] == len(whole) + sum(counts[why] for why in LEFT_OUT)
    ends = [(trip.fixes[0], trip.fixes[-1]) for trip in trips(recorded, rules) if not trip.why]
    at, time = places_of(recorded), recorded.time
    for points_of_trip, times in zip(whole.points, times_of(whole), strict=True):
        (mine,) = [(i, j) for i, j in ends if time[i] < times[0] and times[-1] < time[j]]
        for place, end in product(points_of_trip, mine):
            assert distance(place, at[end]) > metres


def test_a_trip_that_lost_its_ends_stays_and_its_new_length_counts() -> None:
    recorded = east(np.arange(0, 5_001, 50.0).tolist(), 5.0 * np.arange(101))
    whole, _ = found([recorded])
    trimmed, counts = found([recorded], replace(RULES, trim_ends=200.0))
    assert len(trimmed) == 1
    assert counts["points near the ends of a trace"] > 10
    assert set(map(tuple, trimmed.points[:, [0, -1]].reshape(-1, 2).tolist())) <= set(
        map(tuple, places_of(recorded).tolist())
    )
    assert times_of(trimmed)[0, 0] > times_of(whole)[0, 0]
    short, counts = found([recorded], replace(RULES, trim_ends=200.0, min_length=4_900.0))
    assert len(short) == 0
    assert counts["trips too short"] == 1


@pytest.mark.parametrize(("at", "left"), [(0.0, 1), (5_000.0, 1), (2_500.0, 0)])
def test_a_hidden_place_shortens_a_trip_at_its_end_and_spoils_it_in_its_middle(
    at: float, left: int
) -> None:
    lon, lat, _ = GEOD.fwd(START[1], START[0], 90.0, at)
    zone = Zone(around(np.array([shapely.Point(lon, lat)]), 300.0))
    recorded = east(np.arange(0, 5_001, 50.0).tolist(), 5.0 * np.arange(101))
    whole, counts = found([recorded], hidden=zone)
    assert len(whole) == left
    assert counts["trips cut in their middle"] == 1 - left
    for place in whole.points.reshape(-1, 2):
        assert distance(place, np.array([lat, lon])) > 300.0


def test_both_sides_of_a_stay_are_trimmed() -> None:
    recorded = there_and_back_again(600.0)
    whole, _ = found([recorded], replace(RULES, trim_ends=100.0))
    assert len(whole) == 2
    stop = found([recorded])[0].points[0, -1]
    assert min(distance(place, stop) for place in whole.points.reshape(-1, 2)) > 100.0


# Recordings in pieces


def test_pieces_that_follow_in_time_are_one_recording() -> None:
    ways, seconds = np.arange(0, 4_001, 100.0), 10.0 * np.arange(41)
    one, other = east(ways[:20].tolist(), seconds[:20].tolist()), None
    other = east(ways[20:].tolist(), seconds[20:].tolist())
    assert len(cut([one, other], RULES)) == 1
    assert len(cut([other, one], RULES)) == 2  # the times run back: two pieces
    assert len(cut([one, replace(other, name="two")], RULES)) == 2
    assert len(cut([one, replace(other, time=other.time + 301)], RULES)) == 2
    untimed = [replace(each, time=np.full(len(each), np.nan)) for each in (one, other)]
    assert len(cut(untimed, RULES)) == 2


def test_joined_pieces_say_how_many_they_are_and_are_gone_on_from() -> None:
    ways = [east([0, 100], [10 * n, 10 * n + 5], name) for n, name in enumerate("aabccc")]
    assert [(n, one.name, len(one)) for n, one in joined_pieces(ways)] == [
        (2, "a", 4),
        (3, "b", 2),
        (6, "c", 6),
    ]
    source = Source(lambda unit, _: ((0, way) for way in ways[unit:]), joined=True)
    places = [source.position for _ in source]
    assert places == [(0, 2), (0, 3), (0, 6)]
    rest = Source(source.numbered, places[0], Counter(), joined=True)
    assert [one.name for one in rest] == ["b", "c"]


# The server gives points of a box only


@pytest.mark.parametrize(("first", "left"), [(300.0, 1), (50.0, 0)])
def test_a_trip_of_the_server_that_ends_near_its_box_may_go_on_outside(
    first: float, left: int
) -> None:
    recorded = east((first + np.arange(0, 3_001, 100.0)).tolist(), 10.0 * np.arange(31))
    box = Box(START[1], 40.3, -3.6, 40.5)
    assert len(found([recorded], area=box)[0]) == 1
    whole, counts = found([recorded], area=box, boxes=[box])
    assert len(whole) == left
    assert counts[BEYOND] == 1 - left


def test_a_trip_of_the_server_that_may_have_been_outside_between_two_points() -> None:
    """The server leaves out the points outside, and tells nothing of it."""
    box = Box(START[1], 40.3, -3.6, 40.5)
    lat = [40.38, 40.385, 40.39, 40.395, 40.40, 40.405]
    east_of = np.array([0.03, 0.015, 0.001, 0.001, 0.015, 0.03])
    way = trace(list(zip(lat, START[1] + east_of, strict=True)), list(1e9 + 60.0 * np.arange(6)))
    assert len(found([way], area=box)[0]) == 1
    assert len(found([way], area=box, boxes=[box])[0]) == 0
    inner = replace(way, lon=way.lon + 0.02)
    assert len(found([inner], area=box, boxes=[box])[0]) == 1


def test_the_last_trip_of_a_recording_that_the_server_cut_off_may_go_on() -> None:
    box = Box(-3.8, 40.3, -3.5, 40.5)
    recorded = replace(there_and_back_again(600.0), cut_off=True)
    pieces = [replace(recorded, time=recorded.time - 1e5, cut_off=False), recorded]
    whole, counts = found(pieces, area=box, boxes=[box])
    assert times_of(whole)[:, 0].tolist() == [1e9 - 1e5, times_of(whole)[1, 0], 1e9]
    assert counts[BEYOND] == 1
    (joined,) = (one for _, one in joined_pieces(pieces))
    assert joined.cut_off


# From files, in parts, stopped, by several processes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three tables of recordings with stays, pauses and hops that are too long."""
    folder = tmp_path / "traces"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(3):
        rows = []
        for ride in range(12):
            n = int(rng.integers(30, 80))
            steps = rng.choice([5.0, 120.0, 2_500.0], n, p=[0.19, 0.8, 0.01])
            steps[12:24] = 1.0
            legs: list[Leg] = [(float(rng.normal(90, 20)), float(step) + 0.1) for step in steps]
            fixes = places_of(bent(legs[1:], start=(40.40 + ride / 1e3, -3.73)))
            rows.append(
                pd.DataFrame(fixes, columns=["lat", "lon"]).assign(
                    trip_id=f"{number}-{ride}",
                    user_id=(5 * number + ride) % 7,
                    time=1_200_000_000 + 10_000 * ride + 40 * np.arange(n),
                )
            )
        pd.concat(rows).to_csv(folder / f"{number}.csv", index=False)
    return folder


def of(folder: Path, **more: Any) -> Extraction:
    rules = Rules(trips=True, points=6, max_per_subject=9, limit=25, min_length=700.0)
    return Extraction(folder, Box(-3.74, 40.39, -3.65, 40.43), rules, **more)


def is_the_same(one: Trajectories, other: Trajectories) -> bool:
    assert len(one) > 10
    np.testing.assert_array_equal(one.points, other.points)
    np.testing.assert_array_equal(times_of(one), times_of(other))
    for name in ("subject", "trace"):
        np.testing.assert_array_equal(dense(getattr(one, name)), dense(getattr(other, name)))
    assert one.provenance == other.provenance
    return True


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "TRAJECTORIES_HELD", 8)
    monkeypatch.setattr(cutting, "BATCH", 150)


@pytest.mark.usefixtures("small")
def test_on_disk_and_by_two_processes_it_is_as_in_memory(folder: Path, tmp_path: Path) -> None:
    expected = of(folder).trajectories()
    assert expected.provenance["trips"] is True
    assert expected.provenance["spacing"] is None
    assert expected.unit == "trip"
    assert expected.tracks is None
    counts = expected.provenance["counts"]
    assert counts["stays"] > 0
    out = sum(counts.get(why, 0) for why in LEFT_OUT)
    over = sum(many for what, many in counts.items() if what.startswith("trajectories over"))
    assert counts[FOUND] == out + over + counts["trajectories"]
    of(folder).write(tmp_path / "a.parquet")
    assert is_the_same(expected, read_trajectories(tmp_path / "a.parquet"))
    assert is_the_same(expected, of(folder, jobs=2).trajectories())
    of(folder).write(tmp_path / "parts", partition=7)
    parts = [read_trajectories(path) for path in sorted((tmp_path / "parts").glob("*.parquet"))]
    assert {len(part) for part in parts[:-1]} == {7}
    points = np.concatenate([part.points for part in parts])
    np.testing.assert_array_equal(points, expected.points)
    times = np.concatenate([times_of(part) for part in parts])
    np.testing.assert_array_equal(times, times_of(expected))


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("stop", [0, 2, 5])
def test_stopped_it_goes_on_to_the_same(folder: Path, tmp_path: Path, stop: int) -> None:
    expected, cut, left = of(folder).trajectories(), Cutter.cut, [stop]

    def until(cutter: Cutter, some: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        return cut(cutter, some)

    out = tmp_path / "a.parquet"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Cutter, "cut", until)
        with pytest.raises(KeyboardInterrupt):
            of(folder).write(out)
    of(folder).write(out, resume=True)
    assert is_the_same(expected, read_trajectories(out))


# Rules, and what is said where nothing is left


def test_the_longest_hop_of_trips_is_longer_unless_it_is_said() -> None:
    assert Rules(spacing=100).max_gap == 500.0
    assert Rules(trips=True).max_gap == 2_000.0
    assert Rules(trips=True, max_gap=500.0).max_gap == 500.0
    assert Rules(trips=True, max_gap=None).longest_hop == 1e6
    assert Rules(trips=True).min_length == 500.0
    assert Rules(spacing=100).min_length is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"trips": True, "spacing": 100.0}, "`spacing=100` is for windows"),
        ({"spacing": 100.0, "min_length": 500.0}, "`min_length=500` is for whole trips"),
        ({"trips": True, "min_length": -1.0}, "`min_length` must be a number of metres"),
        ({"trips": True, "min_length": np.nan}, "`min_length` must be a number of metres"),
        ({"trips": True, "max_gap": "far"}, "`max_gap` must be a positive number"),
        ({}, "or take whole trips"),
    ],
)
def test_rules_that_make_no_sense_are_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput) as refused:
        Rules(**given)
    assert says in str(refused.value)


_WAY = np.arange(0, 3_001, 100.0).tolist()


@pytest.mark.parametrize(
    ("recorded", "more", "says"),
    [
        (east(_WAY, np.zeros(31).tolist()), {}, "bear one time"),
        (east([0], [0]), {}, "1 recording has no two points"),
        (east(_WAY, (400.0 * np.arange(31)).tolist()), {}, "raise `max_pause`"),
        (east([0, 200], [0, 10]), {}, "1 shorter than 500 m (the longest is 200 m); lower `min_l"),
        (east([0, 2_500, 2_600], [0, 90, 99]), {}, "1 with a long hop; raise `max_gap`"),
        (east(_WAY, np.arange(31.0).tolist()), {}, "1 with an impossible speed; look whether"),
        (
            east(_WAY, (10.0 * np.arange(31)).tolist()),
            {"area": Box(-3.71, 40.3, -3.69, 40.5)},
            "1 that leave the area; give a larger `area`",
        ),
        (
            east(_WAY, (10.0 * np.arange(31)).tolist()),
            {"area": Box(2.0, 41.0, 2.1, 41.1)},
            "give the `area` that holds them",
        ),
        (
            east(_WAY, (10.0 * np.arange(31)).tolist()),
            {"rules": replace(RULES, trim_ends=900.0)},
            "lower `trim_ends`",
        ),
        (
            east(_WAY, (10.0 * np.arange(31)).tolist()),
            {"rules": replace(RULES, max_fill=0.0, points=90, max_gap=2_000.0)},
            "lines nobody recorded; raise `max_fill`",
        ),
    ],
)
def test_where_no_trip_is_left_the_way_out_is_told(
    recorded: Trace, more: dict[str, Any], says: str
) -> None:
    rules = more.pop("rules", RULES)
    with pytest.raises(NoTrajectories) as why:
        cut([recorded], rules, **more)
    assert str(why.value).startswith("no trips: ")
    assert says in str(why.value)


def test_a_city_brings_its_box_but_no_spacing(folder: Path) -> None:
    whole = extract(folder, "madrid", trips=True)
    assert whole.provenance["spacing"] is None
    assert whole.points.shape[1] == 30
