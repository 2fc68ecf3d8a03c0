"""A released file as found: its lines, its ids, and everything else in it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.trajectories import OSM_ATTRIBUTION

DECIMALS = 7
"""Of a degree, in every format: a centimetre, as OpenStreetMap itself writes."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One released geometry.

    Attributes
    ----------
    coordinates
        Longitude, latitude and whatever else each point has, shape (m, 2) or more.
    kind
        What it is: LineString, Point, ...; "nothing" where the geometry is missing.
    written
        The coordinates as text, in formats that are text.
    """

    coordinates: NDArray[np.float64]
    kind: str = "LineString"
    written: str | None = None

    @property
    def key(self) -> bytes:
        """Equal for lines that are equal as written, not just as numbers."""
        return (
            self.coordinates.tobytes()
            if self.written is None
            else self.written.encode()
        )

    @classmethod
    def of(cls, geometry: Any) -> "Line":
        """Take a shapely geometry, or None."""
        import shapely

        if geometry is None:
            return cls(np.empty((0, 2)), "nothing")
        heights = shapely.has_z(geometry)
        coordinates = shapely.get_coordinates(geometry, include_z=bool(heights))
        if getattr(shapely, "has_m", None) and shapely.has_m(geometry):
            coordinates = np.column_stack([coordinates, np.zeros(len(coordinates))])
        return cls(coordinates, geometry.geom_type)


@dataclass(frozen=True, slots=True)
class ReleasedFile:
    """What a reader found.

    Attributes
    ----------
    lines
        The trajectories in the order of the file.
    ids
        Their ids in the same order; None if the file has none.
    extras
        Everything else in the file that a release does not need, in words.
    attribution
        The line that goes with the data, if the file has one.
    """

    lines: Sequence[Line]
    ids: Sequence[Any] | None
    extras: Sequence[str] = field(default_factory=list)
    attribution: str | None = None


def unknown_attribution(text: str) -> list[str]:
    """Name an attribution that trajanon does not write; it could say anything."""
    return [] if text == OSM_ATTRIBUTION else [f"an unknown attribution {text[:40]!r}"]
