"""Fingerprints: a few numbers that tell recordings apart, and find equal ones.

Names become hashes, so that no name need be kept; of the points a few hashes are kept, and one
number for all of them.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Bools, Floats, Ints
from trajanon.extract.points import Points
from trajanon.extract.trace import Trace
from trajanon.hashing import bits_mixed
from trajanon.subjects import key_of, spelled

SKETCH = 16
"""Points remembered of each recording at least, if it has them: those with the smallest
hashes, so that two recordings that share points remember the same ones."""

_ONE_IN = np.uint64(64)
"""Of a long recording one point in 64 is remembered, those with hashes below a bound, so that a
small part of it is recognised, too."""

_TRACES = 20
"""Bits for the number of a trace within its batch; the others are for the hash of a point. The
highest of these marks a point that identifies nobody: one without a time or a place."""

_POINT = np.uint64(64 - _TRACES)
_TRACE = np.uint64(1) << _POINT
_UNTELLING = np.uint64(1) << (_POINT - np.uint64(1))


@dataclass(frozen=True, slots=True, eq=False)
class Fingerprints:
    """Fingerprints of some recordings, side by side."""

    trace: NDArray[np.uint64]  # hash of the subject and the name together, shape (traces,)
    subject: NDArray[np.uint64]  # hash of whoever made it, shape (traces,)
    nameless: Bools  # whether the source names no subject, shape (traces,)
    content: NDArray[np.uint64]  # equal for equal sets of points, in any order, shape (traces,)
    points: Ints  # different points, shape (traces,)
    sketch: NDArray[np.uint64]  # hashes of some points of each that identify it
    size: Ints  # hashes of each trace in the sketch, shape (traces,)
    spellings: NDArray[np.uint64]  # hashes of each name of a subject: as given, as spelled, its key

    def __len__(self) -> int:
        return len(self.trace)


def fingerprints(
    traces: Sequence[Trace], points: Points, *, subjects_exact: bool = False
) -> Fingerprints:
    """Take the fingerprints of a batch of traces, of at most 2**20."""
    tells, every = _hashes_by_trace(points)
    trace = (every >> _POINT).astype(np.int64)
    count = np.bincount(trace, minlength=len(traces))
    total = np.zeros(len(traces), dtype=np.uint64)
    some = np.flatnonzero(count)
    total[some] = np.add.reduceat(
        bits_mixed(every << np.uint64(_TRACES)), (np.cumsum(count) - count)[some]
    )
    trace = (tells >> _POINT).astype(np.int64)
    telling = np.bincount(trace, minlength=len(traces))
    place = np.arange(len(tells)) - (np.cumsum(telling) - telling)[trace]
    remembered = (place < SKETCH) | (tells % _TRACE < _UNTELLING // _ONE_IN)
    known = {
        name: key_of(name, exact=subjects_exact)
        for name in {name for one in traces for name in _written(one)}
    }
    keys = [next((known[name] for name in _written(one)), "") or None for one in traces]
    names = [_hash(key, one.name) for key, one in zip(keys, traces, strict=True)]
    subjects = [name if key is None else _hash(key) for key, name in zip(keys, names, strict=True)]
    hashed = [
        [_hash(given), _hash(spelled(given)), _hash(key)] for given, key in known.items() if key
    ]
    return Fingerprints(
        trace=np.array(names, dtype=np.uint64),
        subject=np.array(subjects, dtype=np.uint64),
        nameless=np.array([key is None for key in keys], dtype=np.bool_),
        content=total,
        points=count,
        sketch=tells[remembered] << np.uint64(_TRACES),
        size=np.bincount(trace[remembered], minlength=len(traces)),
        spellings=np.unique(np.array(hashed, dtype=np.uint64).reshape(-1, 3), axis=0),
    )


def _written(trace: Trace) -> tuple[str, ...]:
    """How the source writes the subject; nothing where it has none."""
    return trace.spellings or (() if trace.subject is None else (trace.subject,))


def joined_fingerprints(parts: Sequence[Fingerprints]) -> Fingerprints:
    """Put the fingerprints of several batches one after another."""
    whole = Fingerprints(
        *(
            np.concatenate([getattr(part, field.name) for part in parts])
            for field in fields(Fingerprints)
        )
    )
    return replace(whole, spellings=np.unique(whole.spellings, axis=0))


def _hash(*names: str | None) -> int:
    """Hash a subject, or a subject (None if there is none) and a recording."""
    text = repr(names).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


def _hashes_by_trace(points: Points) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Hash the points; in each number the trace stands before the point's hash."""
    hashes = hashes_of(points.lat, points.lon, points.time)
    somewhere = (points.lat != 0.0) | (points.lon != 0.0)
    somewhere &= np.isfinite(points.lat + points.lon + points.time)
    hashes >>= np.uint64(_TRACES + 1)
    hashes[~somewhere] |= _UNTELLING
    hashes |= points.trace.astype(np.uint64) << _POINT
    hashes.sort()
    every = hashes[np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)]]
    return every[every & _UNTELLING == 0], every


def hashes_of(*columns: Floats) -> NDArray[np.uint64]:
    """Hash rows of numbers; what is equal, or in equal places no number, is equal."""
    hashes = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        # One bit pattern for -0.0 and 0.0, and one for what is no number.
        values = np.where(np.isnan(column), np.nan, column + 0.0)
        hashes = bits_mixed(hashes ^ values.view(np.uint64))
    return hashes


class Owners:
    """Remembers who had each of many millions of points first, in sorted arrays of hashes.

    Each array is at least twice as long as the one after it, so that there are few and no point is
    moved often.
    """

    def __init__(self) -> None:
        self._sorted: list[tuple[NDArray[np.uint64], NDArray[np.int32]]] = []

    def of(self, points: NDArray[np.uint64], subject: Ints) -> NDArray[np.int32]:
        """Give the first owner of each point; a new point belongs to the subject."""
        found, first, inverse = np.unique(points, return_index=True, return_inverse=True)
        owner = subject[first].astype(np.int32)
        new = np.ones(len(found), dtype=np.bool_)
        for keys, owners in self._sorted:
            place = np.minimum(np.searchsorted(keys, found), len(keys) - 1)
            here = keys[place] == found
            owner[here] = owners[place[here]]
            new &= ~here
        if new.any():
            self._add(found[new], owner[new])
        return owner[inverse]

    def _add(self, keys: NDArray[np.uint64], owners: NDArray[np.int32]) -> None:
        while self._sorted and len(self._sorted[-1][0]) < 2 * len(keys):
            more, theirs = self._sorted.pop()
            keys, owners = np.append(keys, more), np.append(owners, theirs)
            order = np.argsort(keys)
            keys, owners = keys[order], owners[order]
        self._sorted.append((keys, owners))
