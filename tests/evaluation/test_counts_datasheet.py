"""The datasheet of counts: what they are of, what they are worth, and no markup of strangers."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from trajanon.evaluation.counts_datasheet import (
    counts_datasheet,
    facts,
    facts_of_speeds,
    worth_of_flows,
)
from trajanon.evaluation.release_certificate import CellsForFlows
from trajanon.street_counts.router_speeds import RouterSpeeds
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION


def test_the_datasheet_of_counts_takes_no_markup_from_an_attribution(tmp_path: Path) -> None:
    release = tmp_path / "release.parquet"
    release.touch()
    for attribution, shown in (
        (OSM_ATTRIBUTION, OSM_ATTRIBUTION),
        ("x | <b>y</b>", r"x \| \<b\>y\</b\>"),
    ):
        page = counts_datasheet(tmp_path / "cells.csv", "2 cells", release, attribution, [])
        assert f"| Attribution | {shown} |" in page.splitlines()


def test_each_part_of_a_folder_stands_with_its_hash(tmp_path: Path) -> None:
    folder = tmp_path / "anonymized"
    folder.mkdir()
    for part in range(2):
        (folder / f"part-0000{part}.parquet").write_bytes(b"%d" % part)
    page = counts_datasheet(tmp_path / "a.csv", "2 cells", folder, None, ["One.", "Two."])
    assert page.count("| SHA-256 of ") == 2
    assert "Attribution" not in page
    assert page.endswith("\nOne.\n\nTwo.\n")


def counted(columns: list[str], **about: Any) -> pd.DataFrame:
    """A table of counts of half of 200 trips on 40 lines of at least 4."""
    table = pd.DataFrame({name: [] for name in columns})
    table.attrs = {"k": 4, "of_trips": 200, "of_lines": 40, "share_counted": 0.5} | about
    return table


@pytest.mark.parametrize(
    ("table", "where"),
    [
        (counted(["cell"]), "pass one of these cells."),
        (counted(["street"], share_on_roads=0.9), "streets; 90 % of the way of all is on roads."),
        (counted(["from", "to"]), "begin and end in these zones."),
    ],
)
def test_it_is_said_which_trips_are_counted_where(table: pd.DataFrame, where: str) -> None:
    trips, _ = facts(table, "people")
    assert trips.startswith("Of the 200 trips (several of one person on one line count as one) on ")
    assert "on the 40 lines of the release, 50 % " in trips
    assert trips.endswith(where)


def test_it_is_said_who_stands_behind_each_count() -> None:
    table = counted(["cell"])
    assert "At least 4 different people stand behind each count." in facts(table, "people")[1]
    of_recordings = facts(table, "recordings")[1]
    assert "At least 4 different recordings stand behind each count." in of_recordings
    assert "several of them may be of one person" in of_recordings
    trips, unknown = facts(counted(["cell"], k=None), "people")
    assert trips.startswith("Of the 200 rows on ")
    assert unknown.startswith("At least the rows of one line stand behind each count")
    assert "steps of k" not in unknown


def test_it_is_said_how_much_of_the_roads_has_a_speed() -> None:
    nobody = np.zeros(0, dtype=np.int64)
    speeds = RouterSpeeds(nobody, nobody, np.zeros((1, 0)), 0.0123)
    roads, people = facts_of_speeds(speeds, 4, "people")
    assert "1.2 % of the length of all streets" in roads
    assert people.startswith("At least 4 different people stand behind each speed. Parts")
    assert "names nobody" in facts_of_speeds(speeds, 4, "recordings")[1]
    assert facts_of_speeds(speeds, None, "people")[1].startswith("The rows of one line at least")


@pytest.mark.parametrize(
    ("cell", "measured", "said"),
    [
        (500.0, None, "It is not known how many of these counts are right."),
        (500.0, {"cell": None, "right": 0.6}, "Even between cells of 3 km only 60 % of them"),
        (500.0, {"cell": "1 km", "right": 0.8}, "cells of 500 m are too small"),
        (500.0, {"cell": "1 km", "right": 0.8}, "trajanon evaluate names: --od 1000"),
        (1_000.0, {"cell": "1 km", "right": 0.8}, "Between cells of 1 km, 80 % of the counts"),
        (None, {"cell": "1 km", "right": [0.75, 1.0]}, "cells of 1 km, 75 % to 100 % of the"),
    ],
)
def test_flows_between_cells_that_are_too_small_are_warned_of(
    cell: float | None, measured: CellsForFlows | None, said: str
) -> None:
    (sentence,) = worth_of_flows(pd.DataFrame({"lines": [1, 2, 3]}), cell, measured)
    assert said in sentence


def test_flows_of_one_line_are_warned_of_if_most_are() -> None:
    for lines, warned in (([1, 1, 2], True), ([1, 2], False)):
        sentences = worth_of_flows(pd.DataFrame({"lines": lines}), None, None)
        assert len(sentences) == 1 + warned
        assert ("are of one line alone" in sentences[0]) == warned
