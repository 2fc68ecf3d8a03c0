"""Data frames of pandas and geopandas, and collections of movingpandas -> traces."""

import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd
import shapely

from trajanon.common.errors import BadInput, ColumnsUnclear, LeftOutWarning, warn
from trajanon.extract.cutting import cut
from trajanon.extract.dropped import sentences
from trajanon.extract.rules import Rules
from trajanon.extract.sources.features import traces_of_features
from trajanon.extract.sources.point_groups import FIRST
from trajanon.extract.sources.source_tables import traces_of_table
from trajanon.extract.sources.streams import Reading
from trajanon.extract.trace import Trace
from trajanon.trajectories.trajectories import Trajectories

if TYPE_CHECKING:
    from geopandas import GeoSeries

_WHAT = "the frame"

_OTHER_LIMITS = (
    "For other columns or limits, give the Trajectories that trajanon.extract.cut makes of "
    "trajanon.extract.from_frame"
)


def from_frame(
    frame: pd.DataFrame, *, columns: Mapping[str, str] | None = None, subjects_exact: bool = False
) -> Iterator[Trace]:
    """Read the traces of a GeoDataFrame of points or lines, or of a DataFrame of points.

    Points of one subject and one id are one trace, in the order of the rows; a DatetimeIndex is
    their time. A line is a trace, and so is each part of a MultiLineString; a list beside it, as
    long as the line, is its times.

    Parameters
    ----------
    frame
        Its geometries are transformed to WGS 84; without a reference system, they must be degrees,
        x = longitude and y = latitude. Of a DataFrame, columns hold latitude and longitude.
    columns
        Column by role (id, subject, time; of a DataFrame also lat, lon), where the usual names do
        not say.
    subjects_exact
        Whether names are taken as they are; otherwise spellings of one name are one subject's.

    Yields
    ------
    Trace
        Names are ids; they begin with ``frame#`` if no column is known as subject.

    Raises
    ------
    BadInput
        If the frame has no coordinates, other geometries than points and lines, no id for its
        points, or is not on Earth.

    Examples
    --------
    >>> import geopandas
    >>> import shapely
    >>> from trajanon.extract import from_frame
    >>> lines = [shapely.LineString([(2.0, 41.0), (2.1, 41.2)])]
    >>> frame = geopandas.GeoDataFrame({"subject": ["Ada"]}, geometry=lines, crs="EPSG:4326")
    >>> (trace,) = from_frame(frame)
    >>> trace.subject, trace.lat.tolist(), trace.lon.tolist()
    ('Ada', [41.0, 41.2], [2.0, 2.1])
    """
    geometry = _geometry_of(frame)
    attributes = pd.DataFrame(frame if geometry is None else frame.drop(columns=geometry.name))
    attributes.columns = attributes.columns.map(str)
    if not attributes.columns.is_unique:
        twice = attributes.columns[attributes.columns.duplicated()][0]
        raise BadInput(f"the frame has two columns {twice!r}; rename one of them")
    wanted = dict(columns or {})
    if isinstance(frame.index, pd.DatetimeIndex):
        attributes = attributes.assign(DatetimeIndex=frame.index)
        wanted = {"time": "DatetimeIndex", **wanted}
    else:
        levels = [name for name in frame.index.names if name is not None]
        new = {str(level): frame.index.get_level_values(level) for level in levels}
        attributes = attributes.assign(**{n: new[n] for n in new if n not in attributes})
    attributes = attributes.reset_index(drop=True)
    if "nameless" in wanted:
        raise BadInput(
            "`columns` nameless=different is for extract: cut takes nameless_differ=True"
        )
    reading = Reading(columns=wanted, subjects_exact=subjects_exact)
    if geometry is None:
        if not len(frame):
            raise BadInput(f"{_WHAT} has no rows")
        yield from traces_of_table(
            list(attributes), attributes[:FIRST], lambda names: iter([attributes[list(names)]]),
            _WHAT, "frame", reading,
        )  # fmt: skip
    else:
        yield from traces_of_features(
            geometry.to_numpy(), attributes, geometry.crs, _WHAT, "frame", reading
        )
    reading.tell_rest()
    for what, count in reading.counts.items():
        warn(LeftOutWarning(f"left out of the frame, {what}: {count:,}", what))


def trips_of(frame: pd.DataFrame, columns: Mapping[str, str]) -> Trajectories:
    """Make a trajectory of each trip of points, or of each line; warn of those left out.

    ``columns`` are the names of those of subject, time and recording, where they are not usual.
    """
    for role, name in columns.items():
        if not isinstance(name, str):
            kind = type(name).__name__
            raise BadInput(f"`{role}` must be the name of a column, a text (got a {kind})")
    roles = {"id" if role == "recording" else role: name for role, name in columns.items()}

    rules = Rules()
    if holds_lines(frame):
        rules = Rules(min_length=0, max_gap=None, max_pause=None, max_speed=None)
    try:
        trips = cut(from_frame(frame, columns=roles), rules)
    except BadInput as error:
        message = str(error).replace("`columns` id=", "`recording`=")  # as the parameter is called
        for name in ("subject", "time"):
            message = message.replace(f"`columns` {name}=", f"`{name}`=")
        kind = BadInput if isinstance(error, ColumnsUnclear) else type(error)
        raise kind(f"{message}. {_OTHER_LIMITS}") from error

    if notes := sentences(trips.provenance):
        warn(LeftOutWarning(" ".join([*notes, f"{_OTHER_LIMITS}."]), "trips"))
    return trips


def holds_lines(frame: pd.DataFrame) -> bool:
    """Return whether the first geometry of a frame is a line."""
    geometry = _geometry_of(frame)
    if geometry is None:
        return False
    geometries = geometry[~(geometry.isna() | geometry.is_empty)]
    return len(geometries) > 0 and bool(shapely.get_dimensions(geometries.iloc[0]) == 1)


def _geometry_of(frame: pd.DataFrame) -> "GeoSeries | None":
    """Return the geometries of a frame; None of a frame without."""
    if not isinstance(frame, pd.DataFrame):
        raise BadInput(f"a DataFrame or a GeoDataFrame is taken, not {type(frame).__name__}")
    return None if getattr(frame, "active_geometry_name", None) is None else frame.geometry


def from_collection(collection: Any) -> Iterator[Trace]:
    """Read the traces of movingpandas.

    Parameters
    ----------
    collection
        A TrajectoryCollection, or one Trajectory. Coordinates are transformed to WGS 84. Times are
        those of the zone that a trajectory was made with, if it still knows it, else UTC.

    Yields
    ------
    Trace
        Named by the trajectory's id; the id of its moving object is the subject.

    Examples
    --------
    >>> import movingpandas
    >>> import pandas as pd
    >>> from trajanon.extract import from_collection
    >>> fixes = pd.DataFrame({"t": pd.to_datetime([0, 60], unit="s"), "id": "a"})
    >>> fixes = fixes.assign(lat=[41.0, 41.2], lon=[2.0, 2.1])
    >>> collection = movingpandas.TrajectoryCollection(fixes, "id", t="t", x="lon", y="lat")
    >>> (trace,) = from_collection(collection)
    >>> trace.lat.tolist(), trace.lon.tolist(), trace.time.tolist()
    ([41.0, 41.2], [2.0, 2.1], [0.0, 60.0])
    """
    trajectories = getattr(collection, "trajectories", [collection])
    if not all(hasattr(trajectory, "to_point_gdf") for trajectory in trajectories):
        what = f"a collection of movingpandas is taken, not {type(collection).__name__}"
        raise BadInput(what)
    parts = []
    for number, trajectory in enumerate(trajectories):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The inplace keyword", DeprecationWarning)
            points = trajectory.to_point_gdf()[[trajectory.get_geom_col()]]
        # An hour that came twice has no time.
        local = points.index.tz_localize(
            trajectory.df_orig_tz or "UTC", ambiguous="NaT", nonexistent="shift_forward"
        )
        name = f"collection#{number + 1}" if trajectory.id is None else trajectory.id
        points = points.set_index(local.tz_convert("UTC"))
        parts.append(points.assign(id=name, subject=trajectory.obj_id))
    if parts:
        yield from from_frame(pd.concat(parts))
