"""The look that all figures share: sizes, letters and colours."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib.style
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from trajanon.maps.colours import PALETTE

ONE_COLUMN, TWO_COLUMNS = 3.5, 7.2
"""Widths in inches, as most journals have them."""

INK = "#222222"

# With a colour each: a method can be told from the others in grey, too.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

_SETTINGS = {
    "axes.axisbelow": True,
    "axes.edgecolor": INK,
    "axes.grid": True,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.prop_cycle": cycler(color=PALETTE),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8,
    "figure.constrained_layout.use": True,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same everywhere
    "font.size": 7,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.5,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.5,
    "savefig.dpi": 300,
    "svg.fonttype": "path",  # letters as outlines: no font is asked for
    "svg.hashsalt": "trajanon",  # equal figures are equal files
    "text.parse_math": False,  # a dollar in a name is a dollar
    "xtick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.labelsize": 7,
    "ytick.major.width": 0.6,
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw, or save, in our style, whatever the user's own settings are."""
    with matplotlib.style.context(["default", _SETTINGS]):
        yield


def panels(
    rows: int, columns: int, width: float, height: float, *, same_y: bool = False
) -> tuple[Figure, list[Axes]]:
    """Make a figure of equal panels."""
    figure = Figure(figsize=(width, height))
    grid = figure.subplots(rows, columns, squeeze=False, sharey="row" if same_y else False)
    return figure, list(grid.flat)


def marks(number: int) -> dict[str, Any]:
    """Colour and marker of the series of that number."""
    return {"color": PALETTE[number % len(PALETTE)], "marker": MARKERS[number % len(MARKERS)]}


def few_ticks(axis: Axis, most: int) -> None:
    """Limit the number of intervals, of 1, 2, 5, 10, ..., on an axis."""
    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 5, 10]))


def legend_below(
    figure: Figure, columns: int, series: Sequence[str] = (), others: Sequence[Line2D] = ()
) -> None:
    """Put a legend under all panels, where it hides nothing."""
    entries = [
        Line2D([], [], linestyle="none", label=name, **marks(number))
        for number, name in enumerate(series)
    ]
    figure.legend(
        handles=[*entries, *others],
        loc="outside lower center",
        ncols=columns,
        handletextpad=0.3,
        columnspacing=1.2,
    )
