"""The parts of a release, each shuffled."""

import os
from collections import Counter, defaultdict
from functools import partial
from typing import NamedTuple

import numpy as np

from trajanon.errors import TrajanonError
from trajanon.files.geoparquet import write_released
from trajanon.files.partition import part_name
from trajanon.parts.centroids import Tally
from trajanon.parts.executors import Executor
from trajanon.parts.folder import ByteRange
from trajanon.parts.plan import Plan
from trajanon.parts.scratch import FileUses, Scratch
from trajanon.progress import Progress

DRAFT = "release"
"""The folder of the release while it is not done, within that of the run."""

PART = 100_000
"""Trajectories in a part of the release, about; up to ten times as many if there were more than a
thousand parts, as every task writes lines of each."""


def count_of_parts(n: int) -> int:
    """How many parts a release of n trajectories has."""
    rows = min(max(PART, n // 1_000), 10 * PART)
    return -(-n // rows)


class ReleasePart(NamedTuple):
    """What a part of the release is made of."""

    part: int  # its number, from 0
    places: list[ByteRange]  # where its lines are
    first: int  # id of its first line


def write_part(scratch: Scratch, attribution: str | None, lines: ReleasePart) -> None:
    """Write a part of the release, in an order that comes from the operating system."""
    points = np.concatenate([scratch.read_arrays(place, 1)[0] for place in lines.places])
    keys = np.frombuffer(os.urandom(8 * len(points)), dtype=np.uint64)
    with scratch.writing(f"{DRAFT}/{part_name(lines.part)}") as file:
        write_released(file, points[np.argsort(keys)], attribution, lines.first)


def write_release_parts(executor: Executor, plan: Plan, tally: Tally, progress: Progress) -> None:
    """Write all parts of the release, whose lines lie in files of the scratch folder."""
    (plan.scratch / DRAFT).make()
    places: dict[int, list[ByteRange]] = defaultdict(list)
    rows: Counter[int] = Counter()
    for number, place, count in tally.lines:
        places[number].append(place)
        rows[number] += count
    jobs, first = [], 1
    for number in sorted(places):
        jobs.append(ReleasePart(number, places[number], first))
        first += rows[number]
    if first != plan.parts.n + 1:
        msg = f"{first - 1} of {plan.parts.n} trajectories came to the release; please report it"
        raise TrajanonError(msg)
    task = partial(write_part, plan.scratch, plan.parts.schema.attribution)
    uses = FileUses(plan.scratch, jobs)
    executor.each("Writing the release", task, jobs, progress, uses.end)
