"""What every task of a run knows, and how much a machine can take."""

import math
import re
from dataclasses import dataclass

import numpy as np

from trajanon.arrays import Ints
from trajanon.errors import BadInput
from trajanon.neighbours import neighbour_count
from trajanon.partition import dense
from trajanon.parts.kd_tree import Split
from trajanon.parts.part_reader import Parts
from trajanon.parts.scratch import Scratch
from trajanon.parts.survey import Survey
from trajanon.progress import Progress
from trajanon.settings import Settings

FILES = 10_000
"""That one step of a run writes at most; or one each task, where there are more."""

PROGRAM = 600e6
"""Bytes that the program takes before it has read anything, with its libraries."""

_UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A run, as all of its tasks know it."""

    parts: Parts  # what is read
    scratch: Scratch  # where rows stand between two tasks
    survey: Survey  # how the table is standardised, and split into shards
    split: Split  # how the table is standardised, and split into shards
    k: int  # least number of different subjects in a group
    digits: int  # decimals of a degree in the release
    counts_subjects: bool  # whether subjects are counted, or records
    settings: Settings  # of the search
    progress: Progress  # of the search: silent where it runs elsewhere
    capacity: int  # records that are searched at once
    released: int  # parts of the release
    secret: bytes  # from the operating system: decides where rows go in the release

    def counted(self, subject: Ints) -> Ints:
        """Number what k counts, from 0: subjects, or the records."""
        if self.counts_subjects:
            return dense(subject)
        return np.arange(len(subject))


def bytes_of(memory: str | float) -> float:
    """Read an amount of memory, such as ``4GB`` or ``500 MB``."""
    msg = f"`memory` must be an amount such as 4GB or 500MB (got {memory!r})"
    found = re.fullmatch(r"\s*([0-9.]+)\s*([kmgt]?)i?b?\s*", str(memory).lower())
    try:
        if isinstance(memory, int | float) and not isinstance(memory, bool):
            amount = float(memory)
        elif found is not None:
            amount = float(found[1]) * _UNITS[found[2]]
        else:
            raise BadInput(msg)
    except (ValueError, OverflowError):
        raise BadInput(msg) from None
    if not math.isfinite(amount):
        raise BadInput(msg)
    return amount


def shards_for(n: int, capacity: int) -> int:
    """How many shards leave each one some room: none is just as large as the others."""
    return -(-n * 11 // (capacity * 10))


def bundles_of(lots: int, tasks: int) -> int:
    """How many files each task writes that writes so many lots: fewer of many tasks.

    Lots that are next to each other share a file, which is removed once all of them have been read.
    """
    return min(max(FILES // tasks, 1), lots)


def capacity_of(memory: float, columns: int, k: int) -> int:
    """How many records fit into so many bytes while they are searched.

    The table as read, standardised, and in the order of a path; neighbours and their distances; and
    what else there is for each record. Measured, and rounded up.
    """
    neighbours = neighbour_count(k)
    capacity = int((memory - PROGRAM) / (8 * 3.25 * columns + 16 * neighbours + 300))
    if capacity < 10_000:
        msg = (
            f"`memory` {memory / 1e9:g}GB is too little: the program alone takes "
            f"{PROGRAM / 1e9:g}GB, and each million records of {columns} numbers some "
            "2GB; give it 1GB at least"
        )
        raise BadInput(msg)
    return capacity
