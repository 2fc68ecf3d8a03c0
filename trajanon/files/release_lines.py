"""What a release is made of: lines, with so many decimals, and an attribution."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.arrays import Floats, Ints
from trajanon.settings import ReleaseSettings
from trajanon.trajectories import OSM_ATTRIBUTION

DIGITS = ReleaseSettings.digits

LINE = "LineString"


def rounded(degrees: Floats, digits: int) -> Floats:
    """Round coordinates as they are written; there is one zero."""
    return np.round(degrees, digits) + 0.0


def line_numbers(lines: Floats) -> Ints:
    """Number lines, (n, m, 2), from 0 as they appear; equal ones have one number."""
    return _numbers(np.array([line.tobytes() for line in lines], dtype=object))


def _numbers(keys: NDArray[np.object_]) -> Ints:
    numbers: Ints = pd.factorize(keys)[0].astype(np.int64)
    return numbers


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Released geometries in the order of the file, as columns."""

    kinds: NDArray[np.object_]  # what each is
    sizes: Ints  # how many points each has, shape (n,); 0 where they are no pairs of numbers
    coordinates: Floats  # longitude, latitude and what else, of all points, (points, 2 or more)
    keys: NDArray[np.object_]  # bytes of each, shape (n,)
    attribution: str | None  # the words that go with the data

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def places(self) -> Floats:
        """Longitude and latitude, (n, m, 2), of lines of equally many points."""
        return self.coordinates.reshape(len(self), -1, 2)

    @property
    def groups(self) -> Ints:
        """A number for each line, equal where lines are equal as written, (n,)."""
        return _numbers(self.keys)

    @classmethod
    def of(
        cls, geometries: NDArray[np.object_], keys: NDArray[np.object_], attribution: str | None
    ) -> "Lines":
        """Take shapely geometries, some of them None, and their bytes."""
        import shapely

        with_heights = bool(shapely.has_z(geometries).any())
        coordinates = shapely.get_coordinates(geometries, include_z=with_heights)
        if hasattr(shapely, "has_m") and shapely.has_m(geometries).any():
            coordinates = np.column_stack([coordinates, np.zeros(len(coordinates))])
        _, example, kind = np.unique(
            shapely.get_type_id(geometries), return_index=True, return_inverse=True
        )
        names = [getattr(one, "geom_type", "nothing") for one in geometries[example]]
        return cls(
            np.array(names, dtype=object)[kind],
            shapely.get_num_coordinates(geometries).astype(np.int64),
            coordinates,
            np.array([b"" if key is None else key for key in keys], dtype=object),
            attribution,
        )

    @classmethod
    def of_points(cls, lines: Sequence[Floats], attribution: str | None) -> "Lines":
        """Take the longitude and latitude of each line's points, and what else."""
        flat = [a if a.ndim == 2 and a.shape[1] > 1 else np.empty((0, 2)) for a in lines]
        sizes = np.array([len(line) for line in flat], dtype=np.int64)
        width = max((line.shape[1] for line in flat), default=2)
        coordinates = np.zeros((sizes.sum(), width))
        ends = np.cumsum(sizes)
        for line, end in zip(flat, ends.tolist(), strict=True):
            coordinates[end - len(line) : end, : line.shape[1]] = line
        return cls(
            np.full(len(flat), LINE, dtype=object),
            sizes,
            coordinates,
            np.array([line.tobytes() for line in flat], dtype=object),
            attribution,
        )


Writer = Callable[[Path, Floats, str | None], None]
"""Writes lines of points (lat, lon), (n, m, 2), and their attribution."""


class ReleaseFormat(NamedTuple):
    """What writes a release and reads it, whatever else stands in the file."""

    write: Writer
    read: Callable[[Path], Lines]
    # Who wrote a file whose bytes depend on versions of libraries, and all that these read in it.
    contents: Callable[[Path], tuple[str, Mapping[str, Any]]] | None = None


def known_attribution(text: str | None) -> str | None:
    """Take the only words that a release may hold; others could say anything."""
    return text if text == OSM_ATTRIBUTION else None


def unknown_attribution(text: str) -> list[str]:
    """Name an attribution that trajanon does not write; it could say anything."""
    return [] if text == OSM_ATTRIBUTION else [f"an unknown attribution {text[:40]!r}"]
