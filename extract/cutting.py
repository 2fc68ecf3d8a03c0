"""Traces -> trajectories, a batch at a time, with an account of what was dropped."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from secrets import randbits
from typing import Any

import numpy as np

from trajanon.common.arrays import Bools, Ints, dense
from trajanon.common.columns_read import TablesRead
from trajanon.common.errors import NoTrajectories
from trajanon.extract import clean
from trajanon.extract.dropped import AT_TWO_PLACES, SHORT, WHY_LEFT_OUT, Became, why_nothing
from trajanon.extract.earth.area import Area, Box, Region
from trajanon.extract.persons import Recordings
from trajanon.extract.points import Points, batch
from trajanon.extract.resample import WindowBatch, whole_trips, windows
from trajanon.extract.rules import Rules
from trajanon.extract.sources.trace_pieces import joined_pieces
from trajanon.extract.split import clip, head, keep, split_at_gaps, with_limits
from trajanon.extract.trace import Trace
from trajanon.extract.trim_ends import Anchors, trim
from trajanon.extract.trips import Trips
from trajanon.trajectories.geodesy import DEGREE
from trajanon.trajectories.trajectories import Trajectories, joined_trajectories

BATCH = 50_000  # points that are worked on at once, so that they stay in the processor's cache

UNTIMED = "trajectories without times"

_PLACES = 10  # a spacing apart, that a point may bring; longer hops count as more points


@dataclass(eq=False)
class Cutter:
    """Turns recordings into trajectories; holds what one extraction has found so far."""

    rules: Rules
    _: KW_ONLY
    area: Area | None = None
    boxes: Sequence[Box] = ()  # beyond which the source, a server, gave no points
    hidden: Region | None = None
    unread: Counter[str] = field(default_factory=Counter)  # what readers left out
    tables: TablesRead = field(default_factory=TablesRead)  # what readers decided of columns
    nameless_differ: bool = False  # whether each recording without a name is a person's own
    key: int = field(default_factory=lambda: randbits(63))  # secret, of the trimmed ends
    counts: Counter[str] = field(default_factory=Counter, init=False)

    def __post_init__(self) -> None:
        self.anchors = Anchors(self.rules.trim_ends, self.key)
        self.recordings = Recordings(subjects_exact=self.rules.subjects_exact)
        self._limits: dict[str, Any] = {}  # the limits that were found, and from what
        self._numbers = [np.empty((2, 0), np.int64)]  # subject and trace of each trajectory
        self._became = np.empty(0, np.int8)  # of each recording, the numbers of `Became`

    def batches(self, traces: Iterator[Trace]) -> Iterator[list[Trace]]:
        """Gather traces to batches of any size; the limits are found from the first traces."""
        if "auto" in (self.rules.max_gap, self.rules.max_pause):
            first, traces = head(traces)
            if first:
                cleaned = Cutter(self.rules)._cleaned(batch(first))
                self.rules, self._limits = with_limits(self.rules, clean.drop_zero_hops(cleaned))

        gathered: list[Trace] = []
        size = 0
        for trace in traces:
            gathered.append(trace)
            size += 1 + len(trace)
            if self.rules.spacing is not None:  # of a trip there are few places
                size += self._most_places(trace, self.rules.spacing) // _PLACES
            if size >= BATCH:
                yield gathered
                gathered, size = [], 0
        if gathered:
            yield gathered

    def _most_places(self, trace: Trace, spacing: float) -> int:
        """Estimate from above how many places a spacing apart lie on a recording."""
        with np.errstate(all="ignore"):  # impossible points will be dropped
            hops = np.abs(np.diff(trace.lat)) + np.abs(np.diff(trace.lon))
        hops = DEGREE * np.where(hops < 720.0, hops, 0.0)
        return int(np.minimum(hops, 1.5 * self.rules.longest_hop).sum() / spacing)

    def cut(self, traces: Sequence[Trace]) -> Trajectories:
        """Cut a batch of traces.

        Numbers of subjects are not final: two of them may turn out to be one person's.
        """
        points = batch(traces)
        if "max_gap" not in self._limits.get("limits", ()):  # a limit that was asked for holds
            points = replace(points, without_fix={})

        entered = self.recordings.enter(traces, points)
        repeated = entered.repeated[points.trace]
        read = {
            "recordings read": entered.new.sum(),
            "points read": len(points),
            "recordings repeated": entered.repeated.sum(),
            "points of repeated recordings": repeated.sum(),
        }
        self._count(read)

        given = points.take(~repeated)
        cleaned = self._cleaned(given)
        self.recordings.place(cleaned, given, entered)
        moving = self._kept("points repeated in place", cleaned, clean.drop_zero_hops(cleaned))

        became = np.where(entered.repeated, Became.REPEATED, Became.ONE_PLACE)
        find = self._trips if self.rules.trips else self._windows
        found, true_ends = find(moving, traces, became)
        self._count_ways(found)
        became[found.trace] = Became.TAKEN
        self._note(entered.trace, became)

        subject = entered.subject[found.trace]
        trace = entered.trace[found.trace]
        self._numbers.append(np.stack([subject, trace]))

        bounded = self.area is not None or bool(self.boxes)
        return Trajectories(
            found.points,
            subject,
            trace,
            tracks=found.tracks,
            times=found.times,
            marks=np.column_stack([entered.mark[found.trace], found.hops]),
            true_ends=true_ends if bounded else None,
        )

    def _note(self, recording: Ints, became: Ints) -> None:
        """Note what became of recordings: the last that holds for any part of it."""
        new = max(int(recording.max(initial=-1)) + 1 - len(self._became), 0)
        self._became = np.append(self._became, np.zeros(new, np.int8))
        np.maximum.at(self._became, recording, became.astype(np.int8))

    def _cleaned(self, points: Points) -> Points:
        kept = self._kept
        points = kept("points impossible", points, clean.drop_impossible(points))
        settled = clean.settle_times(points)
        points = kept("points without time in a timed recording", points, settled)
        points = clean.sort_by_time(points)
        apart, spread = clean.spread_minutes(points)
        self.counts["points spread over their minute"] += spread
        points = kept("points merged (equal times)", points, clean.average_equal_times(apart))
        return kept("stray points", points, clean.drop_strays(points, self.rules))

    def _trips(
        self, points: Points, traces: Sequence[Trace], became: Ints
    ) -> tuple[WindowBatch, Bools]:
        """Find whole trips, and which ends are true; note what becomes of the recordings."""
        last_read = np.array([trace.last_read for trace in traces])
        trips = Trips(points, self.rules, self.counts, last_read=last_read)
        shown = self._shown(trips.points)
        inside, true_ends = trips.longest_inside(shown, self.area, self.boxes)
        np.maximum.at(became, trips.trace, trips.became)

        self._count_track(inside)
        found = whole_trips(inside, self.rules)
        self.counts[SHORT] += int((found.track_length < self.rules.length).sum())
        trip = found.trace
        return replace(found, trace=trips.trace[trip]), true_ends[trip]

    def _windows(
        self, points: Points, traces: Sequence[Trace], became: Ints
    ) -> tuple[WindowBatch, Bools]:
        """Find windows, which have no true ends; note what becomes of the recordings."""
        became[points.trace] = Became.HIDDEN
        points = self._shown(split_at_gaps(points, self.rules, self.counts))
        became[points.trace] = Became.OUTSIDE
        if self.area is not None:
            points = self._kept("points outside the area", points, clip(points, self.area))
        became[points.trace] = Became.TOO_SHORT

        self._count_track(points)
        found = windows(points, self.rules)
        return found, np.ones((len(found.trace), 2), dtype=np.bool_)

    def _count(self, counts: Mapping[str, Any]) -> None:
        self.counts.update({what: int(count) for what, count in counts.items()})

    def _count_track(self, points: Points) -> None:
        """Count the points that are used, and for how long they last."""
        first, size = points.pieces
        seconds = np.nan_to_num(points.time[first + size - 1] - points.time[first])
        used = {"points used": len(points), "seconds of track": np.rint(seconds).sum()}
        self._count(used)

    def _count_ways(self, found: WindowBatch) -> None:
        """Count whole metres of each piece: a sum of fractions would depend on the batches."""
        metres = np.rint(found.track_length)
        long = found.track_length >= (1.0 - 1e-6) * self.rules.length
        ways = {
            "metres of track": metres.sum(),
            "metres used": metres[long].sum(),
            UNTIMED: np.isnan(found.times[:, 0]).sum(),
        }
        self._count(ways)

    def _shown(self, points: Points) -> Points:
        """Cut out the surroundings of ends and of hidden places."""
        if self.rules.trim_ends:
            trimmed = trim(points, self.rules, self.anchors)
            points = self._kept("points near the ends of a trace", points, trimmed)

        if self.hidden is not None:
            inside = self.hidden.contains(points.lat, points.lon)
            shown = keep(points, ~inside, self.hidden.meets)
            points = self._kept("points near hidden places", points, shown)
        return points

    def _kept(self, what: str, before: Points, after: Points) -> Points:
        """Count the points that a step dropped, and return the others."""
        self.counts[what] += len(before) - len(after)
        return after

    def numbered(self, parts: Iterable[Trajectories]) -> Iterator[Trajectories]:
        """Count and number the people, once all are known; parts may come from disk."""
        subject, trace = np.concatenate(self._numbers, axis=1)
        if not len(subject):
            what = "trips" if self.rules.trips else "trajectories"
            raise NoTrajectories(f"no {what}: {why_nothing(self.provenance())}")

        persons = self.recordings.persons(nameless_differ=self.nameless_differ)
        people = persons.number
        numbers = {
            "subjects read": len(np.unique(people)),
            "subjects of trajectories": len(np.unique(people[subject])),
            "trajectories": len(subject),
            **persons.nameless.counts,
        }
        self.counts.update(numbers)

        beside = {**persons.merged.counts, AT_TWO_PLACES: persons.at_two_places}
        self.counts.update({what: count for what, count in beside.items() if count})
        return self._numbered(parts, dense(people[subject]), trace)

    def _numbered(
        self, parts: Iterable[Trajectories], person: Ints, trace: Ints
    ) -> Iterator[Trajectories]:
        """Number people and traces anew; a part that is read from disk counts them from 0."""
        any_timed = self.counts[UNTIMED] < len(person)
        begin = 0
        for part in filter(len, parts):
            rows = slice(begin, begin + len(part))
            begin = rows.stop
            if not any_timed:
                tracks = None if part.tracks is None else replace(part.tracks, times=None)
                part = replace(part, tracks=tracks, times=None)
            yield replace(part, subject=person[rows], trace=trace[rows])

    def provenance(self) -> dict[str, Any]:
        """Describe how the trajectories were made, ready for JSON."""
        became = np.bincount(self._became, minlength=len(Became)).tolist()
        left_out = {why.reason: became[fate] for fate, why in WHY_LEFT_OUT.items() if became[fate]}
        return {
            "area": None if self.area is None else str(self.area),
            "box": None if self.area is None else list(self.area.bounds.sides),
            **asdict(self.rules),
            "trips": self.rules.trips,
            "found": self._limits,
            **self.tables.account,
            "counts": Counter({**self.unread, **self.counts}),
            "recordings": {
                "read": sum(became),
                "with a trajectory": became[Became.TAKEN],
                "left out": left_out,
            },
        }


def cut(
    traces: Iterable[Trace],
    rules: Rules,
    *,
    area: Area | None = None,
    nameless_differ: bool = False,
) -> Trajectories:
    """Cut recordings to trajectories of equally spaced points.

    Parameters
    ----------
    traces
        Recordings, in any number; only one batch of them is held at a time.
    rules
        What a trajectory is, and where a track ends.
    area
        Where trajectories may lie; None for everywhere.
    nameless_differ
        Whether each recording without a subject counts as a person of its own, beside people with a
        name. Otherwise all of these count as one person, unless nobody has a name.

    Returns
    -------
    Trajectories
        In the order of the source, with pseudonymous numbers for subjects and traces; the
        provenance holds the rules, and the counts of what was dropped at each step.

    Raises
    ------
    NoTrajectories
        If there is none; the message says at which step they were lost, and what to change.

    Examples
    --------
    A walk of 1,100 m to the north has room for two windows of 500 m; one is taken. Each point has a
    latitude some 0.0009 degrees, or 100 m, above that of the point before:

    >>> import numpy as np
    >>> from trajanon.extract import Rules, Trace, cut
    >>> lat, lon = np.arange(41.0, 41.0105, 0.001), np.full(11, 2.0)
    >>> walk = Trace("walk", "Ada", lat, lon, time=np.full(11, np.nan))
    >>> trajectories = cut([walk], Rules(spacing=100, points=6))
    >>> print(trajectories.points[:, :, 0].round(4))
    [[41.0054 41.0063 41.0072 41.0081 41.009  41.0099]]
    """
    cutter = Cutter(rules, area=area, nameless_differ=nameless_differ)
    recordings = joined_pieces(traces, cutter.unread)
    parts = [cutter.cut(gathered) for gathered in cutter.batches(recordings)]
    return finished_cut(parts, cutter)


def finished_cut(parts: Sequence[Trajectories], cutter: Cutter) -> Trajectories:
    """Join the trajectories of all batches, once all recordings are known."""
    trajectories = joined_trajectories(list(cutter.numbered(parts)))
    return replace(trajectories, provenance=cutter.provenance())
