"""Recordings and the persons who made them, numbered; copies and spellings are one person's."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from trajanon.common.arrays import Bools, Hashes, Ints
from trajanon.extract.duplicate_recordings import Places, Repeats
from trajanon.extract.points import Points
from trajanon.extract.trace import Trace
from trajanon.trajectories.person_names import key_of
from trajanon.trajectories.subjects import Merged, Nameless

Name = TypeVar("Name", int, tuple[str | None, ...])


class Entered(NamedTuple):
    """What became of a batch of recordings."""

    trace: Ints  # numbers, in the order of appearance, shape (traces,)
    subject: Ints  # numbers, in the order of appearance, shape (traces,)
    mark: Hashes  # of the name of the person who made it, shape (traces,)
    new: Bools  # whether a recording of this name is the first, shape (traces,)
    repeated: Bools  # whether the same points came before, in any order, shape (traces,)


class Persons(NamedTuple):
    """Who is behind the subjects that were entered, and what was found to be one's."""

    number: Ints  # of the person behind each subject: the lowest subject that is the same
    nameless: Nameless
    merged: Merged
    at_two_places: int = 0  # subjects


class Recordings:
    """Numbers recordings and subjects, and finds out which are one person's."""

    def __init__(self, *, subjects_exact: bool = False) -> None:
        self._exact = subjects_exact
        # By hashes: names of many recordings would take most of an extraction's memory.
        self._traces: dict[int, int] = {}
        self._subjects: dict[tuple[str | None, ...], int] = {}
        self._repeats = Repeats()
        self._places = Places()
        self._names: set[str] = set()

    def enter(self, traces: Sequence[Trace], points: Points) -> Entered:
        """Number recordings and their subjects; find those that came before."""
        keys = [self._key(trace) for trace in traces]
        names = [trace.name for trace in traces]
        makers = [(key,) if key else (None, name) for key, name in zip(keys, names, strict=True)]

        known = len(self._traces)
        recordings = [_hash(key, name) for key, name in zip(keys, names, strict=True)]
        trace = _numbers_of(recordings, self._traces)
        subject = _numbers_of(makers, self._subjects)
        return Entered(
            trace=trace,
            subject=subject,
            mark=np.array([_hash(*maker) for maker in makers], np.uint64),
            # Numbers rise where, and only where, a name is new.
            new=trace > np.maximum.accumulate(np.append(known - 1, trace))[:-1],
            repeated=self._repeats.find(points, subject),
        )

    def _key(self, trace: Trace) -> str:
        """Return the one form of a subject's names; empty if there is none."""
        names = trace.spellings or (() if trace.subject is None else (trace.subject,))
        keys = [key_of(name, exact=self._exact) for name in names]
        self._names.update(name for name, key in zip(names, keys, strict=True) if key)
        return keys[0] if keys else ""

    def place(self, cleaned: Points, given: Points, entered: Entered) -> None:
        """Remember where recordings were, by their points cleaned and as given."""
        self._places.add(cleaned, given, entered.subject)

    def persons(self, *, nameless_differ: bool = False) -> Persons:
        """Find the person behind each subject.

        All subjects without a name are one person, unless they are said to differ, or none has one.
        """
        n = len(self._subjects)
        repeats = np.array(self._repeats.subjects, np.int64).reshape(-1, 2)
        person = _joined(n, np.concatenate([repeats, self._places.copies()]))

        named = np.array([maker[0] is not None for maker in self._subjects], dtype=np.bool_)
        without = np.bincount(person, named, n)[person] == 0.0
        merged = Merged(len(self._names) - int(named.sum()), n - len(np.unique(person)))
        if named.any() and without.any() and not nameless_differ:
            person[without] = person[without].min()

        nameless = Nameless(int(without.sum()), len(np.unique(person[without])))
        two_places = len(self._places.at_two_places())
        return Persons(person, nameless, merged, two_places)


def _numbers_of(names: Sequence[Name], numbers: dict[Name, int]) -> Ints:
    """Return the numbers of names; new ones are numbered in the order of appearance."""
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)


def _joined(n: int, pairs: Ints) -> Ints:
    """Return of each subject the lowest of those that are one person by pairs, (n,)."""
    person = np.arange(n)
    first, second = pairs.T
    while (person[first] != person[second]).any():
        lowest = np.minimum(person[first], person[second])
        for side in (first, second):
            np.minimum.at(person, person[side], lowest)
        person = person[person]
    return person


def _hash(*names: str | None) -> int:
    """Hash the names of a subject, of a recording, or of both."""
    text = repr(names).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
