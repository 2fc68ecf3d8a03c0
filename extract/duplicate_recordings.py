"""Recordings under several names that are one person's: the person counts once.

People upload a recording twice, once with an account and once without, whole or in part; a server
repeats points while it is paged through. Counted as two subjects, one person would fill two places
of a group. Of names and points hashes are kept: a few of the points, and one of all of them.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Bools, Hashes, Ints
from trajanon.extract.points import Points
from trajanon.extract.trace import Trace
from trajanon.hashing import bits_mixed, hashes_of
from trajanon.subjects import Merged, key_of, spelled

SKETCH = 16
"""Points remembered of each recording at least, if it has them: those with the smallest
hashes, so that two recordings that share points remember the same ones."""

_ONE_IN = np.uint64(64)
"""Of a long recording one point in 64 is remembered, those with hashes below a bound, so that a
small part of it is recognised, too."""

_TRACES = np.uint64(20)
"""Bits for the number of a trace within its batch; the others are for the hash of a point. The
highest of these marks a point that identifies no recording: one without a time or a place."""

_POINT = np.uint64(64) - _TRACES
_UNTELLING = np.uint64(1) << (_POINT - np.uint64(1))


class Fingerprints(NamedTuple):
    """Fingerprints of some recordings, side by side."""

    trace: Hashes  # of the subject and the name together, shape (traces,)
    subject: Hashes  # of the person who made it, shape (traces,)
    nameless: Bools  # whether the source names no subject, shape (traces,)
    content: Hashes  # equal for equal sets of points, in any order, shape (traces,)
    points: Ints  # different points, shape (traces,)
    sketch: Hashes  # of some points of each that identify it
    size: Ints  # hashes of each trace in the sketch, shape (traces,)
    spellings: Hashes  # of each name of a subject: as given, as spelled, its key


def fingerprints(
    traces: Sequence[Trace], points: Points, *, subjects_exact: bool = False
) -> Fingerprints:
    """Take the fingerprints of a batch of traces, of at most 2**20."""
    n, hashes = len(traces), _hashes_by_trace(points)
    trace = (hashes >> _POINT).astype(np.int64)
    content = np.zeros(n, dtype=np.uint64)
    np.add.at(content, trace, bits_mixed(hashes << _TRACES))
    tells = hashes[hashes & _UNTELLING == 0]
    telling, sketch = (tells >> _POINT).astype(np.int64), tells << _TRACES
    rank = np.arange(len(tells)) - np.searchsorted(telling, np.arange(n))[telling]
    remembered = (rank < SKETCH) | (sketch < (_UNTELLING // _ONE_IN) << _TRACES)
    written = [one.spellings or (() if one.subject is None else (one.subject,)) for one in traces]
    key = {name: key_of(name, exact=subjects_exact) for names in written for name in names}
    keys = [key[names[0]] if names else "" for names in written]
    names = [_hash(who or None, one.name) for who, one in zip(keys, traces, strict=True)]
    subjects = [_hash(who) if who else name for who, name in zip(keys, names, strict=True)]
    spellings = [
        [_hash(name), _hash(spelled(name)), _hash(who)] for name, who in key.items() if who
    ]
    return Fingerprints(
        trace=np.array(names, dtype=np.uint64),
        subject=np.array(subjects, dtype=np.uint64),
        nameless=np.array([not who for who in keys], dtype=np.bool_),
        content=content,
        points=np.bincount(trace, minlength=n),
        sketch=sketch[remembered],
        size=np.bincount(telling[remembered], minlength=n),
        spellings=np.unique(np.array(spellings, dtype=np.uint64).reshape(-1, 3), axis=0),
    )


def _hash(*names: str | None) -> int:
    """Hash a subject, or a subject (None if there is none) and a recording."""
    text = repr(names).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


def _hashes_by_trace(points: Points) -> Hashes:
    """Hash the distinct points of each trace, with the trace's number as prefix; sorted."""
    hashes = hashes_of(points.lat, points.lon, points.time) >> (_TRACES + np.uint64(1))
    somewhere = (points.lat != 0.0) | (points.lon != 0.0)
    somewhere &= np.isfinite(points.lat + points.lon + points.time)
    hashes[~somewhere] |= _UNTELLING
    hashes |= points.trace.astype(np.uint64) << _POINT
    hashes.sort()
    return np.asarray(hashes[np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)]])


class Owners:
    """Remembers who had each of many millions of points first, in sorted arrays of hashes.

    Each array is at least twice as long as the one after it, so that there are few and no point is
    moved often.
    """

    def __init__(self) -> None:
        self._sorted: list[tuple[Hashes, NDArray[np.int32]]] = []

    def of(self, points: Hashes, subject: Ints) -> NDArray[np.int32]:
        """Give the first owner of each point; a new point belongs to the subject."""
        found, first, inverse = np.unique(points, return_index=True, return_inverse=True)
        owner = subject[first].astype(np.int32)
        new = np.ones(len(found), dtype=np.bool_)
        for keys, owners in self._sorted:
            place = np.minimum(np.searchsorted(keys, found), len(keys) - 1)
            here = keys[place] == found
            owner[here] = owners[place[here]]
            new &= ~here
        keys, owners = found[new], owner[new]
        while len(keys) and self._sorted and len(self._sorted[-1][0]) < 2 * len(keys):
            more, theirs = self._sorted.pop()
            keys, owners = np.append(keys, more), np.append(owners, theirs)
            order = np.argsort(keys)
            keys, owners = keys[order], owners[order]
        if len(keys):
            self._sorted.append((keys, owners))
        return owner[inverse]


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
        of = np.repeat(np.arange(len(prints.trace)), prints.size)
        owners = self._owners.of(prints.sketch, subject[of])
        shares = set(of[owners != subject[of]].tolist())  # points with earlier recordings
        end = np.cumsum(prints.size)
        repeated = np.zeros(len(prints.trace), dtype=np.bool_)
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
