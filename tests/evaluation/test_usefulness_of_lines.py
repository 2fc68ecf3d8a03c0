"""What is left of trajectories, against numbers worked out by hand."""

from dataclasses import asdict

import numpy as np
import pyproj
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toy import AWAY, HOME, WORK, on_earth

from trajanon.common.arrays import Floats
from trajanon.evaluation.od_flows import cell_for_od, flow_similarity, flows
from trajanon.evaluation.usefulness_of_lines import usefulness
from trajanon.trajectories.distances import displacement, length_change, lengths
from trajanon.trajectories.geodesy import METRES_PER_DEGREE, cells

ELLIPSOID = pyproj.Geod(ellps="WGS84")


@given(
    latitude=st.floats(-80, 80),
    longitude=st.floats(-179, 179),
    direction=st.floats(0, 360),
    metres=st.floats(0.1, 20_000),
)
def test_displacement_is_that_on_the_ellipsoid(
    latitude: float, longitude: float, direction: float, metres: float
) -> None:
    lon, lat, _ = ELLIPSOID.fwd(longitude, latitude, direction, metres)
    if abs(lon - longitude) > 180:  # over the antimeridian, which anonymize refuses
        return
    original = np.array([[[latitude, longitude]]])
    released = np.array([[[lat, lon]]])
    # 0.01 mm for the digits of a float of degrees.
    expected = pytest.approx(metres, rel=1e-5, abs=1e-5)
    assert displacement(original, released)[0, 0] == expected
    assert displacement(released, original)[0, 0] == expected


def test_lengths() -> None:
    line = on_earth([[[0, 0], [100, 0], [100, 100]], [[0, 0], [0, 0], [0, 0]]])
    turned = on_earth([[[0, 0], [0, 50], [0, -50]], [[0, 0], [0, 0], [0, 10]]])
    assert lengths(line) == pytest.approx([200.0, 0.0], rel=1e-4)
    # 200 m became 150 m; nothing became something.
    assert length_change(line, turned) == pytest.approx([-0.25, 1.0], rel=1e-4)
    assert length_change(line, line).tolist() == [0.0, 0.0]


def test_cells_are_as_wide_as_high() -> None:
    for latitude in (0.0, 40.0, -70.0, 89.0):
        line = np.stack([np.full(5_000, latitude), np.linspace(-1, 1, 5_000)], axis=-1)
        width = displacement(line[:1], line[-1:])[0] / 500.0
        found = len(np.unique(cells(line, 500.0)))
        assert found == pytest.approx(width, rel=0.02, abs=1.5)
    assert np.ptp(cells(np.array([[0.0, 0.001], [0.0, 0.004]]), 500.0)) == 0
    assert len(np.unique(cells(np.array([[0.0, 0.0], [0.0, -1e-9]]), 500.0))) == 2


def kept(before: Floats, after: Floats) -> float:
    return flow_similarity(flows(before, 500.0), flows(after, 500.0))


def test_trips_that_are_kept() -> None:
    before = np.array([[HOME, WORK], [HOME, WORK], [WORK, HOME], [HOME, AWAY]])
    after = np.array([[HOME, WORK], [HOME, AWAY], [WORK, HOME], [HOME, AWAY]])
    # Of 4 trips, 3 have a partner: home-work, work-home, home-away.
    assert kept(before, after) == 0.75
    assert kept(before, before[::-1]) == 1.0
    assert kept(before, before + 3.0) == 0.0


def test_ends_are_counted_by_cells_of_several_sizes() -> None:
    """Eight trips end in one place; as released, three of them 600 m farther, two 1.9 km."""
    east = np.array([18_001, 18_601, 18_601, 18_601, 19_901, 19_901, 18_001, 18_001])
    before = np.tile([[6_001.0, 6_001.0], [6_001.0, 18_001.0]], (8, 1, 1)) / METRES_PER_DEGREE
    after = before.copy()
    after[:, 1, 1] = east / METRES_PER_DEGREE
    found = usefulness(before, after).flow_similarity
    assert found == {"0.5 km": 0.375, "1 km": 0.75, "2 km": 1.0, "3 km": 1.0}
    assert cell_for_od(found) == "1 km"
    assert cell_for_od({"0.5 km": 0.74, "1 km": 0.749}) is None


@given(st.integers(0, 99), st.lists(st.booleans(), min_size=12, max_size=12))
def test_flows_are_those_of_trips_with_both_true_ends(seed: int, true: list[bool]) -> None:
    random = np.random.default_rng(seed)
    both = on_earth(random.normal(0, 900, (12, 4, 2)))
    original, released = both[:6], both[6:]
    ends = np.array(true).reshape(6, 2)
    found = usefulness(original, released, true_ends=ends)
    whole = ends.all(axis=1)
    alone = usefulness(original[whole], released[whole]) if whole.any() else None
    expected = dict.fromkeys(found.flow_similarity, 0.0) if alone is None else alone.flow_similarity
    assert found.flow_similarity == expected
    assert found.displacement == usefulness(original, released).displacement


def test_what_is_published_as_it_is_keeps_everything() -> None:
    points = on_earth(np.random.default_rng(0).normal(0, 500, (20, 5, 2)))
    whole = usefulness(points, points)
    nothing = {"mean": 0.0, "median": 0.0, "p95": 0.0, "max": 0.0}
    assert asdict(whole) == {
        "displacement": nothing,
        "to_line": pytest.approx(nothing, abs=1e-9),
        "to_way": pytest.approx(nothing, abs=1e-9),
        "length": float(lengths(points).mean()),
        "length_change": 0.0,
        "flow_similarity": dict.fromkeys(("0.5 km", "1 km", "2 km", "3 km"), 1.0),
        "flows_of": len(points),
        "times": None,
    }
