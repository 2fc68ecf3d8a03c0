"""A hidden member rebuilt on the map of others: of weak writers nearly all; by slow twins."""

import json
from dataclasses import replace
from functools import partial
from itertools import pairwise

import naive_verification as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streets_walked import HOP, SCALE, Writer, grouped, plain, walked

from trajanon._kernels.ways import Places, Walk, likeliest_ways
from trajanon.arrays import Floats, Ints
from trajanon.evaluation.evaluation import moved_by
from trajanon.geodesy import metres_of_degrees
from trajanon.perturbation import correlation, perturbed
from trajanon.privacy import rebuilding as attack
from trajanon.privacy.rebuilding import Rebuilding, Rebuilt, Ways, rebuilding
from trajanon.privacy.verification import Noise, Root, drawn_members

M, WIDTH = 12, 180.0
MOVED: Root = partial(moved_by, WIDTH)
NOISE = Noise(correlation(5), MOVED)


def told(found: Rebuilding | None) -> Rebuilding:
    assert found is not None
    return found


@settings(max_examples=40)
@given(seed=st.integers(0, 99_999), m=st.integers(1, 6))
def test_the_likeliest_way_is_that_of_the_slow_twin(seed: int, m: int) -> None:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 6, m)
    way = np.cumsum(random.normal(0.0, 60.0, (m, 2)), axis=0)
    at, own = [], []
    for point, size in zip(way, sizes, strict=True):
        angle = random.uniform(0.0, 7.0, size)
        place = point + random.normal(0.0, 30.0, (size, 2))
        at.append(np.column_stack([place, np.cos(angle), np.sin(angle)]))
        own.append(random.normal(0.0, 1.0, size))
    seen = way + random.normal(0.0, 20.0, (m, 2))
    factors = np.column_stack([random.normal(0.0, 0.7, (m, 3)), random.uniform(50.0, 900.0, m)])
    white = np.eye(2) + random.normal(0.0, 0.3, (m, 2, 2))
    hop = np.array([70.0, 0.05, 0.2])
    first = np.cumsum(np.append(0, sizes))
    count = int(first[-1])
    walk = Walk(np.zeros((count, 4)), np.zeros(count), np.zeros(count, dtype=np.int64))
    places = Places(np.concatenate(at), np.concatenate(own), first)
    likeliest_ways(places, seen, white, factors, hop, walk)
    twin = naive.likeliest_ways(at, own, seen, white, factors, hop)
    np.testing.assert_allclose(walk.worth, [worth for row in twin for worth, _ in row])
    for point, row in enumerate(twin):
        for place, (_, way_there) in enumerate(row):
            found, now = [], first[point] + place
            for before in range(point, -1, -1):
                found.append(int(now - first[before]))
                now = walk.back[now]
            assert found[::-1] == way_there


@given(seed=st.integers(0, 999), most=st.sampled_from([3, 100_000]))
def test_the_map_has_the_cells_and_headings_of_the_slow_twin(seed: int, most: int) -> None:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 6, 4)
    owner = random.integers(0, 3, 4)
    points = random.normal(0.0, 60.0, (int(sizes.sum()), 2))
    points[1] = points[0]  # somebody stands still
    first = np.cumsum(np.append(0, sizes))
    with pytest.MonkeyPatch.context() as fewer:
        fewer.setattr(attack, "_HOPS_AT_ONCE", most)
        plan = attack._Map(Ways(points, first, owner))
    ways = [(points[a:b], int(who)) for (a, b), who in zip(pairwise(first), owner, strict=True)]
    low = points.min(axis=0)
    twin = naive.cells(ways, low, 12.0)
    assert len(plan.at) == len(twin)
    for at, people, sole in zip(plan.at, plan.people, plan.sole, strict=True):
        row, column = np.floor((at[:2] - low) / 12.0).astype(int)
        heading = round(np.arctan2(at[3], at[2]) / (2.0 * np.pi) * 16) % 16
        passed = twin[int(row), int(column), heading]
        assert people == len({number for number, _ in passed})
        owners = {who for _, who in passed}
        assert sole == (owners.pop() if len(owners) == 1 else attack._SEVERAL)


def smooth(points: Floats, means: Floats, labels: Ints) -> Floats:
    return perturbed(points, means, labels, bytes(range(32)), WIDTH)


def shifted(points: Floats, means: Floats, labels: Ints) -> Floats:
    """Each line is moved as a whole, by as much as displacements have."""
    random = np.random.default_rng(0)
    angle = random.uniform(0.0, 2.0 * np.pi, len(means))
    moved = (WIDTH * np.sqrt(2.0) / 4.0 * np.array([np.cos(angle), np.sin(angle)])).T / SCALE
    return np.asarray(np.round(means + moved[:, None], 5))


def in_boxes(points: Floats, means: Floats, labels: Ints) -> Floats:
    """Each line is put on a grid of 40 m."""
    return np.round(np.round(means * SCALE / 40.0) * 40.0 / SCALE, 5)


def of_size(metres: float) -> Root:
    return lambda spread, parts: metres / np.sqrt(2.0) * np.broadcast_to(np.eye(2), spread.shape)


def rebuilt(writer: Writer, noise: Noise, known: bool = True) -> Rebuilding:
    city = grouped(walked(5, 160, M), 4, writer=writer)
    ways = Ways.of(city.points, city.owners)
    return told(rebuilding(city, noise, ways, spacing=HOP if known else None))


IN_BOXES = Noise(np.eye(M), of_size(16.0))
ALWAYS = np.full((M, M), 1.0 - 1e-6) + 1e-6 * np.eye(M)


def test_weak_writers_are_caught() -> None:
    ours = rebuilt(smooth, Noise(correlation(M), MOVED))
    assert ours.share > 0.7
    assert rebuilt(plain, Noise(np.eye(M), of_size(0.5))).share < 0.05
    assert rebuilt(in_boxes, IN_BOXES).share < 0.3
    assert rebuilt(shifted, Noise(ALWAYS, MOVED)).share < ours.share - 0.1


def test_the_length_of_hops_need_not_be_known() -> None:
    assert rebuilt(in_boxes, IN_BOXES, known=False).share < 0.3


@settings(max_examples=6)
@given(seed=st.integers(0, 999), k=st.integers(2, 3), known=st.booleans())
def test_what_is_rebuilt_is_that_of_the_slow_twin(seed: int, k: int, known: bool) -> None:
    with pytest.MonkeyPatch.context() as fewer:  # places, so that the twin can try all
        fewer.setattr(attack, "_REACH", 0.1)
        beside_twin(seed, k, known)


def beside_twin(seed: int, k: int, known: bool) -> None:
    city = grouped(walked(seed, 10, 5, blocks=2), k, writer=smooth)
    city = replace(city, subjects=np.random.default_rng(seed).integers(0, 9, 10))
    members, noise = drawn_members(city.labels, city.owners, k, 7), NOISE
    ways = Ways.of(city.points, city.owners)
    spacing = HOP if known else None
    found = rebuilding(city, noise, ways, spacing=spacing, seed=7)
    if not len(members):
        assert found is None
        return
    scale = metres_of_degrees(city.lines[..., 0].mean())
    points, lines = ((each - city.lines[0, 0]) * scale for each in (city.points, city.lines))
    low = points.min(axis=(0, 1))
    passed = naive.cells(list(zip(points, city.owners.tolist(), strict=True)), low, 12.0)
    off = []
    for some in members:
        line, hidden = city.labels[some[0]], int(city.owners[some[0]])
        hops = [HOP] if known else None
        guesses = naive.rebuilt(lines[line], points[some[1:]], noise, passed, low, hidden, hops)
        away = [np.hypot(*(each - points[some[0]]).T).mean() for each in (*guesses, lines[line])]
        off.append(away)
    *right, of_line = np.median(off, axis=0)
    assert told(found).groups == len(members)
    assert told(found).rebuilt == pytest.approx(right, rel=1e-6)
    assert told(found).line == pytest.approx(of_line)


def test_nothing_is_tried_without_groups_of_k_or_hops() -> None:
    city = grouped(walked(1, 12, 5), 3)
    noise, ways = NOISE, Ways.of(city.points, city.owners)
    assert rebuilding(city, noise, ways) is not None
    assert rebuilding(replace(city, k=2), noise, ways) is None
    short = replace(city, points=city.points[:, :1], lines=city.lines[:, :1])
    assert rebuilding(short, noise, ways) is None


def test_without_a_map_nothing_better_than_the_smooth_way_is_found() -> None:
    city = grouped(walked(2, 12, 5), 3, writer=smooth)
    far = Ways.of(city.points[:1] + 1.0, np.array([99]))
    found = told(rebuilding(city, NOISE, far))
    assert found.rebuilt.on_map == found.rebuilt.between == found.rebuilt.smooth


def test_words_and_account() -> None:
    found = Rebuilding(4, 100, Rebuilt(200.0, 90.0, 80.0, 82.0), 100.0)
    assert (found.best, found.share) == (80.0, 0.8)
    assert found.account["rebuilt"]["on_map"] == 80.0
    assert found.account == json.loads(json.dumps(found.account))
    assert found.words == (
        "Anyone who knows the other members of a line, and follows the remainder on the map of "
        "other people's tracks, is 80 m off in the median of 100 groups; the line itself is 100 m "
        "off (80 % of it)."
    )
    assert Rebuilding(2, 1, Rebuilt(0.0, 0.0, 0.0, 0.0), 0.0).share == 1.0
