"""Figures in one style, and the files they are saved as."""

import re
import stat
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from trajanon.common.errors import BadInput
from trajanon.maps.colours_and_tiles import PALETTE
from trajanon.maps.figures import Picture, save
from trajanon.maps.figures.figure_style_and_saving import (
    MARKERS,
    few_ticks,
    legend_below,
    panels,
    series_style,
    styled,
)


def two_panels() -> Figure:
    """Two panels with boxes, points, a title of dollars and a legend."""
    with styled():
        figure, both = panels(1, 2, 7.2, 2.8)
        for number, ax in enumerate(both):
            ax.boxplot([1.0, 2.0, 3.0, 10.0])
            ax.plot([1.0, 2.0], [2.0, 1.0], linestyle="none", **series_style(number))
            ax.set_title(f"k = {number}, $5 and $x$")
        legend_below(figure, 2, ["one", "other"])
    return figure


def test_a_figure_shows_itself_in_a_notebook() -> None:
    assert Picture("a", two_panels(), "")._repr_png_().startswith(b"\x89PNG")


def test_equal_figures_are_equal_files_without_a_date_that_ask_for_nothing(tmp_path: Path) -> None:
    for name in ("one", "two"):
        one = Picture("a", two_panels(), "of <script> & $x$")
        save([one], tmp_path / name)
    first = sorted((tmp_path / "one").iterdir())
    assert [path.name for path in first] == ["a.png", "a.svg", "captions.md"]
    for path in first:
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
    text = (tmp_path / "one" / "a.svg").read_text(encoding="utf-8")
    assert "of <script> & $x$" in [element.text for element in ET.fromstring(text).iter()]
    for never in ("<script>", "dc:date", r"20\d\d-\d\d-\d\d", "<text", r'href="(?!#)'):
        assert re.search(never, text) is None
    assert b"Matplotlib" not in (tmp_path / "one" / "a.png").read_bytes()
    with pytest.raises(BadInput, match="is read as input"):
        save([one], tmp_path / "one", inputs=[first[2]])


def test_files_are_named_in_their_order_with_numbers_and_captions(tmp_path: Path) -> None:
    some = [
        Picture("b", Figure(), "Sizes."),
        Picture("a", Figure(), "Losses.", numbers="k,il\n3,1\n"),
    ]
    names = save(some, tmp_path / "deep" / "figures")
    assert names == ["b.svg", "b.png", "a.svg", "a.png", "a.csv", "captions.md"]
    folder = tmp_path / "deep" / "figures"
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    assert (folder / "a.csv").read_text() == "k,il\n3,1\n"
    captions = (folder / "captions.md").read_text()
    assert captions == "# Captions\n\n## b\n\nSizes.\n\n## a\n\nLosses.\n"


def test_one_figure_for_the_holder_makes_all_files_the_holders(tmp_path: Path) -> None:
    exact = Picture("exact", Figure(), "Exact.", notice="For the holder of the data.")
    for some, others_may_read in (([Picture("a", Figure(), "")], True), ([exact], False)):
        both = [Picture("b", Figure(), ""), *some]
        names = save(both, tmp_path)
        for name in names:
            mode = stat.S_IMODE((tmp_path / name).stat().st_mode)
            assert bool(mode & stat.S_IROTH) == others_may_read, name


def test_the_style_does_not_depend_on_that_of_the_user() -> None:
    with mpl.rc_context({"lines.linewidth": 9.0, "font.size": 30.0}):
        with styled():
            inside = mpl.rcParams["lines.linewidth"], mpl.rcParams["font.size"]
            cycle = [entry["color"] for entry in mpl.rcParams["axes.prop_cycle"]]
        assert mpl.rcParams["lines.linewidth"] == 9.0
    assert 9.0 not in inside
    assert 30.0 not in inside
    assert cycle == list(PALETTE)


def test_series_differ_in_colour_and_marker_and_begin_anew_after_the_last() -> None:
    styles = [tuple(series_style(number).values()) for number in range(len(PALETTE))]
    assert len({colour for colour, _ in styles}) == len(PALETTE)
    assert len({marker for _, marker in styles}) == len(MARKERS) == len(PALETTE)
    assert series_style(len(PALETTE)) == series_style(0)


def test_panels_are_listed_row_by_row_and_rows_may_share_an_axis() -> None:
    with styled():
        figure, four = panels(2, 2, 6.0, 4.0, same_y=True)
    assert figure.get_size_inches().tolist() == [6.0, 4.0]
    assert four == [*figure.axes]
    four[0].set_ylim(0.0, 7.0)
    assert four[1].get_ylim() == (0.0, 7.0)
    assert four[2].get_ylim() != (0.0, 7.0)


def test_a_legend_names_series_by_their_markers_or_all_lines_with_a_label() -> None:
    for series, names in ((["first", "second"], ["first", "second"]), ([], ["1/k"])):
        with styled():
            figure, (ax,) = panels(1, 1, 3.5, 2.8)
            ax.plot([0.0, 1.0], label="1/k")
            ax.plot([0.0, 2.0])
            legend_below(figure, 2, series)
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == names
        handles = [handle for handle in legend.legend_handles if isinstance(handle, Line2D)]
        assert [handle.get_color() for handle in handles] == list(PALETTE[: len(names)])


def test_ticks_are_few_and_round() -> None:
    with styled():
        _, (ax,) = panels(1, 1, 3.5, 2.8)
    for limit, ticks in ((4, [0, 5_000, 10_000]), (5, [0, 2_000, 4_000, 6_000, 8_000, 10_000])):
        few_ticks(ax.xaxis, limit)
        assert [*ax.xaxis.get_major_locator().tick_values(0.0, 9_700.0)] == ticks
