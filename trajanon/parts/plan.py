"""The plan of a run, which every task knows, and how much fits into memory."""

import math
import re
from dataclasses import dataclass

import numpy as np

from trajanon.arrays import Ints
from trajanon.errors import BadInput
from trajanon.neighbours import neighbour_count
from trajanon.partition import dense
from trajanon.parts.reader import Parts
from trajanon.parts.scratch import Scratch
from trajanon.parts.split import Split
from trajanon.parts.survey import Survey
from trajanon.progress import Progress
from trajanon.settings import Settings

PROGRAM = 600e6
"""Bytes that the program and its libraries take before they read anything."""

_UNITS = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A run, as its tasks know it."""

    parts: Parts  # what is read
    scratch: Scratch  # where rows lie between two tasks
    survey: Survey  # how the table is standardised
    split: Split  # how it is split into shards
    k: int  # least number of different subjects in a group
    digits: int  # decimals of a degree in the release
    counts_subjects: bool  # whether subjects are counted, or records
    settings: Settings  # of the search
    progress: Progress  # of the search: silent where it runs elsewhere
    released: int  # parts of the release
    secret: bytes  # from the operating system: decides where rows go in the release

    def counted(self, subject: Ints) -> Ints:
        """Number what k counts, from 0: subjects, or the records."""
        return dense(subject) if self.counts_subjects else np.arange(len(subject))


def bytes_of(memory: str | float) -> float:
    """Read an amount of memory, such as ``4GB`` or ``500 MB``."""
    number = r"(\d+\.?\d*(?:e\+?\d+)?|\.\d+)"
    found = re.fullmatch(rf"\s*{number}\s*([kmgt]?)i?b?\s*", str(memory).lower())
    amount = float(found[1]) * _UNITS[found[2]] if found else math.inf
    if math.isinf(amount):
        msg = f"`memory` must be an amount such as 4GB or 500MB (got {memory!r})"
        raise BadInput(msg)
    return amount


def shards_for(n: int, capacity: int) -> int:
    """How many shards are needed, with room to spare: they differ in size."""
    return -(-n * 11 // (capacity * 10))


def capacity_of(memory: float, columns: int, k: int) -> int:
    """How many records of this number of columns fit into memory while they are searched."""
    # The table as read, standardised, and in the order of a path; neighbours and their distances;
    # and what else there is for each record. Measured, and rounded up.
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
