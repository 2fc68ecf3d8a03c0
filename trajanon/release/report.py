"""The holder's report beside a release: which trajectory is in which group, and on which line."""

import hashlib
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from itertools import chain
from operator import add
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Self

import msgspec
import numpy as np
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import astuple

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.command_lines import Option
from trajanon.common.errors import BadInput
from trajanon.common.json_toml_and_regular_files import Finite, Positive, Whole
from trajanon.common.number_text import UnitName, number_of
from trajanon.common.search_and_release_options import LEAST_K, ReleaseSettings, RowsName, TimesName
from trajanon.grouping.partition import Stage
from trajanon.release.holder_key import fingerprint
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.days_as_records import days_of
from trajanon.trajectories.distances import Summary
from trajanon.trajectories.provenance import Provenance, Source
from trajanon.trajectories.release_timing import Timing
from trajanon.trajectories.subjects import Merged
from trajanon.trajectories.trajectories import (
    FOR_COMPARISON,
    OSM_ATTRIBUTION,
    ReleasedTrajectories,
    Trajectories,
)

if TYPE_CHECKING:
    from trajanon.release.perturbed_places_and_times import PublicWidths
    from trajanon.release.plan import Plan

AGAIN = "run trajanon anonymize again"

NOT_TOGETHER = (
    "these trajectories, release and report do not belong together: give all three of one run "
    "of trajanon anonymize"
)


class Rows(Struct, frozen=True, kw_only=True):
    """What one row of the release stands for, and how many rows there would be in each way."""

    way: Literal["subjects", "trajectories", "lines"]
    trajectories: Whole | None = None
    subjects: Whole | None = None  # the different ones of each line; None if not known
    lines: Whole | None = None
    without: list[Whole] = []  # numbers of the released trajectories without a row of their own

    @classmethod
    def of(cls, way: RowsName, trajectories: int, subjects: int | None, lines: int) -> "Rows":
        """Count rows in each way; where subjects are not known, each trajectory has one."""
        is_known = subjects is not None or way == "lines"
        return cls(
            way=way if is_known else "trajectories",
            trajectories=trajectories,
            subjects=subjects,
            lines=lines,
        )


class Length(Struct, frozen=True):
    """How long what was averaged is, in metres."""

    mean: Finite
    median: Finite


class CurveDistance(Struct, frozen=True):
    """How far ways and lines are apart, wherever along them, in metres."""

    to_line: Summary  # from points of the originals to the nearest place of their line
    to_way: Summary  # from points of lines to the nearest place of the original's way


class HoursAlone(Struct, frozen=True):
    """The hours in which one line alone departs, of all hours with departures."""

    hours: list[str] = []  # as `Clock.text` writes them
    of: Whole = 1  # hours with departures


class TimeWidths(Struct, frozen=True):
    """The public widths, in seconds, by which times are moved."""

    departures: Finite = 0.0
    elapsed: Finite = 0.0  # since the departure


class Times(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How times are released, and how far off they are, in seconds."""

    times: TimesName  # what they count from
    timezone: str
    step: Whole  # to which they are rounded
    minute_worth: Finite  # metres that count as much as a minute in the search
    departure_error: Summary
    duration_error: Summary
    alone: HoursAlone | None = None
    widths: TimeWidths | None = None  # None if times are plain means


class Alignment(Struct, frozen=True, omit_defaults=True):
    """Where windows are on their tracks, once they slid."""

    slid: Finite | None = None  # share of them that is not where it was
    starts: list[Whole] = []  # where each was averaged, as `Tracks.along` counts


class _Counts(Struct, frozen=True):
    """Counts that add up over parts of a release."""

    def __add__(self, counts: Self) -> Self:
        """Add the counts of two parts, field by field."""
        return type(self)(*map(add, astuple(self), astuple(counts)))


class WideGroups(_Counts, frozen=True):
    """Groups whose members lay farther apart than the longest of them is long."""

    groups: Whole = 0  # that were mended
    trajectories: Whole = 0  # that were left out for that
    left: Whole = 0  # groups that are still too wide


class GroupsInOnePlace(_Counts, frozen=True):
    """Groups whose members begin, or end, in fewer places than `distinct_ends` asks for.

    Of windows, groups whose lines begin, or end, near so few places.
    """

    groups: Whole = 0  # after the search
    left: Whole = 0  # after mending
    unknown: Whole = 0  # groups of windows without tracks: nobody says where recordings end


class WorstGroups(_Counts, frozen=True):
    """Trajectories left out with their groups, and the bias of that: what is missing of what."""

    groups: Whole = 0
    trajectories: Whole = 0
    longest: Whole = 0  # of the longest tenth, how many are left out
    of_longest: Whole = 0  # how many the longest tenth has
    shorter: Whole = 0  # of the shorter half, how many are left out
    of_shorter: Whole = 0  # how many the shorter half has
    metres: Whole = 0  # length of those left out, together
    of_metres: Whole = 0  # length of all, together


class Mended(_Counts, frozen=True):
    """How many groups were mended, or are left as they are, by what was wrong."""

    wide: WideGroups = WideGroups()
    one_place: GroupsInOnePlace = GroupsInOnePlace()
    worst: WorstGroups = WorstGroups()


class Suppressed(Struct, frozen=True):
    """What is in no group."""

    rows: list[Whole]  # numbers of these trajectories in the file, or of days of it


class Roads(Struct, frozen=True, kw_only=True):
    """How many lines were laid on roads."""

    keep_off: Finite | None = None  # metres from all roads beyond which a line stays
    on_roads: Whole
    as_they_were: Whole


class Chains(Struct, frozen=True):
    """Drives on several lines, and how many subjects are on all lines of each."""

    drives: Whole  # on several lines
    drives_below: Whole  # with fewer than k subjects
    drives_alone: Whole = 0  # with one

    @property
    def share_below(self) -> float:
        """Compute the share of the drives on several lines that leave fewer than k subjects."""
        return self.drives_below / max(self.drives, 1)  # 0 if there are none


class Persons(Struct, frozen=True, omit_defaults=True):
    """People on several lines, and how many people are on all lines of each; and of their days."""

    people: Whole  # on several lines
    people_below: Whole  # with fewer than k people on all of them
    people_alone: Whole | None = None  # with themselves alone
    days: Whole | None = None  # of one person, on several lines
    days_below: Whole | None = None
    days_alone: Whole | None = None

    @property
    def share_below(self) -> float:
        """Compute the share of the people on several lines that leave fewer than k people."""
        return self.people_below / max(self.people, 1)  # 0 if there are none


class Choice(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was chosen of all trips: one of each person, or whole days."""

    people: Whole | None = None  # with one trip each
    left_out: Whole | None = None  # their other trips

    # Where whole days were chosen:
    most: Whole | None = None  # trips that a day may have
    timezone: str | None = None  # in which days were counted
    trips: Whole | None = None  # of which they were made, or not
    untimed: Whole | None = None  # trips without times, which are in no day
    nameless: Whole | None = None  # trips with times, but without a name, which are in none either
    days: Whole | None = None  # that there are, of all trips with times
    too_many: Whole | None = None  # of these, left out as they have more trips


class Link(Struct, frozen=True):
    """What the report of a release says of the ledger, by which a changed ledger is found."""

    ledger: str  # which ledger it is
    releases: int  # that it had, with this one
    chain: str  # digest of all of these


class InLedger(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a ledger knew of the trajectories in the file, and its link."""

    file: str | None = None  # name of the ledger
    new: Whole | None = None  # trajectories that may be released
    already_released: Whole | None = None
    on_a_line: Whole | None = None  # of people who may be on no further line
    people_before: Whole | None = None  # who are on lines of earlier ones, too; None of the first
    rows: list[Whole]  # numbers of those that are not new
    link: Link | None = None


class Report(Struct, frozen=True, kw_only=True):
    """All that a report says; what some releases do not have has a default."""

    notice: str
    unit: UnitName = "trajectory"
    n: Annotated[int, msgspec.Meta(ge=1)]  # trajectories that are released
    k: Annotated[int, msgspec.Meta(ge=LEAST_K, le=sys.maxsize)]
    counted: Literal["subjects", "records"]
    as_published: bool = False
    groups: Whole
    lines: Whole  # different ones
    points: Whole  # of each line
    rows: Rows
    source: Source = Source()
    subjects_merged: Merged = Merged()
    attribution: str | None = None
    versions: dict[str, str] = {}  # of what it was made with
    key_fingerprint: str | None = None  # of the secret by which lines are moved
    # How far lines are moved, in metres, which is public; None if they are plain means.
    width: Positive | None = None
    information_loss: Finite  # percent, as `grouping.loss` defines it
    stages: list[Stage]
    stopped: bool = False  # by Ctrl-C
    displacement: Summary
    curve_distance: CurveDistance
    length: Length
    times: Times | None = None
    alignment: Alignment | None = None
    mended: Mended | None = None
    distinct_ends: Whole = 2  # places that a line needs at each end
    leave_out: Finite = 0.0  # percent of the trajectories, in whole groups
    suppressed: Suppressed | None = None
    search: dict[str, str | Whole | None] = {}  # options of the search
    sizes: list[Whole] = []  # trajectories of each group
    people: Whole | None = None  # in the release
    subjects_per_group: list[Whole] | None = None  # different ones
    # Lines with fewer than k people who have a name; None where all have one, or nobody.
    lines_of_few_named: Whole | None = None
    largest_share: Finite | None = None  # of a person in the mean that is a line
    labels: list[Whole]  # group of each released trajectory
    line_keys: list[Whole] = []  # of each group's line
    roads: Roads | None = None

    # What is not known of shards. There, and where nobody says which windows are of one drive,
    # chains are not set; they are None where no drive is on several lines.
    chains: Chains | UnsetType | None = UNSET
    persons: Persons | None = None
    averaged: str | None = None  # a digest of what was averaged, in which groups
    choice: Choice | None = None
    alignment_skipped: bool = False  # whether Ctrl-C came before windows slid

    # What data frames, ledgers, folders of parts and commands add.
    extraction: dict[str, Whole] | None = None  # what was read and left out
    ledger: InLedger | None = None
    shards: Whole | None = None
    members: str | None = None  # a digest of the table beside it, which has lists in their place
    run: dict[str, Option] | None = None  # options of anonymize, as they were typed

    @property
    def knows_people(self) -> bool:
        """Check whether k counts subjects and some recordings have one."""
        return self.counted == "subjects" and self.source.names_people

    @property
    def one_line_each(self) -> bool:
        """Check whether each person is on one line."""
        return self.choice is not None and self.choice.people is not None

    @property
    def mended_groups(self) -> Mended:
        """Return how many groups were mended; none where none were looked at."""
        return self.mended or Mended()

    @property
    def moved_of_length(self) -> float | None:
        """Compute how far points moved, as a share of the length averaged, where it is known."""
        return self.displacement.mean / self.length.mean if self.length.mean else None

    @property
    def clock(self) -> Clock | None:
        """Return what the times of the release count from; None if that has none."""
        if self.times is None:
            return None
        # Anybody may have made the report: the settings refuse a step that is out of range.
        step = ReleaseSettings(time_step=self.times.step).time_step
        return Clock(self.times.times, self.times.timezone, step)

    @property
    def timing(self) -> Timing | None:
        """Return how the times of the release were made; None if that has none."""
        if self.clock is None or self.times is None:
            return None
        worth = ReleaseSettings(minute_worth=self.times.minute_worth).minute_worth
        return Timing(self.clock, worth)

    @property
    def own_rows(self) -> Bools:
        """Mark the released trajectories that have a row of their own, shape (n,)."""
        return _mask_without(self.n, self.rows.without)

    @property
    def groups_of_released(self) -> Ints:
        """Return the group of each released trajectory, shape (n,)."""
        groups = set(self.labels)
        if self.n != len(self.labels) or groups != set(range(len(groups))):
            raise BadInput(f"the labels of the report do not match its groups: {AGAIN}")
        return np.array(self.labels, dtype=np.int64)

    @property
    def left_out(self) -> list[int]:
        """List the trajectories, or days of them, that were not released."""
        parts = (self.suppressed, self.ledger)
        return [row for part in parts if part is not None for row in part.rows]

    def released(self, n: int) -> Bools:
        """Mark which of n trajectories were released, shape (n,)."""
        released = _mask_without(n, self.left_out)
        if self.n != released.sum():
            raise BadInput(NOT_TOGETHER)
        return released

    def released_of(self, trajectories: Trajectories) -> Trajectories:
        """Return those trajectories, or days of them, that were released."""
        if not isinstance(trajectories, (Trajectories, ReleasedTrajectories)):
            raise BadInput(
                f"pass Trajectories, not a {type(trajectories).__name__}: anonymize what "
                "cut(from_frame(frame, columns=...), Rules()) of trajanon.extract makes"
            )
        trajectories = self.days_of(trajectories)[0]
        released = self.released(len(trajectories))
        return trajectories if released.all() else trajectories.take(released)

    def days_of(self, trajectories: Trajectories) -> tuple[Trajectories, Ints]:
        """Put trips together to days, if days were released; also the day of each, or -1."""
        choice = self.choice
        if choice is None or choice.most is None or trajectories.unit == "day":
            return trajectories, np.arange(len(trajectories))
        if trajectories.subject is None or trajectories.times is None or choice.timezone is None:
            raise BadInput(NOT_TOGETHER)
        # Anybody may have made the report: the settings refuse a number that is out of range.
        most = ReleaseSettings(days=choice.most).days
        assert most is not None
        return days_of(trajectories, most, choice.timezone)[:2]


# How it is filled.


class Figures(NamedTuple):
    """What is measured of all groups of a release."""

    loss: float  # IL in percent
    # In metres or seconds, by the names of `assembled_release.errors_of`.
    errors: Mapping[str, Summary]
    mended: Mended | None
    widths: "PublicWidths | None"  # by which lines and times are moved; None of plain means
    stages: tuple[Stage, ...]
    stopped: bool = False  # whether Ctrl-C ended the search early


class Totals(NamedTuple):
    """What is counted of all lines of a release."""

    n: int  # trajectories that are released
    groups: int
    lines: int  # different ones
    points: int  # of a line
    rows: Rows
    people: int | None  # None if nothing is known of them
    least: int  # people, or trajectories where people are not known, in the smallest group
    alignment: Alignment | None  # None if all windows are where they were
    on_roads: int | None  # lines; None where no roads are followed
    departures: Floats | None  # of each line, or of one or two in each hour, (l, 1)


def report_of(k: int, plan: "Plan", origin: Provenance, totals: Totals, figures: Figures) -> Report:
    """Report all but what is known of each trajectory, or each group, by itself."""
    counts_people = totals.people is not None and not plan.release.as_published
    length = figures.errors["length"]
    return Report(
        notice=_notice(plan, origin, counts_people=counts_people),
        unit=origin.unit,
        n=totals.n,
        k=k,
        counted="subjects" if counts_people else "records",
        as_published=plan.release.as_published,
        groups=totals.groups,
        lines=totals.lines,
        points=totals.points,
        rows=totals.rows,
        source=origin.source,
        subjects_merged=origin.merged,
        attribution=attribution_of(origin, totals.on_roads),
        versions=versions(),
        key_fingerprint=None if plan.key is None else fingerprint(plan.key),
        width=None if figures.widths is None else figures.widths.places,
        information_loss=figures.loss,
        stages=[stage.rounded for stage in figures.stages],
        stopped=figures.stopped,
        displacement=figures.errors["displacement"],
        curve_distance=CurveDistance(figures.errors["to_line"], figures.errors["to_way"]),
        length=Length(length.mean, length.median),
        times=_times(plan, totals, figures),
        alignment=totals.alignment,
        mended=figures.mended,
        distinct_ends=plan.release.distinct_ends,
        leave_out=plan.release.leave_out,
        search=asdict(plan.search),
        people=totals.people,
        largest_share=None if plan.release.as_published else 1.0 / totals.least,
        labels=[],
        roads=_roads(plan, totals),
    )


def _roads(plan: "Plan", totals: Totals) -> Roads | None:
    """Report how many lines were laid on roads, where that was asked for."""
    if plan.roads is None or totals.on_roads is None:
        return None
    as_they_were = totals.lines - totals.on_roads
    return Roads(keep_off=plan.roads.keep_off, on_roads=totals.on_roads, as_they_were=as_they_were)


def _times(plan: "Plan", totals: Totals, figures: Figures) -> Times | None:
    """Report how times are released, and how far off they are."""
    timing = plan.timing
    if timing is None or totals.departures is None:
        return None
    clock = timing.clock
    widths = figures.widths
    return Times(
        times=clock.times,
        timezone=clock.timezone,
        step=clock.step,
        minute_worth=timing.minute_worth,
        departure_error=figures.errors["departure_error"],
        duration_error=figures.errors["duration_error"],
        alone=HoursAlone(*timing.hours_alone(totals.departures)),
        widths=None if widths is None else TimeWidths(widths.departures, widths.elapsed),
    )


def attribution_of(origin: Provenance, on_roads: int | None) -> str | None:
    """Return the line that must be shown with a release: of its data, or of the roads below it."""
    return OSM_ATTRIBUTION if on_roads else origin.attribution


def _notice(plan: "Plan", origin: Provenance, *, counts_people: bool) -> str:
    """Write the first line of a report: what k counts, where subjects are known or not."""
    notice = "For the holder of the data, not for publication."
    if plan.release.as_published:
        return f"{notice} The release is {FOR_COMPARISON}. k counts trajectories."
    if not counts_people:
        return f"{notice} k counts trajectories: nothing is known of their subjects."

    nameless = origin.source.unnamed
    if nameless.recordings:
        have = number_of(nameless.recordings, "recording has", "recordings have")
        count = "it counts" if nameless.recordings == 1 else "they count"
        people = number_of(nameless.subjects, "person", "people")
        return f"{notice} {have} no name: {count} as {people}."
    return notice


def versions() -> dict[str, str]:
    """Return what the result was made with."""
    names = ("trajanon", "numpy", "numba")
    return {name: version(name) for name in names} | {"python": platform.python_version()}


def _mask_without(n: int, rows: list[int]) -> Bools:
    """Mark n trajectories but these rows; rows that do not exist, or stand twice, are refused."""
    if len({row for row in rows if 0 <= row < n}) < len(rows):
        raise BadInput(NOT_TOGETHER)
    mask = np.ones(n, dtype=np.bool_)
    mask[rows] = False
    return mask


def digest_of(points: Iterable[Floats], labels: Ints, times: Iterable[Floats] | None = None) -> str:
    """Compute 128 bits of trajectories as they were averaged, (n, m, 2), and of their groups.

    Their points, and their times, may come some rows at a time.
    """
    digest = hashlib.blake2b(digest_size=16)
    for array in chain(points, [labels], () if times is None else times):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
