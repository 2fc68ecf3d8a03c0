"""No more is read at once than fits, however wide the table is."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow.parquet as pq
import pytest

from trajanon.errors import BadInput
from trajanon.files.trajectory_files import write_trajectories
from trajanon.parts import reader, workflow
from trajanon.parts.reader import Parts
from trajanon.parts.workflow import anonymize_parts
from trajanon.trajectories import Trajectories

POINTS, ROWS = 100, 400


def wide(folder: Path, row_group: int) -> Path:
    """A part of many points, in row groups of so many rows."""
    folder.mkdir()
    steps = np.random.default_rng(0).normal(0, 1e-4, (ROWS, POINTS, 2))
    points = np.array([40.0, -3.7]) + np.cumsum(steps, axis=1)
    write_trajectories(folder / "a.parquet", Trajectories(points))
    table = pq.read_table(folder / "a.parquet")
    pq.write_table(table, folder / "a.parquet", row_group_size=row_group)
    return folder


def test_of_wide_tables_fewer_rows_are_read_at_once(tmp_path: Path) -> None:
    source = wide(tmp_path / "trips", 40)
    read: list[int] = []
    whole = Parts.read

    def spied(self: Parts, part_slice: Any, **how: Any) -> Any:
        part = whole(self, part_slice, **how)
        read.append(len(part))
        return part

    with (
        patch.object(Parts, "read", spied),
        patch.object(workflow, "capacity_of", lambda *_: 100),
        patch.object(reader, "COORDINATES", 2 * POINTS * 60),
    ):
        anonymize_parts(str(source), str(tmp_path / "out"), 3, effort="fast")
    assert max(read) == 80  # two row groups, not three
    # Every row twice: for the sample, and when it is scattered.
    assert sum(read) == 2 * ROWS


def test_a_row_group_too_wide_for_the_memory_is_refused(tmp_path: Path) -> None:
    source = wide(tmp_path / "trips", ROWS)
    with (
        patch.object(workflow, "capacity_of", lambda *_: 100),
        patch.object(reader, "COORDINATES", 2 * POINTS * 60),
        pytest.raises(BadInput, match=r"row group of 400 .* only 100 fit .*`memory`"),
    ):
        anonymize_parts(str(source), str(tmp_path / "out"), 3, effort="fast")
