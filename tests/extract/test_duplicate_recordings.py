"""One person is one subject, under however many names a recording comes."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from real_data import REAL, needs_real_data

from trajanon.common.arrays import Floats, Ints
from trajanon.extract import Rules, cut, extract, traces
from trajanon.extract.duplicate_recordings import WIDE, Places
from trajanon.extract.persons_numbered import Recordings
from trajanon.extract.points import batch
from trajanon.extract.trace import Trace
from trajanon.trajectories.geodesy import metres_between
from trajanon.trajectories.subjects import COPIES_MERGED, NAMELESS, NAMELESS_COUNT_AS

HOUR = 3_600.0
DAY = 1_684_000_000.0 // 86_400.0 * 86_400.0
WITHOUT_LIMITS = Rules(min_length=100.0, max_gap=None, max_pause=None)


def ride(seed: int, *, fixes: int = 300, every: float = 5.0, start: float = DAY) -> Trace:
    """A ride that winds through a town, with turns and stops of its own."""
    rng = np.random.default_rng(seed)
    heading = np.cumsum(rng.normal(0.0, 0.15, fixes)) + rng.uniform(0.0, 6.3)
    metres = np.where(rng.random(fixes) < 0.1, 0.0, rng.uniform(3.0, 8.0, fixes)) * every
    lat = 48.2 + rng.uniform(-0.02, 0.02) + np.cumsum(metres * np.cos(heading)) / 111_195.0
    lon = 16.3 + rng.uniform(-0.02, 0.02) + np.cumsum(metres * np.sin(heading)) / 74_000.0
    time = start + float(rng.uniform(0.0, HOUR)) + every * np.arange(fixes, dtype=np.float64)
    return Trace(f"r{seed}", f"p{seed}", lat, lon, time)


def of(trace: Trace, which: slice | Ints) -> Trace:
    return replace(trace, lat=trace.lat[which], lon=trace.lon[which], time=trace.time[which])


def rounded(trace: Trace, digits: int) -> Trace:
    return replace(trace, lat=trace.lat.round(digits), lon=trace.lon.round(digits))


def late(trace: Trace, seconds: float) -> Trace:
    return replace(trace, time=trace.time + seconds)


def untimed(trace: Trace) -> Trace:
    return replace(trace, time=np.full(len(trace), np.nan))


def people(*recordings: Trace) -> int:
    found = cut(recordings, WITHOUT_LIMITS)
    return int(found.provenance["counts"]["subjects read"])


@given(st.integers(0, 50), st.integers(0, 50), st.sampled_from([300, 500, 650]))
def test_a_short_part_of_a_short_recording_is_a_copy(seed: int, begin: int, seconds: int) -> None:
    """Whenever it begins: it need not hold a time at which longer recordings are looked up."""
    whole = ride(seed, fixes=seconds // 5 + 1)
    first = min(begin, len(whole) - 33)
    part = replace(of(whole, slice(first, first + 33)), subject="another", name="part")
    assert people(whole, part) == 1


@pytest.mark.parametrize("year", [1970, 2037, 2038, 2099])
@pytest.mark.parametrize("every", [5.0, 120.0, 900.0])
def test_a_copy_is_found_in_any_year(year: int, every: float) -> None:
    start = float(np.datetime64(f"{year}-03-01", "s").astype(np.int64))
    whole = ride(0, every=every, start=start)
    assert people(whole, replace(rounded(whole, 5), subject="another", name="copy")) == 1


CHANGES: dict[str, Callable[[Trace], Trace]] = {
    "the same": lambda trace: trace,
    "5 digits": lambda trace: rounded(trace, 5),
    "6 digits, two seconds late": lambda trace: late(rounded(trace, 6), 2.0),
    "another zone": lambda trace: late(rounded(trace, 5), -3 * HOUR),
    "another zone, not quite": lambda trace: late(trace, 14 * HOUR + 1.5),
    "no times, 5 digits": lambda trace: untimed(rounded(trace, 5)),
    "no times, backwards": lambda trace: of(untimed(trace), slice(None, None, -1)),
    "every second fix": lambda trace: of(trace, slice(None, None, 2)),
    "every third fix, one second early": lambda trace: late(of(trace, slice(1, None, 3)), -1.0),
    "newest first": lambda trace: of(trace, slice(None, None, -1)),
    "without the beginning": lambda trace: of(trace, slice(60, None)),
    "half, with 6 digits": lambda trace: rounded(of(trace, slice(0, 150)), 6),
    "to whole seconds": lambda trace: replace(trace, time=np.floor(trace.time)),
    "seconds of GPS, 5 digits": lambda trace: late(rounded(trace, 5), 18.0),
    "a zone of half hours": lambda trace: late(trace, 5.5 * HOUR),
    "another day, newest first": lambda trace: late(of(trace, slice(None, None, -1)), 240 * HOUR),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("subject", ["other", None])
def test_a_copy_is_of_the_same_person(
    change: Callable[[Trace], Trace], subject: str | None
) -> None:
    """Whichever comes first, and beside rides of others that begin in the same hour."""
    others = [ride(seed) for seed in range(1, 6)]
    copy = replace(change(ride(0)), name="copy", subject=subject)
    found = cut([ride(0), *others, copy], WITHOUT_LIMITS).provenance["counts"]
    assert found["subjects read"] == 6
    assert found[COPIES_MERGED] == 1
    assert found[NAMELESS] == 0  # whose it is, is known
    assert people(copy, *others, ride(0)) == 6


def with_noise(trace: Trace) -> Trace:
    north, east = np.random.default_rng(0).normal(0.0, 5.0, (2, len(trace)))
    return replace(trace, lat=trace.lat + north / 111_195.0, lon=trace.lon + east / 74_000.0)


NO_COPIES: dict[str, Callable[[Trace], Trace]] = {
    "one more hour than clocks differ": lambda trace: late(with_noise(trace), 15 * HOUR),
    "half an hour later": lambda trace: late(with_noise(trace), HOUR / 2),
    "ten seconds later": lambda trace: late(with_noise(trace), 10.0),
    "100 m aside": lambda trace: replace(trace, lat=trace.lat + 0.0009),
    "at another pace": lambda trace: replace(
        trace, time=trace.time[0] + 1.05 * (trace.time - trace.time[0])
    ),
    "no times, other points": lambda trace: of(untimed(trace), slice(None, None, 2)),
}


@pytest.mark.parametrize("change", NO_COPIES.values(), ids=NO_COPIES.keys())
def test_another_ride_along_the_way_is_no_copy(change: Callable[[Trace], Trace]) -> None:
    assert people(ride(0), replace(change(ride(0)), name="other", subject="other")) == 2


SPARSE_CHANGES: dict[str, Callable[[Trace], Trace]] = {
    "every second fix": lambda trace: of(trace, slice(None, None, 2)),
    "5 m of noise": with_noise,
    "every second fix, with noise": lambda trace: with_noise(of(trace, slice(1, None, 2))),
    "half, in another zone": lambda trace: late(of(trace, slice(4, None)), -3 * HOUR),
    "two seconds late, with noise": lambda trace: late(with_noise(trace), 2.0),
}


@pytest.mark.parametrize("change", SPARSE_CHANGES.values(), ids=SPARSE_CHANGES.keys())
def test_a_copy_of_few_fixes_is_of_the_same_person(change: Callable[[Trace], Trace]) -> None:
    """As of a cab, with a fix each minute: what is between the fixes is not known."""
    cabs = [ride(seed, fixes=8, every=60.0) for seed in range(6)]
    copy = replace(change(cabs[0]), name="copy", subject="other")
    assert people(*cabs, copy) == people(copy, *cabs) == 6
    assert people(*cabs, replace(late(copy, HOUR / 2), name="later")) == 7


def test_few_fixes_at_whole_minutes_are_no_copy_near_others() -> None:
    """Two who wait for one bus and ride it past a few stops are two."""
    minutes = ride(0, fixes=6, every=60.0)
    bus = replace(minutes, time=np.floor(minutes.time / 60.0) * 60.0)
    assert people(bus, replace(with_noise(bus), name="b", subject="bob")) == 2


def test_people_on_one_planned_route_are_two() -> None:
    """Points without time are equal by plan, not because one person was there."""
    whole = untimed(ride(0))
    assert people(whole, replace(of(whole, slice(200)), name="b", subject="bob")) == 2


def remembered(recordings: list[Trace]) -> Places:
    places, points = Places(), batch(recordings)
    places.add(points, points, np.arange(len(recordings)))
    return places


def test_many_equal_recordings_without_times_are_paired_once_each() -> None:
    """All pairs of 70,000 who follow one timetable would not fit into memory."""
    route = untimed(ride(0, fixes=9))
    pairs = remembered([route] * 500).copies()
    assert len(pairs) <= 2 * 500
    assert set(pairs[:, 0]) == {0}
    assert set(pairs[:, 1]) == set(range(500))


def test_people_along_one_street_are_no_copies_of_each_other() -> None:
    """Equally spaced and without times: only the noise of their receivers tells them apart."""
    noise = np.random.default_rng(0).normal(0.0, 5.0 / 111_195.0, (2, 400, 40))
    street = np.arange(40) * 50.0 / 111_195.0
    recordings = [
        Trace(f"r{i}", f"p{i}", 48.2 + street + north, 16.3 + east, np.full(40, np.nan))
        for i, (north, east) in enumerate(noise.transpose(1, 0, 2))
    ]
    assert people(*recordings) == len(recordings)


def test_times_that_are_far_between_are_times() -> None:
    """A fix each quarter of an hour says little, but on another day it is no copy."""
    first = ride(0, fixes=12, every=900.0)
    later = late(with_noise(first), 72 * HOUR)
    assert people(first, replace(later, name="b", subject="bob")) == 2


def test_an_equal_way_of_few_places_is_no_copy_at_another_time() -> None:
    """As of two who ride from stop to stop, or stay at one."""
    stops = ride(0, fixes=7, every=60.0)
    assert people(stops, replace(late(stops, HOUR / 2), name="b", subject="bob")) == 2
    stay = replace(ride(0, fixes=40), lat=np.full(40, 48.2), lon=np.full(40, 16.3))
    assert people(ride(1), stay, replace(late(stay, HOUR / 2), name="b", subject="bob")) == 3


def test_who_stays_at_one_place_is_like_others_there() -> None:
    place, time = np.full(100, 16.2), DAY + 10.0 * np.arange(100, dtype=np.float64)
    waits = [Trace(f"r{i}", f"p{i}", place, place + 1e-6 * i, time) for i in range(3)]
    assert len(remembered(waits).copies()) == 0


def test_receivers_without_a_fix_are_not_one_person() -> None:
    """They all say 0, 0, at the same whole minutes."""
    nowhere, minutes = np.zeros(20), np.arange(20) * 60.0
    lost = [
        replace(
            trace,
            lat=np.append(nowhere, trace.lat),
            lon=np.append(nowhere, trace.lon),
            time=np.append(DAY - 1e6 + minutes, trace.time),
        )
        for trace in (ride(0), ride(1))
    ]
    assert people(*lost) == 2


def test_copies_of_copies_are_one_persons() -> None:
    first, second = replace(ride(0), name="a", subject="a"), replace(ride(1), name="b", subject="a")
    third = replace(ride(1), name="c", subject="c")
    fourth = replace(rounded(ride(0), 5), name="d", subject="d")
    assert people(fourth, third, first, second) == 1


def test_no_account_beside_a_name_is_one_person_but_copies_are_known() -> None:
    """Two recordings without a name are one person's, and the third is Ada's."""
    nameless = [replace(ride(seed), subject=None) for seed in range(1, 3)]
    copy = replace(rounded(ride(0), 6), name="copy", subject=None)
    every = [replace(ride(0), subject="Ada"), *nameless, copy, replace(ride(3), subject="Bob")]
    found = cut(every, WITHOUT_LIMITS)
    assert found.subject is not None
    assert found.subject.tolist() == [0, 1, 1, 0, 2]
    counts = found.provenance["counts"]
    assert (counts[NAMELESS], counts[NAMELESS_COUNT_AS]) == (2, 1)
    differ = cut(every, WITHOUT_LIMITS, nameless_differ=True)
    assert differ.subject is not None
    assert differ.subject.tolist() == [0, 1, 2, 0, 3]
    assert differ.provenance["counts"][NAMELESS_COUNT_AS] == 2
    nobody = cut([*nameless, copy], WITHOUT_LIMITS).provenance["counts"]
    assert (nobody["subjects read"], nobody[NAMELESS_COUNT_AS]) == (3, 3)


def test_one_name_at_two_places_at_one_time_is_said() -> None:
    car = [replace(ride(seed), subject="car", time=ride(0).time) for seed in range(2)]
    car[1] = replace(car[1], lat=car[1].lat + 0.1)
    assert remembered([*car, ride(3)]).at_two_places().tolist() == []
    places, points = Places(), batch([*car, ride(3)])
    places.add(points, points, np.array([4, 4, 5]))
    assert places.at_two_places().tolist() == [4]


rides = st.lists(
    st.tuples(
        st.integers(0, 2),
        st.sampled_from(list(CHANGES.values()) + list(NO_COPIES.values())),
        st.sampled_from(["ann", "Ann ", "bob", "cy", " ", None]),
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=25)
@given(rides, st.data())
def test_who_is_who_depends_on_no_batch_and_no_order(
    drawn: list[tuple[int, Callable[[Trace], Trace], str | None]], data: st.DataObject
) -> None:
    recordings = [
        replace(change(ride(seed)), name=f"n{number}", subject=subject)
        for number, (seed, change, subject) in enumerate(drawn)
    ]
    whole = pairs_of(recordings, [len(recordings)])
    cuts = sorted(data.draw(st.sets(st.integers(1, len(recordings)))))
    assert pairs_of(recordings, [*cuts, len(recordings)]) == whole
    turned = data.draw(st.permutations(recordings))
    assert pairs_of(turned, [len(recordings)]) == whole


def pairs_of(recordings: list[Trace], ends: list[int]) -> set[frozenset[str]]:
    """Enter recordings in batches; give the names of each two that are one person's."""
    found, number, begin = Recordings(), [], 0
    for end in ends:
        if some := recordings[begin:end]:
            points = batch([of(one, np.argsort(one.time, kind="stable")) for one in some])
            entered = found.enter(some, points)
            found.places.add(points, batch(some), entered.subject)
            number += entered.subject.tolist()
        begin = end
    person = found.persons().number[number].tolist()
    named = zip(person, recordings, strict=True)
    return {
        frozenset((one.name, other.name))
        for (first, one), (second, other) in combinations(named, 2)
        if first == second
    }


@needs_real_data
def test_no_two_cabs_are_taken_for_one() -> None:
    """What two cabs had in common by chance is no copy; but few fixes with noise are one."""
    path = REAL / "sf_cabs/cabs_dataset_20080608_0700_0715.csv"
    assert COPIES_MERGED not in extract(path, min_length=0).provenance["counts"]
    cabs = [
        replace(of(trace, np.argsort(trace.time)), subject=f"p{number}", name=f"{number}")
        for number, trace in enumerate(traces(path))
        if len(trace) >= 5
    ]
    again = [replace(with_noise(trace), subject=f"{trace.name}?") for trace in cabs]
    assert people(*cabs) - people(*cabs, *again) >= -0.02 * len(cabs)


@needs_real_data
@pytest.mark.parametrize("digits", [5, 6])
def test_real_recordings_are_known_again(digits: int) -> None:
    """Of watches, a fix each one to five seconds, two seconds and an hour late."""
    recordings = [
        replace(trace, subject=f"p{number}", name=f"r{number}", spellings=())
        for number, trace in enumerate(traces(REAL / "geolife_plt/002"))
        if len(trace) > 100
    ]
    again = [
        late(replace(rounded(trace, digits), subject=f"{trace.subject}?"), HOUR + 2.0)
        for trace in recordings
    ]
    assert people(*recordings) == people(*recordings, *again) == len(recordings)


def test_copies_agree_with_a_slow_twin() -> None:
    """Rides of one town and hour: which are copies, told by all their places."""
    recordings = [ride(seed) for seed in range(12)]
    recordings += [late(rounded(ride(seed), 5), seed * HOUR) for seed in range(0, 12, 2)]
    found = {tuple(sorted(pair)) for pair in remembered(recordings).copies().tolist()}
    twin = {
        (i, j)
        for i, j in combinations(range(len(recordings)), 2)
        if any(is_near(recordings[i], late(recordings[j], h * HOUR)) for h in range(-14, 15))
    }
    assert found == twin
    assert len(found) == 6


def is_near(one: Trace, other: Trace) -> bool:
    """Whether two recordings were near each other at all times that both know."""
    both = (one.time >= other.time[0]) & (one.time <= other.time[-1])
    if both.sum() < len(one) / 2:
        return False
    lat, lon = (np.interp(one.time[both], other.time, of) for of in (other.lat, other.lon))
    metres: Floats = metres_between(one.lat[both], one.lon[both], lat, lon)
    return bool((metres <= WIDE).mean() >= 0.8)
