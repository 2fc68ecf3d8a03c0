"""Companions: the other members of a group, found and taken from its line."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.geodesy import metres_of_degrees
from trajanon.number_text import metres, number_of, percent
from trajanon.partition import dense, subjects_per_group
from trajanon.privacy.attack import Published
from trajanon.tracks import Tracks
from trajanon.workers import in_parts

_GROUPS = 100  # tried
_SETS = 35_000  # of candidates that he tries against a line, at most
_NEAR = 400  # candidates, at most
_LOOKED_AT = 40  # trajectories for each candidate
_CAP = 0.5  # share of the spacing: a hop that is off by more is wrong, however wrong
_NEIGHBOURS = 2  # points on each side over which he smooths
_TINY = 1e-9  # metres: where nobody moves, no hop is longer than another
_SETS_AT_ONCE = 4_000  # some megabytes


class Rebuilt(NamedTuple):
    """How far what companions leave is from the hidden member: metres, median of the groups."""

    as_left: float
    smoothed: float  # along the way
    halfway: float  # between that and the line


class Departure(NamedTuple):
    """How far departures are from the hidden member's: seconds, median of the groups."""

    told: float  # what companions leave of the line's, if he is told who they are
    line: float  # the line's own


class Ranked(NamedTuple):
    """What comes out if candidates are ranked in one way."""

    first: float  # share of the groups whose true companions rank first
    rebuilt: Rebuilt | None  # with those that rank first, right or wrong; None: nothing to try

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON."""
        rebuilt = None if self.rebuilt is None else self.rebuilt._asdict()
        return {"first": self.first, "rebuilt": rebuilt}


@dataclass(frozen=True, eq=False)
class Companions:
    """What somebody finds out who holds the tracks of everybody but one member of a group."""

    k: int
    groups: int  # tried, one member of each hidden
    near: int  # candidates for companions at each line whose sets were tried
    within: float  # share of the groups whose true companions are all among these
    by_distance: Ranked
    by_spacing: Ranked
    told: Rebuilt  # if he is told the companions
    line: float  # metres from the hidden member to the line itself, median
    departure: Departure | None = None  # None where no times are released

    @property
    def best(self) -> Ranked:
        """The way in which true companions come first more often."""
        return max(self.by_distance, self.by_spacing, key=lambda way: way.first)

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON: nothing of single groups."""
        ranked = {"by_distance": self.by_distance, "by_spacing": self.by_spacing}
        accounts = {name: way.account for name, way in ranked.items()}
        departure = None if self.departure is None else self.departure._asdict()
        return {**vars(self), **accounts, "told": self.told._asdict(), "departure": departure}

    @property
    def found(self) -> str:
        """What the better way comes to, without the last full stop."""
        rebuilt = ""
        if self.best.rebuilt is not None:
            rebuilt = (
                f". What is rebuilt of the missing one is {metres(min(self.best.rebuilt))} off in "
                f"the median ({metres(min(self.told))} if the others are known); the line itself "
                f"is {metres(self.line)} off"
            )
        others = "member" if self.k == 2 else "members"
        return (
            f"Somebody who holds the tracks of everybody else finds the other {others} of a line "
            f"in {percent(self.best.first)} of {number_of(self.groups, 'group')}{rebuilt}"
        )

    @property
    def words(self) -> str:
        """What came out, in a few sentences."""
        return (
            f"{self.found}. The right choice comes first in {percent(self.by_distance.first)} by "
            f"its distance to the line, and in {percent(self.by_spacing.first)} by how equal "
            "the hops are that it leaves."
        )


def companions(
    seen: Published, tracks: Tracks | None, *, spacing: float | None = None, seed: int = 0
) -> Companions | None:
    """Look for the other members of groups, and rebuild the one who is hidden.

    The adversary holds the trajectories of everybody but one member of a group of k, and knows
    where windows lie. He knows the method and k, but not the groups. Taken from k times the line,
    the k - 1 companions leave the hidden member, and he may smooth what they leave along the way.
    He takes the trajectories that are nearest to the line, of different subjects. Or he tries all
    sets of k - 1 of the nearest, and takes the one whose hops are nearest to ``spacing``, in
    metres; without it, to their own mean. With a larger k there are fewer candidates, for there are
    more sets of them; never fewer than k - 1, which is one set.

    Nothing of the hidden member's own subject is a candidate, and no two of one subject are taken
    together; where subjects are not known, those of one run are of one.

    Tried are 100 groups of k trajectories of k subjects, drawn from ``seed``. None if there are no
    such groups, or trajectories have no hops.
    """
    k, m = seen.k, seen.points.shape[1]
    owners = seen.owners if seen.subjects is not None or tracks is None else tracks.run
    members = drawn(seen.labels, owners, k, seed)
    if not len(members) or m == 1:
        return None
    search = _Search(seen, owners, spacing)
    found = in_parts(lambda one, _: search.tried(members[one[0]]), np.arange(len(members)), 1)
    return replace(_summed(k, search.near, found), departure=_departure(seen, members))


def _departure(seen: Published, members: Ints) -> Departure | None:
    """Take the companions' departures from k times the line's."""
    if seen.times is None or seen.line_times is None:
        return None
    departures, lines = seen.times[members, 0], seen.line_times[seen.labels[members[:, 0]], 0]
    hidden = departures[:, 0]
    left = lines - (departures[:, 1:] - lines[:, None]).sum(axis=1)
    return Departure(*(float(np.median(np.abs(one - hidden))) for one in (left, lines)))


def drawn(labels: Ints, owners: Ints, k: int, seed: int) -> Ints:
    """Draw groups of k trajectories of k subjects, (s, k), each in random order.

    The first member of each is the one who is hidden.
    """
    of_k = (np.bincount(labels) == k) & (subjects_per_group(labels, dense(owners)) == k)
    groups, random = np.flatnonzero(of_k), np.random.default_rng(seed)
    chosen = random.choice(groups, min(_GROUPS, len(groups)), replace=False)
    members = [random.permutation(np.flatnonzero(labels == group)) for group in chosen]
    return np.array(members, dtype=np.int64).reshape(-1, k)


def smooth(line: Floats) -> Floats:
    """Take the mean of each point of a line and its neighbours, as many on both sides."""
    last = len(line) - 1
    reach = [min(_NEIGHBOURS, point, last - point) for point in range(last + 1)]
    return np.array([line[i - r : i + r + 1].mean(axis=0) for i, r in enumerate(reach)])


class _Left(NamedTuple):
    right: bool  # whether they are the true ones
    off: Rebuilt  # metres from the hidden member


class _Outcome(NamedTuple):
    """What came out of one group; None where there was nothing to try."""

    within: bool
    by_distance: _Left | None
    by_spacing: _Left | None
    told: _Left
    line: float  # metres from the hidden member


class _Search:
    """Companions of lines among all trajectories, in metres."""

    def __init__(self, seen: Published, owners: Ints, spacing: float | None) -> None:
        k, m = seen.k, seen.points.shape[1]
        most = k - 1  # candidates tried, so that their sets of k - 1 are not too many
        while most < _NEAR and comb(most + 1, k - 1) <= _SETS:
            most += 1
        self.near = min(most, len(owners))
        self._looked_at = _LOOKED_AT * most
        origin, scale = seen.lines[0, 0], metres_of_degrees(seen.lines[..., 0].mean())
        self._points: Floats = (seen.points - origin) * scale
        self._lines: Floats = (seen.lines - origin) * scale
        self._labels, self._owners, self._spacing = seen.labels, owners, spacing
        self._sets = np.array(list(combinations(range(self.near), k - 1))).reshape(-1, k - 1)
        self._three = [0, m // 2, m - 1]

    def tried(self, members: Ints) -> _Outcome:
        """Look for the companions of the first member."""
        line, points = self._lines[self._labels[members[0]]], self._points[members]
        found = self._candidates(line, self._owners[members[0]])
        owners, offsets, true = (
            self._owners[found],
            self._points[found] - line,
            np.sort(members[1:]),
        )
        near = slice(self.near)

        def left_by(companions: Floats, right: bool) -> _Left:
            left = line - companions.sum(axis=0)
            smoothed = smooth(left)
            ways = left, smoothed, 0.5 * (smoothed + line)
            return _Left(right, Rebuilt(*(_off(way, points[0]) for way in ways)))

        def outcome(chosen: Ints | None) -> _Left | None:
            if chosen is None:
                return None
            return left_by(offsets[chosen], np.array_equal(np.sort(found[chosen]), true))

        return _Outcome(
            within=bool(np.isin(true, found[near]).all()),
            by_distance=outcome(_nearest(owners, len(true))),
            by_spacing=outcome(self._equally_spaced(line, offsets[near], owners[near])),
            told=left_by(points[1:] - line, True),
            line=_off(line, points[0]),
        )

    def _candidates(self, line: Floats, hidden: int) -> Ints:
        """Find the trajectories nearest to a line, nearest first, but for those of one subject.

        Only those are measured that are nearest at three points.
        """
        away = ((self._points[:, self._three] - line[self._three]) ** 2).sum(axis=(1, 2))
        away[self._owners == hidden] = np.inf
        most = min(self._looked_at, len(away) - 1)
        limit = min(np.partition(away, most)[most], np.finfo(np.float64).max)
        some = np.flatnonzero(away <= limit)
        off = ((self._points[some] - line) ** 2).sum(axis=(1, 2))
        return np.asarray(some[np.argsort(off, kind="stable")])

    def _equally_spaced(self, line: Floats, offsets: Floats, owners: Ints) -> Ints | None:
        """Find the candidates that leave the most equal hops; None if no set is allowed."""
        sets = self._sets[self._sets[:, -1] < len(offsets)]
        sets = sets[(np.diff(np.sort(owners[sets], axis=1), axis=1) > 0).all(axis=1)]
        if not len(sets):
            return None
        hops, of_line = np.diff(offsets, axis=1), np.diff(line, axis=0)
        worth = []
        for start in range(0, len(sets), _SETS_AT_ONCE):
            left = of_line - sum(hops[taken] for taken in sets[start : start + _SETS_AT_ONCE].T)
            long = np.sqrt(left[..., 0] ** 2 + left[..., 1] ** 2)
            spacing = self._spacing or np.maximum(long.mean(axis=1, keepdims=True), _TINY)
            worth.append(np.minimum(np.abs(long - spacing) / spacing, _CAP).mean(axis=1))
        return np.asarray(sets[np.argmin(np.concatenate(worth))])


def _nearest(owners: Ints, count: int) -> Ints | None:
    """Take the nearest of different owners; None if these are too few."""
    first = _first_of_each(owners)[:count]
    return first if len(first) == count else None


def _first_of_each(values: Ints) -> Ints:
    return np.sort(np.unique(values, return_index=True)[1])


def _off(line: Floats, member: Floats) -> float:
    """Measure how far the points of a line are from those of a member, mean."""
    return float(np.hypot(*(line - member).T).mean())


def _summed(k: int, near: int, found: Sequence[_Outcome]) -> Companions:
    def medians(ways: Sequence[_Left]) -> Rebuilt:
        return Rebuilt(*np.median([way.off for way in ways], axis=0).tolist())

    def ranked(ways: Sequence[_Left | None]) -> Ranked:
        tried = [way for way in ways if way is not None]
        first = sum(way.right for way in tried) / len(ways)
        return Ranked(first, medians(tried) if tried else None)

    return Companions(
        k=k,
        groups=len(found),
        near=near,
        within=sum(one.within for one in found) / len(found),
        by_distance=ranked([one.by_distance for one in found]),
        by_spacing=ranked([one.by_spacing for one in found]),
        told=medians([one.told for one in found]),
        line=float(np.median([one.line for one in found])),
    )
