"""How many records fit into the memory while they are searched, and how many shards that makes."""

import math

from trajanon.common.errors import BadInput
from trajanon.grouping.neighbours import neighbour_count
from trajanon.shards.parts_table import PartsTable

PROGRAM_BYTES = 600e6
"""Bytes that the program and its libraries take before they read anything."""

LEAST_CAPACITY = 10_000
"""Records that must fit: many groups of smaller shards would lie at a border."""


def shards_for(n: int, capacity: int) -> int:
    """Count the shards, rounded up: 10 % more than would just fit, as sizes differ by some 5 %."""
    return 1 if n <= capacity else -(-n * 11 // (capacity * 10))


def capacity_of(table: PartsTable, memory: float) -> int:
    """Count the records that fit into memory while they are searched."""
    # 3.25 copies of a record: as read, standardised, and in the order of a path. 16 bytes for each
    # neighbour and its distance, and 300 for labels and the like. Measured, and rounded up.
    bytes_per_record = 3.25 * table.file.bytes_per_row + 16 * neighbour_count(table.k) + 300
    capacity = int((memory - PROGRAM_BYTES) / bytes_per_record)
    if capacity < LEAST_CAPACITY:
        least = PROGRAM_BYTES + LEAST_CAPACITY * bytes_per_record
        raise BadInput(
            f"`memory` {memory / 1e9:g}GB is too little: the program alone takes "
            f"{PROGRAM_BYTES / 1e9:g}GB, and each million of these records some "
            f"{bytes_per_record / 1e3:.0f}GB; give it {math.ceil(least / 1e8) / 10:g}GB at least"
        )
    return capacity
