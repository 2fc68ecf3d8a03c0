"""Rows of a run have one place, and what other parts know of their persons is found."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from naive_sliding import town
from shards import shards_of, write_parts

from trajanon.common.object_stores import Folder
from trajanon.common.progress import silent
from trajanon.common.threads_and_dask import each_done
from trajanon.files.hilbert_order import keys_on_curve
from trajanon.files.parquet_parts import parquet_of
from trajanon.files.trajectory_files import check_schema
from trajanon.release.plan import Plan
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.places_of_rows import places_of_part, replaced
from trajanon.shards.scratch_and_resume import scratch_for
from trajanon.shards.survey_and_cuts import surveyed


def test_rows_of_a_run_are_where_its_first_row_is_in_whatever_part(tmp_path: Path) -> None:
    windows = town(5, 120, people=40).take(np.random.default_rng(0).permutation(120))
    assert windows.tracks is not None
    folder = Folder(write_parts(tmp_path / "trips", windows, 35))
    with parquet_of(folder, check_schema) as file:
        plan = Plan.of({})
    with shards_of(45), scratch_for("out", tmp_path, 0) as scratch:
        table = PartsTable(folder, file, 3, plan, scratch=scratch)
        table = surveyed(table, 3, partial(each_done, None, silent))
        key = np.concatenate([places_of_part(table, part).key for part in file.parts])

    middle = windows.points[:, windows.points.shape[1] // 2]
    own_key = pd.Series(keys_on_curve(middle, np.arange(120)))
    expected = own_key.groupby(windows.tracks.run).transform("first")
    assert key.tolist() == expected.tolist()
    assert not table.keys_rise


def test_values_of_owners_that_are_known_are_replaced() -> None:
    known = pd.DataFrame({"owner": [7, 2**60 + 1], "value": [70, 80]})
    owner = pd.Series([7, 8, 2**60 + 1, 2**60, 7])
    assert replaced(np.arange(5), owner, known).tolist() == [70, 1, 80, 3, 70]
