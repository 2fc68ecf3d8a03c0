"""Draw streets before and after: python docs/streets_picture.py ORIGINALS RELEASE ROADS.osm.pbf.

It draws one day of San Francisco's cabs, downtown: trips on streets, of the originals and of their
release, by the same colours. It needs matplotlib.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm
from PIL import Image

import trajanon
from trajanon.extract import Box, roads_to_follow
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.street_counts.streets import streets as trips_on_streets

_PICTURE = Path(__file__).with_name("streets.png")
_DOWNTOWN = Box(-122.436, 37.782, -122.391, 37.811)
_ROADS = Box(-122.53, 37.69, -122.34, 37.85)
_COLOURS = ScalarMappable(LogNorm(4, 2_000), "YlOrRd")
_KILOMETRE = 1 / 111.195  # degrees of latitude


def main() -> None:
    """Draw originals and release side by side, the busiest streets on top and widest."""
    originals, release, pbf = map(Path, sys.argv[1:])
    trajectories = trajanon.read_trajectories(originals)
    # Each original is a line of one trip.
    one_trip_each = np.ones(len(trajectories), np.int64)
    before = ReleasedLines(points=trajectories.points, trips=one_trip_each, times=None)
    after = ReleasedLines.distinct(trajanon.read_release(release))
    roads = roads_to_follow(pbf, "car", bbox=_ROADS)
    stretch = 1 / np.cos(np.radians(_DOWNTOWN.south))

    figure, panels = plt.subplots(1, 2, figsize=(12, 6), layout="constrained")
    titles = "1 day of cabs", "k = 4 release"
    for axes, lines, title in zip(panels, (before, after), titles, strict=True):
        table = trips_on_streets(lines, roads).sort_values("trips")
        width = 0.6 + 3.0 * _COLOURS.norm(table["trips"]).clip(0.0, 1.0)
        colour = _COLOURS.to_rgba(table["trips"])
        table.plot(ax=axes, color=colour, linewidth=width, capstyle="round", aspect=stretch)
        axes.set_xlim(_DOWNTOWN.west, _DOWNTOWN.east)
        axes.set_ylim(_DOWNTOWN.south, _DOWNTOWN.north)
        axes.set_title(title, fontsize=16, pad=12)
        axes.set_axis_off()

    bar = figure.colorbar(_COLOURS, ax=panels, location="bottom", shrink=0.4, aspect=40, pad=0.02)
    bar.set_label("trips on a street, in one direction")
    bar.set_ticks([4, 20, 100, 500, 2_000], labels=["up to 4", "20", "100", "500", "2,000"])

    west = _DOWNTOWN.west + 0.002
    east = west + _KILOMETRE * stretch
    top = _DOWNTOWN.north - 0.002
    panels[0].plot([west, east], [top, top], color="black", linewidth=2)
    panels[0].text((west + east) / 2, top + 0.0005, "1 km", ha="center")
    figure.text(0.995, 0.01, "© OpenStreetMap contributors", ha="right", fontsize=8)
    figure.savefig(_PICTURE, dpi=100)
    # With fewer colours the file is a fraction of its size.
    Image.open(_PICTURE).quantize(128).save(_PICTURE, optimize=True)


if __name__ == "__main__":
    main()
