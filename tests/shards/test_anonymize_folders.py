"""Tables beyond memory: what is promised holds, however small the shards."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from large import search_as_if_large
from naive_sliding import town
from shards import (
    POINTS,
    hours,
    labels_of,
    out_of,
    released,
    shards_of,
    walks,
    write_folder,
    write_parts,
)

import trajanon
from trajanon.common.arrays import Floats, renumbered
from trajanon.common.search_and_release_options import RowsName
from trajanon.files import hilbert_order
from trajanon.files.trajectory_files import write_partition
from trajanon.grouping.group_means import group_means
from trajanon.grouping.k_promise import subjects_per_group
from trajanon.grouping.loss import information_loss, sse
from trajanon.grouping.standardised_records import standardise
from trajanon.release import release
from trajanon.release.report_files import read_report
from trajanon.shards.anonymize_folders import anonymize_parts
from trajanon.shards.parts_table import PartsTable
from trajanon.trajectories.distances import displacement
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories


def records_of(points: Floats) -> Floats:
    return points.reshape(len(points), -1)


@settings(max_examples=15)
@given(
    n=st.integers(12, 160),
    places=st.integers(1, 6),
    people=st.integers(4, 60),
    k=st.integers(2, 4),
    rows=st.integers(12, 60),
    seed=st.integers(0, 2**32 - 1),
    counted=st.booleans(),
    way=st.sampled_from(get_args(RowsName)),
)
@pytest.mark.usefixtures("plain_means")
def test_every_group_holds_k_and_every_row_is_released_once(
    tmp_path_factory: pytest.TempPathFactory,
    n: int,
    places: int,
    people: int,
    k: int,
    rows: int,
    seed: int,
    counted: bool,
    way: RowsName,
) -> None:
    folder = tmp_path_factory.mktemp("run")
    points = np.round(walks(n, seed, places), 4)
    subject = np.random.default_rng(seed).integers(0, people, n)
    subject[:k] = range(k)
    source = write_folder(folder / "trips", points, subject if counted else None)
    with shards_of(rows):
        report = anonymize_parts(str(source), str(folder / "out"), k, rows=way, effort="fast")
    labels = labels_of(folder / "out")
    assert len(labels) == n
    held = subjects_per_group(labels, subject if counted else np.arange(n))
    assert held.min() >= k
    lines = Counter(released(folder / "out"))
    people_of = subject if counted else np.arange(n)
    assert lines.total() == subjects_per_group(labels, people_of).sum()
    assert min(lines.values()) >= k
    assert trajanon.check(folder / "out", k).holds
    sizes = np.bincount(labels)
    assert report["groups"] == len(sizes)
    assert read_report(folder / "out").sizes == sizes.tolist()
    assert ("nothing is known of their subjects" in report["notice"]) is not counted
    # What is reported is what can be computed from all rows at once.
    records = standardise(records_of(points))
    lost = information_loss(sse(records, renumbered(labels)), float((records**2).sum()))
    assert report["information_loss"] == pytest.approx(lost, rel=1e-9)
    centroids = np.round(group_means(records_of(points), labels), 7).reshape(-1, *points.shape[1:])
    assert report["lines"] == len(lines)
    moved = displacement(points, centroids[labels])
    assert report["displacement"]["mean"] == pytest.approx(moved.mean(), rel=1e-6)
    assert report["displacement"]["max"] == pytest.approx(moved.max(), rel=1e-6)
    for name, share in (("median", 0.5), ("p95", 0.95)):
        true = np.quantile(moved, share, method="inverted_cdf")
        assert report["displacement"][name] == pytest.approx(true, rel=0.00201, abs=1e-3)


@pytest.mark.usefixtures("plain_means")
def test_the_loss_is_that_of_what_is_released(tmp_path: Path) -> None:
    """What is equal in all of it counts nothing, as where all trips begin at one station."""
    points = walks(300)
    points[:, 0] = points[0, 0]
    points[:4, 1:] += np.arange(1, 5)[:, None, None] * 0.3  # far from all, and left out
    source = write_folder(tmp_path / "trips", points)
    with shards_of(100):
        report = anonymize_parts(
            str(source), str(out_of(tmp_path)), 3, effort="fast", leave_out=5.0
        )
    labels = labels_of(out_of(tmp_path))
    is_released = labels >= 0
    assert 270 < is_released.sum() < 300
    records = standardise(records_of(points)[is_released])
    lost = sse(records, renumbered(labels[is_released]))
    expected = information_loss(lost, float((records**2).sum()))
    assert report["information_loss"] == pytest.approx(expected, rel=1e-9)


def test_one_shard_is_the_file(tmp_path: Path) -> None:
    """To the bit, whatever it holds."""
    windows = town(3, 60, POINTS, people=15)
    write_parts(tmp_path / "windows", windows, rows=13)
    trips = replace(hours(walks(60)), provenance={"attribution": OSM_ATTRIBUTION})
    write_parts(tmp_path / "trips", trips, rows=13)
    for name, whole, options in (
        ("windows", windows, {}),
        ("windows", windows, {"align": False, "rows": "lines"}),
        ("trips", trips, {"times": "of-day"}),
    ):
        how: dict[str, Any] = {"effort": "fast", **options}
        mine = anonymize_parts(str(tmp_path / name), str(out_of(tmp_path)), 3, **how)
        trajanon.write_trajectories(tmp_path / "file.parquet", whole)
        file = trajanon.read_trajectories(tmp_path / "file.parquet")
        release_of_file = trajanon.anonymize(file, 3, **how)
        assert json.loads((tmp_path / "anonymized.parts.report.json").read_text()) == mine
        assert mine.pop("shards") == 1
        told = json.loads(json.dumps(release_of_file.report))
        assert without_seconds(mine) == without_seconds(told)
        assert (mine["alignment"] is None) is (name == "trips" or "align" in options)
        (part,) = out_of(tmp_path).iterdir()
        found, expected = trajanon.read_release(part), release_of_file.trajectories
        assert {**found.provenance, "counted": "subjects"} == expected.provenance
        assert np.array_equal(found.points, expected.points)
        assert (found.times is None) is (expected.times is None)
        if found.times is not None and expected.times is not None:
            assert np.array_equal(found.times, expected.times)


def without_seconds(report: dict[str, Any]) -> dict[str, Any]:
    """A report without how long each step took."""
    stages = [stage | {"seconds": None} for stage in report["stages"]]
    return report | {"stages": stages}


def test_a_seed_and_a_key_repeat_all_parts_and_these_are_sorted(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(400))
    files, held = [], []
    for number in range(3):
        out = tmp_path / f"out{number}"
        with shards_of(90), patch.object(release, "ROWS_PER_PART", 150):
            anonymize_parts(
                str(source), str(out), 3, seed=number // 2, effort="fast", key=bytes(range(16))
            )
        files.append([path.read_bytes() for path in sorted(out.iterdir())])
        held.append(trajanon.read_release(out).records.tolist())
    assert files[0] == files[1] != files[2]
    assert len(files[0]) > 1
    assert all(rows == sorted(rows) for rows in held)


def test_one_part_gives_what_many_do(tmp_path: Path) -> None:
    points, subject = walks(300), np.arange(300) // 2
    one = write_folder(tmp_path / "one", points, subject, rows=300)
    many = write_folder(tmp_path / "many", points, subject, rows=23)
    losses = []
    for source in (one, many):
        with shards_of(70):
            report = anonymize_parts(
                str(source), str(tmp_path / f"{source.name}-out"), 3, effort="fast"
            )
        losses.append(report["information_loss"])
    # Sums are taken in another order; what is found from them is the same.
    assert losses[0] == pytest.approx(losses[1], rel=1e-9)
    assert released(tmp_path / "one-out") == released(tmp_path / "many-out")


def test_ids_go_on_from_part_to_part(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(500))
    with shards_of(120), patch.object(release, "ROWS_PER_PART", 100):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")
    files = sorted(out_of(tmp_path).iterdir())
    assert [path.name for path in files] == [f"part-0000{i}.parquet" for i in range(5)]
    ids = np.concatenate([pq.read_table(path)["id"].to_numpy() for path in files])
    assert ids.tolist() == list(range(1, 501))


def test_shards_lose_little_beside_the_whole(tmp_path: Path) -> None:
    """They are standardised by the whole table: a narrow shard counts no column for more."""
    source = write_folder(tmp_path / "trips", walks(600))
    losses = []
    for rows in (600, 150):
        with shards_of(rows):
            report = anonymize_parts(str(source), str(out_of(tmp_path)), 3)
        losses.append(report["information_loss"])
    assert losses[0] < losses[1] < 1.3 * losses[0]


def test_a_shard_of_too_few_subjects_is_joined_with_its_neighbour(tmp_path: Path) -> None:
    points = walks(200)
    points[:60] += 0.05  # one person, far from all others
    subject = np.arange(200)
    subject[:60] = 0
    source = write_folder(tmp_path / "trips", points, subject)
    with shards_of(25):
        report = anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast")
    assert report["shards"] < 8
    assert subjects_per_group(labels_of(out_of(tmp_path)), subject).min() >= 3


def test_shards_may_be_large_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    search_as_if_large(monkeypatch)
    points, subject = walks(500), np.arange(500) // 3
    source = write_folder(tmp_path / "trips", points, subject)
    with shards_of(100):
        report = anonymize_parts(str(source), str(out_of(tmp_path)), 3)
    assert report["shards"] == 5
    assert subjects_per_group(labels_of(out_of(tmp_path)), subject).min() >= 3


@pytest.mark.parametrize("kind", ["trips", "windows"])
def test_parts_in_the_order_of_places_are_shards_as_they_are(tmp_path: Path, kind: str) -> None:
    """The release is the one of rows that are written by shard, bit for bit."""
    trips = hours(walks(200))
    if kind == "windows":
        trips = town(5, 120, people=40)
        assert trips.tracks is not None
        trips = trips.take(np.argsort(trips.tracks.run, kind="stable"))
    source = write_parts(tmp_path / "trips", trips, 35, in_order=True)
    steps = set[str]()

    def progress(task: str, done: float, total: float | None, note: str = "") -> None:
        steps.add(task)

    releases = []
    for ranges in (True, False):
        written: AbstractContextManager[object] = nullcontext()
        if not ranges:
            written = patch.object(PartsTable, "shards_are_ranges", False)
        with shards_of(45), written:
            report = anonymize_parts(
                str(source),
                str(out_of(tmp_path)),
                3,
                key=bytes(range(16)),
                effort="fast",
                progress=progress,
            )
        assert ("Writing shards" in steps) is not ranges
        labels = labels_of(out_of(tmp_path)).tolist()
        releases.append((released(out_of(tmp_path)), labels, report["displacement"]))
    assert releases[0] == releases[1]
    assert report["shards"] > 2


def test_rows_that_are_left_out_are_on_no_line(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(300))
    with shards_of(80):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast", leave_out=5.0)
    table = pq.read_table(tmp_path / "anonymized.parts.rows.parquet")
    is_left_out = table["group"].to_numpy() < 0
    assert is_left_out.any()
    assert ((table["key"].to_numpy() == 0) == is_left_out).all()


def test_a_part_that_was_written_again_is_not_taken_for_one_in_order(tmp_path: Path) -> None:
    source = write_parts(tmp_path / "trips", Trajectories(walks(200)), 50, in_order=True)
    path = source / "part-00002.parquet"
    table = pq.read_table(path)
    shuffled = table.take(np.random.default_rng(0).permutation(len(table)))
    metadata = {
        name: text for name, text in table.schema.metadata.items() if name != b"trajanon_order"
    }
    pq.write_table(shuffled.replace_schema_metadata(metadata), path)
    steps = set[str]()

    def progress(task: str, done: float, total: float | None, note: str = "") -> None:
        steps.add(task)

    with shards_of(60):
        anonymize_parts(str(source), str(out_of(tmp_path)), 3, effort="fast", progress=progress)
    assert "Writing shards" in steps


def test_runs_whose_rows_lie_apart_are_put_together(tmp_path: Path) -> None:
    """Whatever a folder says of its order."""
    windows = town(5, 120, people=40).take(np.random.default_rng(0).permutation(120))
    folder = tmp_path / "trips"
    folder.mkdir()
    with patch.object(hilbert_order, "in_hilbert_order", without_order):
        write_partition(folder, [windows], {}, 35, tmp_path)
    with shards_of(45):
        report = anonymize_parts(str(folder), str(out_of(tmp_path)), 3, effort="fast")
    assert report["shards"] > 1
    subject = trajanon.read_trajectories(folder).subject
    assert subject is not None
    assert subjects_per_group(labels_of(out_of(tmp_path)), subject).min() >= 3


def without_order(tables: Iterable[pa.Table], scratch: Path) -> Iterator[pa.Table]:
    return (table.drop_columns(["hilbert"]) for table in tables)
