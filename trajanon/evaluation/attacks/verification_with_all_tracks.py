"""Members of a line verified, by an adversary who holds all tracks."""

from dataclasses import dataclass
from threading import Event

import numpy as np

from trajanon._kernels.likely_members import Candidates, Rest, exchange_members
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.threads_and_dask import in_parts
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.evaluation.attacks.shared_by_attacks_with_tracks import (
    KnownTracks,
    Movement,
    groups_drawn,
)
from trajanon.evaluation.intervals import Estimate, share_of
from trajanon.evaluation.page.templates import words
from trajanon.grouping.k_promise import member_weights

_FEWEST_NEAR = 60  # trajectories that may be members of a line, at least; and three times its size
_STARTS = 4  # sets from which the adversary starts
# By how much the logarithm of a likelihood falls with a member's squared distance from the line, in
# variances; 0.5 if its points were independent.
_WEIGHT_OF_NEARNESS = 0.1
_SURE = 0.95  # chance from which on a line counts as verified
_UNLIKELY = 4.0  # standard deviations from which on a remainder is too much to be noise
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


def verification(published: Published, movement: Movement, *, seed: int = 0) -> Verified:
    """Verify lines by likelihood.

    The adversary knows all tracks, and how many are behind each line. For each line the adversary
    starts from near trajectories of different subjects, and exchanges one or two as long as the
    rest is likelier to be such a ``movement``; then from others. The adversary is sure of members
    that fit if all others tried are together less likely than 5 %.
    """
    tracks = KnownTracks(published)
    groups = groups_drawn(published.labels, seed)

    def results_of(numbers: Ints, _: Event) -> list[tuple[bool, bool]]:
        """Return for each group whether its people are found, and whether they seem sure."""
        results = []
        for members in (groups[number] for number in numbers.tolist()):
            likeliest, is_sure = members_of(tracks, movement, int(tracks.labels[members[0]]))
            guessed_people = np.unique(tracks.owners[likeliest])
            true_people = np.unique(tracks.owners[members])
            results.append((np.array_equal(guessed_people, true_people), is_sure))
        return results

    results = in_parts(results_of, np.arange(len(groups)), _LINES_PER_TASK)
    is_right, is_sure = np.concatenate(results).T
    wrong = 1.0 - float(is_right[is_sure].mean()) if is_sure.any() else 0.0
    return Verified(len(groups), share_of(is_right), share_of(is_sure), wrong)


def members_of(tracks: KnownTracks, movement: Movement, line: int) -> tuple[Ints, bool]:
    """Find the likeliest members of a line, row numbers; and whether the adversary is sure of them.

    Where there are too few people near, those that are near are the guess, and not sure.
    """
    size = int(tracks.group_sizes[line])
    near = tracks.nearest(line, max(_FEWEST_NEAR, 3 * size))
    owners = tracks.owners[near]

    # Where there are fewer people than trajectories, somebody is in it twice. Else sets begin with
    # the nearest trajectory of each owner. Either way the nearest come first.
    are_different_people = bool(tracks.people[line] == size)
    starts = np.arange(len(near))
    if are_different_people:
        starts = np.sort(np.unique(owners, return_index=True)[1])
    if len(starts) < size:
        return near[starts], False

    people = np.arange(len(near)) if movement.people is None else renumbered(movement.people[near])
    candidates = Candidates(
        noise=_noise_needed(tracks, movement, line, near),
        worths=-_WEIGHT_OF_NEARNESS / tracks.number_squares * tracks.squares(near, line),
        owners=renumbered(owners),
        people=people,
        apart=are_different_people,
    )
    best, are_certain = _likeliest_set(candidates, starts, size, owners)

    # What the mean of the members leaves of the line must be noise of the size that is usual.
    weights = member_weights(np.zeros(size, dtype=np.int64), people[best])
    square_noise = float(((weights @ candidates.noise[best]) ** 2).sum())
    usual_square = candidates.noise.shape[1]  # a sum of squares of variance 1: chi-squared
    fits = square_noise <= usual_square + _UNLIKELY * np.sqrt(2.0 * usual_square)
    return near[best], fits and are_certain


def _likeliest_set(
    candidates: Candidates, starts: Ints, size: int, owners: Ints
) -> tuple[Ints, bool]:
    """Search from several starts for the likeliest set of candidates, as places among them.

    And check whether all others tried are together less likely than 5 %. ``starts`` are candidates;
    the search begins with the first ``size`` of these, then from the second on, and so on.
    """
    best = starts[:size]
    best_logarithm = -np.inf
    others_of_best = 0.0  # likelihood of the other sets met on the way, beside the best
    logarithms = dict[frozenset[int], float]()
    for start in range(min(len(starts) - size + 1, _STARTS)):
        members = starts[start : start + size].copy()
        logarithm, others = exchange_members(candidates, members, Rest.room(candidates))

        logarithms[frozenset(owners[members].tolist())] = logarithm
        if logarithm > best_logarithm:
            best = members
            best_logarithm = logarithm
            others_of_best = others

    # The exchanges from the best have counted the sets that differ from it by one or two.
    best_people = set(owners[best].tolist())
    far = [logarithm for people, logarithm in logarithms.items() if len(people - best_people) > 2]
    others = others_of_best + float(np.exp(np.array(far) - best_logarithm).sum())
    return best, others < (1.0 - _SURE) / _SURE  # as odds: the best set counts 1


def _noise_needed(tracks: KnownTracks, movement: Movement, line: int, rows: Ints) -> Floats:
    """Compute the noise, white, that would bring the line to where each trajectory is, (r, q)."""
    share = float(movement.shares[line])
    white = [movement.places.whitened(tracks.points[rows] - tracks.lines[line], share)]
    if movement.times is not None and tracks.times is not None and tracks.line_times is not None:
        seconds_off = tracks.times[rows] - tracks.line_times[line]
        white.append(movement.times.whitened(seconds_off[..., None], share))
    return np.concatenate(white, axis=-1).reshape(len(rows), -1)
