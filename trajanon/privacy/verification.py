"""Verification: the members of a line, found by an adversary who holds all tracks."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.geodesy import metres_of_degrees
from trajanon.number_text import number_of, percent
from trajanon.partition import dense, subjects_per_group
from trajanon.privacy.attack import Published
from trajanon.workers import in_parts

Root = Callable[[Floats, Floats], Floats]
"""Root of the covariance of displacements, (..., m, 2, 2), from a group's own and its parts."""


class Noise(NamedTuple):
    """What everybody may know of displacements, but not which they are."""

    alike: Floats  # how much those of two points are, (m, m)
    root: Root


TRIED = 40
"""Groups."""

_DRAWN = 100  # groups, of which the first are tried
_NEAR = 30  # trajectories that may be members of a line, at least; and three times its members
_SURE = 0.95  # chance from which on a group counts as verified
_ROUNDED = 1e-3  # variance that rounding adds, as a share
_STARTS = 4  # sets from which he starts, if what he finds does not fit
_UNLIKELY = 4.0  # standard deviations from which on noise is too much to be that
_STILL = 1.0  # metres, the least width of a group: what lines are rounded by


@dataclass(frozen=True)
class Verified:
    """How many groups are verified."""

    k: int
    groups: int  # tried, of k trajectories of k subjects
    verified: float  # share of groups with members that he is sure of
    wrong: float  # share of these with other members in truth

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON, without data of single groups."""
        return asdict(self)

    @property
    def words(self) -> str:
        """What came out, in a sentence."""
        return (
            "Somebody who holds all tracks, and knows how displacements are distributed, is sure "
            f"of the members of {percent(self.verified)} of {number_of(self.groups, 'line')}, and "
            f"wrong in {percent(self.wrong)} of these."
        )


def verification(published: Published, noise: Noise, *, seed: int = 0) -> Verified | None:
    """Verify groups by likelihood.

    The adversary knows all tracks. For each line he starts from the k nearest trajectories of
    different subjects, and exchanges one as long as the rest is more likely to be such ``noise``;
    if the result does not fit, he starts from others. He is sure of members that fit if all others
    he tried are together less likely than 5 %.

    Tried are 40 groups of k trajectories of k subjects, by ``seed``. None if there are none, or
    trajectories have no hops.
    """
    k, m = published.k, published.points.shape[1]
    members = drawn_members(published.labels, published.owners, k, seed)[:TRIED]
    if not len(members) or m == 1:
        return None
    search = _Search(published, noise)
    found = in_parts(lambda some, _: [search.tried(one) for one in some], members, 4)
    sure, right = np.mean([one for part in found for one in part], axis=0).tolist()
    return Verified(k, len(members), sure, 1.0 - right / sure if sure else 0.0)


def determinants(matrices: Floats) -> Floats:
    """Take the determinants of matrices, (..., 2, 2); numpy's way is for large ones."""
    crossed = matrices[..., 0, 1] * matrices[..., 1, 0]
    return np.asarray(matrices[..., 0, 0] * matrices[..., 1, 1] - crossed)


def drawn_members(labels: Ints, owners: Ints, k: int, seed: int) -> Ints:
    """Draw groups of k trajectories of k subjects, (s, k), in random order, the hidden first."""
    of_k = (np.bincount(labels) == k) & (subjects_per_group(labels, dense(owners)) == k)
    groups, random = np.flatnonzero(of_k), np.random.default_rng(seed)
    chosen = random.choice(groups, min(_DRAWN, len(groups)), replace=False)
    members = [random.permutation(np.flatnonzero(labels == group)) for group in chosen]
    return np.array(members, dtype=np.int64).reshape(-1, k)


class _Search:
    """Members of lines, among trajectories in metres."""

    def __init__(self, published: Published, noise: Noise) -> None:
        origin = published.lines[0, 0]
        scale = metres_of_degrees(published.lines[..., 0].mean())
        self._points: Floats = (published.points - origin) * scale
        self._lines: Floats = (published.lines - origin) * scale
        self._labels, self._owners = published.labels, published.owners
        self._k, self._root = published.k, noise.root
        m = len(noise.alike)
        self._misfit = 2.0 * m + _UNLIKELY * 2.0 * np.sqrt(m)
        self._white = np.linalg.inv(np.linalg.cholesky(noise.alike + _ROUNDED * np.eye(m)))

    def tried(self, members: Ints) -> tuple[bool, bool]:
        """Look for the members of a line: whether he is sure, and whether also right."""
        line = self._labels[members[0]]
        best, sure = self.members_of(line, self._nearest(self._lines[line]))
        return sure, sure and set(best.tolist()) == set(members.tolist())

    def members_of(self, line: int, near: Ints) -> tuple[Ints, bool]:
        """Find the likeliest members of a line among trajectories near it, and whether for sure."""
        k, owners = self._k, self._owners[near]
        points = self._points[near] - self._lines[line]
        nearest = np.sort(np.unique(owners, return_index=True)[1])[: 2 * k]  # one of each
        if len(nearest) < k:
            return near[nearest], False
        known: dict[tuple[int, ...], float] = {}
        best, most, fits = nearest[:k], -np.inf, False
        for start in range(min(len(nearest) - k + 1, _STARTS)):
            now, worth, left = self._climbed(points, owners, nearest[start : start + k], known)
            if worth > most:
                best, most = now, worth
                fits = left <= self._misfit
            if fits:
                break
        others = np.exp(np.array(list(known.values())) - most).sum() - 1.0
        return near[best], fits and bool(others < (1.0 - _SURE) / _SURE)

    def _climbed(
        self, points: Floats, owners: Ints, now: Ints, known: dict[tuple[int, ...], float]
    ) -> tuple[Ints, float, float]:
        """Exchange members as long as that is likelier: who, how likely, and the noise left."""
        likely, left = self._likelihood(points[now][None])
        known[tuple(now.tolist())] = worth = float(likely[0])
        misfit = float(left[0])
        out, into = (each.ravel() for each in np.indices((self._k, len(points))))
        while True:
            sets = np.repeat(now[None], len(out), axis=0)
            sets[np.arange(len(out)), out] = into
            sets = np.unique(np.sort(sets, axis=1), axis=0)
            sets = sets[(np.diff(np.sort(owners[sets], axis=1), axis=1) != 0).all(axis=1)]
            likely, left = self._likelihood(points[sets])
            known.update(zip(map(tuple, sets.tolist()), likely.tolist(), strict=True))
            best = int(likely.argmax())
            if likely[best] <= worth:
                return now, worth, misfit
            now, worth, misfit = sets[best], float(likely[best]), float(left[best])

    def _likelihood(self, members: Floats) -> tuple[Floats, Floats]:
        """How likely sets of members are, as a logarithm, and the squares of the noise left."""
        mean = members.mean(axis=1)
        away = members - mean[:, None]
        spread = np.einsum("skma,skmb->smab", away, away) / self._k + _STILL**2 * np.eye(2)
        root = self._root(spread, np.full(len(members), float(self._k)))
        size = determinants(root)
        other = np.stack([mean[..., 1], -mean[..., 0]], axis=-1)  # symmetric roots of two columns
        own = np.einsum("smab,smb->sma", root, other) / size[..., None]
        own = np.stack([-own[..., 1], own[..., 0]], axis=-1)
        left = (np.einsum("ij,sjc->sic", self._white, own) ** 2).sum(axis=(1, 2))
        return -0.5 * left - np.log(size).sum(axis=1), left

    def _nearest(self, line: Floats) -> Ints:
        """Find the trajectories nearest to a line, nearest first."""
        away = ((self._points - line) ** 2).sum(axis=(1, 2))
        count = min(max(_NEAR, 3 * self._k), len(away))
        some = np.argpartition(away, count - 1)[:count]
        return np.asarray(some[np.lexsort((some, away[some]))])
