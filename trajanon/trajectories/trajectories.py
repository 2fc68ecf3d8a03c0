"""Trajectories: the one shape of data that extraction makes and the method takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from trajanon.common.arrays import Bools, Column, Floats, Hashes, Ints
from trajanon.common.errors import BadInput, MergedWarning, warn
from trajanon.common.number_text import UNITS, Displayed, UnitName, number_of
from trajanon.trajectories.provenance import Provenance, with_identities
from trajanon.trajectories.subjects import column_of, identities, merged_sentences, numbered
from trajanon.trajectories.tracks import (
    STEPS,
    Tracks,
    joined_tracks,
    refuse_odd_times_along,
    refuse_off_earth,
)

if TYPE_CHECKING:
    from geopandas import GeoDataFrame
    from pandas import DataFrame

Rows = TypeVar("Rows", bound="TrajectoryRows")

HOP_HASHES_KEPT = 16
"""How many hashes of its hops, from a fix to the next, a recording is known again by: the least."""

_ROW_FIELDS = ("points", "subject", "trace", "times", "marks", "true_ends")
"""Fields with a row for each trajectory."""

OSM_ATTRIBUTION = "© OpenStreetMap contributors, ODbL 1.0, https://www.openstreetmap.org/copyright"

FOR_COMPARISON = "for comparison with the papers, not for publication of persons' data"
"""What a release made by the published method says of itself, before the attribution."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrajectoryRows(Displayed):
    """Lines of equally many points, and what is known of each: originals, or a release.

    A function that takes either takes this; one that takes `Trajectories` refuses a release. The
    fields are explained there.
    """

    points: Floats
    subject: Ints | None = None
    trace: Ints | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    tracks: Tracks | None = None
    times: Floats | None = None
    marks: Hashes | None = None
    true_ends: Bools | None = None

    def __post_init__(self) -> None:
        """Convert what is no array of the right type; refuse what cannot be trajectories."""
        self._convert_numbers()
        if self.points.ndim != 3 or self.points.shape[2] != 2:
            raise BadInput(
                f"points must have shape (n, points, 2), lat and lon; got {self.points.shape}"
            )
        if self.points.shape[1] < 2:
            raise BadInput(
                f"a line has two points or more, and these trajectories have {self.points.shape[1]}"
            )
        self._refuse_odd_shapes()
        self._number_names()
        refuse_off_earth(self.points, "trajectory {} has a point that")
        if self.times is not None:
            # All rows in one, with a mark where each begins.
            begins = np.zeros(self.times.shape, dtype=np.bool_)
            begins[:, :1] = True
            refuse_odd_times_along(self.times.ravel(), begins.ravel(), "trajectory {}")
        if self.tracks is not None:
            self._refuse_other_tracks(self.tracks)

    def _convert_numbers(self) -> None:
        """Make arrays of the types that the kernels were compiled for."""
        types = {
            "points": np.float64,
            "times": np.float64,
            "marks": np.uint64,
            "true_ends": np.bool_,
        }
        for name, dtype in types.items():
            values = getattr(self, name)
            if values is None:
                continue
            try:
                if name == "marks" and column_of(values).dtype.kind == "f":
                    raise TypeError("whole ones, as fractions cannot hold hashes of 64 bits")
                converted: Column = np.asarray(values, dtype=dtype)
            except (TypeError, ValueError, OverflowError) as error:
                raise BadInput(f"{name} must be numbers: {error}") from error
            # A frozen record is changed in this way alone.
            object.__setattr__(self, name, converted)

    def _refuse_odd_shapes(self) -> None:
        """Refuse arrays that do not fit the points."""
        n, m = self.points.shape[:2]
        shapes: dict[str, tuple[int, ...]] = {
            "subject": (n,),
            "trace": (n,),
            "times": (n, m),
            "marks": (n, 1 + HOP_HASHES_KEPT),
            "true_ends": (n, 2),
        }
        for name, shape in shapes.items():
            values = getattr(self, name)
            if values is not None and column_of(values).shape != shape:
                raise BadInput(f"{name} must have shape {shape}; got {column_of(values).shape}")

    def _number_names(self) -> None:
        """Make numbers of what names subjects and traces; whole numbers stay as they are."""
        for name in ("subject", "trace"):
            values = getattr(self, name)
            if _is_whole(values):
                object.__setattr__(self, name, values.astype(np.int64, copy=False))

        if self.trace is not None and not _is_whole(self.trace):
            number = numbered(self.trace, exact=True, missing_differ=True).number
            object.__setattr__(self, "trace", number)
        if self.subject is not None and not _is_whole(self.subject):
            people = identities(self.subject, self.trace)
            way_out = "number them yourself to tell them apart"
            for sentence in merged_sentences(people.merged, way_out):
                warn(MergedWarning(sentence, "names"))
            object.__setattr__(self, "subject", people.subject)
            object.__setattr__(self, "provenance", with_identities(self.provenance, people))

    def _refuse_other_tracks(self, tracks: Tracks) -> None:
        """Refuse tracks that do not hold the trajectories, each on ground of its own."""
        if tracks.run.shape != (len(self),):
            raise BadInput(
                f"each trajectory needs a run: there are {len(self)}, and the tracks have "
                f"{len(tracks.run)}"
            )
        m = self.points.shape[1]
        differs = tracks.differ_from(self.points)
        if differs.any():
            raise BadInput(
                f"trajectory {np.argmax(differs)} is not every {STEPS}th point of its track from "
                "its start on; move it by slid, or leave tracks out if points are changed otherwise"
            )

        times = self.times
        times_of_tracks = tracks.times_of_windows(m)
        if times_of_tracks is not None and not (
            times is not None and np.array_equal(times, times_of_tracks, equal_nan=True)
        ):
            raise BadInput(
                "the times of trajectories are not those of their tracks; leave out one of the two"
            )

        # Windows that share a step would count it twice, and tell of one another.
        length = STEPS * (m - 1)  # of a window, in steps
        order = np.lexsort((tracks.start, tracks.run))
        is_same_run = np.diff(tracks.run[order]) == 0
        shares_ground = is_same_run & (np.diff(tracks.start[order]) <= length)
        if shares_ground.any():
            place = int(np.argmax(shares_ground))
            first, second = order[place : place + 2].tolist()
            raise BadInput(
                f"trajectories {first} and {second} share ground on run {tracks.run[first]}; "
                f"starts on one run must lie more than {length} steps apart"
            )

    def __len__(self) -> int:
        return len(self.points)

    @property
    def records(self) -> Floats:
        """Return the records (n, 2 m): lat1, lon1, ..., latm, lonm of each trajectory."""
        return self.points.reshape(len(self), 2 * self.points.shape[1])

    @property
    def ends_are_true(self) -> Bools:
        """Mark the starts and ends that are true ones, (n, 2); all if `true_ends` is None."""
        if self.true_ends is None:
            return np.ones((len(self), 2), dtype=np.bool_)
        return self.true_ends

    @property
    def origin(self) -> Provenance:
        """Return what is known of how they came about."""
        return Provenance.read(self.provenance)

    @property
    def nameless(self) -> Bools | None:
        """Mark the trajectories of recordings without a name, if they count as one person, (n,)."""
        number = self.origin.nameless_subject
        return None if self.subject is None or number is None else self.subject == number

    @property
    def attribution(self) -> str | None:
        """Return the line that must be shown with these data, if there is one."""
        return self.origin.attribution

    @property
    def unit(self) -> UnitName:
        """Name one of them: a ``trip`` from start to end, a ``day``, or a ``trajectory``."""
        return self.origin.unit

    @property
    def units(self) -> str:
        """Name several of them."""
        return UNITS[self.unit]

    def take(self, rows: Bools | Ints) -> Self:
        """Keep trajectories, by mask or in a new order.

        Examples
        --------
        >>> import numpy as np
        >>> import trajanon
        >>> points = np.array([[[41.1, 1.2], [41.1, 1.3]], [[41.2, 1.2], [41.2, 1.3]]])
        >>> trajanon.Trajectories(points).take(np.array([False, True])).points.tolist()
        [[[41.2, 1.2], [41.2, 1.3]]]
        """
        columns = {name: getattr(self, name) for name in _ROW_FIELDS}
        taken: dict[str, Any] = {
            name: None if values is None else values[rows] for name, values in columns.items()
        }
        tracks = None if self.tracks is None else self.tracks.take(rows)
        return replace(self, tracks=tracks, **taken)

    def to_geodataframe(self) -> "GeoDataFrame":
        """Return the trajectories as LineStrings in a GeoDataFrame, in WGS 84.

        Returns
        -------
        geopandas.GeoDataFrame
            In their order, with columns subject and trace where they are known; and times, a list
            of seconds for each, None for a trajectory without.

        Examples
        --------
        >>> import numpy as np
        >>> import trajanon
        >>> points = np.array([[[41.1, 1.2], [41.1, 1.3]]])
        >>> frame = trajanon.Trajectories(points, subject=np.array([7])).to_geodataframe()
        >>> frame.geometry[0].wkt, frame.subject.tolist()
        ('LINESTRING (1.2 41.1, 1.3 41.1)', [7])
        """
        import shapely
        from geopandas import GeoDataFrame

        lines = shapely.linestrings(self.points[:, :, ::-1])  # longitude first
        frame = GeoDataFrame(self._numbers, geometry=lines, crs="EPSG:4326")
        if self.times is not None:
            rows = [None if np.isnan(row[0]) else row.tolist() for row in self.times]
            frame["times"] = np.fromiter(rows, dtype=object, count=len(rows))
        return frame

    def to_dataframe(self) -> "DataFrame":
        """Return the trajectories as a DataFrame with a row for each point.

        Returns
        -------
        pandas.DataFrame
            Columns trajectory (its number, from 0), subject and trace where they are known, lat and
            lon in degrees, and time in seconds where it is known; the points of a trajectory in
            their order.

        Examples
        --------
        >>> import numpy as np
        >>> import trajanon
        >>> points = np.array([[[41.1, 1.2], [41.1, 1.3]], [[41.2, 1.2], [41.2, 1.3]]])
        >>> trajanon.Trajectories(points).to_dataframe()
           trajectory   lat  lon
        0           0  41.1  1.2
        1           0  41.1  1.3
        2           1  41.2  1.2
        3           1  41.2  1.3
        """
        import pandas as pd

        numbers = {"trajectory": np.arange(len(self)), **self._numbers}
        m = self.points.shape[1]
        columns: dict[str, Any] = {name: np.repeat(number, m) for name, number in numbers.items()}
        columns["lat"], columns["lon"] = self.points.reshape(-1, 2).T
        if self.times is not None:
            columns["time"] = self.times.ravel()
        return pd.DataFrame(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows of `to_dataframe` to libraries such as polars, pyarrow and DuckDB."""
        import pyarrow as pa

        table = pa.Table.from_pandas(self.to_dataframe())
        return table.__arrow_c_stream__(requested_schema)

    @property
    def _numbers(self) -> dict[str, Ints]:
        """Return the numbers of subjects and traces, where they are known."""
        columns = {"subject": self.subject, "trace": self.trace}
        return {name: numbers for name, numbers in columns.items() if numbers is not None}

    @property
    def _note(self) -> str:
        """Write what stands above the table of a notebook."""
        originals = "Originals, not for publication: clear them before you share a notebook."
        return originals if self._numbers else ""

    @property
    def _facts(self) -> list[tuple[str, str]]:
        """List what is shown in a line, or in a notebook."""
        counts = f"{number_of(len(self), self.unit, self.units)} of {self.points.shape[1]} points"
        if self.subject is not None:
            counts += f" by {number_of(len(np.unique(self.subject)), 'subject')}"
        present = [name for name in ("times", "tracks") if getattr(self, name) is not None]
        if present:
            counts += f", with {' and '.join(present)}"

        facts = [("Trajectories", counts)]
        if self.attribution:
            facts.append(("Source", self.attribution))
        return facts

    def slid(self, start: Ints) -> Self:
        """Move every window to another start on its run, or on another of its recording.

        Parameters
        ----------
        start
            Place of each window's first point, shape (n,), in steps from the first point of its
            recording, or of its run if the tracks do not tell recordings.

        Returns
        -------
        Trajectories
            The same with other points, and times if the tracks have them; subjects, traces and
            provenance are kept.

        Raises
        ------
        BadInput
            If there are no tracks, a window would leave its run, or two would share ground.

        Examples
        --------
        A walk of 777 m to the north, with one window of 500 m at its start. It slides by four
        steps of 25 m, which is 100 m or 0.0009 degrees:

        >>> import numpy as np
        >>> from trajanon.extract import Rules, Trace, cut
        >>> lat, lon = np.arange(41.0, 41.0075, 0.001), np.full(8, 2.0)
        >>> walk = Trace("walk", "Ada", lat, lon, time=np.full(8, np.nan))
        >>> trajectories = cut([walk], Rules(spacing=100.0, points=6))
        >>> moved = trajectories.slid(trajectories.tracks.along + 4)
        >>> (moved.points - trajectories.points)[0, :, 0].round(4).tolist()
        [0.0009, 0.0009, 0.0009, 0.0009, 0.0009, 0.0009]
        """
        if self.tracks is None:
            raise BadInput("trajectories without tracks cannot slide; extract them with tracks")
        tracks = self.tracks.slid(start)
        m = self.points.shape[1]
        times = tracks.times_of_windows(m)
        return replace(self, points=tracks.windows(m), tracks=tracks, times=times)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trajectories(TrajectoryRows):
    """Trajectories of equally many points, and their subjects.

    Attributes
    ----------
    points
        Latitude and longitude in degrees, WGS 84, shape (n, m, 2).
    subject
        A number for the maker of each trajectory, shape (n,); None if nothing is known of subjects,
        as in a release. Whole numbers stay as they are. Names are numbered here: those that differ
        only in case, blanks, punctuation at the ends or the writing of a number are one subject
        (number them yourself to tell them apart). All that are None are one subject's, or each is
        its own if nobody has a name.
    trace
        A number for the recording each trajectory was cut from, shape (n,); None where subjects are
        None.
    provenance
        How the trajectories came about, ready for JSON: box, spacing, points, source, attribution,
        counts of what was dropped. Empty where not known.
    tracks
        The runs on which the windows may slide; None where not known.
    times
        Seconds since 1970-01-01 UTC at each point, shape (n, m), NaN in the whole row of a
        trajectory without; None where nothing is known. In a release, seconds that count as
        ``provenance["times"]`` says.
    marks
        By which a recording is known again, shape (n, 1 + HOP_HASHES_KEPT), unsigned: a hash of who
        made it, and the least hashes of its fixes, each with the next one, 0 where it has fewer.
        None where not known; never in a release.
    true_ends
        Whether the start and the end of a trip are true ones, shape (n, 2); False where it was cut
        at the border of the area. None if all are, and of windows; never in a release.

    Raises
    ------
    BadInput
        If a shape is wrong, a coordinate is not finite or not on Earth, a time is beyond the
        calendar or falls along a trajectory, or the trajectories are not what lies on their tracks,
        each on ground of its own.

    Examples
    --------
    Two trajectories of two points each, of two people:

    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[41.1, 1.2], [41.1, 1.3]], [[41.2, 1.2], [41.2, 1.3]]])
    >>> people, source = np.array(["Ada", "Bob"]), {"attribution": "Walkers of Vila"}
    >>> trajectories = trajanon.Trajectories(points, subject=people, provenance=source)
    >>> trajectories.subject.tolist()
    [0, 1]
    >>> trajectories.records.tolist()
    [[41.1, 1.2, 41.1, 1.3], [41.2, 1.2, 41.2, 1.3]]
    >>> trajectories
    <Trajectories: 2 trajectories of 2 points by 2 subjects; Walkers of Vila>
    """


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ReleasedTrajectories(TrajectoryRows):
    """Trajectories of a release: the rows that are published.

    They have the attributes of `Trajectories`, but no subjects, recordings or tracks, so that
    a type checker finds originals and release in each other's place.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> originals = trajanon.Trajectories(np.array([[[40.1, 2.0], [40.1, 3.0]]] * 2))
    >>> released = trajanon.anonymize(originals, k=2).trajectories
    >>> trajanon.anonymize(released, k=2)
    Traceback (most recent call last):
    trajanon.BadInput: these trajectories are a release: pass those that it was made of
    """


def _is_whole(values: object) -> bool:
    """Check whether values are an array of whole numbers that are at most 64 bits long."""
    dtype = values.dtype if isinstance(values, np.ndarray) else None
    return dtype is not None and dtype.kind in "iu" and np.can_cast(dtype, np.int64)


def attribution_as_published(attribution: str | None) -> str:
    """Write that a release made as published is for comparison, and whom it is attributed to."""
    return f"Made as published, {FOR_COMPARISON}.{f' {attribution}' if attribution else ''}"


def joined_trajectories(parts: Sequence[Rows]) -> Rows:
    """Put trajectories one after another, with what all of them have but their provenance.

    Numbers of subjects and traces stay: one number in two parts is one subject, or one recording.
    """
    joined: dict[str, Any] = {}
    for name in _ROW_FIELDS:
        columns = [getattr(part, name) for part in parts]
        is_in_all = all(column is not None for column in columns)
        joined[name] = np.concatenate(columns) if is_in_all else None

    # All ends are true ones in a part that says nothing of them.
    if any(part.true_ends is not None for part in parts):
        joined["true_ends"] = np.concatenate([part.ends_are_true for part in parts])

    tracks = [part.tracks for part in parts if part.tracks is not None]
    all_tracks = joined_tracks(tracks) if len(tracks) == len(parts) else None
    return replace(parts[0], provenance={}, tracks=all_tracks, **joined)
