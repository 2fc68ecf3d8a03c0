"""Measured numbers beside the published ones; as a tidy CSV table, and as Markdown to be read."""

import os
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from itertools import chain, count, groupby
from pathlib import Path
from time import perf_counter
from typing import ParamSpec, TypeVar

import numpy as np
import pandas as pd

from trajanon.common.arrays import Floats
from trajanon.common.errors import FileProblem
from trajanon.common.json_toml_and_regular_files import regular
from trajanon.common.progress import Progress

Place = tuple[str, str, str, str, int | None, str]
"""Where a number stands: table, data set, method, setting, k and statistic."""

_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")

_FILES = {
    "hm2": "hm2micro.csv",
    "compression": "compression.csv",
    "rcs": "rcs.csv",
    "mf-tsp": "mftsp.csv",
    "decomposition": "decomposition.csv",
}

_OF_ALL_K = {"path_length": "path length", "seconds": "seconds"}  # one column for all k
_SHOWN = ("il", "avg", "pearson", *_OF_ALL_K)  # statistics that the page shows

_INTRODUCTION = (
    "Information loss in percent, averaged over the runs; in brackets the published number and how "
    "far ours lies above it. Seconds are those of one run after compilation (in timing the fastest "
    "of three), for one k after the other where they differ."
)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number of a table."""

    # Where it stands, in the words of the published table:
    table: str
    dataset: str
    method: str
    by: str  # how we reached it: method and heuristic, in the words of trajanon
    setting: str  # further parameters, as `rcs_setting` and `decomposition_setting` write them
    k: int | None  # group size; None for all of them
    statistic: str  # ``il`` and ``avg`` (percent), ``path_length``, ``seconds``, ...
    ours: float  # the number
    runs: int = 1  # of how many runs it comes, each with another seed
    published: float | None = None  # the published number, if there is one
    source: str = ""  # the table that prints it

    @property
    def place(self) -> Place:
        """Return where the number stands in the published tables."""
        return self.table, self.dataset, self.method, self.setting, self.k, self.statistic

    @property
    def difference(self) -> float | None:
        """Compute how far ours lies above the published number, percent."""
        if not self.published:  # there is none, or it is 0
            return None
        return 100.0 * (self.ours / self.published - 1.0)


def timed(
    run: Callable[_Arguments, _Result], *arguments: _Arguments.args, **named: _Arguments.kwargs
) -> tuple[_Result, float]:
    """Call a function, and return what it returns, and the seconds that it took."""
    since = perf_counter()
    result = run(*arguments, **named)
    return result, perf_counter() - since


def measurements_of(
    table: str,
    dataset: str,
    method: str,
    by: str,
    setting: str,
    k: int | None,
    values: Mapping[str, float],
    runs: int = 1,
) -> list[Measurement]:
    """Make a measurement of each statistic at one place of a table; ``values`` are by statistic."""
    return [
        Measurement(table, dataset, method, by, setting, k, statistic, float(ours), runs)
        for statistic, ours in values.items()
    ]


def weighted_correlation(lengths: Sequence[Floats], losses: Sequence[Floats]) -> float:
    """Correlate lengths of paths with losses, in runs of several heuristics that weigh the same."""
    weights = np.concatenate([np.full(len(runs), 1.0 / len(runs)) for runs in losses])
    return correlation(np.concatenate(lengths), np.concatenate(losses), weights)


def correlation(x: Floats, y: Floats, weights: Floats) -> float:
    """Compute Pearson's correlation of weighted pairs."""
    covariance = np.cov(x, y, aweights=weights)
    return float(covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1]))


def spread(values: Sequence[float]) -> dict[str, float]:
    """Compute the average, and for several runs also sigma (sample), least and greatest."""
    average = {"avg": float(np.mean(values))}
    if len(values) == 1:
        return average
    sigma = float(np.std(values, ddof=1))
    return {**average, "sigma": sigma, "min": min(values), "max": max(values)}


def counted_steps(progress: Progress, task: str, total: int) -> Callable[[], None]:
    """Return a function that reports the progress of a task: before each step, and in the end."""
    done = count()
    return lambda: progress(task, next(done), total)


PublishedNumbers = dict[Place, tuple[float, str]]
"""Published numbers by their places, each with the table that prints it."""


def read_published(folder: Path) -> PublishedNumbers:
    """Read the published numbers from those of the CSV files that are there."""
    numbers: PublishedNumbers = {}
    for table, name in _FILES.items():
        file = folder / name
        if not regular(file).exists():
            continue
        try:
            rows = pd.read_csv(file, dtype=str, keep_default_na=False).to_dict("records")
            for row in rows:
                k = int(row["k"]) if row["k"] else None
                setting = _setting(table, row)
                place_in_table = (row["dataset"], row["method"], setting, k, row["statistic"])
                number = (float(row["value"]), row["source"])
                # Where two papers print a number, the first one stands.
                numbers.setdefault((table, *place_in_table), number)
                # Our table of timing measures anew what was published with compression.
                if table == "compression" and row["statistic"] == "seconds":
                    numbers.setdefault(("timing", *place_in_table), number)
        except (OSError, ValueError, KeyError) as error:
            raise FileProblem(f"cannot read the published table {file}: {error}") from error
    return numbers


def beside(measurements: Iterable[Measurement], published: PublishedNumbers) -> list[Measurement]:
    """Put the published numbers beside ours."""
    with_published = []
    for measurement in measurements:
        number, source = published.get(measurement.place, (None, ""))
        with_published.append(replace(measurement, published=number, source=source))
    return with_published


def rcs_setting(probability: str, events: int | str) -> str:
    """Name a setting of Random Cluster Shuffling."""
    return f"probability {probability}, events {events}"


def decomposition_setting(step: int | str, s: int | str, step_3: str) -> str:
    """Name a step of the decomposition heuristic."""
    parts = f", s = {s}" if s else ""
    return f"step {step}{parts}, step 3 {'used' if step_3 == 'yes' else 'skipped'}"


def _setting(table: str, row: Mapping[str, str]) -> str:
    """Name the setting of a row of a published table, as ours are named."""
    if table == "rcs" and row["shuffle_probability"]:
        return rcs_setting(row["shuffle_probability"], row["max_events"])
    if table == "decomposition" and row["step"]:
        return decomposition_setting(row["step"], row["s"], row["step3_used"])
    return ""


def write_csv(draft: Path, measurements: Sequence[Measurement]) -> None:
    """Write a row for each measurement, with its difference to the published one."""
    rows = [asdict(m) | {"difference_percent": m.difference} for m in measurements]
    pd.DataFrame(rows).to_csv(draft, index=False)


def markdown(measurements: Sequence[Measurement]) -> str:
    """Lay measurements out as a page of tables: a method a row, k across."""
    lines = [_INTRODUCTION, "", f"Measured on {_machine()}."]
    for (table, dataset), of_table in groupby(measurements, key=lambda m: (m.table, m.dataset)):
        lines += ["", f"### {table}: {dataset}", "", *_section(list(of_table))]
    return "\n".join(lines) + "\n"


def _machine() -> str:
    """Name the processor and the versions, as a reader needs them."""
    name = platform.processor() or platform.machine()
    cpu = Path("/proc/cpuinfo")
    if cpu.exists():
        lines = (line.partition(":") for line in cpu.read_text(encoding="utf-8").splitlines())
        name = next((value.strip() for key, _, value in lines if key.strip() == "model name"), name)
    versions = ", ".join(f"{p} {version(p)}" for p in ("trajanon", "numpy", "numba"))
    return f"{name}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}"


def _section(measurements: Sequence[Measurement]) -> list[str]:
    """Lay a table out for one data set, line by line: a method a row."""
    # The measurements of each row, whose name is method, by and setting, and in it of each column.
    shown = [m for m in measurements if m.statistic in _SHOWN]
    rows: dict[tuple[str, str, str], dict[str, list[Measurement]]] = {}
    for m in shown:
        row = rows.setdefault((m.method, m.by, m.setting), {})
        row.setdefault(_OF_ALL_K.get(m.statistic, f"k = {m.k}"), []).append(m)

    ks = sorted({m.k for m in shown if m.k is not None})
    columns = [f"k = {k}" for k in ks] + list(_OF_ALL_K.values())
    columns = [column for column in columns if any(column in row for row in rows.values())]
    # Settings have a column only where there are any.
    names = ["method", "by", "setting"] if any(name[2] for name in rows) else ["method", "by"]
    heads = [*names, "runs", *columns]

    lines = [_line(heads), _line(["---"] * len(heads))]
    for name, row in rows.items():
        runs = str(max(m.runs for m in chain.from_iterable(row.values())))
        # Numbers of several k stand one after the other, unless they are equal.
        numbers = (dict.fromkeys(map(_text, row.get(column, []))) for column in columns)
        lines.append(_line([*name[: len(names)], runs, *map(" / ".join, numbers)]))
    return lines


def _text(m: Measurement) -> str:
    """Write a number, and in brackets the published one."""
    if m.statistic == "seconds":
        seconds = f"{m.ours:.2g}" if m.ours < 100 else f"{m.ours:.0f}"
        return seconds if m.published is None else f"{seconds} ({m.published:g})"

    if m.published is None:
        return f"{m.ours:.4g}"
    if m.statistic == "pearson":
        return f"{m.ours:.2f} ({m.published:.2f})"
    difference = "" if m.difference is None else f", {m.difference:+.1f} %"
    return f"{m.ours:.4g} ({m.published:.4g}{difference})"


def _line(cells: Iterable[str]) -> str:
    """Write a row of a table in Markdown."""
    return f"| {' | '.join(cells)} |"
