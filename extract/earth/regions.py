"""Areas of any shape: boundaries, outlines from files, several boxes at once."""

import logging
import os
import warnings
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from trajanon.arrays import Bools, Floats, Ints
from trajanon.errors import BadInput, FileProblem
from trajanon.extract.earth.border import AreaBorder
from trajanon.extract.earth.box import Box
from trajanon.inputs import regular
from trajanon.words import number_of

if TYPE_CHECKING:
    from geopandas import GeoDataFrame, GeoSeries

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Region:
    """One or more polygons, their borders included.

    Attributes
    ----------
    shape
        A polygon or several, with or without holes; longitude and latitude in degrees, WGS 84. A
        line between two corners is straight in degrees.
    name
        Its name in messages and provenance.

    Raises
    ------
    BadInput
        If the shape is no valid polygon, has no area, or is not on Earth.

    Examples
    --------
    Two squares. The way from one to the other leaves the region:

    >>> import numpy as np
    >>> import shapely
    >>> from trajanon.extract import Region
    >>> squares = shapely.box([2.0, 2.2], [41.0, 41.0], [2.1, 2.3], [41.1, 41.1])
    >>> region = Region(shapely.union_all(squares), "two squares")
    >>> print(region.bounds)
    2,41,2.3,41.1
    >>> lat, lon = np.array([41.05, 41.05, 41.05]), np.array([2.05, 2.25, 2.15])
    >>> region.contains(lat, lon).tolist(), region.leaves(lat, lon, start=np.array([0])).tolist()
    ([True, True, False], [True])
    """

    shape: BaseGeometry
    name: str

    def __post_init__(self) -> None:
        kind, problem = self.shape.geom_type, None
        if kind not in ("Polygon", "MultiPolygon") and not self.shape.is_empty:
            problem = f"is a {kind}: an area needs polygons"
        elif self.shape.area == 0.0:
            problem = "has no area: give a polygon that holds something"
        elif not self.shape.is_valid:
            reason = shapely.is_valid_reason(self.shape)
            problem = f"is no valid polygon ({reason}): mend it and try again"
        if problem:
            raise BadInput(f"{self.name} {problem}")
        _ = self.bounds  # a box off the Earth is refused

    def __str__(self) -> str:
        return self.name

    @cached_property
    def bounds(self) -> Box:
        """The smallest box that holds it."""
        return Box(*self.shape.bounds)

    @cached_property
    def _border(self) -> AreaBorder:
        return AreaBorder(self.shape)

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        """Tell which points lie inside or on the border."""
        shapely.prepare(self.shape)  # quick if done before; another process loses it
        return np.asarray(shapely.intersects_xy(self.shape, lon, lat))

    def leaves(self, lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Tell which ways between two points inside may lead outside.

        So may all that come within millimetres of the border, or cross the antimeridian.
        """
        return self._border.meets(lat, lon, start)


def read_outline(path: str | os.PathLike[str]) -> Region:
    """Read a region from a file of polygons; several are united.

    Parameters
    ----------
    path
        GeoJSON, GeoPackage, Shapefile, FlatGeobuf, GeoParquet or whatever else GDAL reads, of one
        layer, in any coordinate reference system; degrees if it names none.

    Raises
    ------
    FileProblem
        If the file cannot be read.
    BadInput
        If it holds no polygons, or anything else, or is not on Earth.

    Examples
    --------
    >>> from pathlib import Path
    >>> import shapely
    >>> from trajanon.extract import read_outline
    >>> square = shapely.box(2.0, 41.0, 2.1, 41.1)
    >>> _ = Path("square.geojson").write_text(shapely.to_geojson(square))
    >>> print(read_outline("square.geojson").bounds)
    2,41,2.1,41.1
    """
    path = Path(path)
    shapes = shapely.force_2d(_degrees(path, _geometries(path)))
    if invalid := int((~shapely.is_valid(shapes)).sum()):
        of = f"of {number_of(len(shapes), 'polygon')}"
        cross = number_of(
            invalid, f"{of} crosses itself and was", f"{of} cross themselves and were"
        )
        logger.warning("%s: %s mended: look at the result on a map", path, cross)
        # Mending may leave lines that stick out of a polygon.
        shapes = shapely.get_parts(shapely.get_parts(shapely.make_valid(shapes)))
        shapes = shapes[shapely.get_dimensions(shapes) == 2]
    return Region(shapely.union_all(shapes), path.name)


def _geometries(path: Path) -> "GeoSeries":
    """The polygons of a file, in its own reference system."""
    import geopandas

    try:
        with regular(path).open("rb") as file:
            parquet = file.read(4) == b"PAR1"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of GDAL's: the errors below say more
            table = geopandas.read_parquet(path) if parquet else _layer(path)
    except BadInput:
        raise
    except Exception as error:  # damaged files make geopandas raise anything
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise FileProblem(
            f"cannot read {path} as an outline: {reason.partition('.;')[0][:200]}"
        ) from error
    found = getattr(table, "geometry", geopandas.GeoSeries())
    found = found[~(shapely.is_missing(found) | shapely.is_empty(found))]
    others = set(found.geom_type) - {"Polygon", "MultiPolygon"}
    if others or len(found) == 0:
        holds = ", ".join(sorted(others)) or "no geometry"
        raise BadInput(f"{path} holds {holds}: an outline needs polygons, and nothing else")
    return found


def _layer(path: Path) -> "GeoDataFrame":
    import pyogrio

    layers = [str(name) for name, _ in pyogrio.list_layers(path).reshape(-1, 2)]
    if len(layers) > 1:
        raise BadInput(
            f"{path} holds {len(layers)} layers ({', '.join(layers)}): save the one "
            "with the outline as a file of its own"
        )
    return pyogrio.read_dataframe(path, columns=[])


def _degrees(path: Path, shapes: "GeoSeries") -> NDArray[np.object_]:
    """Turn polygons to longitude and latitude."""
    places = shapes if shapes.crs is None else shapes.to_crs(4326)
    west, south, east, north = places.total_bounds
    if not (-180 <= west <= east <= 180 and -90 <= south <= north <= 90):
        known = "" if shapes.crs is None else f" in {shapes.crs.name}"
        seen = ",".join(f"{side:.10g}" for side in shapes.total_bounds)
        raise BadInput(
            f"{path} reaches over {seen}{known}, which is not on Earth: save it with "
            "its coordinate reference system, or in degrees (WGS 84)"
        )
    return np.asarray(places, dtype=np.object_)
