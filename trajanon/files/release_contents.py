"""What a release is made of: lines, perhaps times and counts, and an attribution."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeGuard

import numpy as np
import shapely
from numpy.typing import NDArray

from trajanon.common.arrays import Column, Floats, Ints
from trajanon.common.number_text import number_of
from trajanon.files.rounding_order_and_keys_of_lines import line_numbers
from trajanon.files.times_of_points import instants
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.trajectories import (
    FOR_COMPARISON,
    OSM_ATTRIBUTION,
    TrajectoryRows,
    attribution_as_published,
)

LINE = "LineString"

COUNTED = ("people", "records")
"""Columns with the number of rows of a line; people are known only by subjects."""

MADE_AS_PUBLISHED = f"it holds plain means, made as published, {FOR_COMPARISON}"

MOST_ROWS = 10**7
"""Rows that the lines of a file may count."""


class Layout(NamedTuple):
    """A release as every format writes it: its lines, what stands beside each, and words on all."""

    lines: TrajectoryRows  # each different one once if they are counted
    counts: dict[str, Ints]  # people or records of each line, by the name of the column; or nothing
    clock: Clock | None  # what times count from
    words: dict[str, str]  # the attribution, and what times count from

    @classmethod
    def of(cls, release: TrajectoryRows) -> "Layout":
        """Return the layout of a release."""
        lines = release
        counts = dict[str, Ints]()
        if release.provenance.get("rows") == "lines":
            line = line_numbers(release.points, release.times)
            lines = release.take(np.unique(line, return_index=True)[1])
            people, records = COUNTED
            name = people if release.provenance.get("counted") == "subjects" else records
            counts = {name: np.bincount(line)}

        words = dict[str, str]()
        if release.attribution is not None:
            words["attribution"] = release.attribution
        clock = clock_of(release)
        if clock is not None:
            words["times"] = clock.sentence
        return cls(lines, counts, clock, words)

    @property
    def columns(self) -> dict[str, Column]:
        """Return a value a line for maps: its number and count, departure and duration."""
        numbers = np.arange(1, len(self.lines) + 1)
        columns: dict[str, Column] = {"id": numbers, **self.counts}
        times = self.lines.times
        if times is not None:
            columns["departure"] = instants(times[:, :1], self.clock)[:, 0]
            columns["duration_min"] = (times[:, -1] - times[:, 0]) / 60.0
        return columns

    @property
    def text(self) -> str | None:
        """Return the words in one text, each on a line of its own; None if there are none."""
        return "\n".join(self.words.values()) or None


def words_in(text: str | None, *, timed: bool) -> tuple[str | None, str | None]:
    """Split the text of a `Layout` again: the attribution, and what times count from."""
    *above, last = (text or "").split("\n")
    if Clock.parsed(last) is None and (not timed or last == OSM_ATTRIBUTION):
        return text, None
    return "\n".join(above) or None, last or None


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """Released geometries in the order of the file, as columns."""

    kinds: NDArray[np.object_]  # the type of each geometry
    sizes: Ints  # points of each, shape (n,); 0 where they are no pairs of numbers
    coordinates: Floats  # longitude, latitude and what else, of all points, (points, 2 or more)
    shapes: NDArray[np.object_]  # bytes of each, shape (n,)
    attribution: str | None = None  # the words that go with the data
    times: Floats | None = None  # (n, m); NaN in a row without one for each point; None: in all
    clock: str | None = None  # the words that say what times count from
    counts: Ints | None = None  # rows of each, (n,); 0 for what is no count; None: each has one
    people: bool = False  # whether the file speaks of people, and not of records

    def __len__(self) -> int:
        return len(self.kinds)

    @property
    def places(self) -> Floats:
        """Return longitude and latitude, (n, m, 2), of lines of equally many points."""
        return self.coordinates.reshape(len(self), -1, 2)

    @property
    def as_published(self) -> bool:
        """Check whether the file says that all was done as in the papers."""
        return self.attribution in [*map(attribution_as_published, (None, OSM_ATTRIBUTION))]

    @property
    def provenance(self) -> dict[str, str | None]:
        """Return what a release of these lines says of itself, in words that one may hold."""
        known = self.as_published or self.attribution == OSM_ATTRIBUTION
        # Any other attribution could say anything.
        words = {"attribution": self.attribution if known else None, "times": self.clock}
        return words if self.counts is None else words | {"rows": "lines"}

    @property
    def of_rows(self) -> Ints:
        """Return the line of each row, (r,)."""
        lines = np.arange(len(self))
        return lines if self.counts is None else np.repeat(lines, self.counts)

    def key(self, row: int) -> bytes:
        """Return bytes of a line, equal where lines are equal as written."""
        shape: bytes = self.shapes[row]
        return shape if self.times is None else shape + self.times[row].tobytes()

    @classmethod
    def of(cls, geometries: NDArray[np.object_], shapes: NDArray[np.object_]) -> "Lines":
        """Make lines of shapely geometries, of which any may be None, and their bytes."""
        coordinates = shapely.get_coordinates(geometries, include_z=shapely.has_z(geometries).any())
        if hasattr(shapely, "has_m") and shapely.has_m(geometries).any():
            coordinates = np.column_stack([coordinates, np.zeros(len(coordinates))])

        _, example, type_number = np.unique(
            shapely.get_type_id(geometries), return_index=True, return_inverse=True
        )
        types = [getattr(geometry, "geom_type", "nothing") for geometry in geometries[example]]
        return cls(
            kinds=np.array(types, dtype=object)[type_number],
            sizes=shapely.get_num_coordinates(geometries).astype(np.int64),
            coordinates=coordinates,
            shapes=np.array([b"" if shape is None else shape for shape in shapes], dtype=object),
        )

    @classmethod
    def of_points(cls, lines: Sequence[Floats]) -> "Lines":
        """Make lines of the longitude and latitude of their points, and perhaps a height."""
        geometries = np.full(len(lines), None, dtype=object)
        with np.errstate(invalid="ignore"):  # NaN is for the reader to judge
            for number, line in enumerate(lines):
                if line.ndim == 2 and line.shape[0] > 1 and line.shape[1] > 1:
                    geometries[number] = shapely.linestrings(line[:, :3])
        return cls.of(geometries, shapely.to_wkb(geometries))

    def with_words(
        self,
        attribution: str | None,
        times: Iterable[object] | None,
        clock: str | None,
        columns: Mapping[str, Collection[object]],
    ) -> "Lines":
        """Add what a file says of its lines; times and columns of counts are anything."""
        has_people = "people" in columns
        return replace(
            self,
            times=_times(times, self.sizes),
            counts=_counts(columns.get("people" if has_people else "records"), len(self)),
            people=has_people,
            attribution=attribution,
            clock=clock,
        )


def _times(rows: Iterable[object] | None, sizes: Ints) -> Floats | None:
    """Read a time for each point from rows of anything; NaN in rows that hold something else."""
    if rows is None:
        return None

    m = int(sizes.max(initial=0))
    times = np.full((len(sizes), m), np.nan)
    for number, row in zip(range(len(sizes)), rows, strict=False):
        with suppress(TypeError, ValueError, OverflowError):
            values = np.array(row, dtype=np.float64) + 0.0
            if values.shape == (m,):
                times[number] = values

    with np.errstate(invalid="ignore"):  # NaN is no time either, nor the year 10000
        times[~(np.abs(times) < 253_402_300_800.0).all(axis=1)] = np.nan
    return times


def _counts(values: Collection[object] | None, n: int) -> Ints | None:
    """Read the count of each of n lines from any value; 0 if it is no whole number from 1 on."""
    if values is None:
        return None
    if len(values) != n:  # a broken file may hold fewer of them than lines
        return np.zeros(n, dtype=np.int64)
    return np.array([value if _is_count(value) else 0 for value in values], np.int64)


def _is_count(value: object) -> TypeGuard[int]:
    """Check whether a value is a whole number of rows that a line may have."""
    if not isinstance(value, int | float | np.number):
        return False
    return bool(1 <= value <= MOST_ROWS and value == int(value))


def amiss_in_counts(lines: Lines) -> list[str]:
    """Report why lines cannot be as many rows as they count."""
    if lines.counts is None:
        return []
    if odd := int((lines.counts == 0).sum()):
        have = number_of(odd, "line has", "lines have")
        return [f"{have} a number of rows that is no whole number from 1 to {MOST_ROWS:,}"]
    if (rows := int(lines.counts.sum())) > MOST_ROWS:
        return [f"lines count {rows:,} rows, more than the {MOST_ROWS:,} that a file may have"]
    return []


Writer = Callable[[Path, TrajectoryRows], None]
"""Writes a release, without its times if it has none."""


class ReleaseFormat(NamedTuple):
    """What writes a release, and what reads it, whatever else stands in the file."""

    write: Writer
    read: Callable[[Path], Lines]
    # The writer of a file, if its bytes depend on versions of libraries, and all that they read.
    contents: Callable[[Path], tuple[str, Mapping[str, object]]] | None = None
    only_timed: bool = False  # whether it holds no release without times


def clock_of(release: TrajectoryRows) -> Clock | None:
    """Read what the times of a release count from; None without times, or if it does not say."""
    sentence = release.provenance.get("times")
    if release.times is None or not isinstance(sentence, str):
        return None
    return Clock.parsed(sentence)
