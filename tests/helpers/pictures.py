"""Figures looked at by where their letters lie."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.transforms import BboxBase

from trajanon.maps.figures import Picture
from trajanon.maps.figures.figure_style_and_saving import styled


def points(line: Line2D) -> tuple[list[float], list[float]]:
    """Where a line leads, x and y."""
    x, y = (np.asarray(each, dtype=float).tolist() for each in line.get_data())
    return x, y


def nothing_overlaps(picture: Picture) -> None:
    """All words lie within the figure, none on another, no legend on a panel."""
    with styled():
        picture.figure.draw_without_rendering()
        whole = picture.figure.bbox
        words = [(text.get_text(), text.get_window_extent()) for text in _texts(picture)]
        for name, box in words:
            assert _within(box, whole), (picture.name, name)
        for (one, first), (other, second) in combinations(words, 2):
            assert not _overlap(first, second), (picture.name, one, other)
        for legend in picture.figure.legends:
            for ax in picture.figure.axes:
                assert not _overlap(legend.get_window_extent(), ax.bbox), picture.name


def _texts(picture: Picture) -> Sequence[Text]:
    """All that is drawn and has letters; ticks beyond the axes are not drawn."""
    found = []
    for ax in picture.figure.axes:
        found += [ax.title, ax.xaxis.label, ax.yaxis.label, *ax.texts]
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if low <= tick.get_loc() <= high and tick.label1.get_visible():
                    found.append(tick.label1)
    for legend in picture.figure.legends:
        found += legend.get_texts()
    if (below := picture.figure.get_supxlabel()) and below:
        found += [text for text in picture.figure.texts if text.get_text() == below]
    return [text for text in found if text.get_text()]


def _overlap(one: BboxBase, other: BboxBase) -> bool:
    """Whether two boxes share more than a border of a pixel."""
    wide = min(one.x1, other.x1) - max(one.x0, other.x0)
    high = min(one.y1, other.y1) - max(one.y0, other.y0)
    return bool(wide > 1 and high > 1)


def _within(box: BboxBase, whole: BboxBase) -> bool:
    inside_x = whole.x0 - 1 <= box.x0 and box.x1 <= whole.x1 + 1
    return bool(inside_x and whole.y0 - 1 <= box.y0 and box.y1 <= whole.y1 + 1)
