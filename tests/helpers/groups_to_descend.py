"""Groups of every kind that descent may begin with, and the slow twin of its moves there."""

import naive
import numpy as np
from hypothesis import strategies as st
from naive_refine import Grouped, Neighbourhood, grouped

from trajanon.common.arrays import Ints, renumbered
from trajanon.grouping.neighbours import exact_neighbours, neighbour_count
from trajanon.grouping.standardised_records import standardise

seeds = st.integers(0, 10**6)


@st.composite
def starts(draw: st.DrawFn, most: int = 30) -> Grouped:
    """Random groups of records of many kinds, k different subjects in each."""
    rng = np.random.default_rng(draw(seeds))
    n, p = draw(st.integers(6, most)), draw(st.integers(1, 3))
    X = rng.normal(size=(n, p)) ** draw(st.sampled_from([1, 3]))
    kind = draw(st.sampled_from(["free", "grid", "duplicates", "far from zero"]))
    if kind == "grid":
        X = X.round()
    if kind == "duplicates":
        X = X[rng.integers(0, max(n // 2, 1), n)]
    if kind == "far from zero":
        X += 1e6
    whose = draw(st.sampled_from(["own", "few", "one has most"]))
    subjects = np.arange(n) if whose == "own" else rng.integers(0, max(n // 2, 1), n)
    if whose == "one has most":
        subjects[rng.random(n) < 0.6] = 0
    subjects = renumbered(subjects)
    k = min(draw(st.integers(2, 5)), int(subjects.max()) + 1)
    labels = renumbered(rng.permutation(np.arange(n) % max(n // k, 1)))
    while not naive.holds(labels, subjects, k):
        labels = renumbered(np.maximum(labels - 1, 0))
    return grouped(standardise(X), labels, k, subjects)


def near_records(work: Grouped) -> Ints:
    return exact_neighbours(work.records, neighbour_count(work.k))


def neighbourhood(work: Grouped) -> Neighbourhood:
    return Neighbourhood(work, near_records(work))
