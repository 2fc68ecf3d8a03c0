"""Recordings, tables and published numbers that lie beside the checkout.

Tests that need them are skipped without.
"""

import csv
from pathlib import Path

import numpy as np
import pytest

from trajanon.common.arrays import Floats, Ints, renumbered

SHARED = Path(__file__).parents[3] / "shared"
REAL, REFERENCE = SHARED / "realdata", SHARED / "reference"
THESIS = SHARED / "papers/002_7832640af6ec4874.txt"
OSM, DATASETS = REAL / "osm_pbf", REFERENCE / "datasets"

needs_real_data = pytest.mark.skipif(not REAL.is_dir(), reason="../shared/realdata is not here")

# Verified by an independent implementation, k = 3..10, percent.
CLASSIC = {
    "tarragona": "16.9326 19.5460 22.4619 26.3252 27.5184 29.6929 31.2146 33.1929",
    "census": "5.6922 7.4947 9.0884 10.3847 11.5979 12.3917 13.2915 14.1559",
    "eia": "0.4829 0.6713 1.6667 1.3078 2.1733 2.8743 3.1838 3.8397",
}
LEFT_OUT = {"UTILNAME", "STATE", "YEAR", "MONTH"}  # of EIA


def rows_of(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        pytest.skip(f"the reference data are not beside the checkout: {path}")
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def text_of(paper: Path) -> str:
    if not paper.exists():
        pytest.skip(f"the papers are not beside the checkout: {paper}")
    return paper.read_text(encoding="utf-8")


def reference(name: str) -> Floats:
    rows = rows_of(DATASETS / f"{name}.csv")
    names = [column for column in rows[0] if column not in LEFT_OUT]
    return np.array([[float(row[column]) for column in names] for row in rows])


def toy(name: str) -> tuple[Floats, Ints]:
    """The records of an example, and the groups that are printed for it."""
    rows = rows_of(DATASETS / f"{name}.csv")
    columns = {
        "companies": ["surface_m2", "employees"],
        "hospital": ["age", "height", "weight", "min_hr", "max_hr"],
    }[name]
    records = np.array([[float(row[column]) for column in columns] for row in rows])
    return records, renumbered(np.array([int(row["published_group"]) for row in rows]))


def published(table: str, dataset: str, method: str, k: int | None, statistic: str) -> float:
    """A printed number; ``k`` is None where it is that of all k."""
    (value,) = [
        float(row["value"])
        for row in rows_of(REFERENCE / "published" / f"{table}.csv")
        if (row["dataset"], row["method"], row["k"], row["statistic"])
        == (dataset, method, "" if k is None else str(k), statistic)
    ]
    return value
