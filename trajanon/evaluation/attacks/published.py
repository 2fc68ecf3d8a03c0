"""What an adversary sees of a release, and what the holder knows of its lines."""

from dataclasses import replace

import numpy as np

from trajanon.common.arrays import Ints, dense
from trajanon.evaluation.attacks.attack import Published, Steps
from trajanon.release.originals import Matched, timing_in
from trajanon.release.people_left import cells_of
from trajanon.release.report import Report
from trajanon.trajectories.times import departure_days
from trajanon.trajectories.trajectories import Trajectories


def published(matched: Matched, report: Report) -> Published:
    """Return what an adversary sees of a release, with the trajectories that were averaged."""
    originals = matched.slid
    subjects = None if originals.subject is None else dense(originals.subject)
    seen = Published(
        originals.points,
        matched.lines,
        matched.labels,
        report.k,
        subjects,
        unit=originals.unit,
        own_row=matched.own_row,
        steps=people_steps(originals, matched.labels),
    )
    timing = timing_in(report)
    if timing is None:
        return seen
    seconds = timing.seconds(originals)
    return replace(seen, times=seconds, line_times=matched.times, cycle=timing.clock.round)


def people_steps(trajectories: Trajectories, labels: Ints) -> Steps | None:
    """Go from each trajectory to the next of its subject on that day, or at all.

    By departure, or in the order of the file where times are not known. It must be on another line.
    None where no person is on two.
    """
    subjects = trajectories.subject
    if subjects is None:
        return None
    order = np.arange(len(labels))
    if trajectories.times is not None:
        order = np.argsort(trajectories.times[:, 0], kind="stable")

    cells = {False: subjects}
    days = departure_days(trajectories)
    if days is not None:
        cells = {True: cells_of(subjects, days)} | cells
    for on_a_day, cell in cells.items():
        by_cell = order[np.argsort(cell[order], kind="stable")]
        here = by_cell[:-1]
        there = by_cell[1:]
        goes_on = (cell[here] == cell[there]) & (labels[here] != labels[there])
        if goes_on.any():
            return Steps(here[goes_on], there[goes_on], on_a_day)
    return None
