"""Information loss against path length: thesis Figs. 4.26 to 4.35."""

import numpy as np
import pandas as pd

from trajanon.benchmark.hm2 import TSP
from trajanon.maps.figures.picture import Picture
from trajanon.maps.figures.results import Results, in_brackets, in_order
from trajanon.maps.figures.style import TWO_COLUMNS, few_ticks, key, legend_below, marks, panels

_PANEL, _LEGEND = 2.3, 0.6  # inches


def path_length(results: Results, dataset: str) -> Picture | None:
    """Draw a panel for each k, with a point for each run of a TSP heuristic."""
    runs = _paired(results, dataset)
    if runs.empty:
        return None
    methods, ks = in_order(runs["label"]), sorted(runs["k"].unique())
    columns = min(2, len(ks))
    rows = -(-len(ks) // columns)
    figure, axes = panels(rows, columns, TWO_COLUMNS, _LEGEND + _PANEL * rows)
    told = []
    for ax, k in zip(axes, ks, strict=False):
        here = runs[runs["k"] == k]
        for number, method in enumerate(methods):
            ours = here[here["label"] == method]
            ax.plot(
                ours["run_path_length"],
                ours["run_il"],
                linestyle="none",
                alpha=0.7,
                markeredgewidth=0,
                **marks(number),
            )
        r = correlation(here["run_path_length"], here["run_il"])
        ax.set_title(f"k = {k:g}" + ("" if r is None else f", r = {r:.2f}"))
        if r is not None:
            told.append(f"{r:.2f} at k = {k:g}")
        few_ticks(ax.xaxis, 6)
    for ax in axes[len(ks) :]:
        ax.remove()
    for ax in axes[max(len(ks) - columns, 0) : len(ks)]:
        ax.set_xlabel("path length (standardised)")
    for ax in axes[: len(ks) : columns]:
        ax.set_ylabel("information loss, IL (%)")
    legend_below(figure, [key(*each) for each in enumerate(methods)], columns=4)
    count = len(runs[runs["k"] == ks[0]])
    caption = (
        f"Information loss of {dataset} against the length of the Hamiltonian path, "
        f"both on standardised records: {count} runs of the TSP heuristics "
        "for each k. Each panel has axes of its own, which do not begin at zero."
    )
    if told:
        caption += f" Pearson's correlation r: {', '.join(told)}."
    return Picture("path-length", figure, caption + in_brackets(runs))


def correlation(x: "pd.Series[float]", y: "pd.Series[float]") -> float | None:
    """Pearson's correlation; None where it is not defined, or says nothing."""
    if len(x) < 3 or np.ptp(x) == 0.0 or np.ptp(y) == 0.0:
        return None
    return float(np.corrcoef(x, y)[0, 1])


def _paired(results: Results, dataset: str) -> pd.DataFrame:
    """Put path length and loss of each run side by side."""
    rows = results.of("hm2", dataset, "run_il", "run_path_length")
    rows = rows[rows["method"].isin(TSP)]
    paired = rows.pivot_table(
        index=["label", "method", "setting", "k"], columns="statistic", values="ours", sort=False
    )
    if len(paired.columns) < 2:
        return paired.iloc[:0].reset_index()
    return paired.dropna().reset_index()
