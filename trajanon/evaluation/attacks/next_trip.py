"""The next trip of a person: the line that goes on best from a known trip, or from its line.

Shapes: s steps from a trajectory to the person's next, g lines.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Event
from typing import NamedTuple

import numpy as np
from msgspec import to_builtins
from scipy.spatial import cKDTree

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.json_toml_and_regular_files import Json
from trajanon.common.threads_and_dask import in_parts
from trajanon.evaluation.attacks.attack import Attack, chances_of_rows
from trajanon.evaluation.attacks.home_and_work import Place, places_found
from trajanon.evaluation.attacks.published_lines import TIED, Published
from trajanon.release.people_left import Left, counts_of, people_left
from trajanon.trajectories.clock_and_time_zones import HOUR, MINUTE

# What an adversary who looks for the next line starts from: a known trajectory, the line that
# stands for it, or nothing.
KNOWN = "known"
LINE = "line"
CHANCE = "chance"

# Metres that count as much as a minute by which a line begins before the known trajectory ends, or
# after it.
_METRES_PER_MINUTE_EARLY = 10.0
_METRES_PER_MINUTE_LATE = 3.0  # for an hour at most

_COMPARED = ("begin", "ends", "way back")  # of lines, with a known trajectory
_ROUNDING_IN_METRES = 1e-6
_LINES_NEAR = 200  # that begin nearest, of which the adversary chooses
_STEPS_PER_TASK = 100


@dataclass(frozen=True, slots=True)
class Ranks:
    """How the line of the next one ranks; mean chances, if ties are decided at random."""

    first: float
    among_three: float


class NextLines(NamedTuple):
    """Lines that go on from a trajectory: how well the right one ranks, and which rank first."""

    ranks: Ranks
    step: Ints  # of each pair of a step and a line that ranks first, (q,): number of the step
    line: Ints  # that of the line


def next_lines(published: Published, start: str = KNOWN) -> NextLines:
    """Rank the lines by how well they go on from the start of each step: KNOWN, or LINE.

    Some people go on, others return to where they came from, as from work, or the same way: of
    these ways to rank lines, the one by which the right line is first more often.
    """
    ranked = (_next_lines(published, start, compared) for compared in _COMPARED)
    return max(ranked, key=lambda found: found.ranks.first)


def _next_lines(published: Published, start: str, compared: str) -> NextLines:
    """Rank the lines by where they begin, also by where they end, or by the whole way back."""
    steps = published.steps
    assert steps is not None

    # A trajectory is not followed by its own line, which is ruled out. Who knows the trajectory
    # alone, and not its line, takes the nearest line for it.
    own_line = published.labels[steps.here]
    if start == KNOWN and published.against == "release":
        own_line = np.array([lines[0] for lines in published.nearest[steps.here]])

    points = published.points[steps.here]
    times = published.times
    arrival = None if times is None else times[steps.here, -1]
    if start == LINE:
        points = published.lines[own_line]
        line_times = published.line_times
        arrival = None if line_times is None else line_times[own_line, -1]

    # Times of a clock that restarts do not tell what comes next on another day.
    clock_restarts = np.isfinite(published.cycle)
    if clock_restarts and not steps.on_a_day:
        arrival = None

    lines = published.in_metres(published.lines)
    ways_back = published.in_metres(points[:, ::-1])
    begins = cKDTree(lines[:, 0])
    # Ranks, not their number: then answers have a column for each, also if it is a single one.
    neighbours = np.arange(1, min(_LINES_NEAR, len(published.lines)) + 1)
    right_line = published.labels[steps.there]

    def ranked(rows: Ints, _: Event) -> tuple[Floats, Ints, Ints]:
        """Rank the lines for these steps: chances, (steps, 2), and pairs that rank first, (q,)."""
        away, line = begins.query(ways_back[rows, 0], k=neighbours)
        if compared == "ends":
            from_origin = lines[line, -1] - ways_back[rows, None, -1]
            away = np.hypot(away, np.hypot(from_origin[..., 0], from_origin[..., 1]))
        if compared == "way back":
            squares = ((lines[line] - ways_back[rows, None]) ** 2).sum(axis=-1)
            away = np.sqrt(squares.mean(axis=-1))
        if arrival is not None and published.line_times is not None:
            seconds_later = published.line_times[line, 0] - arrival[rows, None]
            # An arrival that is not known does not tell how long anybody waits.
            away = np.hypot(away, np.nan_to_num(_metres_for_waiting(seconds_later)))
        away[line == own_line[rows, None]] = np.inf

        least = away.min(axis=1, keepdims=True)
        place, rank = np.nonzero(away <= least * (1.0 + TIED) + _ROUNDING_IN_METRES)
        is_right = line == right_line[rows, None]
        return _chances_of_first_three(away, is_right), rows[place], line[place, rank]

    parts = in_parts(ranked, np.arange(len(own_line)), _STEPS_PER_TASK)
    chances, step, line = map(np.concatenate, zip(*parts, strict=True))
    return NextLines(Ranks(*chances.mean(axis=0).tolist()), step, line)


def _metres_for_waiting(seconds_later: Floats) -> Floats:
    """Turn seconds from an arrival to a departure into metres, negative if the departure is before.

    More than an hour of waiting counts as one.
    """
    minutes = seconds_later / MINUTE
    late = _METRES_PER_MINUTE_LATE * np.minimum(minutes, HOUR / MINUTE)
    return np.where(minutes < 0.0, _METRES_PER_MINUTE_EARLY * minutes, late)


def _chances_of_first_three(away: Floats, is_right: Bools) -> Floats:
    """Compute the chance that the right line is first, and among the first three, (s, 2).

    ``away`` holds the metres of the lines considered for each step, (s, c); the right one is
    marked, if it is among them.
    """
    away_right = np.where(is_right, away, np.inf).min(axis=1, keepdims=True)
    is_considered = np.isfinite(away_right)
    tolerance = np.where(is_considered, TIED * away_right + _ROUNDING_IN_METRES, 0.0)

    # Ties are decided at random: the right line and those alike share the places after the nearer
    # ones. (None may be alike where the right one is not considered; its chance is then set to 0.)
    nearer = (away < away_right - tolerance).sum(axis=1)
    alike = np.maximum((away <= away_right + tolerance).sum(axis=1) - nearer, 1)
    # Of the first 1 and the first 3 places, (2, s).
    chances = np.clip(np.array([[1], [3]]) - nearer, 0, alike) / alike
    return np.asarray((chances * is_considered[:, 0]).T)


def next_line(published: Published, after_known: NextLines | None = None) -> Attack:
    """Attack a person's next trajectory by the line that goes on best from a known one.

    The next trajectory begins near where the known one ended and, if times are released, later; it
    may be the way back. The adversary rules out the line nearest to the known
    trajectory, and picks a random row of the line that goes on best. ``after_known`` are these
    lines, if they have been ranked already.
    """
    steps = published.steps
    assert steps is not None
    _, step, line = after_known or next_lines(published)
    known_line = published.labels[steps.here[step]]
    rates, line_rates = chances_of_rows(published, step, steps.there[step], line, known_line)
    return Attack(
        f"next {published.unit}",
        f"a {published.unit} of the same person, and looks for one that begins where it ends, or "
        "returns the way it came",
        published,
        steps.there,
        rates,
        line_rates,
        worst=rates,
        question="linkability",
    )


@dataclass(frozen=True)
class Followed:
    """What the lines of a person show together."""

    k: int
    lines: int  # released
    unit: str
    left: Mapping[str, Left]  # by ``people`` and, where they are known, ``days``
    place: Place  # the busiest of each person, such as home
    second: Place  # the busiest elsewhere, such as work
    steps: int = 0  # from line to line
    on_a_day: bool = False  # whether each leads to the next line of the same day
    found: Mapping[str, Ranks] = field(default_factory=dict)  # by what the adversary starts from

    @property
    def account(self) -> dict[str, Json]:
        """Return what JSON holds, without data of single people."""
        return {
            "k": self.k,
            "lines": self.lines,
            "steps": self.steps,
            "on_a_day": self.on_a_day,
            **counts_of(self.left),
            "followed": to_builtins(self.found),
            "place": to_builtins(self.place),
            "second_place": to_builtins(self.second),
        }

    @property
    def first(self) -> float:
        """Return how often the next line ranks first, if the trajectory before is known."""
        return self.found[KNOWN].first if self.found else 0.0

    @property
    def chance(self) -> float:
        """Return how often a line drawn by chance is the next one."""
        return self.found[CHANCE].first

    @property
    def next(self) -> str:
        """Name what is looked for."""
        return f"the next {self.unit} of the person{' on that day' if self.on_a_day else ''}"


def people_followed(
    published: Published,
    days: Ints | None,
    stepped: Published,
    after_known: NextLines | None = None,
    *,
    nobody_is_named: bool = False,
) -> Followed | None:
    """Measure what the lines of each person show, to those who know all, or follow them in turn.

    ``days`` numbers the day of each trajectory, (n,). Steps from line to line are those of
    ``stepped``, which is the same, or a sample with whole trajectories; ``after_known`` are its
    lines that go on from known trajectories, if ranked already. None if nothing is known of
    subjects: neither where ``nobody_is_named``, and so each recording counts as a subject, and all
    are on one line each.
    """
    subjects = published.subjects
    if subjects is None:
        return None

    left = people_left(published.labels, subjects, days, published.k, published.nameless)
    if nobody_is_named and not left["people"].several:
        return None
    home, work = places_found(published)
    lines = len(stepped.lines)
    followed = Followed(published.k, lines, published.unit, left, home, work)

    steps = stepped.steps
    if steps is None:
        return followed
    ranks = {
        KNOWN: (after_known or next_lines(stepped)).ranks,
        LINE: next_lines(stepped, LINE).ranks,
        # Of all lines but the one that is ruled out.
        CHANCE: Ranks(*(min(places / (lines - 1), 1.0) for places in (1, 3))),
    }
    return replace(followed, steps=len(steps.here), on_a_day=steps.on_a_day, found=ranks)
