"""How many records are searched at once in the memory there is, and how many shards that makes."""

from trajanon.common.errors import BadInput
from trajanon.grouping.neighbours import neighbour_count
from trajanon.shards.parts_table import PartsTable

PROGRAM_BYTES = 600e6
"""Bytes that the program and its libraries take before they read anything."""


def shards_for(n: int, capacity: int) -> int:
    """Count the shards that are needed: a tenth more than fit exactly, as their sizes differ."""
    return 1 if n <= capacity else -(-n * 11 // (capacity * 10))


def capacity_of(table: PartsTable, memory: float) -> int:
    """Count the records that fit into memory while they are searched."""
    with table.file.opened[0]() as part:
        metadata = part.metadata
        row_groups = map(metadata.row_group, range(metadata.num_row_groups))
        stored_bytes = sum(row_group.total_byte_size for row_group in row_groups)

    # The table as read, standardised, and in the order of a path; neighbours and their distances;
    # what else there is for each record. Measured, and rounded up.
    bytes_as_read = stored_bytes / max(metadata.num_rows, 1)
    bytes_per_record = 3.25 * bytes_as_read + 16 * neighbour_count(table.k) + 300
    capacity = int((memory - PROGRAM_BYTES) / bytes_per_record)
    if capacity < 10_000:
        raise BadInput(
            f"`memory` {memory / 1e9:g}GB is too little: the program alone takes "
            f"{PROGRAM_BYTES / 1e9:g}GB, and each million of these records some "
            f"{bytes_per_record / 1e3:.0f}GB; give it 1GB at least"
        )
    return capacity
