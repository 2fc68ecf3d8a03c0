"""Where trajectories may lie: boxes and polygons, as users give them."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.json_toml_and_regular_files import regular, table_beside
from trajanon.trajectories.geodesy import SHORT_DEGREE, metres_of_degrees

if TYPE_CHECKING:
    from geopandas import GeoDataFrame


@dataclass(frozen=True, slots=True)
class Box:
    """A box of longitudes and latitudes, its border included.

    Attributes
    ----------
    west, south, east, north
        Degrees, WGS 84.

    Raises
    ------
    BadInput
        If the box is not on Earth, is empty, or crosses the antimeridian.

    Examples
    --------
    >>> import numpy as np
    >>> from trajanon.extract import Box
    >>> box = Box(west=2.0, south=41.0, east=2.1, north=41.1)
    >>> box.contains(lat=np.array([41.05, 42.0]), lon=np.array([2.05, 2.05])).tolist()
    [True, False]
    >>> print(box)
    2,41,2.1,41.1
    >>> box.sides
    (2.0, 41.0, 2.1, 41.1)
    """

    west: float
    south: float
    east: float
    north: float

    def __post_init__(self) -> None:
        west, south, east, north = self.sides
        if not (-180.0 <= west < east <= 180.0 and -90.0 <= south < north <= 90.0):
            w, s, e, n = str(self).split(",")
            two_boxes = (
                "; if it crosses the antimeridian, give two boxes that meet at 180 degrees: "
                f"`area='{w},{s},180,{n}'` `area='-180,{s},{e},{n}'`"
            )
            raise BadInput(
                f"the box {self} must have longitudes in -180..180, latitudes in -90..90, west < "
                f"east and south < north (order: W,S,E,N){two_boxes if west > east else ''}"
            )

    def __str__(self) -> str:
        return ",".join(f"{side:.10g}" for side in self.sides)

    @property
    def sides(self) -> tuple[float, float, float, float]:
        """West, south, east, north."""
        return self.west, self.south, self.east, self.north

    @property
    def bounds(self) -> "Box":
        """The box itself."""
        return self

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        """Mark which points lie inside or on the border."""
        return (lat >= self.south) & (lat <= self.north) & (lon >= self.west) & (lon <= self.east)

    def leaves(self, lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Mark which ways, from the points numbered ``start`` to the next, leave.

        Only a way across the antimeridian can, unless the box goes all around the Earth.
        """
        if self.east - self.west == 360.0:
            return np.zeros(len(start), dtype=np.bool_)
        return np.asarray(np.abs(lon[start + 1] - lon[start]) > 180.0)


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
        If the shape is not a valid polygon, has no area, or is not on Earth.

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
        reason = shapely.is_valid_reason(self.shape)
        if self.shape.geom_type not in ("Polygon", "MultiPolygon"):
            reason = f"a {self.shape.geom_type}"
        elif self.shape.area == 0.0:
            reason = "it holds nothing"
        if reason != "Valid Geometry":
            raise BadInput(
                f"{self.name} is not a valid polygon ({reason}): repair it and try again"
            )
        _ = self.bounds  # a box off the Earth is refused

    def __str__(self) -> str:
        return self.name

    @property
    def bounds(self) -> Box:
        """The smallest box that holds it."""
        west, south, east, north = self.shape.bounds
        return Box(west, south, east, north)

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        """Mark which points lie inside or on the border."""
        shapely.prepare(self.shape)  # quick if done before; another process loses it
        return np.asarray(shapely.intersects_xy(self.shape, lon, lat))

    def leaves(self, lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Mark which ways, from the points numbered ``start`` to the next, leave.

        Those that touch the border or cross the antimeridian count as well.
        """
        lines, across = _straight(lat, lon, start)
        shapely.prepare(self.shape)
        return np.asarray(across | ~shapely.contains_properly(self.shape, lines))

    def meets(self, lat: Floats, lon: Floats, start: Ints) -> Bools:
        """Mark which ways, from the points numbered ``start`` to the next, come in, or may."""
        lines, across = _straight(lat, lon, start)
        shapely.prepare(self.shape)
        return np.asarray(across | shapely.intersects(self.shape, lines))


Area: TypeAlias = Box | Region


def _straight(lat: Floats, lon: Floats, start: Ints) -> tuple[NDArray[np.object_], Bools]:
    """Draw the ways from points to the next, and mark those across the antimeridian."""
    ends = np.stack([lon, lat], axis=1)[np.stack([start, start + 1], axis=1)]  # (ways, 2, 2)
    degrees_east = ends[:, 1, 0] - ends[:, 0, 0]
    return shapely.linestrings(ends), np.abs(degrees_east) > 180.0


_MARGIN = 0.01  # metres by which everything is wider, against rounding
_CORNERS = 16  # of a quarter of a circle

# A polygon with a radius larger by this factor, 0.3 %, holds the circle. GEOS rounds the
# number of corners of an arc: two may be half as far again apart.
_AROUND_CIRCLE = 1.0 / np.cos(1.5 * np.pi / (4 * _CORNERS))


def around(places: NDArray[np.object_], radius: float) -> NDArray[np.object_]:
    """Draw polygons that hold everything within a radius in metres of each place.

    No way is longer on the plane of each than on Earth, so nothing nearer is left out.
    """
    # Metres of a degree to the east and north: as few as anywhere around the place, at the
    # latitude nearest to a pole.
    _, south, _, north = shapely.bounds(places).T
    highest = np.maximum(np.abs(south), np.abs(north)) + radius / SHORT_DEGREE
    east = metres_of_degrees(np.minimum(highest, 90.0 - 1e-6))[:, 1]  # at a pole it has none
    scale = np.stack([east, np.full(len(places), SHORT_DEGREE)], axis=1)

    # The shapes in metres, made wider, and in degrees again.
    corners, place = shapely.get_coordinates(places, return_index=True)
    in_metres = shapely.set_coordinates(places.copy(), corners * scale[place])
    wide = shapely.buffer(in_metres, _AROUND_CIRCLE * radius + _MARGIN, quad_segs=_CORNERS)
    corners, place = shapely.get_coordinates(wide, return_index=True)
    shapes = shapely.set_coordinates(wide, corners / scale[place])

    # Those over the antimeridian are on its other side, too.
    farthest = np.abs(shapely.bounds(shapes)[:, [0, 2]]).max(axis=1, initial=0.0)
    over = shapes[farthest > 180.0]
    turned = [shapely.transform(over, partial(np.add, (turn, 0.0))) for turn in (-360.0, 360.0)]
    earth = shapely.box(-180.0, -90.0, 180.0, 90.0)
    parts = shapely.get_parts(shapely.intersection(np.concatenate([shapes, *turned]), earth))
    # Shapes that touch the border of the map from outside leave lines and points there.
    return np.asarray(parts[shapely.get_dimensions(parts) == 2])


AreaLike: TypeAlias = (
    str | os.PathLike[str] | BaseGeometry | Area | Sequence[str | float] | NDArray[Any] | None
)


CITIES: dict[str, tuple[Box, float | None]] = {
    row["name"]: (
        Box(*(float(row[side]) for side in ("west", "south", "east", "north"))),
        float(row["spacing"]),
    )
    for row in table_beside(__file__, "cities.csv")
}
"""Boxes, small enough for one request to the OSM API, and spacings in metres. First the three areas
of Maya-López, "Contributions to Statistical Disclosure Control" (thesis, URV 2023), section 2.3."""

_OF_THESIS = list(CITIES)[:3]
_OTHER_CITIES = list(CITIES)[3:]
KNOWN = f"{', '.join(_OF_THESIS)} or one of {len(_OTHER_CITIES)} more ({', '.join(_OTHER_CITIES)})"
"""The names of cities, for messages."""


def area_of(given: AreaLike) -> tuple[Area | None, float | None]:
    """Read an area in any form that `extract` names, and the spacing of a city in metres."""
    if given is None or isinstance(given, Box | Region):
        return given, None
    if isinstance(given, BaseGeometry):
        shape = shapely.force_2d(given)
        sides = ",".join(f"{side:.10g}" for side in shape.bounds)
        return Region(shape, f"the polygon within {sides}"), None
    if isinstance(given, os.PathLike) or (
        isinstance(given, str) and given.lower() not in CITIES and is_file(given)
    ):
        return read_outline(given), None

    parts: list[Any] = [given] if isinstance(given, str) else list(given)
    if len(parts) == 4 and all(isinstance(side, Real) for side in parts):
        return Box(*map(float, parts)), None
    if not parts or not all(isinstance(part, str) for part in parts):
        raise BadInput(
            f"{given!r} is not an area: give four numbers (west, south, east, north), a polygon, a "
            "file with polygons, or a city"
        )

    boxes, spacings = zip(*map(_city_or_box, parts), strict=True)
    # Cities with different spacings have none in common.
    spacing = spacings[0] if len(set(spacings)) == 1 else None
    if len(boxes) == 1:
        return boxes[0], spacing
    shape = shapely.union_all([shapely.box(*box.sides) for box in boxes])
    return Region(shape, " + ".join(text.strip() for text in parts)), spacing


def is_file(text: str) -> bool:
    """Return whether a text names a file; a polygon as text is too long for the name of one."""
    try:
        return Path(text).is_file()
    except OSError:
        return False


def _city_or_box(text: str) -> tuple[Box, float | None]:
    """Read a city or a box, which has no spacing."""
    if (name := text.strip().lower()) in CITIES:
        return CITIES[name]
    try:
        west, south, east, north = map(float, text.split(","))
    except ValueError:
        other = "Any other box is four degrees W,S,E,N such as `area='-3.75,40.38,-3.65,40.48'`"
        raise BadInput(f"{text!r} is not an area: name {KNOWN}. {other}") from None
    return Box(west, south, east, north), None


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
        If it holds no valid polygons, or anything else, or is not on Earth.

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
    shapes = read_geometries(path)
    not_polygons = {shape.geom_type for shape in shapes} - {"Polygon", "MultiPolygon"}
    if not_polygons or len(shapes) == 0:
        holds = ", ".join(sorted(not_polygons)) or "no geometry"
        raise BadInput(f"{path} holds {holds}: an outline must hold polygons only")
    if not shapely.is_valid(shapes).all():
        raise BadInput(f"{path} holds polygons that cross themselves: repair them")
    try:
        return Region(shapely.union_all(shapes), path.name)
    except BadInput as error:
        way_out = "save it with its coordinate reference system, or in degrees (WGS 84)"
        raise BadInput(f"{path} is not on Earth: {error}; {way_out}") from error


def read_geometries(path: Path) -> NDArray[np.object_]:
    """Read the geometries of a file in degrees, flat, without those that are empty."""
    import geopandas
    from pyproj.exceptions import ProjError

    table = read_shapes(path, "an outline", attributes=False)
    shapes = getattr(table, "geometry", geopandas.GeoSeries())  # a table without shapes has none
    shapes = shapes[~(shapes.isna() | shapes.is_empty)]
    try:
        return np.asarray(shapely.force_2d(shapes if shapes.crs is None else shapes.to_crs(4326)))
    except ProjError as error:
        why = "cannot be turned into WGS 84: transform it to EPSG:4326 first"
        raise BadInput(f"{path} has a reference system that {why}") from error


def read_shapes(path: Path, what: str, *, attributes: bool) -> "GeoDataFrame":
    """Read the shapes of a file, perhaps with their attributes; ``what`` names them in messages."""
    import geopandas
    import pyogrio

    layers = list[str]()
    try:
        with regular(path).open("rb") as file:
            parquet = file.read(4) == b"PAR1"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of GDAL's: the errors below say more
            if parquet:
                table = geopandas.read_parquet(path)
            else:
                layers = [str(name) for name, _ in pyogrio.list_layers(path)]
                table = pyogrio.read_dataframe(path, columns=None if attributes else [])
    except Exception as error:  # damaged files make geopandas raise anything
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        reason = reason.partition(".;")[0][:200]  # behind it stands advice for programmers
        raise FileProblem(f"cannot read {path} as {what}: {reason}") from error

    if len(layers) > 1:
        holds = f"{len(layers)} layers ({', '.join(layers)})"
        raise BadInput(f"{path} holds {holds}: save the one with {what} as a file of its own")
    return table


def place_of(box: Box) -> str:
    """Name the bundled city that a box lies in; elsewhere, give degrees.

    >>> place_of(Box(-3.72, 40.40, -3.68, 40.44))
    'Madrid'
    >>> place_of(Box(-30.02, -10.01, -29.98, -9.99))
    '10.00° S, 30.00° W'
    """
    lat = (box.south + box.north) / 2.0
    lon = (box.west + box.east) / 2.0
    for name, (city, _) in CITIES.items():
        if city.contains(np.array([lat]), np.array([lon])).all():
            return name.replace("-", " ").title()
    return f"{abs(lat):.2f}° {'NS'[lat < 0]}, {abs(lon):.2f}° {'EW'[lon < 0]}"
