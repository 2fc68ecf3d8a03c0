"""The papers' tables, from the CSV files of the reference material."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from trajanon.benchmark.measurement import Measurement
from trajanon.errors import FileProblem
from trajanon.inputs import regular

_FILES = {
    "hm2": "hm2micro.csv",
    "compression": "compression.csv",
    "rcs": "rcs.csv",
    "mf-tsp": "mftsp.csv",
    "decomposition": "decomposition.csv",
}


class Cell(NamedTuple):
    """Where a published number stands."""

    table: str
    dataset: str
    method: str
    setting: str
    k: int | None
    statistic: str


Numbers = dict[Cell, tuple[float, str]]
"""Published numbers, each with the table that prints it."""


def read_published(folder: Path) -> Numbers:
    """Read all tables; nothing where a file is absent."""
    found: Numbers = {}
    for table, name in _FILES.items():
        file = folder / name
        if not regular(file).exists():
            continue
        try:
            rows = pd.read_csv(file, dtype=str, keep_default_na=False)
            for row in rows.to_dict("records"):
                k = int(row["k"]) if row["k"] else None
                place = (row["dataset"], row["method"], _setting(table, row), k, row["statistic"])
                number = (float(row["value"]), row["source"])
                # Where two papers print a number, the first one stands.
                found.setdefault(Cell(table, *place), number)
        except (OSError, ValueError, KeyError) as error:
            msg = f"cannot read the published table {file}: {error}"
            raise FileProblem(msg) from error
    seconds = [c for c in found if c.table == "compression" and c.statistic == "seconds"]
    return found | {cell._replace(table="timing"): found[cell] for cell in seconds}


def beside(measurements: Iterable[Measurement], published: Numbers) -> list[Measurement]:
    """Put the published numbers beside ours."""
    compared = []
    for ours in measurements:
        known = published.get(Cell(*(getattr(ours, name) for name in Cell._fields)))
        if known is not None:
            ours = replace(ours, published=known[0], source=known[1])
        compared.append(ours)
    return compared


def rcs_setting(probability: str, events: int | str) -> str:
    """Name a setting of Random Cluster Shuffling."""
    return f"probability {probability}, events {events}"


def decomposition_setting(step: int | str, s: int | str, step_3: str) -> str:
    """Name a step of the decomposition heuristic."""
    parts = f", s = {s}" if s else ""
    return f"step {step}{parts}, step 3 {'used' if step_3 == 'yes' else 'skipped'}"


def _setting(table: str, row: Mapping[str, str]) -> str:
    if table == "rcs" and row["shuffle_probability"]:
        return rcs_setting(row["shuffle_probability"], row["max_events"])
    if table == "decomposition" and row["step"]:
        return decomposition_setting(row["step"], row["s"], row["step3_used"])
    return ""
