"""The statement of docs/proof.md: audited with many keys; and of which functions it is."""

import hashlib
import inspect
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import beta

from trajanon.common.arrays import Floats
from trajanon.grouping import k_promise
from trajanon.grouping.k_promise import member_weights
from trajanon.release import holder_key
from trajanon.release import perturbed_places_and_times as perturbation
from trajanon.release.perturbed_places_and_times import (
    ToldApart,
    correlation,
    displacements,
    group_seeds,
    largest_shares,
    moved_and_rounded,
    mu_of,
    odds_of,
    perturbed,
)
from trajanon.trajectories.geodesy import metres_of_degrees

KEYS, M, WIDTH = 10_000, 30, 170.0
CUTS = 9
SURE = 1e-6  # chance that a right statement fails the audit

PROVEN = (
    *(perturbation.correlation, perturbation.perturbed, perturbation.displacements),
    *(perturbation.moved_and_rounded, perturbation.normal_numbers, perturbation.group_seeds),
    *(perturbation.largest_shares, k_promise.member_weights, perturbation.mu_of),
    *(perturbation.odds_of, perturbation.public_width, perturbation.group_widths),
    *(perturbation.perturbed_times, holder_key.search_seed),
)
DIGEST = "325bceac4aecd1c5"


def test_the_proof_is_of_these_functions() -> None:
    """Whoever changes one of them reads docs/proof.md again, and mends it or the number here."""
    source = "\n".join(inspect.getsource(function) for function in PROVEN)
    constants = (
        f"{perturbation.CORRELATION_LENGTH} {perturbation._JITTER} {perturbation.LEAST_METRES}"
    )
    digest = hashlib.sha256(f"{source}\n{constants}".encode()).hexdigest()
    assert digest[:16] == DIGEST, "read docs/proof.md again"


def shift(kind: str, metres: float = 100.0) -> Floats:
    """A trip is moved to the north: as a whole, along a bend, at six points, or at one."""
    place = np.arange(M)
    along = {
        "whole": np.ones(M),
        "bend": np.sin(np.pi * place / (M - 1)),
        "detour": ((place >= 12) & (place < 18)).astype(np.float64),
        "point": (place == 15).astype(np.float64),
    }[kind]
    return np.column_stack([metres * along, np.zeros(M)])


class Audit(NamedTuple):
    low: float  # mu is at least this, surely
    measured: float  # of the means, in standard deviations


def lines_of_many_keys(members: Floats, keys: int, width: float) -> Floats:
    """Release a group under many keys, (keys, m, 2)."""
    random = np.random.default_rng(len(members))
    labels = np.zeros(len(members), dtype=np.int64)
    weights, deviation = member_weights(labels, None), width * largest_shares(labels, None)
    several = [random.bytes(32) for _ in range(keys)]
    seeds = np.concatenate(
        [group_seeds(members, labels, weights, deviation, key, b"places") for key in several]
    )
    drawn = displacements(seeds, np.repeat(deviation, keys), members.shape[1])
    return moved_and_rounded(np.repeat(members.mean(axis=0)[None], keys, axis=0), drawn)


def audited(
    k: int, shifts: Sequence[Floats], keys: int = KEYS, width: float = WIDTH
) -> list[Audit]:
    """Tell a trip from the same one moved, by likelihoods; all but the key is known."""
    random = np.random.default_rng(k)
    members = np.array([37.8, -122.4]) + np.cumsum(random.normal(0.0, 5e-4, (k, M, 2)), axis=1)
    degree = metres_of_degrees(members[..., 0].mean())
    before = lines_of_many_keys(members, keys, width)
    audits = []
    for metres in shifts:
        moved = members.copy()
        moved[0] += metres / degree
        weights = np.linalg.solve(correlation(M), metres) * degree
        still, other = (
            ((lines - members.mean(axis=0)) * weights).sum(axis=(1, 2))
            for lines in (before, lines_of_many_keys(moved, keys, width))
        )
        spread = np.sqrt(0.5 * (still.var() + other.var()))
        measured = float((other.mean() - still.mean()) / spread)
        audits.append(Audit(surely(still, other), measured))
    return audits


def surely(still: Floats, other: Floats) -> float:
    """Return what mu is at least, by how often each is beyond some cuts (Clopper and Pearson)."""
    low, keys = -np.inf, len(still)
    for cut in np.quantile(np.concatenate([still, other]), np.linspace(0.1, 0.9, CUTS)):
        right, wrong = int((other > cut).sum()), int((still > cut).sum())
        least = beta.ppf(SURE / CUTS, max(right, 1), keys - right + 1)
        most = beta.ppf(1.0 - SURE / CUTS, wrong + 1, max(keys - wrong, 1))
        low = max(low, float(ndtri(least) - ndtri(most)))
    return low


@pytest.mark.parametrize("k", [2, 4, 10])
def test_nobody_tells_a_trip_better_than_stated(k: int) -> None:
    shifts = [shift("whole"), shift("bend")][: 2 if k == 4 else 1]
    for metres, audit in zip(shifts, audited(k, shifts), strict=True):
        stated = mu_of(metres, WIDTH)
        assert audit.low <= stated
        # The difference of two means of 10,000 has a standard deviation of 0.014.
        assert audit.measured == pytest.approx(stated, abs=0.06)


def test_the_audit_finds_a_displacement_below_the_stated_one() -> None:
    (audit,) = audited(2, [shift("whole")], keys=3_000, width=0.75 * WIDTH)
    assert audit.low > mu_of(shift("whole"), WIDTH)


def test_the_release_is_written_as_it_is_audited() -> None:
    random = np.random.default_rng(3)
    members = np.array([37.8, -122.4]) + np.cumsum(random.normal(0.0, 5e-4, (4, M, 2)), axis=1)
    labels, key = np.zeros(4, dtype=np.int64), bytes(range(32))
    weights, deviation = member_weights(labels, None), WIDTH * largest_shares(labels, None)
    means = members.mean(axis=0)[None]
    seeds = group_seeds(members, labels, weights, deviation, key, b"places")
    lines = moved_and_rounded(means, displacements(seeds, deviation, M))
    assert np.array_equal(perturbed(members, means, labels, key, WIDTH), lines)


def test_mu_of_a_whole_trip_a_bend_a_detour_and_a_point() -> None:
    stated = {kind: mu_of(shift(kind), WIDTH) for kind in ("whole", "bend", "detour", "point")}
    assert stated == pytest.approx(
        {"whole": 1.015, "bend": 0.716, "detour": 26.3, "point": 35.5}, rel=0.01
    )
    whole = ToldApart.of(M, WIDTH)
    assert whole == (100.0, stated["whole"], odds_of(stated["whole"]))
    assert ceil(100.0 * whole.right) == 70
    turned = shift("whole")[:, ::-1]
    assert mu_of(turned, WIDTH) == pytest.approx(stated["whole"])
    assert mu_of(2.0 * turned, 2.0 * WIDTH) == pytest.approx(stated["whole"])


@pytest.mark.parametrize("people", [None, [0, 0, 1, 2, 3], [0, 0, 0, 1, 1]])
def test_a_person_moves_a_line_by_no_more_than_its_displacement(people: list[int] | None) -> None:
    """All trips of a person in a group are moved: mu is no more than that of one trip of k."""
    labels = np.zeros(5, dtype=np.int64)
    subjects = None if people is None else np.array(people)
    share = largest_shares(labels, subjects)[0]
    counts = np.bincount(
        np.arange(5) if subjects is None else subjects, member_weights(labels, subjects)
    )
    assert (counts <= share + 1e-12).all()
    assert counts.sum() == pytest.approx(1.0)
