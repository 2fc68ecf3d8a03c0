"""Problems of a released file that the file itself shows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trajanon.arrays import Ints
from trajanon.files.release_lines import DIGITS, LINE, Lines, amiss_in_counts, out_of_order, rounded
from trajanon.number_text import number_of
from trajanon.times import BEGINS, Clock
from trajanon.verdict import MADE_AS_PUBLISHED


@dataclass(frozen=True, slots=True)
class Findings:
    """What the checker saw.

    Attributes
    ----------
    k
        The group size checked against.
    trajectories
        Trajectories in the file; where each line has a count, as many as all counts add up to.
    groups
        Different trajectories among them.
    smallest
        How often the rarest trajectory occurs; 0 in an empty file.
    problems
        What is wrong, a sentence each; empty if the release holds.
    claim
        The claim about the rest of the file, beside its lines, if the release holds.
    answered
        ``rows``: whether each trajectory occurs k times. ``people``: also whether k different
        subjects stand behind each, counted in the originals.
    counted
        Whether each line stands in the file once, with a count of its rows.

    Examples
    --------
    Two people go along each of two roads. That is enough for k = 2, and too few for k = 3:

    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2)
    >>> findings = trajanon.check(release, k=2)
    >>> findings.holds, findings.claim
    (True, 'nothing else is in the file')
    >>> findings.trajectories, findings.groups, findings.smallest
    (4, 2, 2)
    >>> if findings:
    ...     print("publish it")
    publish it
    >>> trajanon.check(release, k=3).problems[0].partition(" (")[0]
    '2 of 2 different trajectories occur fewer than 3 times'
    """

    k: int
    trajectories: int
    groups: int
    smallest: int
    problems: Sequence[str]
    claim: str = ""
    answered: str = "rows"
    counted: bool = False

    @property
    def holds(self) -> bool:
        """Whether k stand behind each, as answered, and nothing else is in the file."""
        return not self.problems

    def __bool__(self) -> bool:
        """Whether it holds."""
        return self.holds


def not_trajectories(lines: Lines) -> list[str]:
    """Name faults: other geometries than lines on Earth, or different numbers of points."""
    if not len(lines):
        return ["the file holds no trajectory"]
    if amiss := amiss_in_counts(lines):
        return amiss
    line = lines.kinds == LINE
    problems = [
        f"{number_of(count, 'geometry is', 'geometries are')} {kind}, not {LINE}"
        for kind, count in Counter(lines.kinds[~line].tolist()).items()
    ]
    sizes = lines.sizes[line]
    if (sizes < 2).any():
        return [*problems, "some geometries are no lines of two or more points"]
    if lines.coordinates.shape[1] > 2:
        problems.append("points have a third number: a height or a time")
    if len(sizes) and sizes.min() != sizes.max():
        problems.append("trajectories have different numbers of points")
    places = lines.coordinates
    if not line.all():
        places = places[np.repeat(line, lines.sizes)]
    if not np.isfinite(places).all():
        problems.append("some coordinates are not finite numbers")
    if (np.abs(places[:, :2]) > (180.0, 90.0)).any():
        problems.append("some coordinates are not on Earth")
    return problems


def too_fine(lines: Lines) -> list[str]:
    """Say that lines are plain means, or have more decimals than a release may have."""
    if lines.as_published:
        return [MADE_AS_PUBLISHED]
    fine = rounded(lines.coordinates) != lines.coordinates
    return [
        f"a coordinate has more than the {DIGITS} decimals that a release may have: each "
        "one more helps to tell who is in a group"
    ] * bool(fine.any())


def unsorted(lines: Lines) -> list[str]:
    """Say that lines do not stand in the order of a release, so that theirs may tell something."""
    behind = out_of_order(lines.places[:, :, 1::-1], lines.times)
    return [
        "trajectories are not sorted by their coordinates, so their order may identify people: "
        "run trajanon anonymize again"
    ] * bool(behind)


def amiss_in_times(lines: Lines) -> list[str]:
    """Say why the times of lines cannot be interpreted, or why no release has such times."""
    times, sentence, clock = lines.times, lines.clock, Clock.parsed(lines.clock)
    if times is None:
        return [] if sentence is None else ["the file says what its times are, and it has none"]
    if clock is None:
        if sentence is None:
            return ["trajectories have times, and the file does not say what these count from"]
        return [f"an unknown sentence on times {sentence[:40]!r}"]
    known = ~np.isnan(times[:, 0])
    departures = times[known, 0]
    first, last = clock.rounded(BEGINS + np.array([0.0, clock.round]))
    outside = (clock.times != "date") & ((departures < first) | (departures > last))
    back = (np.diff(times[known], axis=1) < 0.0).any(axis=1)
    return [
        f"{odd.sum()} of {_trajectories(len(times))} {said}"
        for odd, said in (
            (~known, "do not have a time at each of their points, and others do"),
            (outside, f"depart before or after the {clock.times[3:]} from which their times count"),
            (back, "have times that run back"),
        )
        if odd.any()
    ]


def too_fine_times(lines: Lines) -> list[str]:
    """Count the lines with times finer than they claim to be."""
    clock = Clock.parsed(lines.clock)
    if lines.times is None or clock is None:
        return []
    fine = (clock.rounded(lines.times) != lines.times).any(axis=1) & ~np.isnan(lines.times[:, 0])
    return [
        f"{fine.sum()} of {_trajectories(len(fine))} have a time that is finer than the "
        f"{clock.step} s they claim"
    ] * bool(fine.any())


def too_rare(sizes: Ints, k: int) -> list[str]:
    """Count the trajectories that occur fewer than k times."""
    rare = sizes[sizes < k]
    if not len(rare):
        return []
    different = number_of(len(sizes), "different trajectory", "different trajectories")
    return [
        f"{len(rare)} of {different} occur fewer than {k} times (the rarest "
        f"{number_of(rare.min(), 'time')}), {_trajectories(rare.sum())} in all"
    ]


def _trajectories(number: int) -> str:
    return number_of(number, "trajectory", "trajectories")
