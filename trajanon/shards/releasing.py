"""The parts of a release, each shuffled."""

import os
from typing import NamedTuple

import numpy as np

from trajanon.files.geoparquet import write_released
from trajanon.files.partition import part_name
from trajanon.shards.scratch import Scratch

DRAFT = "release"
"""The folder of the release while it is not done, within that of the run."""

PART = 100_000
"""Trajectories of a part of the release, about; ten times as many of a release that
would have more than a thousand parts, for every task writes a file for each."""


def count_of_parts(n: int) -> int:
    """How many parts a release of n trajectories has."""
    rows = min(max(PART, n // 1_000), 10 * PART)
    return -(-n // rows)


class Lines(NamedTuple):
    """What a part of the release is made of.

    Attributes
    ----------
    part
        Its number, from 0.
    names, rows
        Files of released lines, and how many these are.
    first
        Id of its first line.
    """

    part: int
    names: list[str]
    rows: int
    first: int


def write_part(scratch: Scratch, attribution: str | None, lines: Lines) -> None:
    """Write a part of the release, in an order that comes from the operating system.

    Parameters
    ----------
    scratch
        Where the lines are; parts stand in its folder `DRAFT` until all are there.
    attribution
        The line that goes with the data.
    lines
        Which they are.
    """
    points = np.concatenate([scratch.read_arrays(name, 1)[0] for name in lines.names])
    keys = np.frombuffer(os.urandom(8 * len(points)), dtype=np.uint64)
    with scratch.writing(f"{DRAFT}/{part_name(lines.part)}") as file:
        write_released(file, points[np.argsort(keys)], attribution, lines.first)
