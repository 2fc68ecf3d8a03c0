"""Recordings that are one recording, whatever their names: whose they are counts once.

People upload a recording twice, once with an account and once without, whole or in
part; a server repeats points while it is paged through. Counted as two subjects, one
person would fill two places of a group.
"""

import hashlib

import numpy as np
from numpy.typing import NDArray

from trajanon.extract.trace import Trace

_SKETCH = 16
"""Points remembered of each recording: those with the smallest hashes, so that two
recordings that share points remember the same ones."""

_SHARED = 3
"""So many equal points, in place and time, are no accident."""


class Recordings:
    """Gives pseudonyms, and finds out which recordings are one person's.

    Pseudonyms are numbers in the order of appearance.
    """

    def __init__(self) -> None:
        self._trace_number: dict[tuple[str | None, str], int] = {}
        self._subject_number: dict[str | tuple[str | None, str], int] = {}
        self._same_as: list[int] = []
        self._subject_of_content: dict[bytes, int] = {}
        self._subject_of_point: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._trace_number)

    def number(self, trace: Trace) -> tuple[int, int]:
        """Number of a trace and of its subject."""
        key = (trace.subject, trace.name)
        number = self._trace_number.setdefault(key, len(self._trace_number))
        subject = key if trace.subject is None else trace.subject
        numbered = self._subject_number.setdefault(subject, len(self._subject_number))
        if numbered == len(self._same_as):
            self._same_as.append(numbered)
        return number, numbered

    def repeats(self, trace: Trace, subject: int) -> bool:
        """Tell whether the same points came before, in any order.

        Whoever made the one made the other, also if only a part is the same.
        """
        points = np.column_stack([trace.lat, trace.lon, trace.time])
        points = np.unique(points + 0.0, axis=0)  # -0.0 is 0.0
        if len(points) < 2:
            return False
        # Receivers that have no fix yet all report 0, 0, whosever they are.
        somewhere = np.isfinite(points).all(axis=1) & points[:, :2].any(axis=1)
        self._find_shared(points[somewhere], subject)
        content = hashlib.blake2b(points.tobytes(), digest_size=16).digest()
        before = self._subject_of_content.get(content)
        if before is None:
            self._subject_of_content[content] = subject
            return False
        self._make_one(before, subject)
        return True

    def _find_shared(self, timed: NDArray[np.float64], subject: int) -> None:
        """Make subjects one that share points; only points with a time can tell."""
        sketch = np.sort(_hashes(timed))[:_SKETCH].tolist()
        owners = [
            self.person(self._subject_of_point.setdefault(point, subject))
            for point in sketch
        ]
        for owner in set(owners) - {self.person(subject)}:
            if owners.count(owner) >= min(_SHARED, len(timed)):
                self._make_one(owner, subject)

    def _make_one(self, before: int, subject: int) -> None:
        one, other = self.person(before), self.person(subject)
        self._same_as[max(one, other)] = min(one, other)

    def person(self, subject: int) -> int:
        """The lowest number that the same person has."""
        while self._same_as[subject] != subject:
            subject = self._same_as[subject]
        return subject

    def people(self) -> NDArray[np.int64]:
        """For each number of a subject the lowest one of the same person."""
        return np.array([self.person(number) for number in range(len(self._same_as))])


def _hashes(points: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Hash each point (lat, lon, time); equal points have equal hashes."""
    mixed = np.zeros(len(points), dtype=np.uint64)
    for column in np.ascontiguousarray(points.T).view(np.uint64):
        # The finaliser of splitmix64 (Steele, Lea, Flood 2014).
        mixed ^= column
        mixed ^= mixed >> np.uint64(30)
        mixed *= np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(27)
        mixed *= np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return mixed
