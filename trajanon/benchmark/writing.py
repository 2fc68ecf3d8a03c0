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
_OTHER = {"path_length": "path length", "seconds": "seconds"}


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
        "published number and how far ours lies above it. Seconds are those of one run "
        "after compilation (in timing the fastest of three), for one k after the other "
        "where they differ.",
        "",
        f"Measured on {machine()}.",
    ]
    for (table, dataset), group in groupby(measurements, key=lambda m: (m.table, m.dataset)):
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
    shown = [m for m in measurements if m.statistic in (*_LOSS, "pearson", *_OTHER)]
    cells: dict[tuple[str, str, str], dict[str, list[Measurement]]] = {}
    for m in shown:
        row = cells.setdefault((m.method, m.by, m.setting), {})
        row.setdefault(_column(m), []).append(m)
    ks = sorted({m.k for m in shown if m.k is not None})
    columns = [f"k = {k}" for k in ks] + list(_OTHER.values())
    columns = [c for c in columns if any(c in row for row in cells.values())]
    with_setting = any(setting for _, _, setting in cells)
    heads = ["method", "by", *(["setting"] if with_setting else []), "runs", *columns]
    lines = [_row(heads), _row(["---"] * len(heads))]
    for (method, by, setting), row in cells.items():
        runs = str(max(m.runs for found in row.values() for m in found))
        start = [method, by, *([setting] if with_setting else []), runs]
        lines.append(_row(start + [_cell(row.get(column, [])) for column in columns]))
    return lines


def _column(m: Measurement) -> str:
    """Where a number stands: under its k, or with those of all k."""
    if m.statistic in (*_LOSS, "pearson"):
        return f"k = {m.k}"
    return _OTHER[m.statistic]


def _cell(measurements: Sequence[Measurement]) -> str:
    """Write a number; those of several k one after the other, unless they are equal."""
    return " / ".join(dict.fromkeys(_number(m) for m in measurements))


def _number(m: Measurement) -> str:
    if m.statistic == "seconds":
        seconds = f"{m.ours:.2g}" if m.ours < 100 else f"{m.ours:.0f}"
        return seconds if m.published is None else f"{seconds} ({m.published:g})"
    if m.published is None:
        return f"{m.ours:.4g}"
    if m.statistic == "pearson":
        return f"{m.ours:.2f} ({m.published:.2f})"
    return f"{m.ours:.4g} ({m.published:.4g}, {m.difference:+.1f} %)"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
