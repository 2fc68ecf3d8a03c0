"""Paths of LKH, if it is installed."""

import sys
from pathlib import Path

import pytest
from drawn_paths import records_of
from naive_paths import assert_is_path, least_length
from problems import problem

from trajanon.common.errors import BadInput
from trajanon.grouping.paths.external_solvers import lkh
from trajanon.grouping.paths.travelling_salesman import path_length

pytestmark = pytest.mark.usefixtures("temporary")


def test_without_elkai_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "elkai", None)
    with pytest.raises(
        BadInput,
        match=r"^LKH is not installed; run pip install 'trajanon\[lkh\]' or choose the "
        r"heuristic or-opt$",
    ):
        lkh(problem(records_of("normal", 0, 10)), None)


@pytest.fixture
def elkai() -> None:
    pytest.importorskip("elkai", reason="LKH comes with the extra lkh")


@pytest.mark.parametrize("n", [1, 3, 8, 10])
@pytest.mark.parametrize("kind", ["normal", "grid", "heavy", "equal"])
@pytest.mark.parametrize("begins", [False, True])
@pytest.mark.usefixtures("elkai")
def test_lkh_finds_the_shortest_path(n: int, kind: str, begins: bool, temporary: Path) -> None:
    records = records_of(kind, n, n)
    start = n // 2 if begins else None
    path = lkh(problem(records), start)
    assert_is_path(path, n, start)
    if not begins:
        expected = least_length(records)
        assert path_length(records, path) == pytest.approx(expected, rel=1e-6)
    assert list(temporary.iterdir()) == []


@pytest.mark.usefixtures("elkai")
def test_a_seed_repeats_the_path_of_lkh(capfd: pytest.CaptureFixture[str]) -> None:
    records = records_of("grid", 5, 60)  # of many shortest paths
    paths = [lkh(problem(records, seed=seed), None).tolist() for seed in (1, 1, 2, 3)]
    assert paths[0] == paths[1]
    assert len({tuple(path) for path in paths}) > 1
    assert capfd.readouterr() == ("", "")
