"""How often values occur together, where some may be missing."""

import naive_tables
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.tables import occurrences as module
from trajanon.tables.occurrences import combinations_of, occurrences, texts_as_written


@given(seed=st.integers(0, 999), share=st.sampled_from([0.0, 0.2, 0.6]), names=st.integers(2, 40))
def test_occurrences_are_those_of_a_count_row_by_row(seed: int, share: float, names: int) -> None:
    rng = np.random.default_rng(seed)
    cells = rng.integers(0, 2, (25, 3)).astype(np.float64)
    cells[rng.random(cells.shape) < share] = np.nan
    people = rng.integers(0, names, 25)
    combinations = combinations_of(list(cells.T))
    own = np.arange(25)
    for who, given_people in ((people, people), (own, None)):
        counts = occurrences(combinations, given_people)[combinations.of_row]
        assert counts.tolist() == naive_tables.occurrences(cells, who)


def test_combinations_are_told_apart_by_how_they_are_written() -> None:
    columns = [np.array(["1", "1.0", "1", ""], dtype=object), np.array([5, 5, 5, 6])]
    found = combinations_of(columns)
    assert found.of_row.tolist() == [0, 1, 0, 2]
    assert found.incomplete.tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1", "NA", "3"], ["1", None, "3"]),
        (["AT", "NA", "CH"], ["AT", "NA", "CH"]),  # Namibia
        (["AT", " ", None], ["AT", None, None]),
    ],
)
def test_na_is_a_gap_among_numbers_alone(
    cells: list[str | None], expected: list[str | None]
) -> None:
    assert texts_as_written(np.array(cells, dtype=object), None) == expected


def test_blocks_of_combinations_count_as_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 3, (60, 3)).astype(np.float64)
    cells[rng.random(cells.shape) < 0.3] = np.nan
    combinations = combinations_of(list(cells.T))
    whole = occurrences(combinations)
    monkeypatch.setattr(module, "_PAIRS_PER_BLOCK", 1_000)
    assert occurrences(combinations).tolist() == whole.tolist()


def test_a_row_without_values_occurs_as_often_as_there_are_rows() -> None:
    cells = [np.array([5.0, np.nan, 5.0, 7.0]), np.array([1.0, np.nan, 2.0, 2.0])]
    assert occurrences(combinations_of(cells)).tolist() == [1, 4, 1, 1]
