"""Data frames of any library, and collections of movingpandas -> traces."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd
import shapely

from trajanon.common.arrays import DataFrame
from trajanon.common.columns_read import TablesRead
from trajanon.common.errors import (
    BadInput,
    ColumnsUnclear,
    GuessedWarning,
    LeftOutWarning,
    NoTrajectories,
    TrajanonWarning,
    warn,
)
from trajanon.common.progress import Notices
from trajanon.extract.options_and_defaults import Rules, refuse_other_columns
from trajanon.extract.sources.column_role_names import FOLDER, ONE_A_FILE, TRACK, known_as
from trajanon.extract.sources.csv_and_parquet import system_of, traces_of_table
from trajanon.extract.sources.features import traces_of_features
from trajanon.extract.sources.reading import Reading
from trajanon.extract.sources.rows_to_traces import FIRST_ROWS
from trajanon.extract.trace import Trace
from trajanon.extract.traces_to_trajectories import cut
from trajanon.extract.why_left_out import sentences
from trajanon.files.data_frames import to_pandas
from trajanon.trajectories.trajectories import Trajectories

if TYPE_CHECKING:
    from geopandas import GeoSeries

_WHAT = "the frame"

_OTHER_LIMITS = (
    "For other columns or limits, pass the Trajectories that trajanon.extract.cut makes of "
    "trajanon.extract.from_frame"
)

_BYTES = (bytes, bytearray, memoryview)  # as DuckDB and other libraries hold them in pandas

_PARAMETERS = {"id": "recording", "subject": "subject", "time": "time"}
"""What columns of these roles are called in `anonymize`."""


def from_frame(
    frame: DataFrame, *, columns: Mapping[str, str] | None = None, subjects_exact: bool = False
) -> Iterator[Trace]:
    """Read the traces of a GeoDataFrame of points or lines, or of a data frame of points.

    Points of one subject and one id are one trace, in the order of their times; without times, of
    the rows. A DatetimeIndex is their time; the levels of another index are columns, too. A line is
    a trace, and so is each part of a MultiLineString; a list beside it, as long as the line, is its
    times.

    Parameters
    ----------
    frame
        Of pandas, geopandas, polars, pyarrow, DuckDB, or another library with the same interface
        (``__arrow_c_stream__`` or ``__dataframe__``). Its geometries are transformed to WGS 84;
        without a reference system, they must be degrees, x = longitude and y = latitude. Without
        geometries, columns hold latitude and longitude.
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
        points, times in a column that is not known as time, or is not on Earth.

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
    yield from _traces_of_frame(frame, columns, Reading(subjects_exact=subjects_exact))


def _traces_of_frame(
    frame: DataFrame, columns: Mapping[str, str] | None, reading: Reading
) -> Iterator[Trace]:
    """Read traces as `from_frame` does, and report to ``reading``."""
    table = _with_texts_as_names(to_pandas(frame, _WHAT))
    geometry = _geometry_of(table)
    attributes = pd.DataFrame(table if geometry is None else table.drop(columns=geometry.name))

    refuse_other_columns(columns)
    columns_named = dict(columns or {})
    if "nameless" in columns_named:
        raise BadInput(
            "`columns` nameless=different is for extract: cut takes nameless_differ=True"
        )
    by_file = columns_named.get("subject")
    if by_file in (FOLDER, TRACK) and by_file not in table:
        way_out = "name the column of people, or subject=none"
        raise BadInput(f"`columns` subject={by_file} is for files, and {_WHAT} is none: {way_out}")
    levels = _levels_of_index(table)
    attributes = attributes.assign(**levels).reset_index(drop=True)
    if isinstance(table.index, pd.DatetimeIndex):
        columns_named = {"time": next(iter(levels)), **columns_named}

    # Lines are in order; points of a frame with times are in that of the times, or refused.
    has_times = len(attributes.select_dtypes(["datetime", "datetimetz"]).columns) > 0
    is_timed = has_times and not _holds_lines(table)
    reading = replace(reading, what=_WHAT, label="frame", columns=columns_named, timed=is_timed)
    try:
        if geometry is None:
            if not len(table):
                raise BadInput(f"{_WHAT} has no rows")

            def chunks(names: Sequence[str]) -> Iterator[pd.DataFrame]:
                yield attributes[list(names)]

            yield from traces_of_table(list(attributes), attributes[:FIRST_ROWS], chunks, reading)
        else:
            yield from traces_of_features(geometry.to_numpy(), attributes, geometry.crs, reading)
    except (UnicodeEncodeError, UnicodeDecodeError) as error:  # in columns of objects
        way_out = "mend it, as text.encode(errors='replace').decode() does"
        text = error.object[:40]
        raise BadInput(
            f"{_WHAT} holds a text with half a character, {text!r}: {way_out}"
        ) from error
    reading.warn_at_the_end()
    del reading.counts[ONE_A_FILE]  # a frame that is one recording leaves nothing out
    for what, count in reading.counts.items():
        warn(LeftOutWarning(f"left out of the frame, {what}: {count:,}", what))


def trips_of(
    frame: DataFrame, columns: Mapping[str, str], *, releases_times: bool = False
) -> Trajectories:
    """Make a trajectory of each trip of points, or of each line; warn of those left out.

    ``columns`` are the names of those of subject, time and recording, where they are not usual. If
    times are to be released, times without a zone are warned of.
    """
    for role, name in columns.items():
        if not isinstance(name, str):
            kind = type(name).__name__
            raise BadInput(f"`{role}` must be the name of a column, a text (got a {kind})")
    roles = {
        role: columns[parameter] for role, parameter in _PARAMETERS.items() if parameter in columns
    }

    table = _with_texts_as_names(to_pandas(frame, _WHAT))
    rules = Rules()
    if _holds_lines(table):
        rules = Rules(min_length=0, max_gap=None, max_pause=None, max_speed=None)
    reading = Reading(warned=_NoticesOfParameters())
    try:
        trips = cut(_traces_of_frame(table, roles, reading), rules)
    except ColumnsUnclear as error:
        parameters = [
            f"`{parameter}`" for role, parameter in _PARAMETERS.items() if role in error.roles
        ]
        way_out = f"name a column in {' or '.join(parameters)}"
        if coordinates := [role for role in error.roles if role not in _PARAMETERS]:
            ones = "ones" if len(coordinates) > 1 else "one"
            way_out = f"rename the right {ones} to {' and '.join(coordinates)}"
        raise BadInput(f"{error.problem}: {way_out}") from error
    except NoTrajectories as error:
        raise NoTrajectories(f"{_by_parameters(str(error))}. {_OTHER_LIMITS}") from error
    except BadInput as error:
        raise type(error)(_by_parameters(str(error))) from error

    if releases_times:
        _warn_of_no_zone(table, reading.tables)
    if notes := sentences(trips.provenance):
        warn(LeftOutWarning(_by_parameters(" ".join([*notes, f"{_OTHER_LIMITS}."])), "trips"))
    return trips


def _by_parameters(sentence: str) -> str:
    """Name the parameters of `anonymize` where a sentence names roles of `columns`.

    Coordinates have no parameter: their columns are renamed.

    >>> _by_parameters("name another column with `columns` id=...")
    'name another column with `recording`'
    """
    sentence = sentence.replace("`columns` lat=...,lon=...", "call them lat and lon")
    for role, parameter in _PARAMETERS.items():
        sentence = sentence.replace(f"`columns` {role}=...", f"`{parameter}`")
        sentence = sentence.replace(f"`columns` {role}=", f"`{parameter}`=")
    return sentence


class _NoticesOfParameters(Notices):
    """Warnings to users of `anonymize`, by its parameters."""

    def warn(self, warning: TrajanonWarning) -> None:
        sentence = _by_parameters(str(warning))
        super().warn(type(warning)(sentence, warning.kind, warning.about))


def _warn_of_no_zone(table: pd.DataFrame, tables: TablesRead) -> None:
    """Warn of times of a frame that have no zone."""
    levels = _levels_of_index(table)
    for used, _ in tables.uses:
        column_of = dict(used)  # by roles
        name = column_of.get("time", "")
        # Measures of points, beside their coordinates, are in neither.
        times = pd.Series(levels[name]) if name in levels else table.get(name)
        if times is None or times.dtype.kind != "M" or "zone" in column_of:
            continue
        if times.dt.tz is None and "utc" not in name.casefold():
            sentence = (
                f"the times {name!r} of {_WHAT} have no time zone and are read as UTC; if they are "
                "local, set their zone with tz_localize of pandas"
            )
            warn(GuessedWarning(sentence, "times without a zone", name))


def _with_texts_as_names(table: pd.DataFrame) -> pd.DataFrame:
    """Name columns by texts, as those of a file; refuse two of one name."""
    names = table.columns.map(str)
    if not names.is_unique:
        twice = names[names.duplicated()][0]
        raise BadInput(f"{_WHAT} has two columns {twice!r}; rename one of them")

    # geopandas knows its geometries by the name of their column.
    geometry_name = getattr(table, "active_geometry_name", None)
    renamed = table.set_axis(names, axis=1)
    return renamed if geometry_name is None else renamed.set_geometry(str(geometry_name))


def _levels_of_index(table: pd.DataFrame) -> dict[str, pd.Index]:
    """Return what the index holds beside the columns, by names; row numbers are left out."""
    index = table.index
    if isinstance(index, pd.DatetimeIndex):
        name = str(index.name or "DatetimeIndex")
        return {"DatetimeIndex" if name in table else name: index}

    levels = {}
    for number, name in enumerate(index.names):
        # Of several levels one without a name holds more than row numbers; pandas calls it so.
        if name is not None or index.nlevels > 1:
            level = f"level_{number}" if name is None else str(name)
            levels[level] = index.get_level_values(number)
    return {name: values for name, values in levels.items() if name not in table}


def _holds_lines(table: pd.DataFrame) -> bool:
    """Return whether the first geometry of a frame is a line."""
    geometry = _geometry_of(table)
    if geometry is None:
        return False
    geometries = geometry[~(geometry.isna() | geometry.is_empty)]
    return len(geometries) > 0 and bool(shapely.get_dimensions(geometries.iloc[0]) == 1)


def _geometry_of(table: pd.DataFrame) -> "GeoSeries | None":
    """Return the geometries of a frame, perhaps of WKB; None of a frame without.

    WKB may name a reference system; if it does not, its places are degrees.
    """
    if getattr(table, "active_geometry_name", None) is not None:
        return table.geometry
    for name, values in table.items():
        known = values.dropna() if "place" in known_as(str(name)) else values[:0]
        if len(known) and isinstance(known.iloc[0], _BYTES):
            from geopandas import GeoSeries

            wkb = [bytes(value) if isinstance(value, _BYTES) else None for value in values]
            places = shapely.from_wkb(wkb, on_invalid="ignore")
            crs = system_of(places, str(name), Reading(what=_WHAT))
            return GeoSeries(places, values.index, crs=crs, name=name)
    return None


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
        kind = type(collection).__name__
        raise BadInput(f"from_collection takes a collection of movingpandas, not {kind}")

    frames = []
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
        frames.append(points.assign(id=name, subject=trajectory.obj_id))
    if frames:
        yield from from_frame(pd.concat(frames))
