"""A release as anonymize gives it, where files or its two parts were asked for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain import PUBLISHED

import trajanon
from trajanon.common.errors import BadInput
from trajanon.maps import compare, html, public
from trajanon.release.report import checked
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
        with pytest.raises(BadInput, match="give the Release that anonymize made"):
            call(held, *way)
