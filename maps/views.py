"""The maps: originals with one release or several, for the holder; a release alone, to publish."""

from collections.abc import Mapping, Sequence
from typing import Any

import folium

from trajanon.errors import BadInput
from trajanon.files.report import Report
from trajanon.maps.drawing import (
    Drawing,
    match,
    release_and_originals,
    released_alone,
    sample_and_counts,
)
from trajanon.maps.page import Background, map_page
from trajanon.privacy.originals import InParts
from trajanon.release import Release, with_report
from trajanon.trajectories import Trajectories

VIEWS = ("overlay", "side-by-side")


def compare(
    trajectories: Trajectories,
    release: Release | Trajectories,
    report: Mapping[str, Any] | None = None,
    *,
    view: str = "overlay",
    tiles: str | None = "OpenStreetMap",
    background: Background | None = None,
) -> folium.Map:
    """Draw original and released trajectories, one colour a group.

    The page is for the holder of the data: it shows the originals, and says so in its first line.
    When it is opened, the browser asks a server for the tiles of the street map, so that server
    learns where the data are; without tiles the page loads nothing.

    Parameters
    ----------
    trajectories
        The originals. Windows that slid on their tracks are drawn where they were averaged.
    release
        The result of `trajanon.anonymize`; or the released trajectories, in any order.
    report
        The holder's report, if the release comes without.
    view
        ``overlay``, both on one map; or ``side-by-side``, on two that move together.
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
        If there is nothing to draw, if trajectories, release and report do not belong together, or
        if the view or the street map is not known.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> from trajanon import maps
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> trajectories = trajanon.Trajectories(points, subject=np.arange(4))
    >>> drawn = maps.compare(trajectories, trajanon.anonymize(trajectories, k=2), tiles=None)
    >>> print(maps.html(drawn).splitlines()[0])
    <!-- For the holder of the data, not for publication. -->
    """
    return compare_releases(
        trajectories,
        {"release": with_report(release, report)},
        view=view,
        tiles=tiles,
        background=background,
    )


def compare_releases(
    trajectories: Trajectories,
    releases: Mapping[str, Release | tuple[Trajectories, Mapping[str, Any]]],
    *,
    view: str = "overlay",
    tiles: str | None = "OpenStreetMap",
    background: Background | None = None,
) -> folium.Map:
    """Draw several releases of the same trajectories, with a switch between them.

    Parameters
    ----------
    releases
        By name: results of `trajanon.anonymize`, or released trajectories with their report.
    trajectories, view, tiles, background
        As for `compare`.

    Returns
    -------
    folium.Map
        Ready to be saved; in a notebook it shows itself.

    Raises
    ------
    BadInput
        As of `compare`, or if there is no release.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> from trajanon import maps
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> trajectories = trajanon.Trajectories(points)
    >>> releases = {f"k = {k}": trajanon.anonymize(trajectories, k) for k in (2, 4)}
    >>> drawn = maps.compare_releases(trajectories, releases, tiles=None)
    >>> [f'"{name}"' in maps.html(drawn) for name in releases]
    [True, True]
    """
    if not releases:
        raise BadInput("there is no release to draw: name at least one")
    matches = {
        name: match(trajectories, *(with_report(each, None) if isinstance(each, Release) else each))
        for name, each in releases.items()
    }
    return _for_the_holder(
        [release_and_originals(name, *each, len(matches)) for name, each in matches.items()],
        [report for _, report in matches.values()],
        trajectories,
        view=view,
        tiles=tiles,
        background=background,
    )


def compare_in_parts(name: str, whole: InParts, **how: Any) -> folium.Map:
    """Draw a sample of a release in parts and of its originals, and the densities of all."""
    return _for_the_holder([sample_and_counts(name, whole)], [whole.report], whole.lines, **how)


def _for_the_holder(
    drawings: Sequence[Drawing], reports: Sequence[Report], shown: Trajectories, **how: Any
) -> folium.Map:
    if how["view"] not in VIEWS:
        raise BadInput(f"`view` {how['view']!r} is not known; choose from {', '.join(VIEWS)}")
    reported = (report.get("attribution") for report in reports)
    return map_page(
        drawings,
        title="trajanon: originals and release, for the holder of the data",
        notice=" ".join(dict.fromkeys(str(report["notice"]) for report in reports)),
        attribution=next(filter(None, reported), shown.attribution),
        **how,
    )


def public(
    release: Release | Trajectories,
    *,
    tiles: str | None = "OpenStreetMap",
    background: Background | None = None,
) -> folium.Map:
    """Draw a release and nothing else; equal trajectories are one group.

    Parameters
    ----------
    release
        The released trajectories; or the result of `trajanon.anonymize`, without its report.
    tiles, background
        As for `compare`.

    Returns
    -------
    folium.Map
        Ready to be saved; in a notebook it shows itself.

    Raises
    ------
    BadInput
        If there is nothing to draw, or the street map is not known.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> from trajanon import maps
    >>> points = np.array([[[40.0, 2.0], [40.0, 3.0]], [[40.2, 2.0], [40.2, 3.0]]])
    >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2)
    >>> page = maps.html(maps.public(release, tiles=None))
    >>> "For the holder of the data" in page
    False
    """
    if isinstance(release, Release):
        release = release.trajectories
    if len(release) == 0:
        raise BadInput("there are no released trajectories to draw: run trajanon anonymize again")
    return map_page(
        [released_alone(release)],
        view="public",
        title="trajanon: release",
        notice=None,
        attribution=release.attribution,
        tiles=tiles,
        background=background,
    )
