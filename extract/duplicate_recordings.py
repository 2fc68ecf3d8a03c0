"""Recordings under several names that are one person's, who would fill two places of a group.

People upload a recording twice, with an account and without, whole or in part. Hashes are kept: of
a few points of each recording, and one of all of them.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trajanon.arrays import Bools, Hashes, Ints
from trajanon.extract.points import Points
from trajanon.extract.trace import Trace
from trajanon.hashing import bits_mixed, hashes_of
from trajanon.subjects import Merged, key_of, spelled

SKETCH = 16  # points with the smallest hashes, remembered of each recording
_OFTEN = np.uint64(2**64 // 64)  # hashes below are remembered, too, for a part of a long recording
_SHARED = 3  # points, equal in place and time, that only recordings of one person share


class Entered(NamedTuple):
    """What became of a batch of recordings."""

    trace: Ints  # numbers, in the order of appearance, shape (traces,)
    subject: Ints  # numbers, in the order of appearance, shape (traces,)
    mark: Hashes  # of the name of the person who made it, shape (traces,)
    nameless: Bools  # whether the source names no subject, shape (traces,)
    new: Bools  # whether a recording of this name is the first, shape (traces,)
    repeated: Bools  # whether the same points came before, in any order, shape (traces,)


class Recordings:
    """Gives pseudonyms, and finds out which recordings are one person's."""

    def __init__(self, *, subjects_exact: bool = False) -> None:
        self._exact = subjects_exact
        self._traces: dict[tuple[str, str], int] = {}
        self._subjects: dict[tuple[str | None, ...], int] = {}
        self._subject_of_content: dict[int, int] = {}
        self._same: list[tuple[int, int]] = []  # subjects with a recording of equal points
        # Hashes of remembered points, the batches' recordings, and the subjects of these.
        self._sketch, self._recording, self._maker = [np.empty(0, np.uint64)], [_NONE], [_NONE]
        self._read = 0  # recordings
        self._spellings: tuple[set[str], ...] = (set(), set(), set())

    def enter(self, traces: Sequence[Trace], points: Points) -> Entered:
        """Number recordings and their subjects; find those that came before."""
        keys = [self._key(one) for one in traces]
        known = len(self._traces)
        named = [
            self._traces.setdefault((key, one.name), len(self._traces))
            for key, one in zip(keys, traces, strict=True)
        ]
        who = [(key,) if key else (None, one.name) for key, one in zip(keys, traces, strict=True)]
        subject = np.array(
            [self._subjects.setdefault(one, len(self._subjects)) for one in who], np.int64
        )
        trace = np.array(named, np.int64)
        # Numbers rise where, and only where, a name is new.
        new = trace > np.maximum.accumulate(np.append(known - 1, trace))[:-1]
        content, size = self._remember(points, subject)
        repeated = np.zeros(len(traces), dtype=np.bool_)
        for i in np.flatnonzero(size >= 2).tolist():  # one point many people may have recorded
            repeated[i] = content[i] in self._subject_of_content
            before = self._subject_of_content.setdefault(int(content[i]), int(subject[i]))
            if before != subject[i]:
                self._same.append((before, int(subject[i])))
        mark = np.array([_hash(*one) for one in who], np.uint64)
        return Entered(trace, subject, mark, np.array([not key for key in keys]), new, repeated)

    def _key(self, trace: Trace) -> str:
        """Give the one spelling of a subject; empty if there is none."""
        names = trace.spellings or (() if trace.subject is None else (trace.subject,))
        keys = [key_of(name, exact=self._exact) for name in names]
        for name, key in zip(names, keys, strict=True):
            if key:
                for found, one in zip(self._spellings, (name, spelled(name), key), strict=True):
                    found.add(one)
        return keys[0] if keys else ""

    def _remember(self, points: Points, subject: Ints) -> tuple[Hashes, Ints]:
        """Remember points with time and place; give a hash of all of a trace, and their number."""
        hashes, n = hashes_of(points.lat, points.lon, points.time), len(subject)
        order = np.lexsort((hashes, points.trace))
        trace, hashes = points.trace[order], hashes[order]
        once = np.append(True, (np.diff(trace) != 0) | (np.diff(hashes) != 0))[: len(order)]
        order, trace, hashes = order[once], trace[once], hashes[once]
        content = np.zeros(n, dtype=np.uint64)
        np.add.at(content, trace, bits_mixed(hashes))
        size = np.bincount(trace, minlength=n)
        telling = (points.lat[order] != 0.0) | (points.lon[order] != 0.0)
        telling &= np.isfinite(points.lat + points.lon + points.time)[order]
        telling &= size[trace] >= 2
        trace, hashes = trace[telling], hashes[telling]
        rank = np.arange(len(trace)) - np.searchsorted(trace, np.arange(n))[trace]
        kept = (rank < SKETCH) | (hashes < _OFTEN)
        self._sketch.append(hashes[kept])
        self._recording.append(trace[kept] + self._read)
        self._maker.append(subject[trace[kept]])
        self._read += n
        return content, size

    def merged(self) -> Merged:
        """Count the names that are another spelling of one seen before."""
        return Merged.among(*self._spellings)

    def people(self) -> Ints:
        """Give for each subject the lowest number that the same person has."""
        sketch = np.concatenate(self._sketch)
        recording, maker = np.concatenate(self._recording), np.concatenate(self._maker)
        _, first, which = np.unique(sketch, return_index=True, return_inverse=True)
        owner, enough = maker[first][which], np.minimum(_SHARED, np.bincount(recording))
        shared = owner != maker
        recording, maker, owner = recording[shared], maker[shared], owner[shared]
        n, same = len(self._subjects), np.array(self._same, np.int64).reshape(-1, 2)
        people, before = np.arange(n), np.empty(0, np.int64)
        if not len(same) and not len(owner):
            return people
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        while not np.array_equal(people, before):
            before = people
            pair = recording * n + people[owner]
            _, first, many = np.unique(pair, return_index=True, return_counts=True)
            one = first[many >= enough[recording[first]]]
            ends = np.append(same, np.stack([maker[one], owner[one]], axis=1), axis=0).T
            graph = coo_array((np.ones(len(ends.T)), tuple(ends)), shape=(n, n))
            group = connected_components(graph, directed=False)[1]
            people = np.unique(group, return_index=True)[1][group]
        return people


_NONE = np.empty(0, np.int64)


def _hash(*names: str | None) -> int:
    """Hash a subject, or none and a recording."""
    text = repr(names).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
