"""Trajectories in a folder of GeoParquet parts of so many rows."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from trajanon.files.trajectories import write_parts
from trajanon.trajectories import Trajectories, joined_trajectories


def part_name(number: int) -> str:
    """What a part is called."""
    return f"part-{number:05d}.parquet"


def is_part(name: str) -> bool:
    """Whether a file is called as a part is."""
    return re.fullmatch(r"part-\d{5,}\.parquet", name) is not None


def write_partition(
    folder: Path, parts: Iterable[Trajectories], provenance: Mapping[str, Any], rows: int
) -> None:
    """Write trajectories that come in parts of any size as parts of this number of rows."""
    for number, part in enumerate(_of_size(parts, rows)):
        write_parts(folder / part_name(number), [part], provenance)


def _of_size(parts: Iterable[Trajectories], rows: int) -> Iterator[Trajectories]:
    """Cut a stream of trajectories anew."""
    waiting: list[Trajectories] = []
    held = 0
    for part in parts:
        waiting.append(part)
        held += len(part)
        if held < rows:
            continue
        whole = joined_trajectories(waiting)
        full = held - held % rows
        for start in range(0, full, rows):
            yield whole.take(np.arange(start, start + rows))
        waiting, held = [whole.take(np.arange(full, held))] * (held > full), held - full
    if waiting:
        yield joined_trajectories(waiting)
