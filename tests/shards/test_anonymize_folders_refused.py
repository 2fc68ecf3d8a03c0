"""Tables beyond memory: what is refused, before anything is written."""

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely
from naive_sliding import town
from shards import out_of, shards_of, walks, write_folder, write_parts

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput, TooFewRecords, TooFewSubjects
from trajanon.common.object_stores import Folder
from trajanon.files.parquet_parts import parquet_of
from trajanon.files.trajectory_files import check_schema
from trajanon.release.plan import Plan
from trajanon.shards import anonymize_folders
from trajanon.shards.anonymize_folders import anonymize_parts, capacity_of
from trajanon.shards.parts_table import PartsTable
from trajanon.trajectories.trajectories import Trajectories


def test_more_of_one_place_than_memory_holds_is_refused(tmp_path: Path) -> None:
    subject = np.zeros(200, dtype=np.int64)
    subject[:3] = range(3)
    source = write_folder(tmp_path / "trips", walks(200), subject)
    with (
        shards_of(25),
        patch.object(anonymize_folders, "capacity_of", lambda *_: 100),
        pytest.raises(BadInput, match=r"lie in one place, or are of few subjects.*`memory`"),
    ):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")
    assert [path.name for path in tmp_path.iterdir()] == ["trips"]


def test_a_part_that_memory_does_not_hold_is_refused(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(200), rows=150)
    with (
        patch.object(anonymize_folders, "capacity_of", lambda *_: 120),
        pytest.raises(BadInput, match=r"a part in .*/trips has 150 trajectories, and only 120 fit"),
    ):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")


def test_too_few_are_refused(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(30), np.repeat(np.arange(2), 15), rows=7)
    with pytest.raises(TooFewSubjects, match="come from 2 subjects, and k = 3 needs 3"):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3)
    with pytest.raises(TooFewRecords, match=r"30 trajectories cannot form .* k = 31"):
        anonymize_parts(str(source), str(out_of(tmp_path)), 31)
    assert [path.name for path in tmp_path.iterdir()] == ["trips"]


def test_trips_that_are_too_few_are_called_trips(tmp_path: Path) -> None:
    trips = Trajectories(walks(30), provenance={"trips": True})
    source = write_parts(tmp_path / "trips", trips, 10)
    with shards_of(20), pytest.raises(TooFewRecords, match="30 trips cannot form"):
        anonymize_parts(str(source), str(out_of(tmp_path)), 31)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"memory": ""}, "`memory` must be an amount"),
        ({"memory": "much"}, "`memory` must be an amount such as 4GB .*'much'"),
        ({"memory": "9" * 400}, "`memory` must be an amount"),
        ({"memory": float("nan")}, "`memory` must be an amount .*nan"),
        ({"memory": "200 MB"}, "`memory` 0.2GB is too little"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    tmp_path: Path, options: dict[str, Any], says: str
) -> None:
    source = write_folder(tmp_path / "trips", walks(30))
    with pytest.raises(BadInput, match=says):
        anonymize_parts(str(source), str(out_of(tmp_path)), **{"k": 3} | options)


@pytest.mark.parametrize("rows", [None, 30], ids=["one shard", "two"])
def test_what_is_wrong_is_named_with_its_part_and_row(tmp_path: Path, rows: int | None) -> None:
    source = write_folder(tmp_path / "trips", walks(60), rows=30)
    odd = walks(30)
    odd[7, 1, 0] = 91.0
    for points, says in (
        (odd, r"part-00001\.parquet: trajectory 7 has a point that is not on Earth"),
        (walks(30)[:, :3], r"trips (does not hold .*3 to 4 points|have trajectories of different)"),
    ):
        change_points(source / "part-00001.parquet", points)
        with shards_of(rows) if rows else nullcontext(), pytest.raises(BadInput, match=says):
            anonymize_parts(str(source), str(out_of(tmp_path)), 3)


@pytest.mark.parametrize("rows", [None, 45], ids=["one shard", "several"])
@pytest.mark.parametrize("name", ["run", "start", "track"])
def test_a_part_with_other_tracks_is_named(tmp_path: Path, name: str, rows: int | None) -> None:
    source = write_parts(tmp_path / "trips", town(5, 120, people=40), 35)
    path = source / "part-00001.parquet"
    table = pq.read_table(path)
    values = table[name].to_pylist()
    changed = {
        "run": lambda: pa.array([run + 0.5 for run in values]),
        "start": lambda: pa.array([start + 3 for start in values]),
        "track": lambda: pa.array([values[0]] * len(values), pa.binary()),
    }[name]()
    place = table.column_names.index(name)
    pq.write_table(
        table.set_column(place, name, changed).replace_schema_metadata(table.schema.metadata), path
    )
    with (
        shards_of(rows) if rows else nullcontext(),
        pytest.raises(BadInput, match=r"part-00001\.parquet: its (column run|tracks)"),
    ):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")


def change_points(path: Path, points: Floats) -> None:
    """Write other lines into a part, which may be nowhere on Earth."""
    table = pq.read_table(path)
    lines = pa.array(shapely.to_wkb(shapely.linestrings(points[:, :, ::-1])), pa.binary())
    place = table.column_names.index("geometry")
    changed = table.set_column(place, "geometry", lines)
    pq.write_table(changed.replace_schema_metadata(table.schema.metadata), path)


def test_too_little_memory_is_answered_with_enough(tmp_path: Path) -> None:
    """Also for long tracks, and by the part whose rows are longest."""
    source = write_folder(tmp_path / "trips", walks(60), rows=30)
    with parquet_of(Folder(str(source)), check_schema) as file:
        table = PartsTable(
            Folder(str(source)), replace(file, bytes_per_row=20_000.0), 3, Plan.of({})
        )
    with pytest.raises(BadInput, match=r"is too little.* give it 1\.3GB at least") as error:
        capacity_of(table, 1e9)
    assert "1GB is too little" in str(error.value)
    assert capacity_of(table, 1.3e9) >= 10_000

    longer = pq.read_table(source / "part-00001.parquet")
    longer = longer.append_column("note", pa.array(["x" * 1000 + str(n) for n in range(30)]))
    pq.write_table(longer, tmp_path / "longer.parquet")
    assert bytes_per_row_of(tmp_path / "longer.parquet") > 1000
    assert file.bytes_per_row == max(map(bytes_per_row_of, source.iterdir()))


def bytes_per_row_of(path: Path) -> float:
    with pq.ParquetFile(path) as file:
        size: int = file.metadata.row_group(0).total_byte_size
        return size / len(pq.read_table(path))


ALL = "needs all trajectories at once"


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"as_published": True}, ALL),
        ({"one_line_each": True}, ALL),
        ({"days": 2}, ALL),
        ({"ledger": "trips.ledger"}, ALL),
        ({"distinct_ends": 4}, "must be at most k, 3"),
    ],
)
def test_what_needs_all_at_once_is_refused_in_shards(
    tmp_path: Path, how: dict[str, Any], says: str
) -> None:
    source = write_folder(tmp_path / "trips", walks(60))
    said = f"`{next(iter(how))}` {says}"
    with shards_of(30), pytest.raises(BadInput, match=said):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3, **how)
    assert [path.name for path in tmp_path.iterdir()] == ["trips"]


@pytest.mark.parametrize("text", ["Anna", 5])
def test_an_attribution_that_no_release_has_is_refused(tmp_path: Path, text: object) -> None:
    trips = Trajectories(walks(60), provenance={"attribution": text})
    source = write_parts(tmp_path / "trips", trips)
    with shards_of(30), pytest.raises(BadInput, match=rf"carry an unknown attribution '{text}'"):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3)


def test_what_is_read_is_not_written_over_by_any_way(tmp_path: Path) -> None:
    within = tmp_path / "all" / "part-00000.parquet"
    within.parent.mkdir()
    write_folder(within, walks(60))
    with pytest.raises(BadInput, match="all is read as input"):
        anonymize_parts(str(within), str(tmp_path / "all"), 3)
    links = tmp_path / "links"
    links.mkdir()
    (links / "part-00000.parquet").symlink_to(within / "part-00000.parquet")
    with pytest.raises(BadInput, match="is read as input"):
        anonymize_parts(str(links), str(within), 3)
    assert (within / "part-00000.parquet").is_file()
