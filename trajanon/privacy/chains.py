"""Chains: windows of one drive, put together again from released line to released line."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.spatial import cKDTree

from trajanon.arrays import Floats, Ints
from trajanon.files.trajectory_files import Runs
from trajanon.geodesy import metres_of_degrees
from trajanon.number_text import number_of, percent
from trajanon.partition import dense
from trajanon.privacy.attack import Published
from trajanon.privacy.linkage import nearest_lines
from trajanon.settings import ReleaseSettings
from trajanon.tracks import Tracks

_HEADING = 4.0  # a metre between two hops counts as much as this between two places
_MINUTE = ReleaseSettings.minute_worth  # metres of place that count as much as a minute
_TIED = 1e-9  # distances that differ by less, as a share, are equal but for rounding
_SAME = 1e-6  # metres that are nothing but rounding

LINE, WINDOW = "the line of a window", "a window"
"""What the adversary starts from."""


class SubjectsLeft(NamedTuple):
    """How few subjects are on all lines of a drive, and on both of a step."""

    drives: int  # with windows on several lines
    drives_below: int  # of these, with fewer than k subjects
    drives_alone: int  # with one
    steps: int  # from a window to the next of its drive, on another line
    steps_below: int
    steps_alone: int

    def words(self, k: int) -> str:
        """What this means, a sentence without its end."""
        return (
            "Somebody who follows a drive from line to line is left with fewer than "
            f"{k} subjects in {self.drives_below:,} of {number_of(self.drives, 'drive')} on "
            f"several lines, and with one alone in {self.drives_alone:,}"
        )


class Followed(NamedTuple):
    """How well an adversary follows drives; mean chances, if he decides ties at random."""

    first: float  # that of all other lines that of the next window ranks first
    among_three: float  # that it ranks among the first three
    drives: float  # that he follows a drive to its end
    long_drives: float  # the same, of drives of two steps or more; 0 if there are none
    steps: float  # share of a drive's steps that he follows before he goes astray


@dataclass(frozen=True, eq=False)
class Chained:
    """What the windows of a drive give away together."""

    k: int
    lines: int  # released
    linked: float  # chance that the first line after one that drives leave is next of one of these
    long_drives: int  # drives of two steps or more
    left: SubjectsLeft
    followed: Mapping[str, Followed]  # by what the adversary starts from

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON: nothing of single drives."""
        return {
            "k": self.k,
            "lines": self.lines,
            "linked": self.linked,
            "long_drives": self.long_drives,
            **self.left._asdict(),
            "followed": {start: found._asdict() for start, found in self.followed.items()},
        }

    @property
    def words(self) -> str:
        """What came out, in a few sentences."""
        found, known = self.followed[LINE], self.known
        return (
            f"{number_of(self.left.steps, 'step leads', 'steps lead')} from the line of a window "
            "to that of the next window of its drive. By place and heading that is the first of "
            f"all {self.lines:,} lines in {percent(found.first)} of the steps, and among the first "
            f"three in {percent(found.among_three)}; for somebody who knows the window before, in "
            f"{percent(known.first)} and {percent(known.among_three)}. At best, "
            f"{percent(self.to_end)} of the drives are followed to their end. Somebody who knows "
            f"nobody links {percent(self.linked)} of the lines that drives leave to a line where "
            f"one of these goes on. {self.left.words(self.k)}."
        )

    @property
    def known(self) -> Followed:
        """What somebody finds who knows a window."""
        return self.followed[WINDOW]

    @property
    def to_end(self) -> float:
        """Mean chance that a drive is followed to its end, from the best start."""
        return max(found.drives for found in self.followed.values())


def chains(published: Published, tracks: Tracks | None) -> Chained | None:
    """Put together again the windows of each drive, a run of the tracks.

    They lie end to end, each in a group of its own. From a line the adversary goes to the one that
    best begins where the first would be a hop later, with a hop like its last. He starts from the
    line of a window; or he knows that window, sets aside the line nearest to it, and goes on from
    the window's own end. Where times are released, they count like places. None if the tracks are
    not known, or no drive has windows on two lines.
    """
    labels = published.labels
    left = subjects_left(labels, tracks, published.subjects, published.k)
    if tracks is None or left is None or published.points.shape[1] == 1:  # a point has no heading
        return None
    step = _steps(labels, tracks)
    entries, onward = _ends(published.lines, published.line_times, published)
    tree, here, there = cKDTree(entries), labels[step.window], labels[step.next]
    from_line = _chances(tree, onward[here], here, there)
    times = None if published.line_times is None else published.times
    _, onward = _ends(published.points, times, published)
    linked = np.array([nearest[0] for nearest in nearest_lines(published)])
    from_window = _chances(tree, onward[step.window], linked[step.window], there)
    return Chained(
        k=published.k,
        lines=len(published.lines),
        linked=_linked(here, there, from_line.first),
        long_drives=int((step.of_drives > 1).sum()),
        left=left,
        followed={
            LINE: _followed(step, from_line, from_line),
            WINDOW: _followed(step, from_window, from_line),
        },
    )


def subjects_left(
    labels: Ints, tracks: Tracks | Runs | None, subjects: Ints | None, k: int
) -> SubjectsLeft | None:
    """Count the subjects who are on all lines of a drive, from the line of each window, (n,).

    Where subjects are not known, each drive counts as one. None if the tracks are not known, or no
    drive has windows on two lines.
    """
    if tracks is None or not len((step := _steps(labels, tracks)).window):
        return None
    held = _marked(labels, tracks.run if subjects is None else dense(subjects))
    lines = labels[np.append(step.window, step.next)]
    counts = []
    for cell in (step.drive, np.arange(len(step.drive))):
        on = _marked(np.tile(cell, 2), lines, held.shape[0])
        common = (on @ held).tocoo()
        on_all = common.row[common.data == on.sum(axis=1)[common.row]]
        people = np.bincount(on_all, minlength=on.shape[0])
        counts += [len(people), int((people < k).sum()), int((people == 1).sum())]
    return SubjectsLeft(*counts)


class _Steps(NamedTuple):
    """Steps of drives in their order, those of a drive together, (s,)."""

    drive: Ints  # numbered from 0
    window: Ints
    next: Ints  # the next window of the drive, on another line

    @property
    def of_drives(self) -> Ints:
        """How many steps each drive has."""
        return np.bincount(self.drive)


def _steps(labels: Ints, tracks: Tracks | Runs) -> _Steps:
    order = np.lexsort((tracks.start, tracks.run))
    window, after = order[:-1], order[1:]
    goes_on = (tracks.run[window] == tracks.run[after]) & (labels[window] != labels[after])
    window, after = window[goes_on], after[goes_on]
    return _Steps(dense(tracks.run[window]), window, after)


def _marked(row: Ints, column: Ints, columns: int | None = None) -> csr_array:
    shape = (int(row.max()) + 1, int(column.max()) + 1 if columns is None else columns)
    marks: csr_array = coo_array((np.ones(len(row), np.int64), (row, column)), shape).tocsr()
    marks.data[:] = 1
    return marks


def _ends(points: Floats, times: Floats | None, seen: Published) -> tuple[Floats, Floats]:
    """Where lines or windows begin, and where they would go on, in metres: place and hop."""
    ways = (points - seen.lines[0, 0]) * metres_of_degrees(seen.lines[..., 0].mean())
    if times is not None:
        ways = np.dstack([ways, times * (_MINUTE / 60.0)])
    around = seen.cycle * (_MINUTE / 60.0) / (2.0 * np.pi)

    def described(place: Floats, hop: Floats) -> Floats:
        if times is not None and np.isfinite(around):  # the clock is a circle
            angle = place[:, 2] / around
            circle = around * np.column_stack([np.cos(angle), np.sin(angle)])
            place = np.hstack([place[:, :2], circle])
        return np.hstack([place, _HEADING * hop])

    first_hop, last_hop = ways[:, 1] - ways[:, 0], ways[:, -1] - ways[:, -2]
    return described(ways[:, 0], first_hop), described(ways[:, -1] + last_hop, last_hop)


class _Chances(NamedTuple):
    first: Floats  # that the right line ranks first, of each step
    among_three: Floats


def _chances(tree: cKDTree, onward: Floats, own: Ints, right: Ints) -> _Chances:
    """Rank all lines but one's own by how well they go on, and look for the right one."""
    own_away, away = (np.linalg.norm(onward - tree.data[line], axis=1) for line in (own, right))

    def others(radius: Floats) -> Ints:
        counted = tree.query_ball_point(onward, np.maximum(radius, 0.0), return_length=True)
        return np.where(radius < 0.0, 0, counted - (own_away <= radius))

    tied = _TIED * away + _SAME
    nearer = others(away - tied)
    alike = np.maximum(others(away + tied) - nearer, 1)
    among = np.clip(np.array([[1], [3]]) - nearer, 0, alike) / alike
    return _Chances(*np.where(own == right, 0.0, among))


def _linked(here: Ints, there: Ints, first: Floats) -> float:
    """Mean chance, over lines that drives leave, that a next line of any of these ranks first."""
    _, once = np.unique(np.column_stack([here, there]), axis=0, return_index=True)
    return float(first[once].sum()) / len(np.unique(here))


def _followed(step: _Steps, begin: _Chances, on: _Chances) -> Followed:
    """Follow drives from their first step, and then on from line to line."""
    later = np.append(False, np.diff(step.drive) == 0)
    chance = np.where(later, on.first, begin.first)
    for one in np.flatnonzero(later):
        chance[one] *= chance[one - 1]
    to_end = chance[np.append(~later[1:], True)]
    long = to_end[step.of_drives > 1]
    shares = np.bincount(step.drive, chance) / step.of_drives
    return Followed(
        first=float(begin.first.mean()),
        among_three=float(begin.among_three.mean()),
        drives=float(to_end.mean()),
        long_drives=float(long.mean()) if len(long) else 0.0,
        steps=float(shares.mean()),
    )
