"""Rows in the order of places: keys, boxes, and sorting by way of files."""

from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from naive_sliding import town
from shards import walks

from trajanon.files import hilbert_order
from trajanon.files.hilbert_order import (
    FOOTER,
    box_and_key_columns,
    box_of,
    in_hilbert_order,
    is_in_order,
    keys_on_curve,
)
from trajanon.trajectories.trajectories import Trajectories


def table_of(trajectories: Trajectories, rows_before: int = 0) -> pa.Table:
    """A table of row numbers with boxes and keys."""
    columns = box_and_key_columns(trajectories, rows_before)
    return pa.table({"row": np.arange(len(trajectories)) + rows_before, **columns})


def test_neighbours_have_near_keys_and_rows_of_one_place_their_order() -> None:
    places = np.array([[40.0, -3.7], [-33.0, 151.0], [40.0001, -3.7001], [40.0, -3.7]])
    keys = keys_on_curve(places, np.arange(4))
    assert keys[3] - keys[0] == 3  # one square: the number of the row decides
    assert abs(keys[2] - keys[0]) < abs(keys[1] - keys[0])


def test_boxes_are_those_of_the_lines() -> None:
    points = np.array([[[40.0, -3.7], [40.2, -3.9]], [[-1.0, 2.0], [-2.0, 1.0]]])
    table = table_of(Trajectories(points))
    assert table["bbox"].to_pylist()[0] == {"xmin": -3.9, "ymin": 40.0, "xmax": -3.7, "ymax": 40.2}
    assert box_of(table) == [-3.9, -2.0, 2.0, 40.2]


@pytest.mark.parametrize("bytes_per_chunk", [1, 2_000, 1 << 26])
def test_rows_are_sorted_over_all_tables_in_chunks_of_any_size(
    tmp_path: Path, bytes_per_chunk: int
) -> None:
    rows = Trajectories(walks(300))
    order = np.argsort(table_of(rows)["hilbert"].to_numpy())
    tables = [
        table_of(rows.take(np.arange(begin, begin + 50)), begin) for begin in range(0, 300, 50)
    ]
    with patch.object(hilbert_order, "_BYTES_PER_CHUNK", bytes_per_chunk):
        parts = [*in_hilbert_order(iter(tables), tmp_path)]
    assert np.concatenate([part["row"] for part in parts]).tolist() == order.tolist()
    assert {*parts[0].column_names} == {"row", "bbox"}


def test_of_no_rows_there_are_no_parts(tmp_path: Path) -> None:
    assert [*in_hilbert_order([], tmp_path)] == []


def test_windows_of_one_recording_have_the_square_of_the_first() -> None:
    windows = town(5, 60, people=12).take(np.random.default_rng(0).permutation(60))
    assert windows.tracks is not None
    recording = windows.tracks.recording_of
    square = table_of(windows)["hilbert"].to_numpy() // 2**31
    _, first = np.unique(recording, return_index=True)
    alone = table_of(replace(windows, tracks=None))["hilbert"].to_numpy() // 2**31
    assert (square == alone[first][recording]).all()
    assert (square != alone).any()


def test_the_footer_says_whether_all_parts_are_in_order() -> None:
    schema = table_of(Trajectories(walks(3))).schema
    assert not is_in_order(schema)
    assert is_in_order(schema.with_metadata({**FOOTER, "geo": "{}"}))
    assert not is_in_order(schema.with_metadata(dict.fromkeys(FOOTER, "another")))
