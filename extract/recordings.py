"""Recordings under several names that are one person's: the person counts once.

People upload a recording twice, once with an account and once without, whole or in part; a server
repeats points while it is paged through. Counted as two subjects, one person would fill two places
of a group.
"""

from collections import Counter
from typing import NamedTuple

import numpy as np

from trajanon.arrays import Bools, Hashes, Ints
from trajanon.extract.fingerprints import Fingerprints, Owners
from trajanon.subjects import Merged

_SHARED = 3
"""Points, equal in place and time, that two recordings share only if one person made both."""


class Entered(NamedTuple):
    """What became of a batch of recordings."""

    trace: Ints  # numbers, in the order of appearance, shape (traces,)
    subject: Ints  # numbers, in the order of appearance, shape (traces,)
    new: Bools  # whether a recording of this name is the first, shape (traces,)
    repeated: Bools  # whether the same points came before, in any order, shape (traces,)


class Recordings:
    """Gives pseudonyms, and finds out which recordings are one person's."""

    def __init__(self) -> None:
        self._trace_number: dict[int, int] = {}
        self._subject_number: dict[int, int] = {}
        self._same_as: list[int] = []
        self._subject_of_content: dict[int, int] = {}
        self._owners = Owners()
        self._spellings: tuple[set[int], ...] = (set(), set(), set())

    def enter(self, prints: Fingerprints) -> Entered:
        """Number recordings and their subjects; find those that came before.

        Recordings that are equal, in whole or in part, are of one person.
        """
        known = len(self._trace_number)
        trace = _numbered(self._trace_number, prints.trace)
        subject = _numbered(self._subject_number, prints.subject)
        self._same_as += range(len(self._same_as), len(self._subject_number))
        # Numbers rise where, and only where, a name is new.
        highest = np.maximum.accumulate(np.append(known - 1, trace))
        for found, hashes in zip(self._spellings, prints.spellings.T, strict=True):
            found.update(hashes.tolist())
        of = np.repeat(np.arange(len(prints)), prints.size)
        owners = self._owners.of(prints.sketch, subject[of])
        shares = set(of[owners != subject[of]].tolist())  # points with earlier recordings
        end = np.cumsum(prints.size)
        repeated = np.zeros(len(prints), dtype=np.bool_)
        contents = prints.content.tolist()
        for i, number in enumerate(subject.tolist()):
            if prints.points[i] < 2:  # which many people may have recorded
                continue
            if i in shares:
                earlier = owners[end[i] - prints.size[i] : end[i]].tolist()
                for one, shared in Counter(map(self._person, earlier)).items():
                    if shared >= min(_SHARED, len(earlier)):
                        self._merge(one, number)
            repeated[i] = contents[i] in self._subject_of_content
            self._merge(self._subject_of_content.setdefault(contents[i], number), number)
        return Entered(trace, subject, trace > highest[:-1], repeated)

    def _merge(self, before: int, subject: int) -> None:
        """Take two subjects for one person, numbered by the lower of the two."""
        one, other = self._person(before), self._person(subject)
        self._same_as[max(one, other)] = min(one, other)

    def _person(self, subject: int) -> int:
        while self._same_as[subject] != subject:
            subject = self._same_as[subject]
        return subject

    def merged(self) -> Merged:
        """Count the names that are another spelling of one seen before."""
        return Merged.among(*self._spellings)

    def people(self) -> Ints:
        """Give for each subject the lowest number that the same person has."""
        return np.array([self._person(number) for number in range(len(self._same_as))], np.int64)


def _numbered(number_of: dict[int, int], names: Hashes) -> Ints:
    numbers = [number_of.setdefault(name, len(number_of)) for name in names.tolist()]
    return np.array(numbers, np.int64)
