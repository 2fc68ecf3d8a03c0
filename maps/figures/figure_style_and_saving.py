"""Figures in one style with their captions, and the files they are saved as."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib.style
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from trajanon.common.atomic_output import make_folder, replacing
from trajanon.maps.colours_and_tiles import PALETTE

CAPTIONS = "captions.md"

_NOTEBOOK_DPI = 150  # dots an inch

# Suffixes of the files of a figure, with metadata. None leaves out what matplotlib would write by
# itself, and what would differ from day to day, or from version to version.
_FORMATS: dict[str, dict[str, str | None]] = {
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
}

# Widths of figures in inches, as most journals have them.
ONE_COLUMN = 3.5
TWO_COLUMNS = 7.2

INK = "#222222"  # of lines and texts that stand for no series

# One for each colour of the palette: series can also be distinguished in print without colours.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")

_STYLE = Path(__file__).with_name("figures.mplstyle")


@contextmanager
def styled() -> Iterator[None]:
    """Set the style of all figures while they are drawn or saved, whatever the user has set."""
    colours = {"axes.prop_cycle": cycler(color=PALETTE)}
    with matplotlib.style.context(["default", _STYLE, colours]):
        yield


def panels(
    rows: int, columns: int, width: float, height: float, *, same_y: bool = False
) -> tuple[Figure, list[Axes]]:
    """Make a figure of equal panels, and list these row by row; its size is in inches.

    With ``same_y``, the panels of a row share one y axis.
    """
    figure = Figure(figsize=(width, height))
    grid = figure.subplots(rows, columns, squeeze=False, sharey="row" if same_y else False)
    return figure, list(grid.flat)


def series_style(number: int) -> dict[str, Any]:
    """Return the colour and the marker of a series by its number, as keywords of matplotlib."""
    return {"color": PALETTE[number % len(PALETTE)], "marker": MARKERS[number % len(MARKERS)]}


def few_ticks(axis: Axis, limit: int) -> None:
    """Limit the intervals between ticks to a number; each is 1, 2 or 5 times a power of ten."""
    axis.set_major_locator(MaxNLocator(limit, steps=[1, 2, 5, 10]))


def legend_below(figure: Figure, columns: int, series: Sequence[str] = ()) -> None:
    """Put a legend in columns under all panels, where it hides nothing.

    It shows the marker of each series, named in the order of their numbers; without them, all lines
    with a label.
    """
    markers = [
        Line2D([], [], linestyle="none", label=name, **series_style(number))
        for number, name in enumerate(series)
    ]
    figure.legend(handles=markers or None, loc="outside lower center", ncols=columns)


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A figure and its caption; in a notebook it shows itself.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from trajanon.maps.figures import Picture
    >>> Picture("sizes", Figure(), "Sizes of the groups.").caption
    'Sizes of the groups.'
    """

    name: str  # of its files, without suffix
    figure: Figure
    caption: str  # what is shown, and of how many runs; one paragraph
    numbers: str | None = None  # the values drawn, as CSV; None if they are not written
    notice: str = ""  # says who may see a figure that is not for the public; else empty

    def _repr_png_(self) -> bytes:
        """Return the PNG that a notebook shows; Jupyter calls this method by its name."""
        png = BytesIO()
        with styled():
            self.figure.savefig(png, format="png", dpi=_NOTEBOOK_DPI)
        return png.getvalue()


def save(
    pictures: Sequence[Picture], folder: str | os.PathLike[str], *, inputs: Sequence[Path] = ()
) -> list[str]:
    """Write each figure as SVG and PNG, its numbers as CSV, and a page with all captions.

    Equal figures are equal files: they hold no date. If any of them has a notice, only the owner of
    the files can read them.

    Parameters
    ----------
    pictures
        The figures, with names that differ.
    folder
        Where the files go; it is made if needed.
    inputs
        Files that the figures were made from: they are never overwritten.

    Returns
    -------
    list of str
        The names of the files: figures in their order, then numbers and captions.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from trajanon.maps.figures import Picture, save
    >>> save([Picture("sizes", Figure(), "Sizes of the groups.")], "figures")
    ['sizes.svg', 'sizes.png', 'captions.md']
    """
    folder = Path(folder)
    names = [f"{picture.name}{suffix}" for picture in pictures for suffix in _FORMATS]
    names += [f"{picture.name}.csv" for picture in pictures if picture.numbers is not None]
    outputs = [folder / name for name in [*names, CAPTIONS]]
    public = [] if any(picture.notice for picture in pictures) else outputs

    make_folder(folder)

    # Drafts come in the order of the outputs, so everything is written in that order.
    with replacing(*outputs, inputs=inputs, public=public) as drafts, styled():
        next_drafts = iter(drafts)
        for picture in pictures:
            for metadata in _FORMATS.values():
                described = {"Title": picture.name, "Description": picture.caption}
                picture.figure.savefig(next(next_drafts), metadata={**described, **metadata})

        captions = [f"## {picture.name}\n\n{picture.caption}\n" for picture in pictures]
        tables = [picture.numbers for picture in pictures if picture.numbers is not None]
        for text in [*tables, "\n".join(["# Captions\n", *captions])]:
            next(next_drafts).write_text(text, encoding="utf-8")

    return [*names, CAPTIONS]
