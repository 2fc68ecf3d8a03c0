"""One person is one subject, under however many names a recording comes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.arrays import Floats
from trajanon.extract import Rules, cut
from trajanon.extract.duplicate_recordings import Entered, Recordings
from trajanon.extract.points import batch
from trajanon.extract.trace import Trace
from trajanon.hashing import least_hashes
from trajanon.trajectories import Trajectories


def enter(recordings: Recordings, *traces: Trace) -> Entered:
    return recordings.enter(traces, batch(traces))


def drive(name: str, subject: str | None, places: Floats | list[float]) -> Trace:
    """A recording whose points differ in their latitude alone."""
    lat = np.array(places, dtype=np.float64)
    return Trace(name, subject, lat, np.full_like(lat, -3.0), lat * 1000.0)


PLACES = np.linspace(40.0, 41.0, 100)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(1, 9)), max_size=40),
    st.sampled_from([5, 300, 70_000]),
)
def test_the_least_hashes_are_those_of_a_slow_twin(held: list[tuple[int, int]], more: int) -> None:
    owner, hashes = np.array(held, dtype=np.int64).reshape(-1, 2).T
    found = least_hashes(owner * (more // 5), hashes.astype(np.uint64), more, 3)
    for number in range(5):
        least = sorted({one for who, one in held if who == number})[:3]
        assert found[number * (more // 5)].tolist() == least + [0] * (3 - len(least))


recordings = st.lists(
    st.tuples(
        st.sampled_from("abcde"),
        st.sampled_from(["ann", "Ann ", "ANN", "bob", "cy", " ", None]),
        st.lists(st.integers(0, 12), max_size=6),
    ),
    max_size=12,
)


@given(recordings, st.data())
def test_what_is_entered_does_not_depend_on_batches(
    some: list[tuple[str, str | None, list[int]]], data: st.DataObject
) -> None:
    traces = [
        drive(name, subject, [40.0 + place for place in places]) for name, subject, places in some
    ]
    whole, parts = Recordings(), Recordings()
    cuts = sorted(data.draw(st.sets(st.integers(1, len(traces) or 1))))
    at_once = enter(whole, *traces) if traces else None
    begin, entered = 0, []
    for end in [*(at for at in cuts if at < len(traces)), len(traces)]:
        if end > begin:
            entered.append(enter(parts, *traces[begin:end]))
        begin = end
    if at_once is None:
        return
    for name in ("trace", "subject", "mark", "nameless", "new", "repeated"):
        together = np.concatenate([getattr(part, name) for part in entered])
        np.testing.assert_array_equal(getattr(at_once, name), together)
    np.testing.assert_array_equal(whole.people(), parts.people())
    assert whole.merged() == parts.merged()


@given(recordings)
def test_recordings_are_one_persons_where_a_slow_twin_says_so(
    some: list[tuple[str, str | None, list[int]]],
) -> None:
    """Few enough points that all are remembered."""
    traces = [
        drive(name, subject, [40.0 + place for place in places]) for name, subject, places in some
    ]
    if not traces:
        return
    found = Recordings()
    entered = enter(found, *traces)
    people = [(trace.subject or "").strip().lower() for trace in traces]
    order = [
        f"s{one}" if one else f"t{trace.name}" for one, trace in zip(people, traces, strict=True)
    ]
    person = {name: name for name in order}

    def merge(one: str, other: str) -> None:
        lost, kept = person[one], person[other]
        person.update({name: kept for name, who in person.items() if who == lost})

    for _ in order:  # until nothing changes
        owner: dict[float, str] = {}
        contents: dict[frozenset[float], str] = {}
        for trace, name in zip(traces, order, strict=True):
            points = frozenset(trace.lat.tolist())
            if len(points) < 2:
                continue
            owners = [owner.setdefault(point, name) for point in points]
            who = [person[one] for one in owners]
            for one, shared in zip(owners, who, strict=True):
                if who.count(shared) >= min(3, len(points)):
                    merge(one, name)
            merge(contents.setdefault(points, name), name)
    mine = found.people()[entered.subject]
    theirs = [person[name] for name in order]
    for i in range(len(traces)):
        for j in range(i):
            assert (mine[i] == mine[j]) == (theirs[i] == theirs[j])


RULES_OF_PEOPLE = Rules(spacing=10.0, points=5)


def ride(name: str, subject: str | None, seed: int = 0, points: int = 60) -> Trace:
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
    first = ride("a", one)
    other = ride("c", "cy", seed=1)
    found = cut([first, other, part(first, "b", two, which)], RULES_OF_PEOPLE)
    assert subjects(found) == 2
    assert found.provenance["counts"]["subjects read"] == 2


def test_people_on_one_planned_route_are_two() -> None:
    """Points without time are equal by plan, not because one person was there."""
    first = ride("a", "ann")
    untimed = np.full(len(first), np.nan)
    found = cut(
        [
            Trace("a", "ann", first.lat, first.lon, untimed),
            Trace("b", "bob", first.lat[:40], first.lon[:40], untimed[:40]),
        ],
        RULES_OF_PEOPLE,
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
        for trace in [ride("", None, seed)]
    ]
    assert subjects(cut(lost, RULES_OF_PEOPLE)) == 2


def test_a_small_part_of_a_long_recording_is_recognised() -> None:
    """Of ten hours the two that a friend uploaded."""
    found = []
    for seed in range(20):
        whole = ride("a", "ann", seed, points=5000)
        begin = 200 * seed
        some = part(whole, "b", "bob", slice(begin, begin + 1000))
        found.append(subjects(cut([whole, some, ride("c", "cy", 99)], RULES_OF_PEOPLE)))
    assert found == [2] * 20
