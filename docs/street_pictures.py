"""Draw what counts of trips show, on maps beside their text; it needs matplotlib.

    python docs/street_pictures.py streets TRAJECTORIES RELEASE ROADS.osm.pbf
    python docs/street_pictures.py cells RELEASE

The streets are San Francisco's downtown, of one day of cabs and of their release, by the same
colours; the cells are those of the whole release.
"""

import sys
from pathlib import Path

import geopandas
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, LogNorm
from matplotlib.figure import Figure
from PIL import Image

import trajanon
from trajanon.extract import Box, roads_to_follow
from trajanon.maps.background import RAMP
from trajanon.street_counts.released_lines import ReleasedLines

_DOCS = Path(__file__).parent
_DOWNTOWN = Box(-122.436, 37.782, -122.391, 37.811)
_ROADS = Box(-122.53, 37.69, -122.34, 37.85)
_KILOMETRE = 1 / 111.195  # degrees of latitude


def draw_scale(axes: Axes, west: float, lat: float, kilometres: int) -> None:
    """Draw a line of some kilometres from a place to the east."""
    east = west + kilometres * _KILOMETRE / np.cos(np.radians(lat))
    axes.plot([west, east], [lat, lat], color="black", linewidth=2)
    axes.text((west + east) / 2, lat + 0.0005, f"{kilometres} km", ha="center")


def save(figure: Figure, name: str, colours: int) -> None:
    """Write a picture of few colours, which is small."""
    picture = _DOCS / name
    figure.savefig(picture, dpi=100)
    Image.open(picture).quantize(colours).save(picture, optimize=True)


def draw_streets(axes: Axes, table: geopandas.GeoDataFrame, colours: ScalarMappable) -> None:
    """Draw the streets that trips take, the busiest on top and widest."""
    table = table.sort_values("trips")
    width = 0.6 + 3.0 * np.clip(colours.norm(table["trips"]), 0.0, 1.0)
    table.plot(
        ax=axes,
        color=colours.to_rgba(table["trips"]),
        linewidth=width,
        aspect=1 / np.cos(np.radians(_DOWNTOWN.south)),
        capstyle="round",
    )
    axes.set_xlim(_DOWNTOWN.west, _DOWNTOWN.east)
    axes.set_ylim(_DOWNTOWN.south, _DOWNTOWN.north)
    axes.set_axis_off()


def streets(trajectories: str, release: str, pbf: str) -> None:
    """Draw the streets of originals and release side by side."""
    originals = trajanon.read_trajectories(trajectories)
    lines = ReleasedLines(originals.points, np.ones(len(originals), np.int64), None)
    roads = roads_to_follow(pbf, "car", bbox=_ROADS)
    colours = ScalarMappable(LogNorm(4, 2_000), "YlOrRd")

    figure, panels = plt.subplots(1, 2, figsize=(12, 6), layout="constrained")
    sides = {"1 day of cabs": lines, "k = 4 release": release}
    for axes, (title, source) in zip(panels, sides.items(), strict=True):
        draw_streets(axes, trajanon.streets(source, roads), colours)
        axes.set_title(title, fontsize=16, pad=12)
    draw_scale(panels[0], _DOWNTOWN.west + 0.002, _DOWNTOWN.north - 0.002, 1)

    bar = figure.colorbar(colours, ax=panels, location="bottom", shrink=0.4, aspect=40, pad=0.02)
    bar.set_label("trips on a street, in one direction")
    bar.set_ticks([4, 20, 100, 500, 2_000], labels=["up to 4", "20", "100", "500", "2,000"])
    figure.text(0.995, 0.01, "© OpenStreetMap contributors", ha="right", fontsize=8)
    save(figure, "streets.png", 128)


def cells(release: str) -> None:
    """Draw the cells of a release, the darker the more trips pass."""
    table = trajanon.cell_counts(release, 200.0)
    west, south, *_ = table.total_bounds
    colours = ScalarMappable(LogNorm(4, 4_000), ListedColormap(RAMP))

    figure, axes = plt.subplots(figsize=(7, 6.5), layout="constrained")
    stretch = 1 / np.cos(np.radians(south))
    table.plot(ax=axes, color=colours.to_rgba(table["trips"]), aspect=stretch)
    axes.set_axis_off()
    draw_scale(axes, west, south, 5)
    north = {"arrowstyle": "->"}
    axes.annotate("N", (west, south + 0.02), (west, south + 0.005), arrowprops=north, ha="center")

    bar = figure.colorbar(colours, ax=axes, location="bottom", shrink=0.6, pad=0.02)
    bar.set_label("trips that pass a cell of 200 m, k = 4 release")
    bar.set_ticks([4, 40, 400, 4_000], labels=["4", "40", "400", "4,000"])
    save(figure, "cells.png", 32)


if __name__ == "__main__":
    {"streets": streets, "cells": cells}[sys.argv[1]](*sys.argv[2:])
