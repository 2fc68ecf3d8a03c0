"""The parts of a release, each shuffled."""

import os
from typing import NamedTuple

import numpy as np

from trajanon.files.geoparquet import write_released
from trajanon.files.partition import part_name
from trajanon.parts.folder import Place
from trajanon.parts.scratch import Scratch

DRAFT = "release"
"""The folder of the release while it is not done, within that of the run."""

PART = 100_000
"""Trajectories of a part of the release, about; ten times as many of a release that
would have more than a thousand parts, for every task writes lines of each."""


def count_of_parts(n: int) -> int:
    """How many parts a release of n trajectories has."""
    rows = min(max(PART, n // 1_000), 10 * PART)
    return -(-n // rows)


class Lines(NamedTuple):
    """What a part of the release is made of."""

    part: int  # its number, from 0
    places: list[Place]  # where its lines are, and how many
    rows: int  # where its lines are, and how many
    first: int  # id of its first line

    @property
    def files(self) -> set[str]:
        """The files that it needs."""
        return {place.name for place in self.places}


def write_part(scratch: Scratch, attribution: str | None, lines: Lines) -> None:
    """Write a part of the release, in an order that comes from the operating system."""
    points = np.concatenate([scratch.read_arrays(place, 1)[0] for place in lines.places])
    keys = np.frombuffer(os.urandom(8 * len(points)), dtype=np.uint64)
    with scratch.writing(f"{DRAFT}/{part_name(lines.part)}") as file:
        write_released(file, points[np.argsort(keys)], attribution, lines.first)
