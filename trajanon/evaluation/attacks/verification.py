"""Verification: the members of a line, found by an adversary who holds all tracks."""

from dataclasses import dataclass
from threading import Event

import numpy as np

from trajanon._kernels.likely_members import Candidates, Rest, exchange_members
from trajanon.common.arrays import Floats, Ints, dense
from trajanon.common.workers import in_parts
from trajanon.evaluation.attacks.attack import Published
from trajanon.evaluation.attacks.known_tracks import (
    Estimate,
    KnownTracks,
    Movement,
    groups_drawn,
    share_of,
)
from trajanon.evaluation.page.templates import words
from trajanon.grouping.k_promise import member_weights

_NEAR = 60  # trajectories that may be members of a line, at least; and three times its members
_STARTS = 4  # sets from which the adversary starts
_COMPACT = 0.1  # how much a member's distance from the line counts; 0.5 if points were independent
_SURE = 0.95  # chance from which on a line counts as verified
_UNLIKELY = 4.0  # standard deviations from which on noise is too much to be that
_LINES_PER_TASK = 10


@dataclass(frozen=True)
class Verified:
    """How many lines are verified."""

    lines: int  # tried
    right: Estimate  # share of the lines whose likeliest members are the true people
    verified: Estimate  # share of the lines with members of whom the adversary is sure
    wrong: float  # share of these with other members in truth

    @property
    def words(self) -> str:
        """Describe the result in two sentences."""
        return words("verified", found=self)


def verification(published: Published, movement: Movement, *, seed: int = 0) -> Verified | None:
    """Verify lines by likelihood.

    The adversary knows all tracks, and how many are behind each line. For each line the adversary
    starts from near trajectories of different subjects, and exchanges one or two as long as the
    rest is likelier to be such a ``movement``; then from others. The adversary is sure of members
    that fit if all others tried are together less likely than 5 %. None if trajectories have no
    hops.
    """
    if published.points.shape[1] == 1:
        return None
    tracks = KnownTracks(published)
    targets = groups_drawn(published.labels, seed)

    def tried(numbers: Ints, _: Event) -> list[tuple[bool, bool]]:
        results = []
        for members in (targets[number] for number in numbers.tolist()):
            likeliest, is_sure = members_of(tracks, movement, int(tracks.labels[members[0]]))
            guessed = np.unique(tracks.owners[likeliest])
            true = np.unique(tracks.owners[members])
            results.append((np.array_equal(guessed, true), is_sure))
        return results

    results = in_parts(tried, np.arange(len(targets)), _LINES_PER_TASK)
    right, sure = np.concatenate(results).T
    wrong = 1.0 - float(right[sure].mean()) if sure.any() else 0.0
    return Verified(len(targets), share_of(right), share_of(sure), wrong)


def members_of(tracks: KnownTracks, movement: Movement, line: int) -> tuple[Ints, bool]:
    """Find the likeliest members of a line, and whether the adversary is sure of them."""
    size = int(tracks.sizes[line])
    near = tracks.nearest(line, max(_NEAR, 3 * size))
    noise = _noise_of(tracks, movement, line, near)
    worths = -_COMPACT / tracks.spread * tracks.squares(near, line)

    # Where there are fewer people than trajectories, somebody is in it twice.
    owners = tracks.owners[near]
    apart = bool(tracks.people[line] == size)
    different = np.arange(len(near))
    if apart:
        different = np.sort(np.unique(owners, return_index=True)[1])
    if len(different) < size:
        return near[different], False

    people = np.arange(len(near)) if movement.people is None else dense(movement.people[near])
    candidates = Candidates(noise, worths, dense(owners), people, apart)
    best = different[:size]
    most = -np.inf
    others = 0.0
    likelihoods = dict[frozenset[int], float]()
    for start in range(min(len(different) - size + 1, _STARTS)):
        members = different[start : start + size].copy()
        sums = np.zeros(2)
        exchange_members(candidates, members, Rest.room(candidates), sums)
        likelihoods[frozenset(owners[members].tolist())] = sums[0]
        if sums[0] > most:
            best = members
            most = float(sums[0])
            others = float(sums[1])

    # The exchanges from the best have counted the sets that differ from it by one or two.
    found = set(owners[best].tolist())
    far = [likely for people_of, likely in likelihoods.items() if len(people_of - found) > 2]
    others += float(np.exp(np.array(far) - most).sum())

    weights = member_weights(np.zeros(size, dtype=np.int64), people[best])
    left = float(((weights @ noise[best]) ** 2).sum())
    numbers = noise.shape[1]
    fits = left <= numbers + _UNLIKELY * np.sqrt(2.0 * numbers)
    return near[best], fits and others < (1.0 - _SURE) / _SURE


def _noise_of(tracks: KnownTracks, movement: Movement, line: int, near: Ints) -> Floats:
    """Compute the noise, white, that would bring the line to where each trajectory is, (n, f)."""
    share = float(movement.shares[line])
    white = [movement.places.whitened(tracks.points[near] - tracks.lines[line], share)]
    if movement.times is not None and tracks.times is not None and tracks.line_times is not None:
        late = tracks.times[near] - tracks.line_times[line]
        white.append(movement.times.whitened(late[..., None], share))
    return np.concatenate(white, axis=-1).reshape(len(near), -1)
