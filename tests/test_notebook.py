"""What results show of themselves: one short line, or a table."""

from pathlib import Path
from typing import Protocol
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from evaluations import Evaluated

import trajanon
from trajanon.extract import Trace
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION


@pytest.fixture(scope="module")
def originals() -> trajanon.Trajectories:
    points = np.random.default_rng(1).uniform((40.0, 2.0), (41.0, 3.0), size=(300, 4, 2))
    source = {"attribution": OSM_ATTRIBUTION}
    return trajanon.Trajectories(points, np.arange(300), provenance=source)


@pytest.fixture(scope="module")
def release(originals: trajanon.Trajectories) -> trajanon.Release:
    return trajanon.anonymize(originals, k=3, effort="fast")


class Shown(Protocol):
    """What a notebook shows as HTML."""

    def _repr_html_(self) -> str: ...


def page(thing: Shown) -> ElementTree.Element:
    """The tree of what a notebook shows; an error if a tag is not closed."""
    return ElementTree.fromstring(thing._repr_html_())


def test_a_line_says_what_a_result_holds(
    originals: trajanon.Trajectories, release: trajanon.Release, slid_sample: Evaluated
) -> None:
    said = repr(originals)
    assert said.startswith("<Trajectories: 300 trajectories of 4 points by 300 subjects; © Open")
    lines = release.report["lines"]
    cost = f"Information loss: {release.report['information_loss']:.2g} %>"
    said = repr(release)
    assert said.startswith(f"<Release: 300 rows of 4 points on {lines} lines, k = 3 subjects; Rel")
    assert said.endswith(cost)
    evidence, report = slid_sample
    said = repr(evidence)
    assert said.startswith(f"<Evaluation: {evidence.verdict.headline}")
    assert f"Information loss: {report['information_loss']:.2g} %" in said
    assert len(said) < 1_000


def test_no_result_fills_the_screen(release: trajanon.Release, tmp_path: Path) -> None:
    release.write(tmp_path / "release.parquet")
    points = release.trajectories.points[0]
    results: list[object] = [
        release.verdict,
        trajanon.microaggregate(release.trajectories.records, k=3, method="mdav", refine="none"),
        trajanon.check(tmp_path / "release.parquet", k=3),
        Trace("morning", "Ada", points[:, 0], points[:, 1], time=np.arange(4.0)),
    ]
    for result in results:
        assert repr(result).count("\n") < 10
        assert len(repr(result)) < 1_000
    assert repr(results[1]).startswith(
        "<Partition: 300 records of 8 numbers in 100 groups of 3 to 3"
    )
    assert repr(results[3]) == "<Trace: 'morning' of 'Ada'; 4 points>"


def test_a_notebook_shows_a_table(
    originals: trajanon.Trajectories, release: trajanon.Release
) -> None:
    partition = trajanon.microaggregate(originals.records, k=3, method="mdav", refine="none")
    for shown in (originals, release, partition, release.verdict):
        tree = page(shown)
        assert tree.find("table/tr/td") is not None
    assert "clear them before you share" in (page(originals).findtext("p") or "")
    assert page(release).find("p") is None


def test_a_notebook_shows_the_verdict(slid_sample: Evaluated) -> None:
    evidence, _ = slid_sample
    tree = page(evidence)
    assert (tree.findtext("p") or "").startswith("For the holder of the data, not for publication.")
    told = [row.findtext("td") for row in tree.findall("table/tr")]
    assert (told[0] or "").startswith(evidence.verdict.headline)


def test_findings_are_true_if_they_hold(release: trajanon.Release, tmp_path: Path) -> None:
    assert trajanon.check(release, k=3)
    assert not trajanon.check(release, k=100)
    pd.DataFrame({"age": [31, 31, 52], "sex": 1}).to_csv(tmp_path / "x.csv", index=False)
    assert not trajanon.check_table(tmp_path / "x.csv", k=2, columns=["age"])
    assert trajanon.check_table(tmp_path / "x.csv", k=2, columns=["sex"])
