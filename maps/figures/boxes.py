"""Information loss of each method and k, over runs: thesis Figs. 4.2 to 4.25."""

from trajanon.maps.colours import PALETTE
from trajanon.maps.figures.picture import Picture
from trajanon.maps.figures.results import Results, in_brackets, in_order
from trajanon.maps.figures.style import INK, TWO_COLUMNS, few_ticks, panels

_ROW, _REST = 0.19, 0.75  # inches: of a method, and of titles and axes


def boxes(results: Results, dataset: str) -> Picture | None:
    """Draw a panel for each k, with a box for each method."""
    runs = results.of("hm2", dataset, "run_il")
    if runs.empty:
        return None
    # What chance plays no part in is measured once, and has no runs of its own.
    rows = results.of("hm2", dataset, "run_il", "il")
    methods, ks = in_order(rows["label"]), sorted(rows["k"].unique())
    figure, axes = panels(1, len(ks), TWO_COLUMNS, _REST + _ROW * len(methods), same_y=True)
    for ax, k in zip(axes, ks, strict=True):
        losses = [
            rows[(rows["label"] == method) & (rows["k"] == k)]["ours"].to_numpy()
            for method in methods
        ]
        ax.boxplot(
            losses,
            orientation="horizontal",
            manage_ticks=False,
            widths=0.6,
            patch_artist=True,
            boxprops={"facecolor": PALETTE[6], "edgecolor": INK, "linewidth": 0.6},
            medianprops={"color": PALETTE[1], "linewidth": 1.4},
            whiskerprops={"color": INK, "linewidth": 0.6},
            capprops={"color": INK, "linewidth": 0.6},
            flierprops={"marker": ".", "markersize": 2.5, "markeredgecolor": INK},
        )
        ax.set_title(f"k = {k:g}")
        few_ticks(ax.xaxis, 5)
    axes[0].set_yticks(range(1, len(methods) + 1), methods)
    axes[0].invert_yaxis()
    figure.supxlabel("information loss, IL (%)", fontsize=8)
    most = int(runs.groupby(["method", "k"]).size().max())
    caption = (
        f"Information loss of {dataset} by method and k. Boxes reach from the lower to "
        "the upper quartile of the runs, lines in them are medians, whiskers end at "
        "the farthest run within 1.5 times the length of the box, and dots are runs "
        f"beyond. {most} runs, each with another seed, where chance plays a part; a "
        "line alone is one run. Each panel has an axis of its own, which does not "
        "begin at zero." + in_brackets(rows)
    )
    return Picture("boxes", figure, caption)
