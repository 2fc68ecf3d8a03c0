"""Traces cut where they leave an area."""

from itertools import groupby

import numpy as np
import shapely
from hypothesis import given
from hypothesis import strategies as st
from tracks import pieces, points, trace

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.extract.clip_to_area import clip, keep
from trajanon.extract.earth.area import Region
from trajanon.extract.trace import Trace

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
    inside, _ = clip(points(eastward(*lon[:broken]), eastward(*lon[broken:])), BANKS)
    sides = [0 if 2.4 < x < 2.6 else (1 if x > 2.5 else -1) for x in lon]
    assert inside.lon.tolist() == [x for x, side in zip(lon, sides, strict=True) if side]
    expected = [
        len(list(run))
        for part in (sides[:broken], sides[broken:])
        for side, run in groupby(part)
        if side
    ]
    assert pieces(inside) == expected or {2.4, 2.6} & set(lon)  # at the bank, it may end


def test_only_ways_between_two_points_that_stay_are_looked_at() -> None:
    """A cut at a point that is left out would be lost, and one between recordings counts twice."""
    looked_at: list[int] = []

    def cut_all(lat: Floats, lon: Floats, start: Ints) -> Bools:
        looked_at.extend(start.tolist())
        return np.ones(len(start), dtype=np.bool_)

    two = points(eastward(2.1, 2.2, 2.5, 2.7, 2.8), eastward(2.1, 2.3))
    kept = keep(two, two.lon != 2.5, cut_all)
    assert looked_at == [0, 3, 5]
    assert pieces(kept) == [1] * 6
    assert kept.trace.tolist() == [0, 0, 0, 0, 1, 1]
