"""Paths as problems of TSPLIB, and tours as paths."""

from itertools import pairwise, permutations
from pathlib import Path

import naive
import numpy as np
import pytest
from drawn_paths import records_of
from hypothesis import given
from hypothesis import strategies as st
from naive_paths import assert_is_path, least_length

from trajanon.arrays import Floats
from trajanon.search.external_solvers import path_of_tour, read_tour, write_problem
from trajanon.search.paths import path_length, shortest

seeds = st.integers(0, 10**6)


kinds = st.sampled_from(["normal", "grid", "line", "clusters", "far", "heavy"])


def parse(file: Path) -> tuple[dict[str, str], list[list[int]]]:
    """The keywords and the rows of a TSPLIB file with a matrix."""
    *lines, end = file.read_text(encoding="ascii").splitlines()
    assert end == "EOF"
    section = lines.index("EDGE_WEIGHT_SECTION")
    keywords = dict(line.split(": ") for line in lines[:section])
    return keywords, [[int(x) for x in row.split()] for row in lines[section + 1 :]]


def problem_of(
    records: Floats, start: int | None, folder: Path
) -> tuple[dict[str, str], list[list[int]]]:
    write_problem(folder / "p.tsp", records, start)
    return parse(folder / "p.tsp")


@given(kind=kinds, seed=seeds, n=st.integers(2, 30))
def test_the_problem_is_the_distances_and_a_dummy_at_none(
    tmp_path: Path, kind: str, seed: int, n: int
) -> None:
    records = records_of(kind, seed, n)
    records[0] += 1.0  # not all equal
    keywords, rows = problem_of(records, None, tmp_path)
    assert keywords == {
        "NAME": "path",
        "TYPE": "TSP",
        "DIMENSION": str(n + 1),
        "EDGE_WEIGHT_TYPE": "EXPLICIT",
        "EDGE_WEIGHT_FORMAT": "FULL_MATRIX",
    }
    matrix = np.array(rows)
    assert matrix.shape == (n + 1, n + 1)
    assert np.array_equal(matrix, matrix.T)
    assert not matrix[0].any()
    assert not matrix.diagonal().any()
    exact = np.array([[naive.distance(a, b) for b in records] for a in records])
    scale = 2 * max(exact[0]) / ((2**31 - 1) // (n + 1) - 1)
    assert np.abs(matrix[1:, 1:] * scale - exact).max() <= 0.5001 * scale


@given(kind=kinds, seed=seeds, n=st.integers(2, 30))
def test_no_sum_along_a_tour_leaves_32_bits(tmp_path: Path, kind: str, seed: int, n: int) -> None:
    records = records_of(kind, seed, n)
    records[0] += 1.0
    _, rows = problem_of(records, 0, tmp_path)
    longest = max(map(max, rows))
    assert longest * (n + 1) < 2**31
    assert max(map(max, rows[1:])) * (n + 1) > 2**28  # nor is much precision lost


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("start", [0, 3, 5])
def test_the_shortest_tour_leads_from_the_dummy_to_the_start(
    tmp_path: Path, seed: int, start: int
) -> None:
    records = records_of(["normal", "heavy", "grid"][seed % 3], seed, 6)
    _, rows = problem_of(records, start, tmp_path)
    tours = [(0, *order) for order in permutations(range(1, 7))]
    lengths = [sum(rows[a][b] for a, b in zip(tour, (*tour[1:], 0), strict=True)) for tour in tours]
    for tour, length in zip(tours, lengths, strict=True):
        if length == min(lengths):
            assert start + 1 in (tour[1], tour[-1])
            path = path_of_tour(np.array(tour), records, start)
            assert path[0] == start
            assert path_length(records, path) == pytest.approx(
                least_length(records, start), rel=1e-6
            )


@pytest.mark.parametrize("text", ["4\n0 2 \n1 3 \n", " 4\r\n0 2 1 3\r\n"])
def test_a_tour_may_stand_on_several_lines(tmp_path: Path, text: str) -> None:
    (tmp_path / "s").write_text(text)
    tour = read_tour(tmp_path / "s", 4)
    assert tour is not None
    assert tour.tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "4\n0 2 1\n",
        "4\n0 2 1 1\n",
        "4\n1 2 3 4\n",
        "3\n0 2 1 3\n",
        "5\n0 2 1 3 4\n",
        "4\n0 2 1 three\n",
        "4\n0 2 1 3 é\n",
    ],
)
def test_what_is_no_tour_of_all_cities_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "s").write_text(text, encoding="utf-8")
    assert read_tour(tmp_path / "s", 4) is None
    assert read_tour(tmp_path / "absent", 4) is None


@given(seed=seeds, n=st.integers(1, 12))
def test_a_tour_is_cut_at_the_dummy(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    tour, records = rng.permutation(n + 1), rng.normal(size=(n, 2))
    path = path_of_tour(tour, records, None)
    assert_is_path(path, n, None)
    links = {frozenset(pair) for pair in zip(tour, np.roll(tour, 1), strict=True)}
    for a, b in pairwise(path.tolist()):
        assert {a + 1, b + 1} in links


@given(seed=seeds, n=st.integers(1, 12))
def test_a_tour_past_the_start_is_mended_by_one_jump(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    tour, records = rng.permutation(n + 1), rng.normal(size=(n, 2))
    start = int(rng.integers(n))
    whole = path_of_tour(tour, records, None)
    path = path_of_tour(tour, records, start)
    assert_is_path(path, n, start)
    jump = naive.distance(records[whole[0]], records[whole[-1]])
    assert path_length(records, path) <= path_length(records, whole) + jump + 1e-9
    if start in (whole[0], whole[-1]):
        assert path_length(records, path) <= path_length(records, whole) + 1e-9


@pytest.mark.parametrize("n", [1, 4, 8])
@pytest.mark.parametrize("start", [None, "first", "last"])
@pytest.mark.parametrize("kind", ["normal", "heavy"])
def test_a_handful_of_records_get_their_shortest_path(n: int, start: str | None, kind: str) -> None:
    records = records_of(kind, n, n)
    first = {None: None, "first": 0, "last": n - 1}[start]
    path = shortest(records, first)
    assert_is_path(path, n, first)
    expected = least_length(records, first)
    assert path_length(records, path) == pytest.approx(expected, abs=1e-8)
