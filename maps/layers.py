"""Layers: groups as coloured lines, each with its number and size under the mouse."""

from collections.abc import Sequence
from typing import Any

import folium
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

# Told apart with any colour vision, and dark enough for a pale street map: Okabe and
# Ito's colours without yellow and black, with Tol's indigo and wine.
PALETTE = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#332288",
    "#E69F00",
    "#56B4E9",
    "#882255",
)

_NEIGHBOURS = 8
_DECIMALS = 6  # of a degree: 0.1 m, finer than any screen
_TOOLTIP = """
    padding: 4px 8px; border: 0; border-radius: 4px;
    font: 12px/1.4 system-ui, sans-serif;
    color: #222; background: #fff; box-shadow: 0 1px 4px rgb(0 0 0 / 40%);
"""


def colours(lines: NDArray[np.float64]) -> list[str]:
    """Choose a colour for each line that its neighbours do not have.

    Parameters
    ----------
    lines
        Latitude and longitude in degrees, shape (lines, m, 2).

    Returns
    -------
    list[str]
        A colour of ``PALETTE`` for each line.
    """
    middle = lines.mean(axis=1)
    middle[:, 1] *= np.cos(np.radians(middle[:, 0].mean()))
    count = min(_NEIGHBOURS + 1, len(lines))
    _, neighbours = KDTree(middle).query(middle, k=[*range(1, count + 1)])
    chosen = np.full(len(lines), -1)
    used = np.zeros(len(PALETTE))
    for line, nearest_first in enumerate(neighbours):
        taken = chosen[nearest_first]
        near = 1.0 / np.arange(1, count + 1)
        cost = np.bincount(taken[taken >= 0], near[taken >= 0], len(PALETTE))
        chosen[line] = np.lexsort((used, cost))[0]
        used[chosen[line]] += 1
    return [PALETTE[colour] for colour in chosen]


def weights(sizes: NDArray[np.int64]) -> list[float]:
    """Choose a width in pixels for each released line, growing mildly with its group.

    Parameters
    ----------
    sizes
        Number of trajectories in each group.

    Returns
    -------
    list[float]
        Pixels.
    """
    pixels: list[float] = np.round(2.0 + 0.75 * np.log2(sizes), 1).tolist()
    return pixels


def layer(
    name: str,
    groups: Sequence[NDArray[np.float64]],
    *,
    about: Sequence[str],
    colour: Sequence[str],
    weight: Sequence[float],
    opacity: float,
) -> folium.GeoJson:
    """Make a layer with one feature a group.

    Parameters
    ----------
    name
        What the layer control calls it.
    groups
        The lines of each group: latitude and longitude in degrees, shape (any, m, 2).
    about
        The tooltip of each group.
    colour, weight
        The colour of each group, and the width of its lines in pixels.
    opacity
        Of all lines, from 0 to 1.

    Returns
    -------
    folium.GeoJson
        Not yet on a map.
    """
    features = [
        {
            "type": "Feature",
            "id": group,
            "properties": {"about": text, "color": paint, "weight": pixels},
            "geometry": {"type": "MultiLineString", "coordinates": _coordinates(lines)},
        }
        for group, (lines, text, paint, pixels) in enumerate(
            zip(groups, about, colour, weight, strict=True)
        )
    ]

    def style(feature: dict[str, Any]) -> dict[str, Any]:
        properties = feature["properties"]
        return {
            "color": properties["color"],
            "weight": properties["weight"],
            "opacity": opacity,
        }

    return folium.GeoJson(
        {"type": "FeatureCollection", "features": features},
        name=name,
        style_function=style,
        tooltip=folium.GeoJsonTooltip(["about"], labels=False, style=_TOOLTIP),
    )


def _coordinates(lines: NDArray[np.float64]) -> list[list[list[float]]]:
    """Turn lat, lon into the lon, lat of GeoJSON."""
    coordinates: list[list[list[float]]] = np.round(
        lines[..., ::-1], _DECIMALS
    ).tolist()
    return coordinates
