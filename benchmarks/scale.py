"""Measure how the search scales: seconds by stage, peak memory, loss.

    python benchmarks/scale.py                              drawn along corridors
    python benchmarks/scale.py --tracks cabs.parquet        real ones, all of them
    python benchmarks/scale.py --sizes 1000 --sizes 50000 --out scale.jsonl

Each size runs in a process of its own, after compilation; MDAV, and the search in one piece, in
others. Seconds of a core are those of all threads together: on a machine that does other work, they
tell more than the clock. Writes a line of JSON for each run, and says how fast both grow.
"""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from corridors import corridors
from measures import account, alone, command_line, searched

import trajanon
from trajanon import loss, neighbours
from trajanon.arrays import Floats
from trajanon.neighbours import Neighbours, neighbour_count

K = 5
SIZES = [1_000, 10_000, 20_000, 100_000, 1_000_000]
MOST_COMPARED = 50_000  # records up to which MDAV is asked, too: its time grows with their square
_OPTIONS = {
    "mdav": {"method": "mdav", "refine": "none"},
    "descent": {"refine": "descent"},
    "anneal": {"refine": "anneal"},
    "in one piece": {"refine": "anneal"},
}
_COMPILED = (300, 11_000)  # records that go through all that is to be measured
_SAMPLE = 500  # records whose neighbours are looked for among all


def drawn(n: int, tracks: Path | None) -> Floats:
    """Records drawn along corridors or from a file."""
    if tracks is None:
        return corridors(n)
    records = trajanon.read_trajectories(tracks).records
    some = np.random.default_rng(0).permutation(len(records))[:n]
    return records[np.sort(some)]


def measured(n: int, tracks: Path | None, how: str) -> dict[str, Any]:
    """Search among n records, or ask MDAV, in this process."""
    for few in _COMPILED:
        trajanon.microaggregate(corridors(few), K)
    records = drawn(n, tracks)
    largest = len(records) if how == "in one piece" else neighbours.WHOLE
    with patch.object(neighbours, "WHOLE", largest):
        run = searched(records, K, **_OPTIONS[how])
    told = {"n": len(records), "k": K, "how": how, **account(run)}
    told["information_loss"] = run.found.information_loss
    told["stages"] = [stage.account for stage in run.found.stages]
    return told | {"recall": recall(records) if how == "anneal" else None}


def recall(X: Floats) -> float:
    """Share of the nearest records, by all columns, that the search knows of."""
    records = loss.standardise(X)
    nearest = Neighbours(records, neighbour_count(K)).nearest
    rows = np.random.default_rng(0).integers(0, len(records), _SAMPLE)
    shares = []
    for number in rows:
        away = ((records - records[number]) ** 2).sum(axis=1)
        away[number] = np.inf
        truly = np.argpartition(away, nearest.shape[1])[: nearest.shape[1]]
        shares.append(np.isin(truly, nearest[number]).mean())
    return round(float(np.mean(shares)), 4)


def scale(
    sizes: list[int] = SIZES, tracks: Path | None = None, out: Path = Path("scale.jsonl")
) -> None:
    """Measure each size."""
    rows: list[dict[str, Any]] = []
    for n in sizes:
        compared = ["mdav"] if n <= MOST_COMPARED else []
        whole = ["in one piece"] if neighbours.WHOLE < n <= MOST_COMPARED else []
        for how in [*compared, "descent", "anneal", *whole]:
            rows.append(alone(measured, n, tracks, how))
            print(rows[-1], flush=True)
            results = pd.DataFrame(rows)
            results.to_json(out, orient="records", lines=True)
    stages = [{stage["name"]: stage["seconds"] for stage in row["stages"]} for row in rows]
    mdav = results["n"].map(results[results["how"] == "mdav"].set_index("n")["information_loss"])
    shown = results.assign(of_mdav=results["information_loss"] / mdav).drop(columns="stages")
    print(pd.concat([shown, pd.DataFrame(stages)], axis=1).to_string(index=False, na_rep=""))
    for how in ("descent", "anneal"):
        some = results[results["how"] == how]
        grown = np.diff(np.log(some[["n", "seconds", "cpu_seconds"]]), axis=0)
        for n, (records, *clocks) in zip(some["n"][1:], grown, strict=True):
            exponents = (f"{clock / records:.2f}" for clock in clocks)
            print(f"{how}, up to {n:,}: exponents", *exponents)


if __name__ == "__main__":
    command_line(__doc__, scale)
