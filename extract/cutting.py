"""Traces -> trajectories, a batch at a time, with an account of what was dropped."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import NoTrajectories
from trajanon.extract import clean
from trajanon.extract.areas import Box
from trajanon.extract.points import Points, batch
from trajanon.extract.recordings import Recordings
from trajanon.extract.resample import Windows, windows
from trajanon.extract.rules import Rules
from trajanon.extract.split import clip, split
from trajanon.extract.trace import Trace
from trajanon.partition import dense
from trajanon.tracks import Tracks, joined
from trajanon.trajectories import Trajectories

BATCH = 200_000
"""Points that are worked on at once: enough for arrays to pay, few for memory."""


def cut(
    traces: Iterable[Trace],
    rules: Rules,
    *,
    box: Box | None = None,
    source: str = "",
    attribution: str | None = None,
    counts: Counter[str] | None = None,
    tracks: bool = True,
) -> Trajectories:
    """Turn recordings into trajectories of equally spaced points.

    In this order: drop impossible points, settle what is timed, sort by time, average
    points of equal time, drop zero-length hops, split at pauses, long hops and
    impossible speeds, clip to the box, resample along the track, cut consecutive
    windows.

    Parameters
    ----------
    traces
        Recordings, in any number; only one batch of them is held at a time.
    rules
        Spacing, points and the limits of a hop.
    box
        Where trajectories may lie; None for everywhere.
    source
        Where the traces come from, in words; kept in the provenance.
    attribution
        The line that must go with everything made of the traces, if there is one.
    counts
        Counts to go on from, as the source kept them while reading.
    tracks
        Whether to keep the tracks on which the windows may slide.

    Returns
    -------
    Trajectories
        In the order of the source, with pseudonymous numbers for subjects and traces;
        the provenance holds the counts of what was dropped at each step.

    Raises
    ------
    NoTrajectories
        If nothing is left; says at which step and what to change.
    """
    work = _Cutting(rules, box, Counter() if counts is None else counts, tracks)
    for some in _batches(traces):
        work.add(some)
    if not work.points:
        raise NoTrajectories(work.why_nothing())
    work.counts["subjects read"] = len(np.unique(work.recordings.people()))
    points, subject = np.concatenate(work.points), work.subject()
    trace = np.concatenate(work.traces)
    ground = joined(work.tracks) if tracks else None
    if rules.max_per_subject is not None:
        # At the end: two names may have been found to be one person on the way.
        kept = _first_of_each(subject, rules.max_per_subject)
        work.counts["trajectories over the limit of a subject"] = int((~kept).sum())
        points, subject, trace = points[kept], subject[kept], trace[kept]
        ground = None if ground is None else ground.take(kept)
    work.counts["trajectories"] = len(points)
    return Trajectories(
        points=points,
        subject=subject,
        trace=trace,
        provenance={
            "source": source,
            "attribution": attribution,
            "box": None if box is None else list(box.sides),
            "spacing": rules.spacing,
            "points": rules.points,
            "max_gap": rules.max_gap,
            "counts": {name: int(count) for name, count in work.counts.items()},
        },
        tracks=ground,
    )


def _first_of_each(subject: NDArray[np.int64], limit: int) -> NDArray[np.bool_]:
    """Mark the first trajectories of each subject, up to a number."""
    order = np.argsort(subject, kind="stable")
    first = np.flatnonzero(np.diff(subject[order], prepend=-1))
    size = np.diff(np.append(first, len(order)))
    kept = np.empty(len(subject), dtype=np.bool_)
    kept[order] = np.arange(len(order)) - np.repeat(first, size) < limit
    return kept


def _batches(traces: Iterable[Trace]) -> Iterator[list[Trace]]:
    some: list[Trace] = []
    size = 0
    for trace in traces:
        some.append(trace)
        size += len(trace)
        if size >= BATCH:
            yield some
            some, size = [], 0
    if some:
        yield some


class _Cutting:
    """What one run has found so far."""

    def __init__(
        self, rules: Rules, box: Box | None, counts: Counter[str], keep_tracks: bool
    ) -> None:
        self.rules = rules
        self.box = box
        self.counts = counts
        self.keep_tracks = keep_tracks
        self.points: list[NDArray[np.float64]] = []
        self.subjects: list[NDArray[np.int64]] = []
        self.traces: list[NDArray[np.int64]] = []
        self.tracks: list[Tracks] = []
        self.longest = 0.0
        self.swapped_inside = 0
        self.recordings = Recordings()
        self._numbered = 0

    def add(self, some: list[Trace]) -> None:
        """Cut a batch of traces."""
        new = []
        for trace in some:
            numbers = self.recordings.number(trace)
            if self._admits(trace, *numbers):
                new.append((trace, *numbers))
        if not new:
            return
        traces, trace_number, subject_number = zip(*new, strict=True)
        points = self._clean(batch(traces))
        points = split(points, self.rules, self.counts)
        if self.box is not None:
            self._look_for_swapped_columns(points, self.box)
            before = len(points)
            points = clip(points, self.box)
            self.counts["points outside the box"] += before - len(points)
        self.counts["points used"] += len(points)
        if len(points) == 0:
            return
        found = windows(points, self.rules, keep_tracks=self.keep_tracks)
        self._account_lengths(found)
        self._keep(found, np.array(trace_number), np.array(subject_number))

    def _admits(self, trace: Trace, number: int, subject: int) -> bool:
        """Count a trace; tell whether it is new, and has a point at all."""
        if number == self._numbered:
            self._numbered += 1
            self.counts["recordings read"] += 1
            if trace.subject is None:
                self.counts["recordings of unknown subjects"] += 1
        self.counts["points read"] += len(trace)
        if not self.recordings.repeats(trace, subject):
            return len(trace) > 0
        self.counts["recordings repeated"] += 1
        self.counts["points of repeated recordings"] += len(trace)
        return False

    def subject(self) -> NDArray[np.int64]:
        """Subject of each trajectory, those found to be one person made one."""
        return dense(self.recordings.people()[np.concatenate(self.subjects)])

    def _clean(self, points: Points) -> Points:
        for step, dropped in (
            (clean.drop_impossible, "points impossible"),
            (clean.settle_times, "points without time in a timed recording"),
            (clean.sort_by_time, None),
            (clean.average_equal_times, "points merged (equal times)"),
            (clean.drop_zero_hops, "points repeated in place"),
        ):
            before = len(points)
            points = step(points)
            if dropped is not None:
                self.counts[dropped] += before - len(points)
        return points

    def _look_for_swapped_columns(self, points: Points, box: Box) -> None:
        self.swapped_inside += int(box.contains(points.lon, points.lat).sum())

    def _account_lengths(self, found: Windows) -> None:
        self.counts["metres of track"] += round(float(found.track_length.sum()))
        self.counts["metres used"] += round(len(found.points) * self.rules.length)
        self.longest = max(self.longest, float(found.track_length.max()))

    def _keep(
        self,
        found: Windows,
        trace_number: NDArray[np.int64],
        subject_number: NDArray[np.int64],
    ) -> None:
        if not len(found.points):
            return
        self.points.append(self._inside(found.points))
        self.subjects.append(subject_number[found.trace])
        self.traces.append(trace_number[found.trace])
        if found.tracks is not None:
            inside = self._inside(found.tracks.points)
            self.tracks.append(replace(found.tracks, points=inside))

    def _inside(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """A geodesic along a parallel bulges over the border by millimetres."""
        if self.box is None:
            return points
        west, south, east, north = self.box.sides
        return np.clip(points, (south, west), (north, east))

    def why_nothing(self) -> str:
        """Say in one sentence where everything went, and what to change."""
        counts, rules = self.counts, self.rules
        read = counts["points read"]
        if read == 0 and counts["points without time"]:
            return (
                f"no trajectories: all {counts['points without time']:,} points are "
                "without time, and OSM sorts those by place, not along a track; try a "
                "larger box"
            )
        if read == 0:
            return "no trajectories: the source holds no track points in this area"
        if counts["points impossible"] == read:
            return (
                f"no trajectories: none of the {read:,} points is a place on Earth; "
                "look whether lat and lon are swapped (--columns lat=...,lon=...), or "
                "are no numbers (write 40.5, not 40,5)"
            )
        if self.box is not None and counts["points used"] == 0:
            swapped = (
                "; with latitude and longitude swapped they would be inside, so name "
                "the right columns with --columns lat=...,lon=..."
                if self.swapped_inside
                else "; give the box that holds them with --bbox=W,S,E,N"
            )
            return (
                f"no trajectories: none of the {read:,} points is inside the box "
                f"{self.box}{swapped}"
            )
        return (
            f"no trajectories: the longest unbroken piece of track is "
            f"{self.longest:,.0f} m, and {rules.points} points every "
            f"{rules.spacing:g} m need {rules.length:,.0f} m; lower --spacing or "
            "--points, or raise --max-gap"
        )
