import hashlib
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from itertools import cycle, pairwise, product
from pathlib import Path
from typing import Any

import naive
import numpy as np
import pytest
from efforts import few_moves
from hypothesis import given, settings
from hypothesis import strategies as st

import trajanon
from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput, TooFewRecords, TooFewSubjects
from trajanon.microaggregation import METHODS, microaggregate
from trajanon.partition import Partition, dense
from trajanon.paths import HEURISTICS
from trajanon.refine import REFINEMENTS
from trajanon.refine.annealing import SOLVED
from trajanon.settings import (
    EXPANSIONS,
    HEURISTIC_NAMES,
    METHOD_NAMES,
    REFINEMENT_NAMES,
    ReleaseSettings,
    Settings,
)
from trajanon.trajectories import Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")
"""What holds here does not depend on how many."""

OURS = [name for name in HEURISTICS if name not in ("concorde", "lkh")]
"""What needs no other program; see test_external_paths.py for the rest."""

SHUFFLED: dict[str, Any] = {"refine": "rcs", "shuffle_probability": 0.3, "max_events": 5}


def ways() -> Iterator[dict[str, Any]]:
    """Every method, heuristic, compression and refinement, not all of them together."""
    for name in OURS:
        yield {"heuristic": name, "refine": "none", "effort": "fast"}
    for method, refine in product(("hm2", "mdav"), ("none", *REFINEMENTS)):
        if refine == "rcs":
            yield {"method": method, **SHUFFLED}
        else:
            yield {"method": method, "refine": refine, "effort": "balanced"}
    yield {"refine": "anneal", "effort": "fast"}
    yield {"refine": "anneal", "effort": "best"}
    for method, refine in product(METHODS, ("none", "descent")):
        if method not in ("hm2", "mdav"):
            yield {"method": method, "subsets": 2, "effort": "fast", "refine": refine}
    yield {"method": "v-mdav", "gamma": 0.5, "refine": "none"}
    yield {"method": "v-mdav", "gamma": 1.5, "refine": "swap"}
    yield {"method": "mf-tsp", "heuristic": "nearest-neighbor", "refine": "none"}
    yield {"method": "mf-tsp", "heuristic": "arbitrary-insertion", "refine": "swap"}
    yield {"method": "mf-tsp", "heuristic": "two-opt", **SHUFFLED}
    yield {"method": "mf-tsp", "heuristic": "mdav-lk", "refine": "none"}
    for c, order in product((2, 3, 7), EXPANSIONS):
        yield {"compression": c, "expansion": order, "refine": "none", "effort": "fast"}
    yield {"compression": 3, "heuristic": "mdav", "refine": "descent"}
    yield {"compression": 2, "heuristic": "nearest-insertion", "refine": "none"}


HOW = list(ways())

STEPS = {
    "none": [],
    "anneal": ["descent", "annealing"],
    "descent": ["descent"],
    "swap": ["swap", "descent"],
    "rcs": ["rcs", "descent"],
}
"""The stages of each refinement."""

every_way = pytest.mark.parametrize("how", HOW, ids=lambda how: "-".join(map(str, how.values())))


def method_of(how: dict[str, Any]) -> str:
    return str(how.get("method", "hm2"))


def is_slow(how: dict[str, Any]) -> bool:
    """Whether it gets a few examples only."""
    return method_of(how) == "decomposition" or how.get("effort") == "best"


def examples(how: dict[str, Any], count: int) -> settings:
    return settings(max_examples=3 if is_slow(how) else count)


def stages_of(how: dict[str, Any], k: int) -> list[str]:
    """The names of the steps of a way."""
    method, steps = method_of(how), STEPS[how["refine"]]
    if how.get("effort") == "fast" and how["refine"] == "anneal":
        steps = ["descent"]
    if how.get("effort") == "best":
        steps = [*steps, "recombination", *(["regions"] if k > SOLVED else [])]
    return [*(["path", "MHM"] if method == "hm2" else [method]), *steps]


def largest(how: dict[str, Any], k: int) -> float:
    """How many records a group may hold where every record is its own subject."""
    if how["refine"] != "none":
        return np.inf
    if how.get("gamma"):  # what was left when all groups were there joins the nearest
        return 2 * k - 1 + k - 1
    bounded = ("hm2", "mdav", "md", "cbfs", "mf-tsp")
    return 2 * k - 1 if method_of(how) in bounded else np.inf


seeds = st.integers(0, 10**6)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Floats, Ints | None, int]:
    """Records, perhaps subjects, and a k they have enough of."""
    rng = np.random.default_rng(draw(seeds))
    k = draw(st.integers(2, 7))
    n = draw(st.sampled_from([k, k + 1, 2 * k - 1, 2 * k, 3 * k]) | st.integers(k, 45))
    p = draw(st.integers(1, 5))
    X = rng.normal(size=(n, p)) ** 3
    if draw(st.booleans()):  # duplicates
        X = X[rng.integers(0, rng.integers(1, n + 1), n)]
    if draw(st.booleans()):  # ties
        X = X.round()
    if draw(st.booleans()):
        X[:, rng.integers(p)] = rng.normal()
    X = X * draw(st.sampled_from([1.0, 1e-9, 1e9])) + draw(st.sampled_from([0.0, 1e6]))
    kind = draw(st.sampled_from(["none", "even", "runs", "one has most"]))
    if kind == "none":
        return X, None, k
    subjects = rng.integers(0, rng.integers(1, n + 1), n)
    if kind == "runs":
        subjects.sort()
    if kind == "one has most":
        subjects[rng.random(n) < 0.7] = 0
    different = len(set(subjects.tolist()))
    if different < k:
        subjects[rng.permutation(n)[:k]] = n + np.arange(k)
    return X, dense(subjects) * 1000 - 7, k


def is_consistent(partition: Partition, X: Floats) -> bool:
    """Whether everything in it can be computed again from X and the labels."""
    labels, records = partition.labels, naive.standardise(X)
    assert labels.dtype == np.int64
    assert list(dict.fromkeys(labels.tolist())) == list(range(len(partition.sizes)))
    assert partition.sizes.tolist() == np.bincount(labels).tolist()
    for group, centroid in enumerate(partition.centroids):
        assert centroid == pytest.approx(X[labels == group].mean(axis=0), rel=1e-9)
    assert np.array_equal(partition.aggregated, partition.centroids[labels])
    sse, sst = naive.sse(records, labels), naive.group_sse(records)
    assert partition.sse == pytest.approx(sse, rel=1e-6, abs=1e-9)
    assert partition.sst == pytest.approx(sst, rel=1e-6, abs=1e-9)
    il = 100 * sse / sst if sst else 0.0
    assert partition.information_loss == pytest.approx(il, rel=1e-6, abs=1e-7)
    # Equal groups that are numbered otherwise are summed up in another order.
    last = partition.stages[-1].information_loss
    assert last == pytest.approx(partition.information_loss, rel=1e-12)
    return True


@every_way
def test_every_group_has_k_records_of_k_subjects(how: dict[str, Any]) -> None:
    @examples(how, 30)
    @given(table=tables(), seed=st.integers(0, 3))
    def test(table: tuple[Floats, Ints | None, int], seed: int) -> None:
        X, subjects, k = table
        seeded = how | {"seed": seed}
        partition = microaggregate(X, k, subjects=subjects, **seeded)
        assert naive.holds(partition.labels, None, k)
        assert naive.holds(partition.labels, subjects, k)
        if subjects is None:
            assert partition.sizes.max() <= largest(how, k)
        assert is_consistent(partition, X)
        assert [stage.name for stage in partition.stages] == stages_of(how, k)
        losses = [stage.information_loss for stage in partition.stages]
        assert [loss is None for loss in losses] == [name == "path" for name in stages_of(how, k)]
        falling = [loss for loss in losses if loss is not None]
        assert all(after <= before + 1e-9 for before, after in pairwise(falling))
        assert not partition.stopped
        assert (partition.path_length is None) == (method_of(how) != "hm2")

    test()


@every_way
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 7])
def test_the_smallest_tables_are_grouped(how: dict[str, Any], n: int) -> None:
    for X in (np.random.default_rng(n).normal(size=(n, 2)), np.zeros((n, 1))):
        for k in range(2, n + 1):
            sizes = microaggregate(X, k, **how).sizes
            assert sizes.min() >= k
            assert sizes.sum() == n
            if n < 2 * k:
                assert sizes.tolist() == [n]


@every_way
def test_equal_records_lose_nothing(how: dict[str, Any]) -> None:
    partition = microaggregate(np.full((50, 3), 0.1), 4, **how)
    assert partition.sizes.min() >= 4
    assert partition.information_loss == partition.sse == 0.0
    assert np.array_equal(partition.aggregated, np.full((50, 3), 0.1))


@pytest.mark.parametrize("values", [[0, 10, 1, 11], [0, 10, 20, 1, 11, 21]])
def test_near_records_of_a_small_table_come_together(values: list[float]) -> None:
    X = np.array(values, dtype=float)[:, None]
    labels = microaggregate(X, 2).labels
    half = len(values) // 2
    assert np.array_equal(labels[:half], labels[half:])


# Records without ties: where two moves gain exactly the same, rounding may choose.


@every_way
def test_the_order_of_columns_leaves_the_loss(how: dict[str, Any]) -> None:
    @examples(how, 12)
    @given(seed=seeds, n=st.integers(6, 45), p=st.integers(2, 4))
    def test(seed: int, n: int, p: int) -> None:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, p))
        a = microaggregate(X, 3, **how)
        b = microaggregate(X[:, rng.permutation(p)], 3, **how)
        assert a.information_loss == pytest.approx(b.information_loss, rel=1e-9)

    test()


@every_way
def test_the_units_of_columns_leave_the_loss(how: dict[str, Any]) -> None:
    @examples(how, 12)
    @given(seed=seeds, n=st.integers(6, 45), p=st.integers(2, 4))
    def test(seed: int, n: int, p: int) -> None:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n, p))
        other = X * rng.uniform(0.01, 100, p) + rng.normal(size=p) * 1000
        a = microaggregate(X, 3, **how)
        b = microaggregate(other, 3, **how)
        assert a.information_loss == pytest.approx(b.information_loss, rel=1e-6)

    test()


@every_way
def test_with_ties_exact_units_leave_the_very_groups(how: dict[str, Any]) -> None:
    """Whole numbers shifted by whole ones and doubled are standardised bit for bit."""
    X = np.random.default_rng(2).integers(0, 4, (60, 2)).astype(float)
    a = microaggregate(X, 3, **how)
    b = microaggregate(X * 4 + 1e6, 3, **how)
    assert np.array_equal(a.labels, b.labels)
    assert a.sse == b.sse


@pytest.mark.parametrize("heuristic", OURS)
@given(seed=seeds, n=st.integers(4, 12), k=st.integers(2, 4), ties=st.booleans())
@settings(max_examples=20)
def test_numbers_met_in_order_get_the_optimum_of_all_partitions(
    heuristic: str, seed: int, n: int, k: int, ties: bool
) -> None:
    X = np.random.default_rng(seed).normal(size=(n, 1)) ** 3
    X = X.round() if ties else X
    partition = microaggregate(X, k, heuristic=heuristic, refine="none")
    records = naive.standardise(X)
    least = naive.least_cut(np.sort(records, axis=0), range(n), k)
    assert partition.sse >= least - 1e-9
    assert partition.path_length is not None
    straight = partition.path_length <= np.ptp(records) + 1e-9
    if straight:
        assert partition.sse == pytest.approx(least, rel=1e-7, abs=1e-9)
    assert straight or heuristic != "or-opt"


@every_way
@pytest.mark.parametrize(("p", "k"), [(1, 2), (1, 3), (2, 2), (2, 4)])
def test_no_partition_loses_less_than_the_best_of_all(how: dict[str, Any], p: int, k: int) -> None:
    X, least = small_table(p, k)
    assert microaggregate(X, k, **how).sse >= least - 1e-9


@cache
def small_table(p: int, k: int) -> tuple[Floats, float]:
    """Some records, and the least SSE of all their partitions."""
    X = np.random.default_rng(p).normal(size=(9, p)) ** 3
    return X, naive.least_sse(naive.standardise(X), k)


@pytest.mark.parametrize(("n", "k"), [(9, 2), (10, 3), (12, 4)])
def test_sorted_numbers_get_the_optimum_of_all_partitions(n: int, k: int) -> None:
    X = np.sort(np.random.default_rng(n).normal(size=(n, 1)) ** 3, axis=0)
    least = naive.least_sse(naive.standardise(X), k)
    assert microaggregate(X, k, refine="none").sse == pytest.approx(least)


def test_the_names_of_subjects_do_not_matter() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    numbers = np.arange(40) % 11
    a = microaggregate(X, 4, subjects=numbers)
    for names in (
        [f"{number:03}" for number in numbers],
        numbers * 7.5,
        np.array([f"{number:03}" for number in numbers], dtype=object),
    ):
        b = microaggregate(X, 4, subjects=names)
        assert np.array_equal(a.labels, b.labels)


@pytest.mark.parametrize(
    "subjects",
    [
        ["a", None, "b", "c", "a", "b"],
        [1, "a", 2, "b", None, 2.5],
        [float("nan"), "a", "b", "c", "a", "b"],
    ],
)
def test_subjects_may_be_any_values(subjects: list[Any]) -> None:
    partition = microaggregate(
        np.arange(6.0)[:, None], 3, subjects=np.array(subjects, dtype=object)
    )
    known = np.array([str(subject) for subject in subjects])
    assert naive.holds(partition.labels, dense(np.unique(known, return_inverse=True)[1]), 3)


# A seed


def example(p: int, n: int) -> Floats:
    """Rows with ties and duplicates, where the last bit could choose another way."""
    rng = np.random.default_rng(p)
    X = rng.normal(size=(n, p)).round(1)
    X[: n // 10] = X[n // 10 : n // 5]
    return X


FINGERPRINTS = f"""
import hashlib, sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_microaggregate import fingerprints
print(fingerprints())
"""


def fingerprints() -> str:
    """Every bit of some results."""
    found = []
    for p, how in zip(cycle((2, 60)), HOW, strict=False):
        n = {"mf-tsp": 40}.get(method_of(how), 300)
        n = 24 if is_slow(how) else 60 if how["refine"] == "anneal" else n
        with few_moves():
            result = microaggregate(
                example(p, n), 4, subjects=np.arange(n) % (n // 4), **how | {"seed": 5}
            )
        found.append(hashlib.sha256(result.labels.tobytes()).hexdigest()[:12])
        found += [result.sse.hex(), str(result.path_length)]
    return " ".join(found)


first_fingerprints = cache(fingerprints)


def test_a_seed_repeats_every_bit_in_one_process() -> None:
    assert first_fingerprints() == fingerprints()


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_seed_repeats_every_bit_on_one_core_and_on_two(threads: str) -> None:
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")
    run = subprocess.run(
        [sys.executable, "-c", FINGERPRINTS],
        env={**os.environ, **dict.fromkeys(names, threads)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split() == first_fingerprints().split()


def test_another_seed_gives_another_path() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    lengths = {microaggregate(X, 3, refine="none", seed=seed).path_length for seed in range(3)}
    assert len(lengths) == 3


def test_effort_shortens_the_path() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3))
    lengths = [
        microaggregate(X, 3, refine="none", effort=effort).path_length or 0.0
        for effort in ("fast", "balanced", "best")
    ]
    assert lengths == sorted(lengths, reverse=True)


# What cannot be done

TABLE = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"k": 1}, BadInput, "k must be at least 2 (got 1)"),
        ({"k": 0}, BadInput, "k must be at least 2 (got 0)"),
        ({"k": -3}, BadInput, "k must be at least 2 (got -3)"),
        ({"k": 7}, TooFewRecords, "6 records cannot form a group of k = 7; lower k"),
        ({"X": np.empty((0, 2))}, TooFewRecords, "0 records cannot form"),
        (
            {"subjects": [1] * 6},
            TooFewSubjects,
            "the 6 records come from 1 subject, and k = 3 needs 3",
        ),
        ({"subjects": [1, 2] * 3}, TooFewSubjects, "from 2 subjects, and k = 3"),
        ({"subjects": [1, 2, 3]}, BadInput, "subjects must have shape (6,)"),
        ({"subjects": np.zeros((6, 1))}, BadInput, "got (6, 1)"),
        ({"X": [[np.nan]] * 6}, BadInput, "record 0, column 0 is nan"),
        ({"X": [[1.0], [np.inf]] * 3}, BadInput, "record 1, column 0 is inf"),
        ({"X": np.zeros(6)}, BadInput, "shape (n, p) with p >= 1; got (6,)"),
        ({"X": np.zeros((6, 0))}, BadInput, "got (6, 0)"),
        ({"X": [["a"]] * 6}, BadInput, "records must be numbers"),
        ({"method": "hm3"}, BadInput, "`method` 'hm3' is not known; choose from hm2"),
        ({"heuristic": "?"}, BadInput, f"choose from {', '.join(HEURISTICS)}"),
        ({"refine": "rc"}, BadInput, "`refine` 'rc' is not known; choose from none"),
        ({"effort": "most"}, BadInput, "choose from fast, balanced, best"),
        ({"expansion": "x"}, BadInput, "'x' is not known; choose from distance, row"),
    ],
)
def test_what_cannot_be_grouped_is_refused(
    changes: dict[str, Any], error: type[Exception], says: str
) -> None:
    arguments = {"X": TABLE, "k": 3, **changes}
    with pytest.raises(error, match=re.escape(says)):
        microaggregate(**arguments)


def test_subjects_that_cannot_be_told_apart_are_refused() -> None:
    people: Any = [{}] * 6
    with pytest.raises(BadInput, match="subjects must be names or numbers"):
        microaggregate(TABLE, 3, subjects=people)


@pytest.mark.parametrize("k", [2.5, float("nan"), "3", None])
def test_a_k_that_is_no_whole_number_is_refused(k: Any) -> None:
    with pytest.raises(BadInput, match="k must be a whole number"):
        microaggregate(TABLE, k)


@pytest.mark.parametrize("seed", [-1, 1.5, "x"])
def test_a_seed_that_is_no_whole_number_from_0_is_refused(seed: Any) -> None:
    with pytest.raises(BadInput, match="`seed` must be"):
        microaggregate(TABLE, 3, seed=seed)


@pytest.mark.parametrize("name", ["method", "heuristic", "expansion", "refine", "effort"])
@pytest.mark.parametrize("value", [["mdav"], None, 1, True, float("nan"), {"mdav": 1}])
def test_a_choice_that_is_no_word_is_refused(name: str, value: Any) -> None:
    says = f"`{name}` {value!r} is not known; choose from "
    with pytest.raises(BadInput, match=f"^{re.escape(says)}"):
        microaggregate(TABLE, 3, **{name: value})


@pytest.mark.parametrize(
    ("name", "span"),
    [
        ("compression", "1 to 1000000000"),
        ("subsets", "1 to 1000000000"),
        ("max_events", "0 to 1000000"),
        ("seed", "0"),
    ],
)
@pytest.mark.parametrize(
    "value", [-1, 1.0, 2.5, float("nan"), "2", [2], True, False, 2j, np.array([2])]
)
def test_a_count_that_is_no_whole_number_is_refused(name: str, span: str, value: Any) -> None:
    says = f"`{name}` must be a whole number from {span} (got {value!r})"
    with pytest.raises(BadInput, match=f"^{re.escape(says)}$"):
        microaggregate(TABLE, 3, **{name: value})


@pytest.mark.parametrize("name", ["compression", "subsets"])
def test_a_count_of_nothing_is_refused(name: str) -> None:
    says = f"`{name}` must be a whole number from 1 to 1000000000 (got 0)"
    options: dict[str, Any] = {name: 0}
    with pytest.raises(BadInput, match=re.escape(says)):
        microaggregate(TABLE, 3, **options)


@pytest.mark.parametrize("name", ["compression", "subsets", "max_events"])
def test_a_count_beyond_reason_is_refused(name: str) -> None:
    options: dict[str, Any] = {name: 10**30}
    with pytest.raises(BadInput, match=f"`{name}` must be a whole number from . to"):
        microaggregate(TABLE, 3, **options)


@pytest.mark.parametrize(
    ("name", "span"), [("gamma", "0 to 1000"), ("shuffle_probability", "0 to 1")]
)
@pytest.mark.parametrize(
    "value", [-0.1, float("nan"), float("inf"), 10**400, "0.5", [0.5], {}, 0.5j, True, False]
)
def test_a_share_that_is_no_number_is_refused(name: str, span: str, value: Any) -> None:
    says = f"`{name}` must be a number from {span} (got {value!r})"
    with pytest.raises(BadInput, match=f"^{re.escape(says)}$"):
        microaggregate(TABLE, 3, **{name: value})


@pytest.mark.parametrize("value", [1.001, 2, float("inf")])
def test_a_probability_above_1_is_refused(value: float) -> None:
    says = f"`shuffle_probability` must be a number from 0 to 1 (got {value!r})"
    with pytest.raises(BadInput, match=re.escape(says)):
        microaggregate(TABLE, 3, shuffle_probability=value)


def test_numbers_of_numpy_are_numbers() -> None:
    options: dict[str, Any] = {
        "k": np.int64(3),
        "compression": np.int64(2),
        "subsets": np.int32(1),
        "gamma": np.float32(0.5),
        "shuffle_probability": np.float64(1.0),
        "max_events": np.uint8(3),
        "seed": np.int16(4),
    }
    assert microaggregate(TABLE, **options).sizes.tolist() == [3, 3]


def test_errors_are_the_packages_and_those_of_python() -> None:
    with pytest.raises(trajanon.TrajanonError):
        microaggregate(TABLE, 1)
    with pytest.raises(ValueError, match="at least 2"):
        microaggregate(TABLE, 1)


# Realistic data


@pytest.mark.parametrize("k", [3, 4, 5])
def test_hm2_loses_less_than_mdav_on_the_sample(madrid: Trajectories, k: int) -> None:
    by = {
        (method, refine): microaggregate(
            madrid.records, k, method=method, refine=refine, subjects=madrid.subject
        ).information_loss
        for method in ("hm2", "mdav")
        for refine in ("none", "descent")
    }
    assert by["hm2", "none"] < by["mdav", "none"]
    assert by["hm2", "descent"] < by["hm2", "none"]
    assert by["mdav", "descent"] < by["mdav", "none"]


def test_the_first_sentence_about_an_option_is_its_help() -> None:
    for kind in (Settings, ReleaseSettings):
        for option in fields(kind):
            assert re.fullmatch(r"\S[^`]{20,}[^.]\.", option.metadata["help"])


@pytest.mark.parametrize(
    "name", ["microaggregate", "anonymize", "anonymize_parts", "microaggregate_table"]
)
def test_help_shows_the_options_of_the_search(name: str) -> None:
    shown = inspect.signature(getattr(trajanon, name)).parameters
    for option in fields(Settings):
        assert shown[option.name].default == option.default


def test_every_name_in_the_settings_has_its_function() -> None:
    assert list(METHODS) == list(METHOD_NAMES)
    assert list(HEURISTICS) == list(HEURISTIC_NAMES)
    assert ["none", *REFINEMENTS] == list(REFINEMENT_NAMES)
