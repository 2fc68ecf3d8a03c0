"""An adversary who knows some points of his target's trajectory."""

from dataclasses import replace
from math import comb
from threading import Event

import numpy as np

from trajanon._kernels.known import Members, Places, Question, ask
from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput
from trajanon.partition import dense
from trajanon.privacy.attack import Attack
from trajanon.privacy.published import Published
from trajanon.utility.displacements import metres_of_degrees
from trajanon.words import number_of
from trajanon.workers import in_parts

_AT_ONCE = 64  # targets of a part at most, and one with 2 s of work
_CHOICES_AT_ONCE = 10_000_000
_MOST_CHOICES = 100_000_000  # of one target: some seconds
_LEAST_CELL = 1.0  # metres: also a tolerance of 0 needs cells that can be counted
_MOST_POINTS = 1_000  # beyond that, choices are more than a float can count


def known_points(
    points: Floats,
    released: Floats,
    labels: Ints,
    k: int,
    *,
    known: int = 2,
    tolerance: float = 100.0,
    order: bool = False,
    subjects: Ints | None = None,
    sample: int | None = None,
    seed: int = 0,
) -> Attack:
    """Attack a release with some points of each original trajectory.

    The adversary knows ``known`` of the target's original points.
    """
    published = Published.release(points, released, labels, k, subjects)
    return _attack(published, known, tolerance, order, sample, seed)


def known_points_in_originals(
    points: Floats,
    k: int,
    *,
    known: int = 2,
    tolerance: float = 100.0,
    order: bool = False,
    subjects: Ints | None = None,
    sample: int | None = None,
    seed: int = 0,
) -> Attack:
    """Attack the originals themselves, as if they were published without names.

    The chance is 1 / (trajectories that pass all the points known), where each is of its own
    subject. Arguments, result and errors are those of `known_points`.
    """
    published = Published.originals(points, k, subjects)
    return _attack(published, known, tolerance, order, sample, seed)


def passing(published: Published, question: Question, seed: int = 0) -> Floats:
    """Ask every target's question."""
    p = published.points.shape[1]
    places = _places(published.lines, published.points, question.tolerance)
    order = np.argsort(published.labels, kind="stable")
    first = np.concatenate([[0], np.cumsum(published.sizes)])
    # Kernels compare whole numbers: names, as they are, would never be equal.
    subjects = dense(published.subjects)
    members = Members(first, subjects[order])
    state = np.random.default_rng(seed).integers(1, 2**63, len(published.points))
    whose = np.column_stack([published.labels, subjects, state])

    def some(rows: Ints, stop: Event) -> Floats:
        if stop.is_set():
            raise KeyboardInterrupt
        out = np.empty((len(rows), 3))
        targets = _where(published.points[rows])
        ask(targets, whose[rows].astype(np.uint64), places, members, question, out)
        return out

    choices = question.sample or comb(p, question.known)
    many = min(max(_CHOICES_AT_ONCE // choices, 1), _AT_ONCE)
    return np.concatenate(in_parts(some, np.arange(len(published.points)), many))


def check_tolerance(tolerance: float) -> None:
    """Refuse a tolerance that is no length."""
    if not (np.isfinite(tolerance) and tolerance >= 0.0):
        msg = f"tolerance must be 0 metres or more (got {tolerance})"
        raise BadInput(msg)


def question_of(
    published: Published, known: int, tolerance: float, order: bool, sample: int | None = None
) -> Question:
    """Put what the adversary knows as kernels take it."""
    p = published.points.shape[1]
    ways = [[float(comb(a, b)) for b in range(known + 1)] for a in range(p + 1)]
    drawn = 0 if sample is None or sample >= comb(p, known) else sample
    return Question(
        known=int(known),
        tolerance=float(tolerance),
        in_order=bool(order),
        itself=published.against == "originals",
        ways=np.array(ways),
        sample=drawn,
    )


def _attack(
    published: Published, known: int, tolerance: float, order: bool, sample: int | None, seed: int
) -> Attack:
    p = published.points.shape[1]
    _check_number("known", known, p)
    check_tolerance(tolerance)
    if sample is not None:
        _check_number("sample", sample, None)
    if p > _MOST_POINTS:
        msg = f"trajectories have {p} points; take at most {_MOST_POINTS} of them"
        raise BadInput(msg)
    question = question_of(published, known, tolerance, order, sample)
    if not question.sample and comb(p, known) > _MOST_CHOICES:
        msg = (
            f"{known} of {p} points can be chosen in {comb(p, known):,} ways, too many "
            "to try for each trajectory; name how many to draw as sample"
        )
        raise BadInput(msg)
    points = number_of(known, "point")
    name = points.replace(" ", " known ")
    knows = f"{points} of the target's trajectory"
    if order:
        name, knows = f"{name}, in order", f"{knows} and their order"
    return published.attack(
        name,
        f"{knows}, within {tolerance:g} m",
        passing(published, question, seed),
        sampled=question.sample > 0,
    )


def _check_number(name: str, value: int, most: int | None) -> None:
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if whole and value >= 1 and (most is None or value <= most):
        return
    limits = "1 or more" if most is None else f"from 1 to {most}, the points there are"
    msg = f"{name} must be a whole number, {limits} (got {value!r})"
    raise BadInput(msg)


def _where(points: Floats) -> Floats:
    """Add to each point what a degree measures there, (..., 4)."""
    return np.concatenate([points, metres_of_degrees(points[..., 0])], axis=-1)


def _places(lines: Floats, targets: Floats, tolerance: float) -> Places:
    """Sort the points of lines into cells no smaller than the tolerance.

    Two points within the tolerance of each other then lie in neighbouring cells.
    """
    where = _where(lines).reshape(-1, 4)
    corner = where[:, :2].min(axis=0)
    wide = max(tolerance, _LEAST_CELL) * 1.001  # for rounding
    latitudes = np.concatenate([lines[..., 0].ravel(), targets[..., 0].ravel()])
    extremes = np.array([latitudes.min(), latitudes.max(), 0.0])
    smallest = metres_of_degrees(extremes).min(axis=0)
    cell = np.minimum(wide / np.maximum(smallest, 1e-9), 360.0)
    row, column = ((where[:, :2] - corner) // cell).astype(np.int64).T
    columns = int(column.max()) + 1
    key = row * columns + column
    order = np.argsort(key, kind="stable")
    line, position = np.divmod(order, lines.shape[1])
    return Places(where[order], key[order], line, position, corner, cell, columns)


def known_ends(
    points: Floats,
    released: Floats,
    labels: Ints,
    k: int,
    *,
    tolerance: float = 100.0,
    subjects: Ints | None = None,
) -> Attack:
    """Attack a release with both ends of each original trajectory, as home and work.

    A released line is compatible if its first point lies within ``tolerance`` metres of the
    target's first point, and its last within as many of the target's last.
    """
    published = Published.release(points, released, labels, k, subjects)
    return _attack_ends(published, tolerance)


def known_ends_in_originals(
    points: Floats, k: int, *, tolerance: float = 100.0, subjects: Ints | None = None
) -> Attack:
    """Attack the originals themselves, as if they were published without names.

    Arguments, result and errors are those of `known_ends`.
    """
    return _attack_ends(Published.originals(points, k, subjects), tolerance)


def _attack_ends(published: Published, tolerance: float) -> Attack:
    check_tolerance(tolerance)
    # Two points known in order, of lines that are their two ends: the first of these
    # has to be passed at the first.
    ends = replace(
        published,
        points=np.ascontiguousarray(published.points[:, [0, -1]]),
        lines=np.ascontiguousarray(published.lines[:, [0, -1]]),
    )
    told = passing(ends, question_of(ends, 2, tolerance, order=True))
    knows = f"both ends of the target's trajectory, within {tolerance:g} m"
    return published.attack("both ends", knows, told)
