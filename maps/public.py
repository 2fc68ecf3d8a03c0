"""The public map: what is in the release, and nothing else."""

import folium

from trajanon.errors import BadInput
from trajanon.maps.background import Background
from trajanon.maps.drawing import released_alone
from trajanon.maps.page import page
from trajanon.releases import Release
from trajanon.trajectories import Trajectories


def public(
    release: Release | Trajectories,
    *,
    tiles: str | None = "OpenStreetMap",
    background: Background | None = None,
) -> folium.Map:
    """Draw a release; equal trajectories are one group.

    Whoever opens the page asks a server for the tiles of the street map, which tells that server
    where the data are; without tiles it asks for nothing at all.

    Parameters
    ----------
    release
        What was released; or what `trajanon.anonymize` gave, of which the report stays out.
    tiles
        Name of a street map that folium knows; None to ask no server.
    background
        Roads and water to draw below.

    Returns
    -------
    folium.Map
        Ready to be saved; in a notebook it shows itself.

    Raises
    ------
    BadInput
        If there is nothing to draw, or no street map has this name.
    """
    if isinstance(release, Release):
        release = release.trajectories
    if len(release) == 0:
        msg = "there are no released trajectories to draw: run trajanon anonymize again"
        raise BadInput(msg)
    return page(
        [released_alone(release.points)],
        view="public",
        title="trajanon: release",
        notice=None,
        attribution=release.attribution,
        tiles=tiles,
        background=background,
    )
