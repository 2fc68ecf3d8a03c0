"""Information loss against seconds, with and without compression: thesis Fig. 5.5."""

from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from trajanon.maps.figures.picture import Picture
from trajanon.maps.figures.results import Results, in_order
from trajanon.maps.figures.style import INK, ONE_COLUMN, key, legend_below, marks, panels

_HEIGHT = 3.4  # inches


def trade_off(results: Results, dataset: str) -> Picture | None:
    """Draw a line for each compression, with a point for each k."""
    losses = results.of("compression", dataset, "il")
    seconds = results.of("compression", dataset, "seconds")
    if losses.empty or seconds.empty:
        return None
    methods = in_order(seconds["method"])
    figure, (ax,) = panels(1, 1, ONE_COLUMN, _HEIGHT)
    for _, row in seconds.iterrows():
        same = (losses["method"] == row["method"]) & (losses["by"] == row["by"])
        ours = losses[same].sort_values("k")
        by_distance = _by_distance(row["by"])
        ax.plot(
            ours["ours"],
            [row["ours"]] * len(ours),
            linestyle=":" if by_distance else "-",
            markerfacecolor="white" if by_distance else None,
            linewidth=0.8,
            **marks(methods.index(row["method"])),
        )
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("information loss, IL (%)")
    ax.set_ylabel("seconds to find the path")
    entries = [key(*each) for each in enumerate(methods)]
    if any(map(_by_distance, seconds["by"])):
        entries += [
            Line2D([], [], color=INK, linewidth=0.8, label="back in row order"),
            Line2D([], [], color=INK, linewidth=0.8, linestyle=":", label="by distance"),
        ]
    legend_below(figure, entries, columns=3)
    ks = sorted(losses["k"].unique())
    caption = (
        f"Information loss of {dataset} against the seconds of finding the path, which "
        "do not depend on k, with members of a compressed record back in the order of "
        f"rows or by distance to its centroid. Points: k = {ks[0]:g} to {ks[-1]:g}, "
        "from left to right; means of the runs, and seconds of one core of the machine "
        "that measured, on a logarithmic axis. The axis of the loss does not begin at "
        "zero."
    )
    return Picture("seconds", figure, caption)


def _by_distance(by: str) -> bool:
    return by.endswith("distance")
