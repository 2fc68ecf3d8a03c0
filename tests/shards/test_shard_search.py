"""A shard: its rows from all parts, its groups kept for a run that goes on, and its lines."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from shards import shards_of, walks, write_folder, write_parts

from trajanon.anonymization import grouped
from trajanon.common.object_stores import Folder
from trajanon.common.progress import silent
from trajanon.common.threads_and_dask import each_done
from trajanon.files.parquet_parts import parquet_of
from trajanon.files.trajectory_files import check_schema, provenance_of
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.release.lines_of_groups import TrajectoryGroups
from trajanon.release.perturbed_places_and_times import PublicWidths
from trajanon.release.plan import Plan
from trajanon.shards import shard_search
from trajanon.shards.parts_table import PartsTable
from trajanon.shards.places_of_rows import places_of_part
from trajanon.shards.scratch_and_resume import read_table, scratch_for
from trajanon.shards.shard_search import read_shard, search_shard, write_lines, write_part
from trajanon.shards.survey_and_cuts import surveyed
from trajanon.trajectories.trajectories import Trajectories

N = 180
K = 3


@pytest.fixture(params=["by shard", "in order"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PartsTable]:
    """Walks of ninety people in three shards: written by shard, or ranges of parts in order."""
    points, subject = walks(N), np.arange(N) // 2
    if request.param == "in order":
        rows = Trajectories(points, subject, trace=np.arange(N))
        folder = Folder(write_parts(tmp_path / "trips", rows, in_order=True))
    else:
        folder = Folder(write_folder(tmp_path / "trips", points, subject))
    with parquet_of(folder, check_schema) as file:
        provenance = provenance_of(file.schema_arrow)
    plan = Plan.of({"effort": "fast"}, bytes(range(32)))
    with shards_of(60), scratch_for("out", tmp_path, 0) as scratch:
        read = PartsTable(folder, file, K, plan, scratch=scratch, provenance=provenance)
        survey = surveyed(read, 3, partial(each_done, None, silent))
        assert survey.shards_are_ranges is (request.param == "in order")
        yield survey


def written(table: PartsTable) -> PartsTable:
    """The same table, whose rows are written by shard."""
    if not table.shards_are_ranges:
        counts = [write_part(table, number) for number in range(len(table.file.parts))]
        assert np.sum(counts, axis=0).sum() == N
    return table


def test_each_row_is_in_one_shard_with_its_person(table: PartsTable) -> None:
    shards = [read_shard(written(table), shard) for shard in range(table.shards)]
    assert len(shards) == 3
    number = np.concatenate([rows.number for rows in shards])
    assert sorted(number.tolist()) == [*range(N)]
    assert all((np.diff(rows.number) > 0).all() for rows in shards)

    person = np.concatenate([rows.person for rows in shards])
    places = np.concatenate([rows.trajectories.points for rows in shards])
    with table.file.part(0) as part:
        first = table.read(part).points
    people = places_of_part(table, table.file.parts[0]).person
    for row in range(len(first)):
        assert (places[number == row] == first[row]).all()
        assert person[number == row].tolist() == [people[row]]


def test_groups_that_an_earlier_run_found_are_not_searched_again(table: PartsTable) -> None:
    table = written(table)
    found = search_shard(table, silent, 0)
    kept = read_table(table.scratch.groups(0))
    rows = read_shard(table, 0)
    assert kept["row"].to_numpy().tolist() == rows.number.tolist()
    assert found.groups == kept["group"].to_numpy().max() + 1
    subject = rows.trajectories.subject
    assert subject is not None
    assert subjects_per_group(kept["group"].to_numpy(), subject).min() >= K

    with patch.object(shard_search, "grouped", side_effect=AssertionError):
        again = search_shard(table, silent, 0)
    assert again.groups == found.groups
    assert again.histograms.keys() == found.histograms.keys()
    for name, histogram in found.histograms.items():
        assert np.array_equal(again.histograms[name].counts, histogram.counts)


def test_a_file_that_is_not_whole_is_searched_again(table: PartsTable) -> None:
    table = written(table)
    found = search_shard(table, silent, 1)
    path = table.scratch.groups(1)
    path.write_bytes(path.read_bytes()[:100])
    assert search_shard(table, silent, 1).groups == found.groups
    assert len(read_table(path)) == len(read_shard(table, 1).number)


def test_a_search_that_ctrl_c_cut_short_is_not_kept(table: PartsTable) -> None:
    def cut_short(*given: Any) -> TrajectoryGroups:
        groups = grouped(*given)
        return replace(groups, partition=replace(groups.partition, stopped=True))

    table = written(table)
    with patch.object(shard_search, "grouped", cut_short), pytest.raises(KeyboardInterrupt):
        search_shard(table, silent, 0)
    assert not table.scratch.groups(0).exists()


def test_lines_are_written_once_and_members_with_their_groups_of_all_shards(
    table: PartsTable,
) -> None:
    table = written(table)
    found = search_shard(table, silent, 0)
    figures = write_lines(table, PublicWidths(0.0), (0, 1_000))
    assert figures.least_people >= K
    assert figures.moments.n == len(read_shard(table, 0).number)
    assert (figures.squares > 0.0).all()
    lines = read_table(table.scratch.lines(0))
    assert K <= sum(map(len, lines["rows"].to_pylist())) <= figures.moments.n
    assert len(lines) == found.groups
    members = [*table.scratch.buckets("members")]
    groups = np.concatenate([bucket["group"] for bucket in members])
    assert {*groups.tolist()} == {*range(1_000, 1_000 + found.groups)}
