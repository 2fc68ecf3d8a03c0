"""One person is one subject, under however many names a recording comes."""

import numpy as np
import pytest

from trajanon.extract import Rules, Trace, cut
from trajanon.trajectories import Trajectories

RULES = Rules(spacing=10.0, points=5)


def drive(name: str, subject: str | None, seed: int = 0, points: int = 60) -> Trace:
    """A drive north, a fix every ten seconds and some 50 m."""
    rng = np.random.default_rng(seed)
    lat = 40.0 + seed * 0.01 + np.cumsum(rng.uniform(4e-4, 5e-4, points))
    lon, time = np.full(points, -3.7), np.linspace(0.0, 10.0 * (points - 1), points)
    return Trace(name, subject, lat, lon, time)


def part(trace: Trace, name: str, subject: str | None, which: slice) -> Trace:
    return Trace(name, subject, trace.lat[which], trace.lon[which], trace.time[which])


def subjects(found: Trajectories) -> int:
    assert found.subject is not None
    return len(np.unique(found.subject))


@pytest.mark.parametrize(
    "which",
    [slice(None), slice(None, None, -1), slice(20, None), slice(0, 30), slice(None, None, 2)],
    ids=["whole", "backwards", "without the beginning", "half", "every second point"],
)
@pytest.mark.parametrize(("one", "two"), [("ann", None), (None, "ann"), ("ann", "bob")])
def test_a_recording_that_comes_again_is_of_the_same_person(
    which: slice, one: str | None, two: str | None
) -> None:
    first = drive("a", one)
    other = drive("c", "cy", seed=1)
    found = cut([first, other, part(first, "b", two, which)], RULES)
    assert subjects(found) == 2
    assert found.provenance["counts"]["subjects read"] == 2


def test_people_who_meet_once_are_two() -> None:
    first, other = drive("a", "ann"), drive("b", "bob", seed=1)
    meeting = Trace(
        "b",
        "bob",
        np.append(other.lat, first.lat[-1]),
        np.append(other.lon, first.lon[-1]),
        np.append(other.time, first.time[-1]),
    )
    assert subjects(cut([first, meeting], RULES)) == 2


def test_people_on_one_planned_route_are_two() -> None:
    """Points without time are equal by plan, not because one person was there."""
    first = drive("a", "ann")
    untimed = np.full(len(first), np.nan)
    found = cut(
        [
            Trace("a", "ann", first.lat, first.lon, untimed),
            Trace("b", "bob", first.lat[:40], first.lon[:40], untimed[:40]),
        ],
        RULES,
    )
    assert subjects(found) == 2


def test_receivers_without_a_fix_are_not_one_person() -> None:
    """They all say 0, 0, at the same whole minutes."""
    nowhere, minutes = np.zeros(20), np.arange(20) * 60.0 - 1e6
    lost = [
        Trace(
            str(seed),
            str(seed),
            np.append(nowhere, trace.lat),
            np.append(nowhere, trace.lon),
            np.append(minutes, trace.time),
        )
        for seed in range(2)
        for trace in [drive("", None, seed)]
    ]
    assert subjects(cut(lost, RULES)) == 2


def test_a_small_part_of_a_long_recording_is_recognised() -> None:
    """Of ten hours the two that a friend uploaded."""
    found = []
    for seed in range(20):
        whole = drive("a", "ann", seed, points=5000)
        begin = 200 * seed
        some = part(whole, "b", "bob", slice(begin, begin + 1000))
        found.append(subjects(cut([whole, some, drive("c", "cy", 99)], RULES)))
    assert found == [2] * 20


def test_a_recording_of_one_point_makes_nobody_another() -> None:
    """Where two people met, to the second, or both were sent."""
    ann, bob = drive("a", "ann"), drive("b", "bob", seed=1)
    lone = part(ann, "c", "bob", slice(5, 6))
    assert subjects(cut([ann, bob, lone], RULES)) == 2
