"""Measurements as a tidy CSV table, and as Markdown to be read."""

import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

import pandas as pd

from trajanon.papers.measurement import Measurement

_OF_ALL_K = {"path_length": "path length", "seconds": "seconds"}
_SHOWN = ("il", "avg", "pearson", *_OF_ALL_K)

_INTRODUCTION = (
    "Information loss in percent, averaged over the runs; in brackets the published number and how "
    "far ours lies above it. Seconds are those of one run after compilation (in timing the fastest "
    "of three), for one k after the other where they differ."
)


def write_csv(draft: Path, measurements: Sequence[Measurement]) -> None:
    """Write a row for each measurement, with its difference to the published one."""
    rows = [asdict(m) | {"difference_percent": m.difference} for m in measurements]
    pd.DataFrame(rows).to_csv(draft, index=False)


def markdown(measurements: Sequence[Measurement]) -> str:
    """Lay the measurements out: a method a row, k across."""
    lines = [_INTRODUCTION, "", f"Measured on {_machine()}."]
    for (table, dataset), group in groupby(measurements, key=lambda m: (m.table, m.dataset)):
        lines += ["", f"### {table}: {dataset}", "", *_section(list(group))]
    return "\n".join(lines) + "\n"


def _machine() -> str:
    """Name the processor and the versions, as a reader needs them."""
    name = platform.processor() or platform.machine()
    cpu = Path("/proc/cpuinfo")
    if cpu.exists():
        lines = (line.partition(":") for line in cpu.read_text(encoding="utf-8").splitlines())
        name = next((value.strip() for key, _, value in lines if key.strip() == "model name"), name)
    versions = ", ".join(f"{p} {version(p)}" for p in ("trajanon", "numpy", "numba"))
    return f"{name}, one core of {os.cpu_count()}, Python {platform.python_version()}, {versions}"


def _section(measurements: Sequence[Measurement]) -> list[str]:
    shown = [m for m in measurements if m.statistic in _SHOWN]
    cells: dict[tuple[str, str, str], dict[str, list[Measurement]]] = {}
    for m in shown:
        row = cells.setdefault((m.method, m.by, m.setting), {})
        row.setdefault(_OF_ALL_K.get(m.statistic, f"k = {m.k}"), []).append(m)
    ks = sorted({m.k for m in shown if m.k is not None})
    columns = [f"k = {k}" for k in ks] + list(_OF_ALL_K.values())
    columns = [c for c in columns if any(c in row for row in cells.values())]
    named = ["method", "by", "setting"] if any(place[2] for place in cells) else ["method", "by"]
    heads = [*named, "runs", *columns]
    lines = [_row(heads), _row(["---"] * len(heads))]
    for place, row in cells.items():
        runs = str(max(m.runs for found in row.values() for m in found))
        # Numbers of several k stand one after the other, unless they are equal.
        numbers = (dict.fromkeys(map(_number, row.get(column, []))) for column in columns)
        lines.append(_row([*place[: len(named)], runs, *map(" / ".join, numbers)]))
    return lines


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
