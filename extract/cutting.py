"""Traces -> trajectories, a batch at a time, with an account of what was dropped."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import NoTrajectories
from trajanon.extract import clean
from trajanon.extract.areas import Box
from trajanon.extract.points import Points, batch
from trajanon.extract.resample import Windows, windows
from trajanon.extract.rules import Rules
from trajanon.extract.split import clip, split
from trajanon.extract.trace import Trace
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
) -> Trajectories:
    """Turn recordings into trajectories of equally spaced points.

    In this order: drop impossible points, sort by time, average points of equal time,
    drop zero-length hops, split at pauses, long hops and impossible speeds, clip to
    the box, resample along the track, cut consecutive windows.

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
    work = _Cutting(rules, box, Counter() if counts is None else counts)
    for some in _batches(traces):
        work.add(some)
    if not work.points:
        raise NoTrajectories(work.why_nothing())
    return Trajectories(
        points=np.concatenate(work.points),
        subject=np.concatenate(work.subjects),
        trace=np.concatenate(work.traces),
        provenance={
            "source": source,
            "attribution": attribution,
            "box": None if box is None else list(box.sides),
            "spacing": rules.spacing,
            "points": rules.points,
            "max_gap": rules.max_gap,
            "counts": {name: int(count) for name, count in work.counts.items()},
        },
    )


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

    def __init__(self, rules: Rules, box: Box | None, counts: Counter[str]) -> None:
        self.rules = rules
        self.box = box
        self.counts = counts
        self.points: list[NDArray[np.float64]] = []
        self.subjects: list[NDArray[np.int64]] = []
        self.traces: list[NDArray[np.int64]] = []
        self.longest = 0.0
        self.swapped_inside = 0
        self._trace_number: dict[tuple[str | None, str], int] = {}
        self._subject_number: dict[str | tuple[str | None, str], int] = {}
        self._taken: Counter[int] = Counter()
        self._seen: set[bytes] = set()

    def add(self, some: list[Trace]) -> None:
        """Cut a batch of traces."""
        some = [trace for trace in some if len(trace) and not self._repeated(trace)]
        if not some:
            return
        trace_number, subject_number = self._numbers(some)
        points = self._clean(batch(some))
        points = split(points, self.rules, self.counts)
        if self.box is not None:
            self._look_for_swapped_columns(points, self.box)
            before = len(points)
            points = clip(points, self.box)
            self.counts["points outside the box"] += before - len(points)
        self.counts["points used"] += len(points)
        if len(points) == 0:
            return
        found = windows(points, self.rules)
        self._account_lengths(found)
        self._keep(found, trace_number, subject_number)

    def _repeated(self, trace: Trace) -> bool:
        """Tell whether the very same points came before, under whatever name.

        The same recording twice would count as two subjects where nothing is known
        of subjects.
        """
        self.counts["points read"] += len(trace)
        content = hashlib.blake2b(digest_size=16)
        for values in (trace.lat, trace.lon, trace.time):
            content.update(values.tobytes())
        if len(trace) > 1 and content.digest() in self._seen:
            self.counts["points of repeated recordings"] += len(trace)
            return True
        self._seen.add(content.digest())
        return False

    def _numbers(
        self, some: list[Trace]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give traces and subjects their pseudonyms: numbers in order of appearance."""
        trace_number, subject_number = [], []
        for trace in some:
            key = (trace.subject, trace.name)
            if trace.subject is None and key not in self._trace_number:
                self.counts["recordings of unknown subjects"] += 1
            trace_number.append(
                self._trace_number.setdefault(key, len(self._trace_number))
            )
            subject = key if trace.subject is None else trace.subject
            subject_number.append(
                self._subject_number.setdefault(subject, len(self._subject_number))
            )
        self.counts["recordings read"] = len(self._trace_number)
        self.counts["subjects read"] = len(self._subject_number)
        return np.array(trace_number), np.array(subject_number)

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
        points, subject = found.points, subject_number[found.trace]
        trace = trace_number[found.trace]
        if self.rules.max_per_subject is not None:
            room = self._room(subject, self.rules.max_per_subject)
            self.counts["trajectories over the limit of a subject"] += int(
                (~room).sum()
            )
            points, subject, trace = points[room], subject[room], trace[room]
        if self.box is not None:
            # A geodesic along a parallel bulges over the border by millimetres.
            west, south, east, north = self.box.sides
            points = np.clip(points, (south, west), (north, east))
        self.counts["trajectories"] += len(points)
        if len(points):
            self.points.append(points)
            self.subjects.append(subject)
            self.traces.append(trace)

    def _room(self, subject: NDArray[np.int64], limit: int) -> NDArray[np.bool_]:
        room = np.zeros(len(subject), dtype=np.bool_)
        for i, number in enumerate(subject.tolist()):
            room[i] = self._taken[number] < limit
            self._taken[number] += 1
        return room

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
                f"no trajectories: none of the {read:,} points is on Earth; if lat "
                "and lon are swapped, name them with --columns lat=...,lon=..."
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
