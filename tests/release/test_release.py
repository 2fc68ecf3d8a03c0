"""A release as anonymize gives it, where files or its two parts were asked for."""

from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from madrid_walks import walks_in_madrid
from plain import PUBLISHED

import trajanon
from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.object_stores import Folder
from trajanon.maps import compare, html, public
from trajanon.release.report_files import checked
from trajanon.trajectories.trajectories import Trajectories

K = 3


@pytest.fixture(scope="module")
def held() -> Trajectories:
    points = np.random.default_rng(0).uniform((40, -4), (40.1, -3.9), (30, 3, 2))
    return Trajectories(points, subject=np.arange(30) % 6)


@pytest.fixture(scope="module")
def release(held: Trajectories) -> trajanon.Release:
    return anonymized(held)


def anonymized(held: Trajectories, **options: Any) -> trajanon.Release:
    return trajanon.anonymize(held, K, method="mdav", refine="none", **options)


def test_what_would_be_written_is_checked(
    tmp_path: Path, held: Trajectories, release: trajanon.Release
) -> None:
    release.write(tmp_path / "r.parquet")
    assert trajanon.check(release, K) == trajanon.check(tmp_path / "r.parquet", K)
    assert trajanon.check(release, K).holds
    assert trajanon.check(release, K, trajectories=held, against=release).holds
    assert not trajanon.check(release, K + 4).holds
    records = anonymized(held, as_published=True)
    of_one = Trajectories(held.points, subject=np.arange(30) % 2)
    assert trajanon.check(records, K).problems == [PUBLISHED]
    assert len(trajanon.check(records, K, trajectories=of_one).problems) == 2
    assert list(tmp_path.iterdir()) == sorted(tmp_path.glob("r.*"))


def test_a_release_has_its_report_with_it(held: Trajectories, release: trajanon.Release) -> None:
    both = release.trajectories, release.report
    assert trajanon.evaluate(held, release).report == checked(release.report)
    drawn = compare(held, release, tiles=None), compare(held, *both, tiles=None)
    assert html(drawn[0]).count("layer") == html(drawn[1]).count("layer")
    alone = html(public(release, tiles=None))
    assert str(release.report["labels"])[:20] not in alone
    assert len(alone) == len(html(public(release.trajectories, tiles=None)))


@pytest.mark.parametrize("call", [trajanon.evaluate, compare])
def test_a_report_is_asked_for_once(
    call: Any, held: Trajectories, release: trajanon.Release
) -> None:
    for way in ([release, release.report], [release.trajectories]):
        with pytest.raises(BadInput, match="pass the Release that anonymize made"):
            call(held, *way)


@pytest.mark.parametrize("name", ["parquet", ".csv", "gpkg"])
def test_a_buffer_gets_what_a_file_gets(
    tmp_path: Path, release: trajanon.Release, name: str
) -> None:
    release.write(buffer := BytesIO(), format=name)
    path = tmp_path / f"copy.{name.removeprefix('.')}"
    path.write_bytes(buffer.getvalue())
    read = trajanon.read_release(path)
    np.testing.assert_array_equal(read.points, release.trajectories.points)
    assert trajanon.check(path, K).holds


def test_a_release_goes_to_a_url_without_its_report(release: trajanon.Release) -> None:
    release.write("memory://published/r.csv")
    read = trajanon.read_release("memory://published/r.csv")
    np.testing.assert_array_equal(read.points, release.trajectories.points)
    assert Folder("memory://published").names() == ["r.csv"]
    assert trajanon.check("memory://published/r.csv", K).holds
    assert not trajanon.check("memory://published/r.csv", K + 99).holds
    with pytest.raises(FileProblem, match="memory://published"):
        trajanon.check("memory://published/none.csv", K)


@pytest.mark.parametrize(
    ("place", "options", "message"),
    [
        (BytesIO(), {}, "a buffer has no name that shows the format"),
        (BytesIO(), {"format": "xlsx"}, "release.xlsx does not end like a release"),
        (BytesIO(), {"format": "mfjson"}, "which have times"),
        (StringIO(), {"format": "csv"}, "`path` must take bytes, as BytesIO does"),
        (7, {"format": "csv"}, r"`path` must be a path, a URL or a buffer \(got 7\)"),
        ("a.csv", {"format": "csv"}, "`format` is for buffers"),
        ("memory://published/r.xlsx", {}, "does not end like a release"),
    ],
)
def test_what_cannot_be_written_is_said(
    release: trajanon.Release, place: Any, options: dict[str, str], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        release.write(place, **options)


def test_release_and_report_are_written_together_or_not_at_all(tmp_path: Path) -> None:
    release = trajanon.anonymize(walks_in_madrid(), 4)
    (tmp_path / "out.report.json").mkdir()
    with pytest.raises(FileProblem, match=r"out\.report\.json"):
        release.write(tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["out.report.json"]
