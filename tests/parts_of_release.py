"""A release of one run as the parts of a folder, with the report of one shard or of several."""

from pathlib import Path

import numpy as np

from trajanon.files.geoparquet import write_released
from trajanon.files.report import checked, groups_path, line_keys, report_path, write_lines_of_rows
from trajanon.files.trajectory_files import part_name
from trajanon.privacy.originals import matched
from trajanon.release import Release, json_report
from trajanon.trajectories import Trajectories

_OF_A_FILE = "labels", "line_keys", "sizes", "subjects_per_group"


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


def write_shards(folder: Path, cut: Trajectories, release: Release, rows: int = 150) -> Path:
    """Write it as if several shards had been searched, with its groups in two parts."""
    report = checked(release.report)
    found = matched(cut, release.trajectories, report)
    line = line_keys(found.lines, found.times)[found.labels]
    slid = None
    if cut.tracks is not None and found.slid.tracks is not None:
        slid = found.slid.tracks.start - cut.tracks.start
    kept = {name: value for name, value in release.report.items() if name not in _OF_A_FILE}
    kept |= {"shards": 2, "rows": {**release.report["rows"], "without": None}}
    del kept["rows"]["without"]
    sizes = np.bincount(release.report["labels"])
    kept["groups_of_size"] = {str(size): int((sizes == size).sum()) for size in {*sizes.tolist()}}
    if kept["alignment"] is not None:
        kept["alignment"] = {**kept["alignment"]}
        del kept["alignment"]["starts"]
    write_in_parts(folder, Release(release.trajectories, kept), rows)
    (beside := Path(groups_path(folder))).mkdir()
    for number, some in enumerate(np.array_split(np.arange(len(cut)), 2)):
        with (beside / part_name(number)).open("wb") as file:
            write_lines_of_rows(file, line[some], None if slid is None else slid[some])
    return folder
