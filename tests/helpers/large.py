"""Tables of a few dozen records, searched as large ones are."""

import numpy as np
import pytest
from naive_refine import Grouped

from trajanon.common.arrays import Floats, renumbered
from trajanon.common.effort_of_the_search import Effort
from trajanon.grouping import neighbours
from trajanon.grouping.neighbours import Neighbours
from trajanon.grouping.paths import travelling_salesman
from trajanon.grouping.problem import SearchLog
from trajanon.grouping.refinements import annealing, blocks
from trajanon.grouping.standardised_records import standardise

MOST_EXACT = 50


def search_as_if_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tables of more than 50 records be large, of several leaves and blocks."""
    monkeypatch.setattr(neighbours, "MOST_EXACT", MOST_EXACT)
    monkeypatch.setattr(neighbours, "LEAST_LEAF_SIZE", 8)
    monkeypatch.setattr(neighbours, "RECORDS_PER_NEIGHBOUR", 3)
    monkeypatch.setattr(travelling_salesman, "PATH_BLOCK", 100)
    monkeypatch.setattr(blocks, "BLOCK", 30)
    monkeypatch.setattr(annealing, "LARGE_RECORDS", 0)


def clustered(n: int, p: int, seed: int = 0) -> Floats:
    """Records on a few curves through p columns, as tracks along streets are."""
    rng = np.random.default_rng(seed)
    along, street = rng.random((n, 1)), rng.integers(0, 5, n)
    starts, directions = rng.normal(size=(2, 5, p))
    bent = np.sin(3 * along) * rng.normal(size=p)
    records: Floats = starts[street] + along * directions[street] + bent * 0.2
    return records


def large_groups(n: int, seed: int = 0) -> Grouped:
    """Random groups of such records."""
    records = standardise(clustered(n, 4, seed))
    return Grouped(
        records=records,
        labels=renumbered(np.random.default_rng(seed).permutation(n) // 4 % (n // 4)),
        k=4,
        subjects=np.arange(n),
        random=np.random.default_rng(seed),
        budget=Effort(moves_per_record=10_000),
        neighbours=Neighbours(records, 16),
        log=SearchLog(records),
    )
