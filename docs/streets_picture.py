"""Draw streets before and after: python docs/streets_picture.py ORIGINALS RELEASE ROADS.osm.pbf.

It draws one day of San Francisco's cabs, downtown: trips on streets, of the originals and of their
release, by the same colours. It needs matplotlib.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import LogNorm
from PIL import Image

import trajanon
from trajanon.extract import Box, roads_to_follow
from trajanon.release.snapping import RoadsToFollow
from trajanon.street_counts.released_lines import ReleasedLines
from trajanon.street_counts.streets import streets as trips_on_streets

_PICTURE = Path(__file__).with_name("streets.png")
_DOWNTOWN = Box(-122.436, 37.782, -122.391, 37.811)
_ROADS = Box(-122.53, 37.69, -122.34, 37.85)
_COLOURS = LogNorm(4, 2_000)
_KILOMETRE = 1 / 111.195  # degrees of latitude


def draw(axes: Axes, lines: ReleasedLines, roads: RoadsToFollow, title: str) -> LineCollection:
    """Draw the streets that lines take, the busiest on top and widest."""
    table = trips_on_streets(lines, roads).sort_values("trips")
    trips = table["trips"].to_numpy()

    streets = LineCollection(
        [np.array(shape.coords) for shape in table.geometry],
        cmap="YlOrRd",
        norm=_COLOURS,
        linewidths=0.6 + 3.0 * np.clip(_COLOURS(trips), 0.0, 1.0),
        capstyle="round",
    )
    streets.set_array(trips)
    axes.add_collection(streets)
    axes.set_xlim(_DOWNTOWN.west, _DOWNTOWN.east)
    axes.set_ylim(_DOWNTOWN.south, _DOWNTOWN.north)
    axes.set_aspect(1 / np.cos(np.radians(_DOWNTOWN.south)))
    axes.set_title(title, fontsize=16, pad=12)
    axes.set_axis_off()
    return streets


def main() -> None:
    """Draw originals and release side by side."""
    originals, release, pbf = map(Path, sys.argv[1:])
    trajectories = trajanon.read_trajectories(originals)
    before = ReleasedLines(trajectories.points, np.ones(len(trajectories), np.int64), None)
    after = ReleasedLines.of(trajanon.read_release(release))
    roads = roads_to_follow(pbf, "car", bbox=_ROADS)

    figure, panels = plt.subplots(1, 2, figsize=(12, 6), layout="constrained")
    draw(panels[0], before, roads, "1 day of cabs")
    streets = draw(panels[1], after, roads, "k = 4 release")

    bar = figure.colorbar(streets, ax=panels, location="bottom", shrink=0.4, aspect=40, pad=0.02)
    bar.set_label("trips on a street, in one direction")
    bar.set_ticks([4, 20, 100, 500, 2_000], labels=["up to 4", "20", "100", "500", "2,000"])

    west = _DOWNTOWN.west + 0.002
    east = west + _KILOMETRE / np.cos(np.radians(_DOWNTOWN.south))
    bottom = _DOWNTOWN.north - 0.002
    panels[0].plot([west, east], [bottom, bottom], color="black", linewidth=2)
    panels[0].text((west + east) / 2, bottom + 0.0005, "1 km", ha="center")
    figure.text(0.995, 0.01, "© OpenStreetMap contributors", ha="right", fontsize=8)
    figure.savefig(_PICTURE, dpi=100)
    Image.open(_PICTURE).quantize(128).save(_PICTURE, optimize=True)


if __name__ == "__main__":
    main()
