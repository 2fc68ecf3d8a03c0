"""The ends of traces: what is cut out about them, and what that tells."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tracks import GEOD, START, line, points, trace

from trajanon.common.arrays import Floats
from trajanon.extract.gaps_and_stays import split_at_gaps
from trajanon.extract.hidden_homes_and_ends import Circles, circles_of_ends, cut_own_ends
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.points import Points
from trajanon.extract.trace import Trace

METRES = 200.0
SECRET = 12345
RULES = Rules(per_recording=None, spacing=10, max_gap=None, trim_ends=METRES)


def circles_of(key: int, rules: Rules = RULES) -> Circles:
    return circles_of_ends(rules, key.to_bytes(16, "little"))


def trimmed(
    *traces: Trace, rules: Rules = RULES, key: int = SECRET, circles: Circles | None = None
) -> Points:
    """What is left of traces."""
    pieces = split_at_gaps(points(*traces), rules, Counter())
    return cut_own_ends(pieces, rules, circles or circles_of(key, rules))


def metres_from(left: Points, lat: float, lon: float) -> Floats:
    many = np.ones(len(left))
    metres = GEOD.inv(many * lon, many * lat, left.lon, left.lat)[2]
    return np.asarray(metres, dtype=np.float64)


def away(left: Points, lat: float, lon: float) -> float:
    """Metres from a place to the nearest point left."""
    return float(metres_from(left, lat, lon).min())


def kept(left: Points) -> set[tuple[float, float]]:
    return set(zip(left.lat.tolist(), left.lon.tolist(), strict=True))


def ride(start: tuple[float, float], azimuth: float, seed: int, metres: float = 2000) -> Trace:
    """A fix every five metres from a place, the first one some metres off."""
    noise = np.random.default_rng(seed).normal(0, 5e-5, 2)
    begin = (start[0] + noise[0], start[1] + noise[1])
    far = np.arange(0, metres, 5.0).tolist()
    return line(far, start=begin, azimuth=azimuth, name=str(seed))


def centre_of(edge: Sequence[tuple[float, float]], about: tuple[float, float]) -> complex:
    """Centre of the circle through places, by least squares: metres east, i north."""
    lat, lon = np.array(edge).T
    ones = np.ones(len(lat))
    to, _, metres = GEOD.inv(ones * about[1], ones * about[0], lon, lat)
    z = metres * np.exp(1j * np.radians(90.0 - np.array(to)))
    sides = np.column_stack([2 * z.real, 2 * z.imag, ones])
    x, y, _ = np.linalg.lstsq(sides, np.abs(z) ** 2)[0]
    return complex(x, y)


@given(
    st.integers(0, 2**63 - 1),
    st.floats(-80, 80),
    st.floats(-180, 180),
    st.floats(0, 360),
    st.floats(20, 300),
)
def test_all_near_an_end_is_cut_out_and_all_far_from_it_stays(
    key: int, lat: float, lon: float, azimuth: float, metres: float
) -> None:
    way = line(np.arange(0, 5000, 10.0).tolist(), start=(lat, lon), azimuth=azimuth)
    left = trimmed(way, rules=replace(RULES, trim_ends=metres), key=key)
    for end in (0, -1):
        assert away(left, way.lat[end], way.lon[end]) > metres
    off = int(4.1 * metres / 10) + 1
    middle = slice(off, len(way) - off)
    expected = zip(way.lat[middle].tolist(), way.lon[middle].tolist(), strict=True)
    assert set(expected) <= kept(left)


@pytest.mark.parametrize(("lat", "metres"), [(89.999, 200.0), (-90.0, 200.0), (75.0, 20_000.0)])
def test_all_near_an_end_is_cut_out_at_a_pole_and_far_around(lat: float, metres: float) -> None:
    rules = replace(RULES, trim_ends=metres)
    for azimuth in range(0, 360, 30):
        far = (np.arange(400) * metres / 50.0).tolist()
        way = line(far, start=(lat, 3.0), azimuth=azimuth)
        for key in range(5):
            left = trimmed(way, rules=rules, key=key)
            assert not len(left) or away(left, lat, 3.0) > metres


def test_the_end_is_not_the_centre_of_what_is_cut_out() -> None:
    """Nameless rides that leave a home in all directions, with many secrets."""
    centres = []
    for key in range(30):
        circles = circles_of(key)
        rides = [ride(START, azimuth, azimuth) for azimuth in range(0, 360, 30)]
        left = [trimmed(one, circles=circles) for one in rides]
        edge = [(float(one.lat[0]), float(one.lon[0])) for one in left]
        centres.append(centre_of(edge, START))
    off = np.abs(centres)
    assert off.max() < 1.1 * METRES  # a circle is left at the first fix beyond it
    # Uniform in the disc: two thirds of the radius on average, in any direction.
    assert off.mean() == pytest.approx(2 / 3 * METRES, rel=0.2)
    assert abs(np.mean(centres)) < 0.35 * METRES


def test_more_rides_tell_no_more_of_where_they_begin() -> None:
    """All of them are cut by one circle; were it drawn anew, its mean would tell."""
    circles = circles_of(SECRET)
    edge = []
    for seed in range(60):
        left = trimmed(ride(START, 6.0 * seed, seed), circles=circles)
        edge.append((float(left.lat[0]), float(left.lon[0])))
    centre = centre_of(edge, START)
    for half in (edge[::2], edge[1::2]):
        assert abs(centre_of(half, START) - centre) < 10
    assert len(circles.places) == 61  # home, and where each ride ends


def test_one_place_does_not_tell_another() -> None:
    """Whoever knows where I work learns nothing of where I live."""
    ways = []
    work = (START[0] + 0.05, START[1] + 0.05)
    for key in range(20):
        circles = circles_of(key)
        shifts = []
        for place in (START, work):
            rides = [ride(place, azimuth, azimuth) for azimuth in range(0, 360, 30)]
            left = [trimmed(one, circles=circles) for one in rides]
            edge = [(float(one.lat[0]), float(one.lon[0])) for one in left]
            shifts.append(centre_of(edge, place))
        ways.append(shifts[1] - shifts[0])
    assert np.median(np.abs(ways)) > 0.5 * METRES
    assert abs(np.mean(ways)) < 0.5 * METRES


def test_a_pause_is_a_stop() -> None:
    metres = np.arange(0, 6000, 10.0)
    seconds = np.where(metres < 3000, metres, metres + 600)  # ten minutes at 3 km
    way = line(metres.tolist(), seconds.tolist())
    left = trimmed(way)
    assert away(left, way.lat[300], way.lon[300]) > METRES
    assert away(left, way.lat[200], way.lon[200]) == 0.0


@pytest.mark.parametrize("noise", [0.0, 5e-5])
def test_a_recorded_stay_is_a_stop(noise: float) -> None:
    """Eight hours at home, a fix every twenty seconds, some metres of noise."""
    out = line(np.arange(0, 4000, 10.0).tolist(), np.arange(0, 400.0).tolist())
    home = np.array([out.lat[-1], out.lon[-1]])
    rng = np.random.default_rng(0)
    places = home + rng.normal(0, noise, (1440, 2))
    back = line(np.arange(10, 4000, 10.0).tolist(), start=(home[0], home[1]), azimuth=0.0)
    fixes = [*zip(out.lat, out.lon, strict=True), *places.tolist()]
    fixes += zip(back.lat, back.lon, strict=True)
    seconds = [*range(400), *(400 + 20 * i for i in range(1440))]
    seconds += [29_200 + i for i in range(len(back))]
    left = trimmed(trace(fixes, seconds))
    assert away(left, *home) > METRES
    assert away(left, out.lat[200], out.lon[200]) == 0.0


def test_a_stay_is_a_stop_though_pauses_may_be_longer() -> None:
    """Who is shown past long pauses must not be shown at home."""
    rules = replace(RULES, max_pause=7200.0)
    there = line([*range(0, 3000, 10), *[3000] * 80, *range(3010, 6000, 10)])
    slow = replace(there, time=np.linspace(0.0, 3000.0, len(there)))
    assert np.array_equal(trimmed(slow, rules=rules).lat, trimmed(slow).lat)


@pytest.mark.parametrize("lost", ["first", "last"])
def test_a_false_fix_does_not_hide_the_end_behind_it(lost: str) -> None:
    """A receiver that starts cold reports a place 30 km off."""
    metres = np.arange(0, 6000, 10.0)
    way = line(metres.tolist(), np.arange(10, 10 + len(metres)).tolist())
    far = line([30_000], [0.0 if lost == "first" else 700.0], azimuth=180.0)
    fixes = [*zip(way.lat, way.lon, strict=True)]
    one = [(far.lat[0], far.lon[0])]
    times = [*way.time.tolist()]
    fixes = one + fixes if lost == "first" else fixes + one
    times = [0.0, *times] if lost == "first" else [*times, 700.0]
    for rules in (RULES, replace(RULES, max_gap=500.0, max_speed=1e9)):
        left = trimmed(trace(fixes, times), rules=rules)
        assert away(left, way.lat[0], way.lon[0]) > METRES
        assert away(left, way.lat[-1], way.lon[-1]) > METRES
        assert len(left) > 300


def test_a_hop_that_is_too_long_is_an_end() -> None:
    metres = np.arange(0, 6000, 10.0)
    hop = line([*metres[:300].tolist(), *(metres[300:] + 900).tolist()])
    left = trimmed(hop, rules=replace(RULES, max_gap=500.0))
    assert away(left, hop.lat[299], hop.lon[299]) > METRES
    assert left.piece[0] != left.piece[-1]


@given(st.floats(1e3, 2e6), st.floats(0, 360), st.floats(-70, 70), st.integers(0, 99))
def test_no_way_leads_near_the_end_however_long_it_is(
    metres: float, azimuth: float, lat: float, key: int
) -> None:
    """Out and back: the way back leads over the beginning."""
    there, behind = (
        line([metres], start=(lat, 5.0), azimuth=towards) for towards in (azimuth, azimuth + 180.0)
    )
    fixes = [(lat, 5.0), (there.lat[0], there.lon[0]), (behind.lat[0], behind.lon[0])]
    left = trimmed(trace(fixes), key=key)
    for i in np.flatnonzero(left.follows):
        ways = GEOD.npts(left.lon[i - 1], left.lat[i - 1], left.lon[i], left.lat[i], 2000)
        lon, other = np.array(ways).T
        ones = np.ones(len(lon))
        assert GEOD.inv(ones * 5.0, ones * lat, lon, other)[2].min() > METRES


def test_short_traces_vanish_and_nothing_is_no_trouble() -> None:
    assert len(trimmed(line([0, 100, 200]))) == 0
    assert len(trimmed(line([0]))) == 0
    nothing = points(line([0])).take(np.zeros(1, dtype=np.bool_))
    assert len(cut_own_ends(nothing, RULES, circles_of(SECRET))) == 0
