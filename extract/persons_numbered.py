"""Recordings and the persons who made them, numbered; copies and spellings are one person's.

The readers of ``sources/`` name the persons: by a column (``columns_chosen_for_roles``), a tag of
the file, or its folder (``person_by_folder``).
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trajanon.common.arrays import Bools, Hashes, Ints, numbers_by_appearance
from trajanon.extract.duplicate_recordings import Places, Repeats
from trajanon.extract.names_drawn_anew import are_drawn_anew
from trajanon.extract.points import Points
from trajanon.extract.trace import Trace
from trajanon.trajectories.person_names import key_of
from trajanon.trajectories.subjects import Merged, Nameless


class Entered(NamedTuple):
    """A batch of recordings, numbered, and which of them came before; shape (traces,) each."""

    recording: Ints  # its number, in the order of appearance
    subject: Ints  # the number of its subject, in the order of appearance
    mark: Hashes  # a hash of the subject's name
    new: Bools  # whether it is the first of its name and subject
    repeated: Bools  # whether the same points came before, in any order


class Persons(NamedTuple):
    """The person behind each subject that was entered, and how many were merged."""

    number: Ints  # of the person behind each subject: the lowest subject that is the same
    nameless: Nameless
    nameless_person: int | None  # the one behind all without a name; None if they differ
    merged: Merged
    at_two_places: int  # how many subjects are at two places at one time, again and again
    shared_names: int  # if each has one recording, how many of these are named as another one
    drawn_anew: int  # how many have a name, if nearly all names seem to be drawn anew


class Recordings:
    """Numbers recordings and subjects, and finds out which are one person's."""

    def __init__(self, *, subjects_exact: bool = False) -> None:
        self._exact = subjects_exact
        # Numbers by hashes: the names of many recordings would fill an extraction's memory.
        self._recordings: dict[int, int] = {}
        # Numbers by name. The maker of a recording without a name is known by it: (None, its name).
        self._subjects: dict[tuple[str | None, ...], int] = {}
        # Names of recordings, as long as each named subject has one.
        self._only_names: set[int] | None = set()
        self._repeats = Repeats()
        self.places = Places()  # where recordings were, which the caller adds
        self._spellings: set[str] = set()

    def enter(self, traces: Sequence[Trace], points: Points) -> Entered:
        """Number recordings and their subjects; find those that came before."""
        names = [(self._noted_key(trace), trace.name) for trace in traces]
        subjects = [(key,) if key else (None, name) for key, name in names]

        recordings_before = len(self._recordings)
        hashes = [_hash(key, name) for key, name in names]
        recording = numbers_by_appearance(hashes, self._recordings)
        subject = numbers_by_appearance(subjects, self._subjects)
        self._note_only_names(names)
        return Entered(
            recording=recording,
            subject=subject,
            mark=np.array([self._mark(*identity) for identity in subjects], np.uint64),
            # Numbers rise where, and only where, a name is new.
            new=recording > np.maximum.accumulate(np.append(recordings_before - 1, recording))[:-1],
            repeated=self._repeats.find(points, subject),
        )

    def _mark(self, key: str | None, *recording: str) -> int:
        """Hash who made a recording; a ledger shall know a name again, however it is written."""
        if key is not None and self._exact:
            key = key_of(key) or key
        return _hash(key, *recording)

    def _note_only_names(self, names: Sequence[tuple[str, str]]) -> None:
        """Note the names of recordings, until a subject has two."""
        if len(self._recordings) > len(self._subjects):
            self._only_names = None
        if self._only_names is not None:
            self._only_names.update(hash(name) for key, name in names if key)

    def _noted_key(self, trace: Trace) -> str:
        """Note a subject's spellings, and return their one form; empty if there is none."""
        spellings = trace.spellings or (() if trace.subject is None else (trace.subject,))
        keys = [key_of(spelling, exact=self._exact) for spelling in spellings]
        self._spellings.update(name for name, key in zip(spellings, keys, strict=True) if key)
        return keys[0] if keys else ""

    def persons(self, *, nameless_differ: bool = False, trips: Ints | None = None) -> Persons:
        """Find the person behind each subject.

        All subjects without a name are one person, unless they are said to differ, or none has one.
        ``trips`` are the subjects of all trips, (trips,); None where windows are cut.
        """
        n = len(self._subjects)
        repeats = np.array(self._repeats.subjects, np.int64).reshape(-1, 2)
        person = _joined(n, np.concatenate([repeats, self.places.copies()]))

        # A copy of a named person's recording is that person's.
        is_named = np.array([names[0] is not None for names in self._subjects], dtype=np.bool_)
        nameless = np.bincount(person, is_named)[person] == 0.0
        merged = Merged(
            names=len(self._spellings) - int(is_named.sum()), copies=n - len(np.unique(person))
        )
        nameless_person = None
        if is_named.any() and nameless.any() and not nameless_differ:
            nameless_person = int(person[nameless].min())
            person[nameless] = nameless_person

        names = self._only_names
        named = int(is_named.sum())
        drawn_anew = are_drawn_anew(*self.places.subjects_and_ends, is_named, trips)
        return Persons(
            number=person,
            # A subject without a name is that of one recording.
            nameless=Nameless(int(nameless.sum()), len(np.unique(person[nameless]))),
            nameless_person=nameless_person,
            merged=merged,
            at_two_places=len(self.places.at_two_places()),
            shared_names=0 if names is None else named - len(names),
            drawn_anew=named if drawn_anew else 0,
        )


def _joined(n: int, pairs: Ints) -> Ints:
    """Return for each of n subjects the lowest one that pairs, (pairs, 2), join it to, shape (n,).

    They may join it over others: if 1 and 2 are a pair, and so are 2 and 3, 3 is joined to 1.
    """
    person = np.arange(n)
    first, second = pairs.T
    # In each round both of a pair get the lower number, and then all who have either's.
    while (person[first] != person[second]).any():
        lowest = np.minimum(person[first], person[second])
        for side in (first, second):
            np.minimum.at(person, person[side], lowest)
        person = person[person]
    return person


def _hash(*names: str | None) -> int:
    """Hash what a recording or a subject is known by.

    A recording is known by its subject's name and its own; a subject by its name, or by None and
    the name of its recording.
    """
    text = repr(names).encode()  # `repr` escapes lone surrogates, which cannot be encoded
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
