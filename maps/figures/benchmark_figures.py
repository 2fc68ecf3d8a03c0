"""The figures of a table of measurements."""

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.json_toml_and_regular_files import regular
from trajanon.common.number_text import number_of
from trajanon.maps.figures.figure_style_and_saving import (
    ONE_COLUMN,
    TWO_COLUMNS,
    Picture,
    few_ticks,
    legend_below,
    panels,
    series_style,
    styled,
)
from trajanon.tables.papers.published_values import correlation
from trajanon.tables.papers.tables_measured_again import RANDOM, TSP

_COLUMNS: dict[str, type] = {
    **dict.fromkeys(("table", "dataset", "method", "by", "setting", "statistic"), str),
    **dict.fromkeys(("k", "ours"), float),
}
_AXES = "Axes do not begin at zero."
_LENGTH = "path length (standardised)"
_LOSS = "information loss, IL (%)"


def of_benchmark(path: str | os.PathLike[str]) -> tuple[list[Picture], list[str]]:
    """Draw what a table of measurements has the numbers for.

    Parameters
    ----------
    path
        The CSV that `trajanon benchmark` wrote.

    Returns
    -------
    pictures : list of Picture
        For each data set its loss over runs, against path length and against seconds; and the
        seconds against the number of random records.
    left_out : list of str
        A sentence for each figure that there are no numbers for.

    Raises
    ------
    BadInput
        If it is another table, or there is nothing in it to draw.
    FileProblem
        If it cannot be read.

    Examples
    --------
    >>> import pandas as pd
    >>> from trajanon.maps.figures import of_benchmark
    >>> runs = {"setting": ["seed 0", "seed 1"], "statistic": "run_il", "ours": [5.0, 5.2]}
    >>> what = {"table": "hm2", "dataset": "Census", "method": "NPN-MHM", "by": "npn", "k": 3}
    >>> pd.DataFrame({**what, **runs}).to_csv("results.csv", index=False)
    >>> pictures, left_out = of_benchmark("results.csv")
    >>> [picture.name for picture in pictures]
    ['boxes-census']
    >>> left_out[0]
    'IL against path length: results.csv has no table hm2 with single runs of Census'
    """
    results = read_results(Path(path))
    datasets = results["dataset"].unique().tolist()
    pictures = list[Picture]()
    left_out = list[str]()
    with styled():
        for title, (draw, needed) in _FIGURES.items():
            # Random records are in the timing alone, and nothing else is of them.
            of_random = draw is _growth
            names = [RANDOM] if of_random else [name for name in datasets if name != RANDOM]
            drawn = {name: draw(results, name) for name in names}
            for name, picture in drawn.items():
                if picture is not None:
                    slug = re.sub(r"[^\w-]+", "-", name).strip("-").lower()
                    pictures.append(replace(picture, name=f"{picture.name}-{slug}"))
            if without := ", ".join(name for name in names if drawn[name] is None):
                of_datasets = "" if of_random else f" of {without}"
                left_out.append(f"{title}: {path} has no {needed}{of_datasets}")

    if not pictures:
        raise BadInput(
            f"{path} has nothing to draw: figures need trajanon benchmark --table hm2, "
            "--table compression or --table timing"
        )
    return pictures, left_out


def read_results(path: Path) -> pd.DataFrame:
    """Read the CSV that `trajanon benchmark` wrote, with a column more: the label of a method."""
    way_out = "name the CSV that trajanon benchmark wrote"
    columns: dict[str, Any] = {"usecols": [*_COLUMNS], "dtype": _COLUMNS}
    try:
        rows = pd.read_csv(regular(path), keep_default_na=False, na_values={"k": [""]}, **columns)
        if not np.isfinite(rows["ours"]).all():
            raise ValueError("no number in some row of the column ours")
    except OSError as error:
        raise FileProblem(f"cannot read {path}: {error.strerror}; {way_out}") from error
    except ValueError as error:  # pandas' own errors are ValueErrors
        raise BadInput(f"{path} is not a table of measurements ({error}): {way_out}") from error

    # No figure may say that Concorde was run where it was not; the C of C-MHM stands for it.
    of_concorde = rows["method"].str.match(r"(Concorde|(C\d+-)?C-MHM)")
    has_stand_in = rows["by"].str.split(",").str[0].ne("concorde")
    with_path = rows["method"] + " (" + rows["by"] + ")"
    # The two directions of a compressed path are rows of their own.
    one_way = rows["by"].str.contains(",")
    return rows.assign(label=rows["method"].mask(of_concorde & (has_stand_in | one_way), with_path))


def measurements(results: pd.DataFrame, table: str, dataset: str, *statistics: str) -> pd.DataFrame:
    """Select the rows of a table and a data set."""
    of_table = (results["table"] == table) & (results["dataset"] == dataset)
    return results[of_table & results["statistic"].isin(statistics)]


def _boxes(results: pd.DataFrame, dataset: str) -> Picture | None:
    """Draw a panel for each k, with a box for each method: thesis Figs. 4.2 to 4.25."""
    runs = measurements(results, "hm2", dataset, "run_il")
    if runs.empty:
        return None

    # Methods without chance are measured once, and have no runs of their own.
    rows = measurements(results, "hm2", dataset, "run_il", "il")
    methods = rows["label"].unique()
    ks = sorted(rows["k"].unique())
    height = 0.75 + 0.19 * len(methods)
    figure, axes = panels(1, len(ks), TWO_COLUMNS, height, same_y=True)
    for ax, k in zip(axes, ks, strict=True):
        of_k = rows[rows["k"] == k]
        losses = [of_k["ours"][of_k["label"] == method].to_numpy() for method in methods]
        ax.boxplot(
            losses, orientation="horizontal", manage_ticks=False, widths=0.6, patch_artist=True
        )
        ax.set_title(f"k = {k:g}")
        few_ticks(ax.xaxis, 5)
    axes[0].set_yticks(range(1, len(methods) + 1), methods)
    axes[0].invert_yaxis()
    figure.supxlabel(_LOSS, fontsize=8)

    seeds = int(runs.groupby(["method", "k"]).size().max())
    caption = (
        f"Information loss of {dataset} by method and k: boxes of {number_of(seeds, 'run')}, each "
        "with another seed, where chance plays a part; a line alone is one run. Whiskers end at "
        f"the farthest run within 1.5 times the length of the box. {_AXES}{_stand_ins(rows)}"
    )
    return Picture("boxes", figure, caption)


def _single_runs(results: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Select the runs of all TSP heuristics: a row each, with length and loss."""
    rows = measurements(results, "hm2", dataset, "run_il", "run_path_length")
    run_columns = ["label", "method", "setting", "k"]
    runs = rows[rows["method"].isin(TSP)].pivot_table("ours", run_columns, "statistic", sort=False)
    runs = runs.reindex(columns=["run_il", "run_path_length"]).dropna().reset_index()
    return runs.rename(columns={"run_il": "loss", "run_path_length": "length"})


def _path_length(results: pd.DataFrame, dataset: str) -> Picture | None:
    """Draw a panel for each k, with the runs of all TSP heuristics: Figs. 4.26, 4.30 to 4.35."""
    all_runs = _single_runs(results, dataset)
    if all_runs.empty:
        return None

    labels = all_runs["label"].unique().tolist()
    of_each_k = all_runs.groupby("k")
    columns = min(2, len(of_each_k))
    rows = -(-len(of_each_k) // columns)
    figure, axes = panels(rows, columns, TWO_COLUMNS, 0.6 + 2.3 * rows)

    for ax, (k, runs) in zip(axes, of_each_k, strict=False):
        for number, label in enumerate(labels):
            series = runs[runs["label"] == label]
            style = series_style(number) | {"alpha": 0.7, "markeredgewidth": 0, "ls": "none"}
            ax.plot(series["length"], series["loss"], **style)

        # Each heuristic weighs the same.
        weights = 1.0 / runs.groupby("label")["label"].transform("size").to_numpy(dtype=float)
        lengths = runs["length"].to_numpy()
        losses = runs["loss"].to_numpy()
        title = f"k = {k:g}"
        if len(runs) >= 3 and np.ptp(lengths) > 0.0 and np.ptp(losses) > 0.0:
            title += f", r = {correlation(lengths, losses, weights):.2f}"
        ax.set_title(title)
        few_ticks(ax.xaxis, 6)
        ax.set_xlabel(_LENGTH)
        ax.set_ylabel(_LOSS)

    for ax in axes[len(of_each_k) :]:
        ax.remove()
    legend_below(figure, 4, labels)
    caption = (
        f"Information loss of {dataset} against the length of the Hamiltonian path, both on "
        f"standardised records: {number_of(int(of_each_k.size().iloc[0]), 'run')} of the TSP "
        "heuristics for each k, and Pearson's correlation r, in which each heuristic weighs the "
        f"same. {_AXES}"
    )
    return Picture("path-length", figure, caption + _stand_ins(all_runs))


def _stand_ins(rows: pd.DataFrame) -> str:
    """Describe in a caption what the brackets behind a method mean; empty if there are none."""
    bracketed = bool((rows["label"] != rows["method"]).any())
    return " In brackets: the path that stands in for Concorde, which was not run." * bracketed


def _trade_off(results: pd.DataFrame, dataset: str) -> Picture | None:
    """Draw a line for each compression, with a point for each k: thesis Fig. 5.5."""
    losses = measurements(results, "compression", dataset, "il")
    seconds = measurements(results, "compression", dataset, "seconds")
    if losses.empty or seconds.empty:
        return None

    points = losses.sort_values("k").merge(seconds, on="label", suffixes=("", "_seconds"))
    points = points[["label", "ours", "ours_seconds"]]
    figure, ax = _curves(points, seconds["label"].tolist(), 3.4)
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel(_LOSS)

    ks = sorted(losses["k"].unique())
    caption = (
        f"Information loss of {dataset} against the seconds of finding the path, on one core. "
        f"Points: k = {ks[0]:g} to {ks[-1]:g}, from left to right; means of the runs. {_AXES}"
    )
    return Picture("seconds", figure, caption + _stand_ins(seconds))


def _curves(points: pd.DataFrame, labels: Sequence[str], height: float) -> tuple[Figure, Axes]:
    """Draw a line for each label of points: label, x and the seconds to find a path."""
    figure, (ax,) = panels(1, 1, ONE_COLUMN, height)
    for number, label in enumerate(labels):
        _, x, seconds = points[points["label"] == label].to_numpy().T
        ax.plot(x, seconds, linewidth=0.8, **series_style(number))

    ax.set_yscale("log")
    ax.set_ylabel("seconds to find the path")
    legend_below(figure, 2, labels)
    return figure, ax


def _growth(results: pd.DataFrame, dataset: str) -> Picture | None:
    """Draw the seconds of a path against the records it leads through: thesis Fig. 5.4."""
    rows = measurements(results, "timing", dataset, "seconds")
    sizes = rows["setting"].str.extract(r"^n = (\d+)$")[0].astype(float)
    rows = rows.assign(n=sizes).dropna(subset=["n"])
    if rows.empty:
        return None

    points = rows.sort_values("n")[["label", "n", "ours"]]
    figure, ax = _curves(points, rows["label"].unique().tolist(), 2.8)
    ax.set_xscale("log")
    ax.set_xlabel("records")

    caption = (
        "Seconds to find a path through random records in the plane, normal and uniform, on one "
        "core; of each the fastest of three runs."
    )
    return Picture("growth", figure, caption + _stand_ins(rows))


_FIGURES: dict[str, tuple[Callable[[pd.DataFrame, str], Picture | None], str]] = {
    "boxes of IL": (_boxes, "table hm2 with single runs"),
    "IL against path length": (_path_length, "table hm2 with single runs"),
    "IL against seconds": (_trade_off, "table compression"),
    "seconds against records": (_growth, "table timing with random records"),
}
