"""A release of one run as the parts of a folder, with the report of one shard or of several."""

from pathlib import Path

import numpy as np

from trajanon.files.geoparquet import write_released
from trajanon.files.trajectory_files import part_name
from trajanon.release.release import Release
from trajanon.release.report_files import json_report, report_path


def write_in_parts(folder: Path, release: Release, rows: int = 150) -> Path:
    """Write a release as parts of so many rows, with its report beside it."""
    folder.mkdir()
    lines = release.trajectories
    for number, start in enumerate(range(0, len(lines), rows)):
        some = np.arange(start, min(start + rows, len(lines)))
        with (folder / part_name(number)).open("wb") as file:
            write_released(file, lines.take(some), start + 1)
    report_path(folder).write_text(json_report(release.report), encoding="utf-8")
    return folder


def write_shards(folder: Path, release: Release, rows: int = 150) -> Path:
    """Write it as if several shards had been searched."""
    kept = {name: value for name, value in release.report.items() if name != "averaged"}
    return write_in_parts(folder, Release(release.trajectories, kept | {"shards": 2}), rows)
