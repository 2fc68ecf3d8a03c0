"""Who counts as one person: names, copies and recordings without a name, by small batches."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from trajanon.extract.persons_numbered import Entered, Persons, Recordings
from trajanon.extract.points import batch
from trajanon.extract.trace import Trace
from trajanon.trajectories.subjects import Merged, Nameless


def recording(subject: str | None, way: int = 0, name: str = "r", spellings: str = "") -> Trace:
    """Two points of a way; those of another way are others."""
    lat = np.array([40.0, 40.1]) + way
    time = np.array([0.0, 60.0])
    return Trace(
        name, subject, lat, np.zeros(2), time, tuple(spellings.split("|")[: len(spellings)])
    )


def entered(
    *batches: Sequence[Trace], exact: bool = False, differ: bool = False
) -> tuple[list[Entered], Persons]:
    recordings = Recordings(subjects_exact=exact)
    of_batches = []
    for traces in batches:
        points = batch(traces)
        of_batches.append(recordings.enter(traces, points))
        recordings.places.add(points, points, of_batches[-1].subject)
    trips = np.concatenate([traces.subject for traces in of_batches])
    return of_batches, recordings.persons(nameless_differ=differ, trips=trips)


@pytest.mark.parametrize(
    ("owners_and_names", "shared"),
    [
        ("a1 b2 c3", 0),
        ("a1 b1 c1 d2", 2),
        ("a1 a1 b1", 1),  # a recording in two pieces
        ("a1 b1 a2", 0),  # whoever has two recordings numbers them
        ("a1 a2 b1", 0),
        ("-1 -2", 0),
        ("-1 a1 b2", 0),
    ],
)
def test_people_whose_only_recordings_share_names(owners_and_names: str, shared: int) -> None:
    traces = [
        recording(None if pair[0] == "-" else pair[0], way, pair[1])
        for way, pair in enumerate(owners_and_names.split())
    ]
    for batches in ([traces], [[trace] for trace in traces]):
        assert entered(*batches)[1].shared_names == shared


@pytest.mark.parametrize(
    ("owners", "exact", "differ", "person", "nameless", "merged"),
    [
        # Spellings of a name are one person's, unless they are said to be exact.
        (["Ann", "ann ", "bob"], False, False, [0, 1], (0, 0), (1, 0)),
        (["Ann", "ann", "bob"], True, False, [0, 1, 2], (0, 0), (0, 0)),
        (["7.0", "bob", "007"], False, False, [0, 1], (0, 0), (1, 0)),
        # Where nobody is named, each recording is a person's own; beside names all are one's.
        ([None, None, None], False, False, [0, 1, 2], (3, 3), (0, 0)),
        ([None, "Ann", None, "bob", None], False, False, [0, 1, 0, 3, 0], (3, 1), (0, 0)),
        (["Ann", None, None], False, False, [0, 1, 1], (2, 1), (0, 0)),
        (["Ann", None, None], False, True, [0, 1, 2], (2, 2), (0, 0)),
        (["Ann", "", "  "], False, False, [0, 1, 1], (2, 1), (0, 0)),
    ],
)
def test_names_and_recordings_without_one(
    owners: Sequence[str | None],
    exact: bool,
    differ: bool,
    person: list[int],
    nameless: tuple[int, int],
    merged: tuple[int, int],
) -> None:
    """All on ways of their own, in one batch as in one each."""
    traces = [recording(owner, way, f"r{way}") for way, owner in enumerate(owners)]
    for batches in ([traces], [[trace] for trace in traces]):
        persons = entered(*batches, exact=exact, differ=differ)[1]
        assert persons.number.tolist() == person
        assert persons.nameless == Nameless(*nameless)
        assert persons.merged == Merged(*merged)


@pytest.mark.parametrize(
    ("ways_of", "person", "nameless", "copies"),
    [
        # Whose copy it is, that person made it; whatever comes first.
        ([("ann", 0), ("bob", 0)], [0, 0], (0, 0), 1),
        ([(None, 0), ("ann", 0), ("bob", 1)], [0, 0, 2], (0, 0), 1),
        ([("ann", 0), (None, 0), (None, 1)], [0, 0, 2], (1, 1), 1),
        ([("ann", 0), (None, 1), (None, 1), (None, 2)], [0, 1, 1, 1], (3, 1), 1),
        # Copies of copies are one person's, however long the chain is.
        ([(str(i), way) for i in range(9) for way in (i, i + 1)], [0] * 9, (0, 0), 8),
        (
            [*((str(i), i) for i in range(9)), *((str(i), (i + 4) % 9) for i in range(8, 4, -1))],
            [0, 1, 2, 3, 4, 0, 1, 2, 3],
            (0, 0),
            4,
        ),
    ],
)
def test_copies_are_of_one_person(
    ways_of: Sequence[tuple[str | None, int]],
    person: list[int],
    nameless: tuple[int, int],
    copies: int,
) -> None:
    traces = [recording(owner, way, f"r{number}") for number, (owner, way) in enumerate(ways_of)]
    for batches in ([traces], [[trace] for trace in traces]):
        persons = entered(*batches)[1]
        assert persons.number.tolist() == person
        assert persons.nameless == Nameless(*nameless)
        assert persons.merged == Merged(names=0, copies=copies)


def test_all_spellings_of_a_recording_count() -> None:
    traces = [recording("ann", 0, spellings="Ann|ANN|"), recording("ann", 1), recording("bob", 2)]
    assert entered(traces)[1].merged == Merged(names=2, copies=0)
    assert entered([recording("ann", 0, spellings="ann|ANN")], exact=True)[1].merged.names == 1


def test_recordings_are_numbered_by_name_and_subject() -> None:
    first = [
        recording("ann", 0, "a"),
        recording("ann", 1, "b"),
        recording("Ann", 2, "a"),  # goes on
        recording("ann", 7, "b"),
        recording("ann", 8, "b"),
        recording("bob", 3, "a"),
        recording(None, 4, "a"),
    ]
    second = [recording(None, 5, "a"), recording("bob", 6, "c"), recording(None, 0, "d")]
    (one, two), _ = entered(first, second)
    assert one.recording.tolist() == [0, 1, 0, 1, 1, 2, 3]
    assert one.new.tolist() == [True, True, False, False, False, True, True]
    assert one.subject.tolist() == [0, 0, 0, 0, 0, 1, 2]
    assert one.repeated.tolist() == [False] * 7
    assert two.recording.tolist() == [3, 4, 5]
    assert two.new.tolist() == [False, True, True]
    assert two.subject.tolist() == [2, 1, 3]
    assert two.repeated.tolist() == [False, False, True]

    # Marks are of persons: by name, or by the recording of whoever has none, in any extraction.
    assert one.mark[0] == one.mark[1] == one.mark[2]
    assert len({*one.mark.tolist(), *two.mark.tolist()}) == 4
    again = entered([recording("ANN", 7, "x"), recording(None, 8, "a")])[0][0]
    assert again.mark.tolist() == [one.mark[0], one.mark[6]]


def test_a_name_that_no_codec_writes_is_a_name() -> None:
    assert entered([recording("\udcff", 0), recording("\udcfe", 1)])[1].number.tolist() == [0, 1]


def test_a_name_has_one_mark_however_it_is_written() -> None:
    """By which a ledger knows persons again: one file may take names as they are written."""
    names = ("Ann Lee", "ann lee.", "Bob", None)
    traces = [recording(name, way, f"r{way}") for way, name in enumerate(names)]
    marks = [entered(traces, exact=exact)[0][0].mark.tolist() for exact in (False, True)]
    assert marks[0] == marks[1]
    assert len(set(marks[0])) == 3


def recordings_of(people_by_day: Sequence[str], apart: int) -> list[Trace]:
    """A recording of each letter, on ways of their own; the days are so many seconds apart."""
    traces = list[Trace]()
    for day, people in enumerate(people_by_day):
        for person in people:
            whole = recording(person, len(traces), f"r{len(traces)}")
            traces.append(replace(whole, time=whole.time + apart * day))
    return traces


def test_names_that_are_drawn_anew_are_counted_in_any_batches() -> None:
    traces = recordings_of(["abcdefghij", "abcdefghij", "klmnopqrst", "klmnopqrst"], 86_400 * 15)
    for batches in ([traces], [[trace] for trace in traces[::-1]]):
        assert entered(*batches)[1].drawn_anew == 20


def test_names_at_two_places_at_one_time_are_counted() -> None:
    """Whoever rides as the club may be Ann, on the same line: the verdict says so."""
    minutes = np.linspace(0.0, 1_140.0, 20)
    traces = [
        replace(
            recording(owner, way, f"r{way}"),
            lat=minutes / 1e5 + way,
            lon=np.zeros(20),
            time=minutes,
        )
        for way, owner in enumerate(["club", "club", "ann", "bob", None])
    ]
    for batches in ([traces], [[trace] for trace in traces]):
        persons = entered(*batches)[1]
        assert persons.at_two_places == 1
        assert persons.nameless == Nameless(recordings=1, subjects=1)
        assert persons.number.tolist() == [0, 1, 2, 3]
        assert persons.nameless_person == 3


def test_people_whose_only_recording_is_long_come_again() -> None:
    """As tables of taxis have it, which name no recordings; in windows trips are not known."""
    recordings = Recordings()
    traces = recordings_of(["abcdefghij"], 86_400)
    long = [replace(trace, time=trace.time * 3 * 1_440) for trace in traces]
    points = batch(long)
    subject = recordings.enter(long, points).subject
    recordings.places.add(points, points, subject)
    assert recordings.persons(trips=np.repeat(subject, 2)).drawn_anew == 0
    assert recordings.persons().drawn_anew == 0
    assert recordings.persons(trips=subject).drawn_anew == 10
