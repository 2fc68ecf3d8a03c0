"""Tracks: the runs that windows were cut from, on which they may slide."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.errors import BadInput

STEPS = 4
"""Steps of a track between two points of a trajectory."""

_CALENDAR = (-62_135_510_400.0, 253_402_214_400.0)
"""Seconds since 1970 of the years 1 to 9999, which calendars know, without their outermost days."""


TICKS = 1e7  # of a degree: 1 cm and less
_FAR = 2**31 - 1  # ticks, on no Earth
_POINTS_PER_BATCH = 100_000  # that are rounded


def refuse_off_earth(points: Floats | NDArray[np.int32], row: str, unit: float = 1.0) -> None:
    """Refuse points (lat, lon), (..., 2), that are no places on Earth; ``unit`` is a degree."""
    columns = ((points[..., 0], 90.0 * unit), (points[..., 1], 180.0 * unit))
    if points.size and not all(
        -most <= column.min() and column.max() <= most for column, most in columns
    ):
        off = ~(np.abs(points) <= (90.0 * unit, 180.0 * unit))  # NaN is nowhere
        raise BadInput(
            f"{row.format(np.argwhere(off)[0, 0])} is not on Earth; latitudes lie in -90..90, "
            "longitudes in -180..180 (are the two swapped?)"
        )


def refuse_odd_times_along(times: Floats, begins: Bools, row: str) -> None:
    """Refuse times, (t,), that cannot be; ``begins`` marks the first of each ``row``."""
    unknown = np.isnan(times)
    goes_on = ~begins[1:]
    first, last = _CALENDAR
    faults = (
        (goes_on & (unknown[1:] != unknown[:-1]), "has times at some points only"),
        ((times < first) | (times > last), "has a time beyond the years 1 to 9999"),
        (goes_on & (times[1:] < times[:-1]), "has times that run back"),
    )
    for odd, fault in faults:
        if odd.any():
            # Where the odd one is the second of two, the first is of the same one.
            number = np.count_nonzero(begins[: np.argmax(odd) + 1]) - 1
            raise BadInput(f"{row.format(number)} {fault}: correct its times, or leave them out")


def ticks_of(points: Floats) -> NDArray[np.int32]:
    """Count ten-millionths of a degree; NaN and values far off the Earth stay off it."""
    whole = np.empty(points.shape, dtype=np.int32)
    for begin in range(0, len(points), _POINTS_PER_BATCH):
        ticks = np.nan_to_num(points[begin : begin + _POINTS_PER_BATCH] * TICKS, nan=_FAR)
        whole[begin : begin + _POINTS_PER_BATCH] = np.rint(ticks.clip(-_FAR, _FAR))
    return whole


@dataclass(frozen=True, slots=True, eq=False)
class TrackPoints:
    """Points of tracks in ten-millionths of a degree, to save memory; given in degrees."""

    ticks: NDArray[np.int32]  # shape (t, 2)

    @classmethod
    def of(cls, points: Floats) -> "TrackPoints":
        """Round degrees, shape (t, 2)."""
        return cls(ticks_of(points))

    def __len__(self) -> int:
        return len(self.ticks)

    def __getitem__(self, which: Any) -> Floats:
        return np.asarray(self.ticks[which] / TICKS)

    def take(self, which: Bools | Ints) -> "TrackPoints":
        """Keep a part of the points."""
        return TrackPoints(self.ticks[which])


@dataclass(frozen=True, slots=True, eq=False)
class Tracks:
    """The runs that trajectories were cut from, and where on them each one lies.

    A window is every `STEPS`-th point of a run, and may slide on it; where the recordings of the
    runs are known, to any run of its recording.
    """

    points: TrackPoints  # latitude and longitude
    first: Ints  # place in `points` of each run's first point, shape (r + 1,); the last is t
    run: Ints  # the run of each trajectory, shape (n,)
    start: Ints  # place within its run of each trajectory's first point, shape (n,)
    times: Floats | None = None  # seconds since 1970 UTC, shape (t,); NaN in a whole run
    recording: Ints | None = None  # number of the recording of each run, shape (r,), rising

    def __post_init__(self) -> None:
        self._refuse_odd_shapes()
        refuse_off_earth(self.points.ticks, "point {} of the tracks", TICKS)
        if self.times is not None:
            begins = np.zeros(len(self.times), dtype=np.bool_)
            begins[self.first[:-1]] = True
            refuse_odd_times_along(self.times, begins, "run {} of the tracks")

        runs = len(self.first) - 1
        stray = np.flatnonzero((self.run < 0) | (self.run >= runs))
        if len(stray):
            raise BadInput(
                f"trajectory {stray[0]} is on run {self.run[stray[0]]}; runs are 0 to {runs - 1}"
            )
        self._refuse_starts_off_runs(1)

    def _refuse_odd_shapes(self) -> None:
        """Refuse arrays that do not fit together."""
        n = len(self.points)
        first = self.first
        is_whole = first.ndim == 1 and len(first) > 0 and tuple(first[[0, -1]]) == (0, n)
        if not (
            self.points.ticks.shape == (n, 2)
            and (self.times is None or self.times.shape == (n,))
            and is_whole
            and (np.diff(first) > 0).all()
            and self.run.ndim == 1
            and self.run.shape == self.start.shape
            and self.run.dtype.kind in "iu"
            and self.start.dtype.kind in "iu"
            and (self.recording is None or self.recording.shape == (len(first) - 1,))
            and (np.diff(self._recordings, prepend=0) >= 0).all()
        ):
            raise BadInput(
                f"tracks are {n} points (lat, lon), perhaps a time for each; first points of runs, "
                f"rising from 0 to {n}; a run and a start of each trajectory, whole numbers; and "
                "perhaps a recording of each run, rising"
            )

    def _refuse_starts_off_runs(self, m: int) -> None:
        """Refuse starts from which a window of m points leaves its run."""
        start = self.start
        size = np.diff(self.first)[self.run]
        off = np.flatnonzero((start < 0) | (start + STEPS * (m - 1) >= size))
        if len(off):
            trajectory = off[0]
            raise BadInput(
                f"trajectory {trajectory} cannot start at {start[trajectory]}: its run has "
                f"{size[trajectory]} points, and {m} of them, every {STEPS}th, must lie on it"
            )

    @property
    def _recordings(self) -> Ints:
        """Return the recording of each run, or the run itself where these are unknown, (r,)."""
        return np.arange(len(self.first) - 1) if self.recording is None else self.recording

    @property
    def recording_of(self) -> Ints:
        """Return the recording of each trajectory, or its run where these are unknown, (n,)."""
        return self.run if self.recording is None else self.recording[self.run]

    @property
    def begin(self) -> Ints:
        """Find the place in `points` of the first point of each trajectory's recording, (n,)."""
        if self.recording is None:
            return self.first[self.run]
        return self.first[np.searchsorted(self.recording, self.recording_of)]

    @property
    def along(self) -> Ints:
        """Count the start of each trajectory over all runs of its recording, (n,)."""
        return self.first[self.run] + self.start - self.begin

    def slid(self, along: Ints) -> "Tracks":
        """Move each trajectory to another start, counted as in `along`."""
        along = np.asarray(along)
        if self.recording is None or along.shape != self.run.shape or along.dtype.kind not in "iu":
            return replace(self, start=along)  # which says what is wrong
        place = self.begin + along
        run = (np.searchsorted(self.first, place, side="right") - 1).clip(0, len(self.first) - 2)
        if (self.recording[run] != self.recording_of).any():
            raise BadInput("a trajectory cannot start outside its recording")
        return replace(self, run=run, start=place - self.first[run])

    def windows(self, m: int) -> Floats:
        """Read the points of each trajectory off its run, (n, m, 2)."""
        return self.points[self._places(m)]

    def differing(self, points: Floats) -> Bools:
        """Mark the trajectories, (n, m, 2), that are not where the tracks have them."""
        ticks = self.points.ticks[self._places(points.shape[1])]
        return np.asarray((ticks != ticks_of(points)).any(axis=(1, 2)))

    def times_of_windows(self, m: int) -> Floats | None:
        """Read the times at the points of each trajectory off its run, (n, m)."""
        return None if self.times is None else self.times[self._places(m)]

    def _places(self, m: int) -> Ints:
        """Find the place in `points` of each trajectory's points, (n, m)."""
        self._refuse_starts_off_runs(m)
        first = self.first[self.run] + self.start
        return np.asarray(first[:, None] + STEPS * np.arange(m))

    def owners(self, owners: Ints) -> Ints:
        """Find the owner of each run, (r,), from the owners of the trajectories, (n,)."""
        recording = self._recordings
        owner = np.full(int(recording.max(initial=-1)) + 1, -1)
        owner[self.recording_of] = owners
        return np.asarray(owner[recording])

    def take(self, which: Bools | Ints) -> "Tracks":
        """Keep trajectories, by mask or in a new order, and all runs that they may be on."""
        run = self.run[which]
        size = np.diff(self.first)
        stays = np.isin(self._recordings, self._recordings[run])
        places = np.repeat(stays, size)
        return Tracks(
            points=self.points.take(places),
            first=np.append(0, np.cumsum(size[stays])),
            run=(np.cumsum(stays) - 1)[run],
            start=self.start[which],
            times=None if self.times is None else self.times[places],
            recording=None if self.recording is None else self.recording[stays],
        )


def joined_tracks(parts: Sequence[Tracks]) -> Tracks:
    """Put tracks of batches one after another; recordings of two parts are different ones."""
    size = np.concatenate([np.diff(part.first) for part in parts])
    runs_before = np.cumsum([0] + [len(part.first) - 1 for part in parts])
    runs = [part.run + before for part, before in zip(parts, runs_before, strict=False)]

    times = [part.times for part in parts if part.times is not None]
    recordings = [part.recording for part in parts if part.recording is not None]
    known = np.cumsum([0] + [int(recording.max(initial=-1)) + 1 for recording in recordings])
    recordings = [recording + before for recording, before in zip(recordings, known, strict=False)]
    return Tracks(
        points=TrackPoints(np.concatenate([part.points.ticks for part in parts])),
        first=np.append(0, np.cumsum(size)),
        run=np.concatenate(runs),
        start=np.concatenate([part.start for part in parts]),
        times=np.concatenate(times) if len(times) == len(parts) else None,
        recording=np.concatenate(recordings) if len(recordings) == len(parts) else None,
    )


def spans(begin: Ints, size: Ints) -> Ints:
    """Places begin, begin + 1, ... of each span, one span after another."""
    before = np.cumsum(size) - size
    return np.repeat(begin - before, size) + np.arange(size.sum())
