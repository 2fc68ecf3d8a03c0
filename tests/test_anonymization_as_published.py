"""What the papers do, and nothing else: the same groups, the same loss, and a mark on it."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plain import PUBLISHED
from planted import UNTIMED
from shards import shards_of, walks, write_folder
from toy import crowd

import trajanon
from trajanon.common.errors import BadInput
from trajanon.shards.anonymize_folders import anonymize_parts
from trajanon.trajectories.trajectories import (
    OSM_ATTRIBUTION,
    Trajectories,
    attribution_as_published,
)


@pytest.mark.parametrize(
    "named",
    [{}, {"method": "mdav"}, {"heuristic": "mdav", "compression": 2}, {"refine": "swap"}],
    ids=lambda named: "-".join(named) or "alone",
)
def test_groups_and_loss_are_those_of_the_method_on_60_columns(
    madrid: Trajectories, named: dict[str, Any]
) -> None:
    n, k = len(madrid), 4
    release = trajanon.anonymize(madrid, k, as_published=True, **named)
    expected = trajanon.microaggregate(
        madrid.points.reshape(n, 60), k, **({"refine": "none"} | named)
    )
    report = release.report
    assert report["information_loss"] == expected.information_loss
    assert report["labels"] == expected.labels.tolist()
    assert (report["as_published"], report["counted"], report["width"]) == (True, "records", None)
    assert report["alignment"] is report["mended"] is None
    rows = np.round(expected.centroids[expected.labels].reshape(n, 30, 2), 5) + 0.0
    found = release.trajectories.points
    assert sorted(row.tobytes() for row in found) == sorted(row.tobytes() for row in rows)


def test_each_report_and_file_says_what_it_is_for(tmp_path: Path) -> None:
    release = trajanon.anonymize(crowd(), 4, as_published=True)
    assert "comparison with the papers, not for publication of" in release.report["notice"]
    assert release.trajectories.attribution == attribution_as_published(OSM_ATTRIBUTION)
    assert not trajanon.anonymize(crowd(), 4, effort="fast").report["as_published"]
    for suffix in UNTIMED:
        path = tmp_path / f"r{suffix}"
        release.write(path)
        assert trajanon.read_release(path).attribution == attribution_as_published(OSM_ATTRIBUTION)
        assert trajanon.check(path, 4).problems == [PUBLISHED]


def test_an_evaluation_says_so_and_measures_all_the_same() -> None:
    nobody = Trajectories(crowd().points)
    evidence = trajanon.evaluate(nobody, trajanon.anonymize(nobody, 4, as_published=True))
    assert not evidence.holds
    assert evidence.account["as_published"] is True
    assert evidence.verdict.sentences == [f"I{PUBLISHED[1:]}."]
    assert "made as published, for comparison" in evidence.datasheet
    assert evidence.attacks


@pytest.mark.parametrize(
    ("others", "says"),
    [
        ({"align": True}, "leave out `align`"),
        ({"times": "of-day"}, "leave out `times`"),
        ({"roads": object()}, "leave out `roads`"),
        ({"refine": "anneal"}, "none, swap or rcs .got 'anneal'."),
        ({"as_published": 1}, "must be True or False"),
    ],
)
def test_what_the_papers_do_not_do_is_refused(others: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        trajanon.anonymize(crowd(), 4, **({"as_published": True} | others))


def test_shards_are_not_what_the_papers_search(tmp_path: Path) -> None:
    source = write_folder(tmp_path / "trips", walks(120))
    with shards_of(60), pytest.raises(BadInput, match="`as_published` needs all trajectories"):
        anonymize_parts(str(source), str(tmp_path / "out"), 3, as_published=True)
    report = anonymize_parts(str(source), str(tmp_path / "out"), 3, as_published=True)
    assert report["as_published"] is True
    assert trajanon.check(tmp_path / "out", 3).problems[0].endswith(PUBLISHED)
