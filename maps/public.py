"""The public map: what is in the release, and nothing else."""

import folium
import numpy as np

from trajanon.errors import BadInput
from trajanon.maps.layers import colours, layer, weights
from trajanon.maps.page import page
from trajanon.trajectories import Trajectories


def public(release: Trajectories, *, tiles: str | None = "OpenStreetMap") -> folium.Map:
    """Draw a release; equal trajectories are one group.

    Whoever opens the page asks a server for the tiles of the street map, which tells
    that server where the data are.

    Parameters
    ----------
    release
        What was released.
    tiles
        Name of a street map that folium knows; None to ask no server.

    Returns
    -------
    folium.Map
        Ready to be saved.

    Raises
    ------
    BadInput
        If there is nothing to draw.
    """
    if len(release) == 0:
        msg = "there are no released trajectories to draw: run trajanon anonymize again"
        raise BadInput(msg)
    records, sizes = np.unique(release.records, axis=0, return_counts=True)
    lines = records.reshape(len(records), -1, 2)
    released = layer(
        f"Released, one line a group ({len(lines):,})",
        np.split(lines, len(lines)),
        about=[
            f"group {group} · {size} trajectories" for group, size in enumerate(sizes)
        ],
        colour=colours(lines),
        weight=weights(sizes),
        opacity=0.9,
    )
    return page(
        [released],
        sizes,
        lines,
        title="trajanon: release",
        headline="the release",
        facts={
            "Trajectories, n": f"{len(release):,}",
            "Groups": f"{len(lines):,}",
            "Smallest group": f"{sizes.min():,}",
        },
        notice=None,
        attribution=release.attribution,
        tiles=tiles,
    )
