"""The ends of traces: what is cut out about them, and what that tells."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tracks import GEOD, START, line, points, trace

from trajanon.extract.cutting import Cutter, cut
from trajanon.extract.ends import trim
from trajanon.extract.points import Points
from trajanon.extract.rules import Rules
from trajanon.extract.split import split
from trajanon.extract.trace import Trace

METRES = 200.0
SECRET = 12345


def trimmed(*traces: Trace, metres: float = METRES, key: int = SECRET) -> Points:
    """What is left of traces whose subjects have the hashes 1, 2, ..."""
    rules = Rules(spacing=10, max_gap=None)
    pieces = split(points(*traces), rules, Counter())
    hashes = np.arange(1, 1 + len(traces), dtype=np.uint64)
    return trim(pieces, metres, rules.max_pause, hashes, key)


def away(left: Points, lat: float, lon: float) -> float:
    """Metres from a place to the nearest point left."""
    many = np.ones(len(left))
    return float(min(GEOD.inv(many * lon, many * lat, left.lon, left.lat)[2]))


@given(
    st.integers(0, 2**63 - 1),
    st.floats(-80, 80),
    st.floats(-180, 180),
    st.floats(0, 360),
    st.floats(20, 400),
)
def test_all_near_an_end_is_cut_out_and_all_far_from_it_stays(
    key: int, lat: float, lon: float, azimuth: float, metres: float
) -> None:
    way = line(np.arange(0, 5000, 10.0).tolist(), start=(lat, lon), azimuth=azimuth)
    left = trimmed(way, metres=metres, key=key)
    for end in (0, -1):
        assert away(left, way.lat[end], way.lon[end]) > metres
    middle = slice(int(3.1 * metres / 10) + 1, len(way) - int(3.1 * metres / 10) - 1)
    kept = set(zip(left.lat.tolist(), left.lon.tolist(), strict=True))
    assert (
        set(zip(way.lat[middle].tolist(), way.lon[middle].tolist(), strict=True))
        <= kept
    )


def test_the_end_is_not_the_centre_of_what_is_cut_out() -> None:
    """Ways that leave a home in all directions; with other secrets, other circles."""
    centres = []
    for key in range(40):
        edge = []
        for azimuth in range(0, 360, 30):
            left = trimmed(
                line(np.arange(0, 3000, 5.0).tolist(), azimuth=azimuth), key=key
            )
            to, _, metres = GEOD.inv(START[1], START[0], left.lon[0], left.lat[0])
            edge.append(metres * np.exp(1j * np.radians(to)))
        # The circle through them, by least squares: |z|^2 = 2 Re(conj(c) z) + d.
        z = np.array(edge)
        sides = np.column_stack([2 * z.real, 2 * z.imag, np.ones(len(z))])
        x, y, _ = np.linalg.lstsq(sides, np.abs(z) ** 2)[0]
        centres.append(complex(x, y))
    off = np.abs(centres)
    assert off.max() < 1.05 * METRES  # the ways leave the circle at a fix beyond it
    # Uniform in the disc: the mean way is two thirds of the radius, in any direction.
    assert off.mean() == pytest.approx(2 / 3 * METRES, rel=0.15)
    assert abs(np.mean(centres)) < 0.35 * METRES


def test_all_traces_of_a_subject_are_cut_alike() -> None:
    way = line(np.arange(0, 3000, 5.0).tolist())
    pieces = points(way, way, way)
    one, other = np.uint64(7), np.uint64(8)
    left = trim(pieces, METRES, 300.0, np.array([one, one, other]), SECRET)
    sizes = np.bincount(left.trace)
    assert sizes[0] == sizes[1] != sizes[2]
    again = trim(pieces, METRES, 300.0, np.array([one, one, other]), SECRET + 1)
    assert np.bincount(again.trace)[0] != sizes[0]


def test_a_stop_is_an_end_and_a_hop_is_none() -> None:
    metres = np.arange(0, 6000, 10.0)
    stop = np.where(metres < 3000, metres, metres + 600)  # ten minutes at 3 km
    way = line(metres.tolist(), stop.tolist())
    left = trimmed(way)
    assert away(left, way.lat[300], way.lon[300]) > METRES
    hop = line([*metres[:200].tolist(), *(metres[200:] + 900).tolist()])
    pieces = trim(
        points(hop).cut(np.arange(len(hop)) == 200),
        METRES,
        300.0,
        np.array([1], np.uint64),
        1,
    )
    assert away(pieces, hop.lat[199], hop.lon[199]) == 0.0


def test_a_way_that_passes_its_end_between_two_fixes_is_cut_there() -> None:
    """A loop that comes by its beginning again, with no fix in the circle."""
    out = line([0, 2000, 4000])
    back = line([-2000, -4000])
    loop = trace(
        [
            *zip(out.lat, out.lon, strict=True),
            *zip(back.lat, back.lon, strict=True),
        ]
    )
    left = trimmed(loop)
    assert len(left) == 3
    # From 4 km in the east to 2 km in the west the way leads through the circle.
    assert left.piece[1] != left.piece[2]


def test_short_traces_vanish_and_nothing_is_no_trouble() -> None:
    assert len(trimmed(line([0, 100, 200]))) == 0
    nothing = points(line([0])).take(np.zeros(1, dtype=np.bool_))
    assert len(trim(nothing, METRES, 300.0, np.array([1], np.uint64), SECRET)) == 0


def test_across_the_antimeridian() -> None:
    way = line(np.arange(0, 4000, 10.0).tolist(), start=(10.0, 179.999))
    left = trimmed(way)
    assert 0 < len(left) < len(way)
    assert away(left, way.lat[0], way.lon[0]) > METRES


def test_trimmed_ends_are_counted_and_no_window_comes_near_them() -> None:
    way = line(np.arange(0, 5000, 10.0).tolist(), name="a", subject="ann")
    rules = Rules(spacing=50, points=10, trim_ends=METRES)
    found = cut([way], rules)
    counts = found.provenance["counts"]
    dropped = counts["points near the ends of a trace"]
    assert dropped > 2 * METRES / 10
    assert counts["points used"] == len(way) - dropped
    tracks = found.tracks
    assert tracks is not None
    for end in (0, -1):
        many = np.ones(len(tracks.points))
        metres = GEOD.inv(
            many * way.lon[end],
            many * way.lat[end],
            tracks.points[:, 1],
            tracks.points[:, 0],
        )[2]
        assert metres.min() > METRES


def test_the_secret_decides_and_repeats() -> None:
    way = line(np.arange(0, 5000, 10.0).tolist())
    rules = Rules(spacing=50, points=10, trim_ends=METRES)
    one, again, other = (
        Cutter(rules, key=key).cut([way])[0].points for key in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, again)
    assert one.shape != other.shape or (one != other).any()
