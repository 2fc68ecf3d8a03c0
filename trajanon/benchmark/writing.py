"""Measurements as a tidy CSV table, and as Markdown to be read."""

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

import pandas as pd

from trajanon.benchmark.measurement import Measurement

_LOSS = ("il", "avg")
_OTHER = {"path_length": "path length", "seconds": "seconds", "pearson": "correlation"}


def write_csv(draft: Path, measurements: Sequence[Measurement]) -> None:
    """Write a row for each measurement, with its difference to the published one."""
    rows = [asdict(m) | {"difference_percent": m.difference} for m in measurements]
    pd.DataFrame(rows).to_csv(draft, index=False)


def write_markdown(draft: Path, measurements: Sequence[Measurement]) -> None:
    """Write a section for each table and data set, ours beside the published number."""
    draft.write_text(markdown(measurements), encoding="utf-8")


def markdown(measurements: Sequence[Measurement]) -> str:
    """Lay the measurements out: a method a row, k across."""
    lines = [
        "Information loss in percent, averaged over the runs; in brackets the "
        "published number and how far ours lies above it.",
        "",
        f"Measured on {machine()}.",
    ]
    for (table, dataset), group in groupby(
        measurements, key=lambda m: (m.table, m.dataset)
    ):
        lines += ["", f"### {table}: {dataset}", "", *_section(list(group))]
    return "\n".join(lines) + "\n"


def machine() -> str:
    """Name the processor and the versions, as a reader needs them."""
    name = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    except OSError:
        pass
    versions = ", ".join(f"{p} {version(p)}" for p in ("trajanon", "numpy", "numba"))
    return (
        f"{name}, {os.cpu_count()} cores of which one is used, Python "
        f"{platform.python_version()}, {versions}"
    )


def _section(measurements: Sequence[Measurement]) -> list[str]:
    shown = [m for m in measurements if m.statistic in (*_LOSS, *_OTHER)]
    columns: list[tuple[str, int | None]] = []
    cells: dict[tuple[str, str, str], dict[tuple[str, int | None], Measurement]] = {}
    for m in shown:
        loss = m.statistic in _LOSS or m.statistic == "pearson"
        column = ("k", m.k) if loss else (m.statistic, None)
        if column not in columns:
            columns.append(column)
        row = cells.setdefault((m.method, m.by, m.setting), {})
        row.setdefault(column, m)
    columns.sort(key=lambda column: (column[0] != "k", column[0], column[1] or 0))
    with_setting = any(setting for _, _, setting in cells)
    heads = ["method", "by", *(["setting"] if with_setting else []), "runs"]
    heads += [f"k = {k}" if name == "k" else _OTHER[name] for name, k in columns]
    lines = [_row(heads), _row(["---"] * len(heads))]
    for (method, by, setting), row in cells.items():
        runs = str(max(m.runs for m in row.values()))
        start = [method, by, *([setting] if with_setting else []), runs]
        lines.append(_row(start + [_cell(row.get(column)) for column in columns]))
    return lines


def _cell(m: Measurement | None) -> str:
    if m is None:
        return ""
    if m.published is None:
        return f"{m.ours:.4g}"
    if m.statistic == "pearson":
        return f"{m.ours:.2f} ({m.published:.2f})"
    if m.statistic == "seconds":
        return f"{m.ours:.2g} ({m.published:g})"
    return f"{m.ours:.4g} ({m.published:.4g}, {m.difference:+.1f} %)"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
