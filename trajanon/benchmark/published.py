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


class Published(NamedTuple):
    """A published number and the table that prints it."""

    value: float
    source: str


def read_published(folder: Path) -> dict[Cell, Published]:
    """Read all tables; nothing where a file is absent."""
    found: dict[Cell, Published] = {}
    for table, name in _FILES.items():
        file = folder / name
        if not regular(file).exists():
            continue
        try:
            rows = pd.read_csv(file, dtype=str, keep_default_na=False)
            for row in rows.to_dict("records"):
                # Where two papers print a number, the first one stands.
                found.setdefault(
                    Cell(
                        table,
                        row["dataset"],
                        row["method"],
                        _setting(table, row),
                        int(row["k"]) if row["k"] else None,
                        row["statistic"],
                    ),
                    Published(float(row["value"]), row["source"]),
                )
        except (OSError, ValueError, KeyError) as error:
            msg = f"cannot read the published table {file}: {error}"
            raise FileProblem(msg) from error
    for cell, number in list(found.items()):
        if cell.table == "compression" and cell.statistic == "seconds":
            found[cell._replace(table="timing")] = number
    return found


def beside(
    measurements: Iterable[Measurement], published: Mapping[Cell, Published]
) -> list[Measurement]:
    """Put the published numbers beside ours."""
    compared = []
    for ours in measurements:
        known = published.get(
            Cell(ours.table, ours.dataset, ours.method, ours.setting, ours.k, ours.statistic)
        )
        compared.append(
            ours if known is None else replace(ours, published=known.value, source=known.source)
        )
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
