"""Traces cut into trajectories, a batch at a time, with counts of what was dropped."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass, field, replace
from secrets import token_bytes
from typing import Any

import numpy as np

from trajanon.common.arrays import Ints, renumbered
from trajanon.common.columns_read import TablesRead
from trajanon.common.errors import NoTrajectories
from trajanon.extract.clip_to_area import clip, keep
from trajanon.extract.earth.area import Area, Box, Region
from trajanon.extract.gaps_and_stays import split_at_gaps
from trajanon.extract.hidden_homes_and_ends import circles_of_ends, cut_own_ends
from trajanon.extract.impossible_and_stray_points import cleaned, drop_zero_hops
from trajanon.extract.limits_from_data import LimitsFound, head, with_limits
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.persons_numbered import Recordings
from trajanon.extract.points import Points, batch
from trajanon.extract.resample_windows_and_trips import WindowBatch, whole_trips, windows
from trajanon.extract.sources.trace_pieces import joined_pieces
from trajanon.extract.trace import Trace
from trajanon.extract.trips import Trips, ends_that_are_true
from trajanon.extract.why_left_out import SHORT, WHY_BY_BECAME, Became, why_nothing
from trajanon.trajectories.geodesy import METRES_PER_DEGREE
from trajanon.trajectories.provenance import NAMELESS_SUBJECT
from trajanon.trajectories.subjects import AT_TWO_PLACES, DRAWN_ANEW, PERHAPS_TRIPS
from trajanon.trajectories.trajectories import Trajectories, joined_trajectories

POINTS_PER_BATCH = 50_000  # about; few enough to stay in the processor's cache

UNTIMED = "trajectories without times"

# Along long hops, windows have many more places than there are points: these count, too.
_PLACES_PER_POINT = 10


@dataclass(eq=False)
class Cutter:
    """Cuts recordings into trajectories; holds what one extraction has counted so far."""

    rules: Rules
    _: KW_ONLY
    area: Area | None = None
    boxes: Sequence[Box] = ()  # asked of a server, which gave no points outside of them
    hidden: Region | None = None  # surroundings of places that no trajectory may show
    unread: Counter[str] = field(default_factory=Counter)  # what readers left out
    tables: TablesRead = field(default_factory=TablesRead)  # how readers used the columns
    nameless_differ: bool = False  # whether recordings without a name are of different people
    key: bytes = field(default_factory=token_bytes)  # secret: where ends are trimmed
    counts: Counter[str] = field(default_factory=Counter, init=False)

    def __post_init__(self) -> None:
        self.circles = circles_of_ends(self.rules, self.key)
        self.recordings = Recordings(subjects_exact=self.rules.subjects_exact)
        self._limits_found: LimitsFound | None = None
        # Subject and recording of each trajectory, (2, n), batch by batch.
        self._subjects_and_recordings = [np.empty((2, 0), np.int64)]
        self._became = np.empty(0, np.int8)  # the `Became` of each recording
        self._nameless_subject: dict[str, int] = {}  # for the provenance, if there is one

    def batches(self, traces: Iterator[Trace]) -> Iterator[list[Trace]]:
        """Gather traces, of any size, into batches; find limits that are "auto" by the first."""
        if "auto" in (self.rules.max_gap, self.rules.max_pause):
            first, traces = head(traces)
            if first:
                # These counts are lost, as the points will be cleaned and counted again.
                clean = cleaned(batch(first), self.rules, Counter())
                self.rules, self._limits_found = with_limits(self.rules, drop_zero_hops(clean))

        gathered: list[Trace] = []
        size = 0
        for trace in traces:
            gathered.append(trace)
            size += 1 + len(trace)  # many traces without points fill a batch, too
            # A whole trip has few places, however long it is.
            if self.rules.spacing is not None:
                size += self._most_places(trace, self.rules.spacing) // _PLACES_PER_POINT

            if size >= POINTS_PER_BATCH:
                yield gathered
                gathered = []
                size = 0

        if gathered:
            yield gathered

    def _most_places(self, trace: Trace, spacing: float) -> int:
        """Estimate, rather too high, how many places a spacing apart fit on a recording."""
        # The points are not cleaned yet: coordinates may be NaN, infinite or not on Earth. Two on
        # Earth differ by 540 degrees at most.
        with np.errstate(all="ignore"):
            degrees = np.abs(np.diff(trace.lat)) + np.abs(np.diff(trace.lon))
        hops = METRES_PER_DEGREE * np.where(degrees < 720.0, degrees, 0.0)

        # Longer hops will be cut. The sum over both axes is up to 1.42 times the way itself.
        return int(np.minimum(hops, 1.5 * self.rules.longest_hop).sum() / spacing)

    def cut(self, traces: Sequence[Trace]) -> Trajectories:
        """Cut a batch of traces.

        Numbers of subjects are not final: two of them may turn out to be one person's.
        """
        points = batch(traces)

        # Rows without a position allow a longer hop, unless the user has set the limit.
        if self._limits_found is None or "max_gap" not in self._limits_found.limits:
            points = replace(points, without_fix={})

        entered = self.recordings.enter(traces, points)
        repeated = entered.repeated[points.trace]
        counts = {
            "recordings read": entered.new.sum(),
            "points read": len(points),
            "recordings repeated": entered.repeated.sum(),
            "points of repeated recordings": repeated.sum(),
        }
        self._count(counts)

        as_read = points.take(~repeated)
        clean = cleaned(as_read, self.rules, self.counts)
        self.recordings.places.add(clean, as_read, entered.subject)
        moving = self._kept("points repeated in place", clean, drop_zero_hops(clean))

        # What became of each trace, if no later step changes it.
        became = np.where(entered.repeated, Became.REPEATED, Became.NOWHERE)
        became[clean.trace] = Became.ONE_PLACE
        cut_points = self._trips if self.rules.trips else self._windows
        rows = cut_points(moving, traces, became)
        self._count_metres(rows)
        became[rows.trace] = Became.TAKEN
        self._note_became(entered.recording, became)

        subject = entered.subject[rows.trace]
        recording = entered.recording[rows.trace]
        self._subjects_and_recordings.append(np.stack([subject, recording]))

        return Trajectories(
            rows.points,
            subject,
            recording,
            tracks=rows.tracks,
            times=rows.times,
            marks=np.column_stack([entered.mark[rows.trace], rows.hop_hashes]),
            true_ends=rows.true_ends,
        )

    def _note_became(self, recording: Ints, became: Ints) -> None:
        """Note what became of recordings: of the traces of one, the greatest `Became` holds."""
        new = max(int(recording.max(initial=-1)) + 1 - len(self._became), 0)
        self._became = np.append(self._became, np.zeros(new, np.int8))
        np.maximum.at(self._became, recording, became.astype(np.int8))

    def _trips(self, points: Points, traces: Sequence[Trace], became: Ints) -> WindowBatch:
        """Find whole trips, and which ends are true; note what becomes of the recordings."""
        last_read = np.array([trace.last_read for trace in traces])
        trips = Trips(points, self.rules, self.counts, last_read=last_read)
        shown = self._shown(trips.points)
        inside, true_ends = trips.longest_inside(shown, self.area, self.boxes)
        np.maximum.at(became, trips.trace, trips.became)

        self._count_track(inside)
        rows = whole_trips(inside, self.rules)
        self.counts[SHORT] += int((rows.track_length < self.rules.length).sum())

        # Until here the points are numbered by trip; from here on, rows are by trace again.
        trip = rows.trace

        # A border may cut off the end of a trip; None says that none did. Where the user hides ends
        # or places, the trip ends there for everybody, and that end counts as its own.
        has_border = self.area is not None or bool(self.boxes)
        return replace(
            rows, trace=trips.trace[trip], true_ends=true_ends[trip] if has_border else None
        )

    def _windows(self, points: Points, traces: Sequence[Trace], became: Ints) -> WindowBatch:
        """Find windows, and which ends of their runs are true; note what becomes of the recordings.

        Windows have no ends of their own: they are cut out of runs, and slide on these.
        """
        # Traces with no points left after a step keep the reason set before it.
        became[points.trace] = Became.HIDDEN
        shown = self._shown(split_at_gaps(points, self.rules, self.counts))
        became[shown.trace] = Became.OUTSIDE
        parts, row = clip(shown, self.area)
        if self.area is not None:
            self._kept("points outside the area", shown, parts)
        became[parts.trace] = Became.TOO_SHORT

        self._count_track(parts)
        true_ends = None
        if self.area is not None or self.boxes:
            part_number = np.cumsum(~parts.follows) - 1
            true_ends = ends_that_are_true(
                row,
                replace(parts, trace=part_number),
                shown.piece,
                int(part_number.max(initial=-1)) + 1,
                self.boxes,
            )
        return windows(parts, self.rules, true_ends)

    def _count(self, counts: Mapping[str, Any]) -> None:
        self.counts.update({what: int(count) for what, count in counts.items()})

    def _count_track(self, points: Points) -> None:
        """Count the points that are used, and the seconds from begin to end of their pieces."""
        first, size = points.pieces
        seconds = np.nan_to_num(points.time[first + size - 1] - points.time[first])
        self._count({"points used": len(points), "seconds of track": np.rint(seconds).sum()})

    def _count_metres(self, rows: WindowBatch) -> None:
        """Count the metres of all pieces and of those with a trajectory; and rows without times."""
        # Whole metres of each piece: the sum of fractions would depend on the batches.
        metres = np.rint(rows.track_length)

        # Rounding may leave a piece that holds a trajectory a trifle too short.
        holds_trajectory = rows.track_length >= (1.0 - 1e-6) * self.rules.length
        counts = {
            "metres of track": metres.sum(),
            "metres used": metres[holds_trajectory].sum(),
            UNTIMED: np.isnan(rows.times[:, 0]).sum(),
        }
        self._count(counts)

    def _shown(self, points: Points) -> Points:
        """Drop the points near the ends of traces and near hidden places."""
        if self.rules.trim_ends:
            trimmed = cut_own_ends(points, self.rules, self.circles)
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
        """Count the people, and number the rows of all parts by person.

        All recordings must have been cut before; the parts may be read from disk one by one.
        """
        subject, recording = np.concatenate(self._subjects_and_recordings, axis=1)
        if not len(subject):
            what = "trips" if self.rules.trips else "trajectories"
            raise NoTrajectories(f"no {what}: {why_nothing(self.provenance())}")

        persons = self.recordings.persons(
            nameless_differ=self.nameless_differ, trips=subject if self.rules.trips else None
        )
        person_of = persons.number  # by subject
        counts = {
            "subjects read": len(np.unique(person_of)),
            "subjects of trajectories": len(np.unique(person_of[subject])),
            "trajectories": len(subject),
            **persons.nameless.counts,
        }
        self.counts.update(counts)

        # These are written only where there are any.
        rare = {
            **persons.merged.counts,
            AT_TWO_PLACES: persons.at_two_places,
            PERHAPS_TRIPS: persons.shared_names,
            DRAWN_ANEW: persons.drawn_anew,
        }
        self.counts.update({what: count for what, count in rare.items() if count})

        person = renumbered(person_of[subject])
        of_nameless = person[person_of[subject] == persons.nameless_person]
        if len(of_nameless):
            self._nameless_subject = {NAMELESS_SUBJECT: int(of_nameless[0])}
        return self._with_final_numbers(parts, person, recording)

    def _with_final_numbers(
        self, parts: Iterable[Trajectories], person: Ints, recording: Ints
    ) -> Iterator[Trajectories]:
        """Replace the numbers of people and recordings, as a part read from disk counts from 0.

        If no trajectory of any part has times, none has a column of them.
        """
        any_timed = self.counts[UNTIMED] < len(person)
        begin = 0
        for part in filter(len, parts):
            rows = slice(begin, begin + len(part))
            begin = rows.stop

            if not any_timed:
                tracks = None if part.tracks is None else replace(part.tracks, times=None)
                part = replace(part, tracks=tracks, times=None)
            yield replace(part, subject=person[rows], trace=recording[rows])

    def provenance(self) -> dict[str, Any]:
        """Describe how the trajectories were made, ready for JSON."""
        # How many recordings became what.
        number = np.bincount(self._became, minlength=len(Became)).tolist()
        left_out = {why.reason: number[fate] for fate, why in WHY_BY_BECAME.items() if number[fate]}
        return {
            "area": None if self.area is None else str(self.area),
            "box": None if self.area is None else list(self.area.bounds.sides),
            **asdict(self.rules),
            "trips": self.rules.trips,
            "found": {} if self._limits_found is None else self._limits_found._asdict(),
            **self.tables.account,
            "counts": Counter({**self.unread, **self.counts}),
            **self._nameless_subject,
            "recordings": {
                "read": sum(number),
                "with a trajectory": number[Became.TAKEN],
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
        Recordings, in any number; the points of only one batch of them are held at a time.
    rules
        What a trajectory is, and where a track ends.
    area
        Where trajectories may lie; None for everywhere.
    nameless_differ
        Whether each recording without a subject counts as a different person, even if others have a
        name. Otherwise all of them together count as one person, unless nobody has a name.

    Returns
    -------
    Trajectories
        In the order of the source, with pseudonymous numbers for subjects and traces; the
        provenance holds the rules, and the counts of what was dropped at each step.

    Raises
    ------
    NoTrajectories
        If there is no trajectory; the message says which step dropped most, and what to change.

    Examples
    --------
    A walk of 1,100 m to the north has room for two windows of 500 m; one is taken. Each of its
    points lies 100 m, or some 0.0009 degrees of latitude, north of the point before:

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
