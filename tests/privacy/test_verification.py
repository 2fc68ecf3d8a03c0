"""Groups that are verified by likelihood: those of weak writers all, and by the slow twin."""

from dataclasses import asdict, replace
from functools import partial

import naive_verification as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streets_walked import SCALE, Writer, grouped, plain, walked

from trajanon.arrays import Floats, Ints
from trajanon.evaluation.evaluation import moved_by
from trajanon.perturbation import correlation, perturbed
from trajanon.privacy.verification import Noise, Root, Verified, drawn_members, verification

M, WIDTH = 12, 180.0
MOVED: Root = partial(moved_by, WIDTH)


def told(found: Verified | None) -> Verified:
    assert found is not None
    return found


def of_size(metres: float) -> Root:
    return lambda spread, parts: metres / np.sqrt(2.0) * np.broadcast_to(np.eye(2), spread.shape)


def by_width(spread: Floats, parts: Floats) -> Floats:
    """The same at all points."""
    size = np.sqrt(0.5 * np.trace(spread, axis1=-2, axis2=-1)).mean(axis=-1) / parts
    return np.asarray(size[..., None, None, None] * np.broadcast_to(np.eye(2), spread.shape))


@settings(max_examples=5)
@given(seed=st.integers(0, 9_999), k=st.integers(2, 3), people=st.sampled_from([None, 5]))
def test_it_is_the_slow_twin(seed: int, k: int, people: int | None) -> None:
    city = grouped(walked(seed, 12, 5), k, seed)
    if people is not None:
        city = replace(city, subjects=np.random.default_rng(seed).integers(0, people, 12))
    for noise in (Noise(correlation(5), MOVED), Noise(np.eye(5), of_size(30.0))):
        found = verification(city, noise, seed=3)
        members = drawn_members(city.labels, city.owners, k, 3)
        if not len(members):
            assert found is None
            continue
        tried = [naive.tried(city, some, noise) for some in members]
        sure, right = np.mean(tried, axis=0)
        wrong = 1.0 - right / sure if sure else 0.0
        assert told(found).account == pytest.approx(asdict(Verified(k, len(members), sure, wrong)))


def smooth(points: Floats, means: Floats, labels: Ints) -> Floats:
    return perturbed(points, means, labels, bytes(range(32)), WIDTH)


def by_a_constant(points: Floats, means: Floats, labels: Ints) -> Floats:
    """Each line is moved as a whole, by the width over the members, in any direction."""
    random = np.random.default_rng(0)
    away = np.hypot(*np.moveaxis((points - means[labels]) * SCALE, -1, 0)).mean(axis=1)
    far = np.bincount(labels, away) / np.bincount(labels) ** 2
    angle = random.uniform(0.0, 2.0 * np.pi, len(means))
    moved = (far * np.array([np.cos(angle), np.sin(angle)])).T / SCALE
    return np.asarray(np.round(means + moved[:, None], 5))


def in_boxes(points: Floats, means: Floats, labels: Ints) -> Floats:
    """Each line is put on a grid of 40 m."""
    return np.round(np.round(means * SCALE / 40.0) * 40.0 / SCALE, 5)


POINTS = walked(5, 400, M)


@pytest.fixture(scope="module")
def ours() -> Verified:
    noise = Noise(correlation(M), MOVED)
    return told(verification(grouped(POINTS, 4, writer=smooth), noise))


ALWAYS = np.full((M, M), 1.0 - 1e-6) + 1e-6 * np.eye(M)


@pytest.mark.parametrize(
    ("writer", "noise"),
    [
        (plain, Noise(np.eye(M), of_size(0.5))),
        (by_a_constant, Noise(ALWAYS, by_width)),
        (in_boxes, Noise(np.eye(M), of_size(16.0))),
    ],
)
def test_weak_writers_are_caught(writer: Writer, noise: Noise, ours: Verified) -> None:
    found = told(verification(grouped(POINTS, 4, writer=writer), noise))
    assert found.wrong == 0.0
    assert found.verified > 0.8
    assert ours.wrong > 0.0  # nobody can be certain
    assert ours.verified < found.verified


def test_words_and_account() -> None:
    found = Verified(4, 100, 0.5, 0.02)
    assert found.account == {"k": 4, "groups": 100, "verified": 0.5, "wrong": 0.02}
    assert found.words == (
        "Somebody who holds all tracks, and knows how displacements are distributed, is sure of "
        "the members of 50 % of 100 lines, and wrong in 2 % of these."
    )


def test_a_hundred_groups_of_k_are_drawn_from_a_seed() -> None:
    labels = np.append(np.arange(600) // 3, [0, 0])  # the first group is larger
    members = drawn_members(labels, np.arange(602), 3, 0)
    assert members.shape == (100, 3)
    of = labels[members]
    assert (of == of[:, :1]).all()
    assert len(np.unique(of[:, 0])) == 100
    assert 0 not in of
    assert np.array_equal(members, drawn_members(labels, np.arange(602), 3, 0))
    assert not np.array_equal(members, drawn_members(labels, np.arange(602), 3, 1))
    assert len(np.unique(members[:, 0] % 3)) == 3  # anybody may be hidden
