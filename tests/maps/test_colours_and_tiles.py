"""The colours of lines, and the street map beneath them."""

import re

import folium
import numpy as np
import pytest
from browsing import about
from hypothesis import given
from hypothesis import strategies as st

from trajanon.cli import map_command
from trajanon.common.errors import BadInput
from trajanon.maps import html, public
from trajanon.maps.colours_and_tiles import (
    PALETTE,
    RAMP,
    STREET_MAP,
    add_street_map,
    colours_of_lines,
)
from trajanon.trajectories.trajectories import ReleasedTrajectories


@given(st.integers(0, 1_000), st.integers(1, 60))
def test_a_line_has_another_colour_than_the_nearest(seed: int, n: int) -> None:
    lines = np.random.default_rng(seed).normal(0.0, 1.0, (n, 30, 2))
    page = public(ReleasedTrajectories(np.repeat(lines, 2, axis=0).round(5)), tiles=None)
    drawn = about(html(page))["groups"]
    records = np.unique(lines.round(5).reshape(n, -1), axis=0).reshape(n, 30, 2)
    seen = records[:, [0, 15, 29]].reshape(n, -1)
    apart = np.linalg.norm(seen[:, None] - seen[None], axis=2) + np.diag(np.full(n, np.inf))
    nearest = apart.argmin(axis=1)
    for line in np.flatnonzero(nearest[nearest] == np.arange(n)) if n > 1 else []:
        assert drawn["colour"][line] != drawn["colour"][nearest[line]]
    assert set(drawn["colour"]) <= {*range(len(PALETTE))}


def test_lines_at_one_place_take_all_colours_before_one_comes_twice() -> None:
    lines = np.zeros((2 * len(PALETTE), 3, 2))
    lines[:, :, 0] = 1e-6 * np.arange(len(lines))[:, None]
    colours = colours_of_lines(lines)
    assert sorted(colours[: len(PALETTE)]) == list(range(len(PALETTE)))
    assert {*colours} == set(range(len(PALETTE)))


def test_one_line_has_the_first_colour_and_no_line_has_none() -> None:
    assert colours_of_lines(np.zeros((1, 2, 2))) == [0]


def luminance(colour: str) -> float:
    """Return how light a colour is, from 0 to 1, as the guidelines for web content count it."""
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_the_ramp_gets_darker() -> None:
    lightness = [luminance(colour) for colour in RAMP]
    assert lightness == sorted(lightness, reverse=True)


@pytest.mark.parametrize(
    ("tiles", "address"),
    [(STREET_MAP, "https://tile.openstreetmap.org/"), ("OpenTopoMap", ".tile.opentopomap.org/")],
)
def test_a_street_map_is_put_under_the_lines_by_its_name(tiles: str, address: str) -> None:
    drawn = folium.Map(tiles=None)
    add_street_map(drawn, tiles)
    (street_map,) = drawn._children.values()
    assert isinstance(street_map, folium.TileLayer)
    assert address in street_map.tiles
    assert street_map.overlay


@pytest.mark.parametrize("tiles", ["Nowhere", "https://tiles.example/{z}/{x}/{y}.png"])
def test_an_unknown_street_map_is_refused_with_one_that_is_known(tiles: str) -> None:
    says = f"no street map is called {tiles!r}; try OpenStreetMap, or none"
    with pytest.raises(BadInput, match=re.escape(says)):
        add_street_map(folium.Map(tiles=None), tiles)


def test_the_command_draws_on_the_same_street_map() -> None:
    """It names the map itself, as it does not load folium to show its help."""
    assert map_command._TILES == STREET_MAP
