"""A release beside its originals and its report: what belongs together, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest
from held_releases import held
from planted import K

import trajanon
from trajanon.common.errors import BadInput, FileProblem
from trajanon.files.release_formats import write_release
from trajanon.files.rounding_order_and_keys_of_lines import line_keys
from trajanon.release.originals import lines_of_released, matching_report
from trajanon.release.report_files import checked
from trajanon.trajectories.trajectories import Trajectories


def test_a_report_with_other_rows_of_a_line_is_of_another_release(tmp_path: Path) -> None:
    """Also where a release has as many rows in all, and the same lines."""
    path = tmp_path / "r.parquet"
    held(tmp_path)
    assert matching_report(path) is not None
    release = trajanon.read_release(path)
    line = line_keys(release.points)
    counts = np.unique(line, return_counts=True)[1]
    # The last row of the line with most rows is a further one of the line with fewest.
    rows = np.arange(len(line))
    most, fewest = (np.unique(line)[place] for place in (counts.argmax(), counts.argmin()))
    rows[np.flatnonzero(line == most)[-1]] = np.flatnonzero(line == fewest)[0]
    write_release(path, release.take(np.sort(rows)))
    with pytest.raises(BadInput, match="is the report of another release"):
        matching_report(path)


def test_a_line_that_stands_in_two_parts_is_of_another_release(tmp_path: Path) -> None:
    report = checked(trajanon.anonymize(held(tmp_path), K).report)
    key_of_row = np.array(report.line_keys)[report.labels][report.own_rows]
    keys, copies = np.unique(key_of_row, return_counts=True)
    assert len(lines_of_released(report, keys, copies)) == report.n
    with pytest.raises(BadInput, match="do not belong together"):
        lines_of_released(report, np.append(keys, keys), np.append(copies, 0 * copies))


def test_what_the_holder_gives_must_belong_together(tmp_path: Path) -> None:
    path, report = tmp_path / "r.parquet", tmp_path / "r.report.json"
    trajectories = held(tmp_path)
    said = json.loads(report.read_text(encoding="utf-8"))
    for other, says in (
        (trajectories.take(np.arange(29)), "do not belong together"),
        (trajectories.take(np.arange(30)[::-1]), "do not belong together"),
        (Trajectories(trajectories.points), "name no subjects"),
    ):
        with pytest.raises(BadInput, match=says):
            trajanon.check(path, K, trajectories=other)
    for labels, says in (
        (None, "Expected array, got null - at .*labels"),
        (["a"] * 30, "Expected int, got str - at .*labels"),
        ([0.5] * 30, "Expected int, got float"),
        ([7] * 30, "do not match its groups"),
        ([0] * 29, "do not match its groups"),
        ([0] * 30, "do not belong together"),
        ([0] * 29 + [10**18], "do not match its groups"),
        ([0] * 29 + [10**30], "out of range|Expected"),
    ):
        report.write_text(json.dumps(said | {"labels": labels}), encoding="utf-8")
        with pytest.raises((BadInput, FileProblem), match=says):
            trajanon.check(path, K, trajectories=trajectories)
    for left_out in ({"rows": [-1]}, {"rows": [31]}, {"rows": [7, 7]}):
        odd = json.dumps(said | {"suppressed": left_out})
        report.write_text(odd, encoding="utf-8")
        with pytest.raises(BadInput, match="do not belong together"):
            trajanon.check(path, K, trajectories=trajectories)
    for text in ("[]", "{"):
        report.write_text(text, encoding="utf-8")
        with pytest.raises(FileProblem, match=r"r\.report\.json"):
            trajanon.check(path, K, trajectories=trajectories)
    report.unlink()
    with pytest.raises(FileProblem, match="the report with the groups of"):
        trajanon.check(path, K, trajectories=trajectories)
