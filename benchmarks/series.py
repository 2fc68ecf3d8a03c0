"""Measure a series of releases beside one of all: how far points move.

    python benchmarks/series.py cabs_dataset_20080608.parquet

Parts the fixes of a table of cabs by time in three, extracts each part, and anonymises one after
another with one ledger; then all at once.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from measures import command_line, row, run_command

import trajanon

PARTS = 3
RULES = ["--windows", "--per-recording", "all", "--spacing", "100", "--max-gap", "1000"]
BOX = "--bbox=-122.52,37.70,-122.35,37.84"


def series(table: Path, k: int = 4) -> None:
    """Release a day of cabs in three parts, and at once."""
    fixes = pd.read_parquet(table)
    when = pd.to_datetime(fixes["timestamp"]).rank(method="first")
    part = pd.qcut(when, PARTS, labels=False).to_numpy()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        whole = {"all": np.ones(len(part), dtype=bool)}
        for way, parts in (
            ("all at once", whole),
            ("three parts", {str(number): part == number for number in range(PARTS)}),
        ):
            reports = []
            for what, rows in parts.items():
                raw, cut = folder / f"raw-{what}.parquet", folder / f"{what}.parquet"
                fixes[rows].to_parquet(raw, index=False)
                run_command(["extract", str(raw), BOX, *RULES, "--out", str(cut)], folder)
                out, ledger = folder / f"{what}-out.parquet", folder / f"{way}.ledger"
                reports.append(trajanon.anonymize_file(cut, out, k, ledger=ledger))
            n = np.array([report["n"] for report in reports])
            metres = np.array([report["displacement"]["mean"] for report in reports])
            row(way, ", ".join(map(str, n)), f"{(metres * n).sum() / n.sum():.1f} m")


if __name__ == "__main__":
    command_line(__doc__, series)
