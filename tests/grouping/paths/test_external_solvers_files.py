"""Paths as problems of TSPLIB, and tours as paths."""

from pathlib import Path

import naive
import numpy as np
import pytest
from drawn_paths import records_of
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.arrays import Floats
from trajanon.grouping.paths.external_solvers import read_tour, write_problem

seeds = st.integers(0, 10**6)
kinds = st.sampled_from(["normal", "grid", "line", "clusters", "far", "heavy"])


def parse(file: Path) -> tuple[dict[str, str], list[list[int]]]:
    """The keywords and the rows of a TSPLIB file with a matrix."""
    *lines, end = file.read_text(encoding="ascii").splitlines()
    assert end == "EOF"
    section = lines.index("EDGE_WEIGHT_SECTION")
    keywords = dict(line.split(": ") for line in lines[:section])
    return keywords, [[int(x) for x in row.split()] for row in lines[section + 1 :]]


def problem_of(records: Floats, folder: Path) -> tuple[dict[str, str], list[list[int]]]:
    write_problem(folder / "p.tsp", records)
    return parse(folder / "p.tsp")


@given(kind=kinds, seed=seeds, n=st.integers(2, 30))
def test_the_problem_is_the_distances_and_a_dummy_at_none(
    tmp_path: Path, kind: str, seed: int, n: int
) -> None:
    records = records_of(kind, seed, n)
    records[0] += 1.0  # not all equal
    keywords, rows = problem_of(records, tmp_path)
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
    # No sum along a tour leaves 32 bits, nor is much precision lost.
    assert 2**28 < matrix[1:].max() * (n + 1) < 2**31


@pytest.mark.parametrize("text", ["4\n0 2 \n1 3 \n", " 4\r\n0 2 1 3\r\n"])
def test_a_tour_may_stand_on_several_lines(tmp_path: Path, text: str) -> None:
    (tmp_path / "s").write_text(text)
    tour = read_tour(tmp_path / "s", 4)
    assert tour is not None
    assert tour.tolist() == [0, 2, 1, 3]


@pytest.mark.parametrize(
    "text", ["", "4\n0 2 1\n", "4\n0 2 1 1\n", "4\n1 2 3 4\n", "5\n0 2 1 3 4\n", "4\n0 2 1 3 é\n"]
)
def test_what_is_no_tour_of_all_cities_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "s").write_text(text, encoding="utf-8")
    assert read_tour(tmp_path / "s", 4) is None
    assert read_tour(tmp_path / "absent", 4) is None
