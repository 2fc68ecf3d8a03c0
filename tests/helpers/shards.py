"""Folders of parts, and what becomes of every row when they are anonymised."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pyarrow.parquet as pq

from trajanon.common.arrays import Floats, Ints
from trajanon.files.release_formats import read_release
from trajanon.files.trajectory_files import part_name, write_partition, write_trajectories
from trajanon.release.report_files import read_report
from trajanon.shards import anonymize_folders, release_of_shards, scratch_and_resume, shard_search
from trajanon.trajectories.trajectories import Trajectories

POINTS = 4


def out_of(tmp_path: Path) -> Path:
    """Where the release goes."""
    return tmp_path / "anonymized"


def walks(n: int, seed: int = 0, places: int = 5) -> Floats:
    """Trajectories of four points that begin in a few places of a town."""
    random = np.random.default_rng(seed)
    start = random.normal(0, 0.02, (places, 1, 2))[random.integers(0, places, n)]
    steps = random.normal(0, 0.002, (n, POINTS, 2))
    points: Floats = np.array([40.0, -3.7]) + start + np.cumsum(steps, axis=1)
    points[..., 0] += 0.02 * np.arange(POINTS)  # all go north, longer than any is moved
    return points


def write_folder(folder: Path, points: Floats, subject: Ints | None = None, rows: int = 70) -> Path:
    """Write trajectories as parts of so many rows."""
    return write_parts(folder, Trajectories(points=points, subject=subject, trace=subject), rows)


def write_parts(
    folder: Path, trajectories: Trajectories, rows: int = 70, *, in_order: bool = False
) -> Path:
    """Write trajectories with all that is known of them as parts of so many rows."""
    folder.mkdir()
    with TemporaryDirectory() as scratch:
        if in_order:
            write_partition(folder, [trajectories], trajectories.provenance, rows, Path(scratch))
            return folder

        whole = Path(scratch) / "whole.parquet"
        write_trajectories(whole, trajectories)
        table = pq.read_table(whole)
    for number, begin in enumerate(range(0, len(table), rows)):
        part = table[begin : begin + rows]
        pq.write_table(part, folder / part_name(number), write_page_checksum=True)
    return folder


def hours(points: Floats, seed: int = 0) -> Trajectories:
    """Give trajectories times of two June days, local ones that begin before and after 03:00."""
    random = np.random.default_rng(seed)
    departure = 1_212_800_000 + random.uniform(0, 172_800, (len(points), 1))
    hops = random.uniform(1, 200, (len(points), POINTS))
    times = np.round(departure + np.cumsum(hops, axis=1))
    return Trajectories(points, np.arange(len(points)) // 2, times=times)


def released(folder: Path) -> list[bytes]:
    """The lines of all rows of all parts, as they are written, sorted."""
    lines = [line for part in sorted(folder.iterdir()) for line in _lines(part)]
    return sorted(lines)


def _lines(part: Path) -> list[bytes]:
    table = pq.read_table(part)
    lines = table["geometry"].to_pylist()
    counted = {"people", "records"} & {*table.column_names}
    if counted:
        pairs = zip(lines, table[counted.pop()].to_pylist(), strict=True)
        return [line for line, count in pairs for _ in range(count)]
    assert table.column_names == ["id", "geometry"]
    return list(lines)


def released_with_times(folder: Path) -> Counter[tuple[bytes, bytes]]:
    """The lines of all parts and their times, and how often each occurs."""
    lines = Counter[tuple[bytes, bytes]]()
    for part in sorted(folder.iterdir()):
        release = read_release(part)
        assert release.times is not None
        pairs = zip(release.points, release.times, strict=True)
        lines += Counter((line.tobytes(), when.tobytes()) for line, when in pairs)
    return lines


@contextmanager
def shards_of(rows: int) -> Iterator[None]:
    """Make shards of so many rows, but two at least, whatever the memory; and several buckets."""
    with (
        patch.object(anonymize_folders, "shards_for", lambda n, capacity: max(-(-n // rows), 2)),
        patch.object(shard_search, "ROWS_PER_BUCKET", 50),
        patch.object(scratch_and_resume, "NUMBERS_PER_BUCKET", 40),
        patch.object(release_of_shards, "LINES_IN_MEMORY", 12),
        patch.object(release_of_shards, "LINES_PER_BLOCK", 13),
    ):
        yield


def labels_of(out: Path) -> Ints:
    """The group of each row, (n,), -1 of those that were left out."""
    report = read_report(out)
    labels = np.full(report.n + len(report.left_out), -1)
    labels[report.released(len(labels))] = report.groups_of_released
    return labels
