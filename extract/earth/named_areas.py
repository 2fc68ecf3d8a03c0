"""Areas as users give them: cities, boxes in degrees, polygons, files of polygons."""

import csv
import logging
import os
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.earth.area import Area, Box, Region
from trajanon.inputs import regular
from trajanon.number_text import number_of

if TYPE_CHECKING:
    from geopandas import GeoSeries

logger = logging.getLogger(__name__)

_One: TypeAlias = str | os.PathLike[str] | BaseGeometry | Area
AreaLike: TypeAlias = _One | Sequence[str] | Sequence[float] | NDArray[Any] | None
"""An area as Python gives it: see `area_of`."""


class City(NamedTuple):
    """The box of a city, small enough for one request to the OSM API, and its spacing in metres."""

    box: Box
    spacing: float


_, *_ROWS = csv.reader(Path(__file__).with_name("cities.csv").read_text("utf-8").splitlines())
CITIES = {name: City(Box(*map(float, sides)), float(spacing)) for name, *sides, spacing, _ in _ROWS}
"""The three areas of Maya-López, "Contributions to Statistical Disclosure Control"
(thesis, URV 2023), section 2.3, and then other large cities by name."""

_OTHERS = list(CITIES)[3:]

KNOWN = f"{', '.join(list(CITIES)[:3])} or one of {len(_OTHERS)} more ({', '.join(_OTHERS)})"
"""The cities, as messages list them."""


def area(text: str) -> tuple[Box, float | None]:
    """Read a city or a box; give it with the spacing of the city in metres, None for a box."""
    name = text.strip().lower()
    if name in CITIES:
        return CITIES[name]
    try:
        west, south, east, north = map(float, text.split(","))
    except ValueError:
        words = "-".join(name.split())
        near = [] if "," in words else get_close_matches(words, CITIES)
        cities = f"did you mean {' or '.join(near)}?" if near else f"name {KNOWN}."
        raise BadInput(
            f"{text!r} is not an area: {cities} Any other box is four degrees "
            "W,S,E,N such as `area='-3.75,40.38,-3.65,40.48'`"
        ) from None
    return Box(west, south, east, north), None


def areas(texts: Sequence[str]) -> tuple[Area, float | None]:
    """Read cities and boxes, and unite them.

    Parameters
    ----------
    texts
        Each a city or a box, as for `area`.

    Returns
    -------
    tuple[Area, float | None]
        The box of one text, or the union of several; and the spacing in metres, if all have the
        same.

    Examples
    --------
    >>> from trajanon.extract import areas
    >>> box, spacing = areas(["tarraco"])
    >>> spacing
    5.0
    >>> both, _ = areas(["2,41,2.1,41.1", "2.1,41,2.3,41.1"])
    >>> print(both.bounds)
    2,41,2.3,41.1
    """
    if not texts:
        raise BadInput(f"no area is given: name {KNOWN}, or four degrees W,S,E,N")
    boxes, spacings = zip(*map(area, texts), strict=True)
    spacing = spacings[0] if len(set(spacings)) == 1 else None
    if len(boxes) == 1:
        return boxes[0], spacing
    shape = shapely.union_all([shapely.box(*box.sides) for box in boxes])
    return Region(shape, " + ".join(text.strip() for text in texts)), spacing


def area_of(given: AreaLike) -> tuple[Area | None, float | None]:
    """Read an area in any form that Python users give, and the spacing of a city in metres.

    The forms: None for everywhere, a city or ``W,S,E,N`` or several of these, four numbers, a
    polygon of shapely, the path of a file with polygons, or an `Area`.
    """
    if isinstance(given, os.PathLike) or (
        isinstance(given, str) and given.lower() not in CITIES and Path(given).is_file()
    ):
        return read_outline(given), None
    if isinstance(given, str):
        return areas([given])
    if isinstance(given, BaseGeometry):
        shape = shapely.force_2d(given)
        sides = ",".join(f"{side:.10g}" for side in shape.bounds)
        return Region(shape, f"the polygon within {sides}"), None
    if given is None or isinstance(given, Area):
        return given, None
    several: list[Any] = list(given) if isinstance(given, Sequence | np.ndarray) else [given]
    if all(isinstance(each, str) for each in several):
        return areas(several)
    if len(several) == 4 and all(isinstance(side, Real) for side in several):
        return Box(*map(float, several)), None
    raise BadInput(
        f"{given!r} is not an area: give four numbers (west, south, east, north), a "
        "polygon, a file with polygons, or a city"
    )


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
    places = _polygons(path)
    try:
        shapes = shapely.force_2d(places if places.crs is None else places.to_crs(4326))
        if invalid := int((~shapely.is_valid(shapes)).sum()):
            of = number_of(len(shapes), "polygon")
            logger.warning(
                "%s: %s of %s crossed themselves: look at what is mended on a map",
                *(path, f"{invalid:,}", of),
            )
            # Mending may leave lines that stick out of a polygon.
            shapes = shapely.get_parts(shapely.get_parts(shapely.make_valid(shapes)))
            shapes = shapes[shapely.get_dimensions(shapes) == 2]
        return Region(shapely.union_all(shapes), path.name)
    except BadInput as error:
        raise BadInput(
            f"{path} is not on Earth: {error}; save it with its coordinate reference system, or in "
            "degrees (WGS 84)"
        ) from error


def _polygons(path: Path) -> "GeoSeries":
    """The polygons of a file, in its own reference system."""
    import geopandas
    import pyogrio

    try:
        with regular(path).open("rb") as file:
            parquet = file.read(4) == b"PAR1"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of GDAL's: the errors below say more
            layers = [""] if parquet else [str(name) for name, _ in pyogrio.list_layers(path)]
            if len(layers) > 1:
                raise BadInput(
                    f"{path} holds {len(layers)} layers ({', '.join(layers)}): save the one with "
                    "the outline as a file of its own"
                )
            table = (
                geopandas.read_parquet(path)
                if parquet
                else pyogrio.read_dataframe(path, columns=[])
            )
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
