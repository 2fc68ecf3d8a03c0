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

TICKS = 1e7
"""Ticks in a degree; one is a centimetre and less."""

_OFF_EARTH = 2**31 - 1  # ticks, more than 180 degrees
_POINTS_PER_BATCH = 100_000  # that are rounded at once


def refuse_off_earth(points: Floats | NDArray[np.int32], row: str, unit: float = 1.0) -> None:
    """Refuse points (lat, lon), (..., 2), that are no places on Earth.

    ``row`` names what has such a point, with {} for its number; a degree has so many ``unit``s.
    """
    # Extremes need no memory; which point it is is found only where one is off.
    columns_and_limits = ((points[..., 0], 90.0 * unit), (points[..., 1], 180.0 * unit))
    if points.size and not all(
        -limit <= column.min() and column.max() <= limit for column, limit in columns_and_limits
    ):
        is_off_earth = ~(np.abs(points) <= (90.0 * unit, 180.0 * unit))  # NaN is nowhere
        raise BadInput(
            f"{row.format(np.argwhere(is_off_earth)[0, 0])} is not on Earth; latitudes lie in "
            "-90..90, longitudes in -180..180 (are the two swapped?)"
        )


def refuse_odd_times_along(times: Floats, begins: Bools, row: str) -> None:
    """Refuse times, (t,), in seconds, of trajectories or runs one after another, that cannot be.

    ``begins`` marks the first time of each, and ``row`` names one, with {} for its number.
    """
    unknown = np.isnan(times)
    goes_on = ~begins[1:]
    first, last = _CALENDAR
    faults = (
        (goes_on & (unknown[1:] != unknown[:-1]), "has times at some points only"),
        ((times < first) | (times > last), "has a time beyond the years 1 to 9999"),
        (goes_on & (times[1:] < times[:-1]), "has times that run back"),
    )
    for is_odd, fault in faults:
        if is_odd.any():
            # Where two times are compared, the first of them is marked, which is of the same row.
            number = np.count_nonzero(begins[: np.argmax(is_odd) + 1]) - 1
            raise BadInput(f"{row.format(number)} {fault}: correct its times, or leave them out")


def ticks_of(points: Floats) -> NDArray[np.int32]:
    """Round degrees to ticks; NaN and values far off the Earth stay off it."""
    rounded = np.empty(points.shape, dtype=np.int32)
    for begin in range(0, len(points), _POINTS_PER_BATCH):
        batch = slice(begin, begin + _POINTS_PER_BATCH)
        ticks = np.nan_to_num(points[batch] * TICKS, nan=_OFF_EARTH)
        rounded[batch] = np.rint(ticks.clip(-_OFF_EARTH, _OFF_EARTH))
    return rounded


@dataclass(frozen=True, slots=True, eq=False)
class TrackPoints:
    """Points of tracks in ticks, to save memory; ``points[...]`` are in degrees."""

    ticks: NDArray[np.int32]  # shape (t, 2)

    @classmethod
    def of(cls, points: Floats) -> "TrackPoints":
        """Round degrees, shape (t, 2)."""
        return cls(ticks_of(points))

    def __len__(self) -> int:
        return len(self.ticks)

    def __getitem__(self, places: Any) -> Floats:
        return np.asarray(self.ticks[places] / TICKS)


@dataclass(frozen=True, slots=True, eq=False)
class Tracks:
    """The runs that trajectories were cut from, and where on them each one lies.

    A window is every `STEPS`-th point of a run, and may slide on it; where the recordings of the
    runs are known, to any run of its recording. Shapes: n trajectories on r runs, of t points.
    """

    points: TrackPoints  # of all runs, one after another, (t, 2)
    first: Ints  # place in `points` of each run's first point, (r + 1,); the last is t
    run: Ints  # the run of each trajectory, (n,)
    start: Ints  # place within its run of each trajectory's first point, (n,)
    times: Floats | None = None  # seconds since 1970 UTC, (t,); NaN at all points of runs without
    recording: Ints | None = None  # number of the recording of each run, (r,), rising
    # Whether a run begins and ends where its recording or a gap does, (r, 2); False where it was
    # cut at the border of the area. None if all do.
    true_ends: Bools | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be runs and trajectories on them."""
        for name in ("first", "run", "start", "recording"):
            numbers = getattr(self, name)
            # Differences of unsigned numbers never fall, and sums with signed ones are no integers.
            if numbers is not None and numbers.dtype.kind == "u":
                object.__setattr__(self, name, numbers.astype(np.int64))
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
        self._refuse_starts_off_runs(1)  # the first point; `_places` looks at whole windows

    def _refuse_odd_shapes(self) -> None:
        """Refuse arrays that do not fit together."""
        t = len(self.points)
        first = self.first
        covers_all = first.ndim == 1 and len(first) > 0 and tuple(first[[0, -1]]) == (0, t)
        if not (
            self.points.ticks.shape == (t, 2)
            and (self.times is None or self.times.shape == (t,))
            and covers_all
            and (np.diff(first) > 0).all()
            and self.run.ndim == 1
            and self.run.shape == self.start.shape
            and all(numbers.dtype.kind == "i" for numbers in (first, self.run, self.start))
            and self._recordings.shape == (len(first) - 1,)
            and self._recordings.dtype.kind == "i"
            and (np.diff(self._recordings, prepend=0) >= 0).all()
            and self.ends_are_true.shape == (len(first) - 1, 2)
            and self.ends_are_true.dtype == np.bool_
        ):
            raise BadInput(
                f"tracks are {t} points (lat, lon), perhaps a time for each; first points of runs, "
                f"rising from 0 to {t}; a run and a start of each trajectory, whole numbers; and "
                "perhaps a recording of each run, rising, and whether both of its ends are true"
            )

    def _refuse_starts_off_runs(self, m: int) -> None:
        """Refuse starts from which a window of m points leaves its run."""
        start = self.start
        points_of_run = np.diff(self.first)[self.run]
        off_run = np.flatnonzero((start < 0) | (start + STEPS * (m - 1) >= points_of_run))
        if len(off_run):
            trajectory = off_run[0]
            raise BadInput(
                f"trajectory {trajectory} cannot start at {start[trajectory]}: its run has "
                f"{points_of_run[trajectory]} points, and {m} of them, every {STEPS}th, must lie "
                "on it"
            )

    @property
    def ends_are_true(self) -> Bools:
        """Mark the starts and ends of runs that are true ones, (r, 2)."""
        if self.true_ends is None:
            return np.ones((len(self.first) - 1, 2), dtype=np.bool_)
        return self.true_ends

    @property
    def ends_of_runs(self) -> tuple[Floats, Bools]:
        """Return where the run of each trajectory begins and ends, (n, 2, 2), in degrees.

        And whether these ends are true ones, (n, 2).
        """
        places = np.stack([self.first[self.run], self.first[self.run + 1] - 1], axis=1)
        return self.points[places], self.ends_are_true[self.run]

    @property
    def _recordings(self) -> Ints:
        """Return the recording of each run, or the run itself where these are unknown, (r,)."""
        return np.arange(len(self.first) - 1) if self.recording is None else self.recording

    @property
    def recording_of(self) -> Ints:
        """Return the recording of each trajectory, or its run where these are unknown, (n,)."""
        return self._recordings[self.run]

    @property
    def begin(self) -> Ints:
        """Find the place in `points` of the first point of each trajectory's recording, (n,)."""
        return self.first[np.searchsorted(self._recordings, self.recording_of)]

    @property
    def along(self) -> Ints:
        """Return the place of each start, counted from the first point of its recording, (n,)."""
        return self.first[self.run] + self.start - self.begin

    def slid(self, along: Ints) -> "Tracks":
        """Move each trajectory to another start, counted as in `along`."""
        along = np.asarray(along)
        if self.recording is None:
            return replace(self, start=along)  # a run is a recording
        if along.shape != self.run.shape or along.dtype.kind not in "iu":
            return replace(self, start=along)  # whose checks refuse it
        place = self.begin + along
        # A place before or behind all runs counts to the first or the last one: it is refused as of
        # another recording, or, by the checks of a new object, as off its run.
        run = (np.searchsorted(self.first, place, side="right") - 1).clip(0, len(self.first) - 2)
        if (self.recording[run] != self.recording_of).any():
            raise BadInput("a trajectory cannot start outside its recording")
        return replace(self, run=run, start=place - self.first[run])

    def windows(self, m: int) -> Floats:
        """Read the points of each trajectory off its run, (n, m, 2)."""
        return self.points[self._places(m)]

    def differ_from(self, points: Floats) -> Bools:
        """Mark the trajectories, (n, m, 2), in degrees, that are not where the tracks have them."""
        ticks = self.points.ticks[self._places(points.shape[1])]
        return np.asarray((ticks != ticks_of(points)).any(axis=(1, 2)))

    def times_of_windows(self, m: int) -> Floats | None:
        """Read the times at the points of each trajectory off its run, (n, m)."""
        return None if self.times is None else self.times[self._places(m)]

    def _places(self, m: int) -> Ints:
        """Find the place in `points` of each trajectory's points, (n, m)."""
        self._refuse_starts_off_runs(m)
        first_point = self.first[self.run] + self.start
        return np.asarray(first_point[:, None] + STEPS * np.arange(m))

    def owners_of_runs(self, owners_of_trajectories: Ints) -> Ints:
        """Find the owner of each run, (r,), from the owners of the trajectories, (n,).

        Owners are numbers of any kind; trajectories of one recording have the same.
        The owner is -1 for a run of a recording without trajectories.
        """
        recording = self._recordings
        owner_of_recording = np.full(int(recording.max(initial=-1)) + 1, -1)
        owner_of_recording[self.recording_of] = owners_of_trajectories
        return np.asarray(owner_of_recording[recording])

    def take(self, trajectories: Bools | Ints) -> "Tracks":
        """Keep trajectories, by mask or in a new order, and all runs that they may be on."""
        run = self.run[trajectories]
        points_in_run = np.diff(self.first)
        run_stays = np.isin(self._recordings, self._recordings[run])
        point_stays = np.repeat(run_stays, points_in_run)
        new_number = np.cumsum(run_stays) - 1
        return Tracks(
            points=TrackPoints(self.points.ticks[point_stays]),
            first=np.append(0, np.cumsum(points_in_run[run_stays])),
            run=new_number[run],
            start=self.start[trajectories],
            times=None if self.times is None else self.times[point_stays],
            recording=None if self.recording is None else self.recording[run_stays],
            true_ends=None if self.true_ends is None else self.true_ends[run_stays],
        )


def joined_tracks(parts: Sequence[Tracks]) -> Tracks:
    """Put tracks of parts one after another; recordings of two parts are different ones.

    Times and recordings are there only if every part has them. All ends are true ones in a part
    that says nothing of them.
    """
    points_in_run = np.concatenate([np.diff(part.first) for part in parts])
    runs_in_part = [len(part.first) - 1 for part in parts]
    times = [part.times for part in parts if part.times is not None]
    recordings = [part.recording for part in parts if part.recording is not None]
    recordings_in_part = [int(recording.max(initial=-1)) + 1 for recording in recordings]
    says_true_ends = any(part.true_ends is not None for part in parts)
    return Tracks(
        points=TrackPoints(np.concatenate([part.points.ticks for part in parts])),
        first=np.append(0, np.cumsum(points_in_run)),
        run=_numbered_on([part.run for part in parts], runs_in_part),
        start=np.concatenate([part.start for part in parts]),
        times=np.concatenate(times) if len(times) == len(parts) else None,
        recording=_numbered_on(recordings, recordings_in_part)
        if len(recordings) == len(parts)
        else None,
        true_ends=np.concatenate([part.ends_are_true for part in parts])
        if says_true_ends
        else None,
    )


def _numbered_on(numbers: Sequence[Ints], counts: Sequence[int]) -> Ints:
    """Join numbers of parts; those of each part, from 0 on, come after the counts before it."""
    before = np.cumsum([0, *counts[:-1]])
    return np.concatenate([part + count for part, count in zip(numbers, before, strict=True)])
