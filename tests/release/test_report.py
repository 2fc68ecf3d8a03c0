"""The report: what it has, what it says first, and what it never names."""

import json

import numpy as np
import pytest
from madrid_walks import walks_in_madrid

import trajanon
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")


def test_the_report_has_what_was_promised() -> None:
    report = trajanon.anonymize(walks_in_madrid(), 4).report
    assert next(iter(report)) == "notice"
    assert set(report) >= {
        *("n", "k", "counted", "groups", "sizes", "stages", "displacement"),
        *("versions", "attribution", "information_loss", "labels", "stopped"),
    }
    assert (report["n"], report["k"], report["counted"]) == (40, 4, "subjects")
    assert report["groups"] == len(report["sizes"])
    assert sum(report["sizes"]) == 40
    assert np.bincount(report["labels"]).tolist() == report["sizes"]
    assert min(report["subjects_per_group"]) >= 4
    path, *others = report["stages"]
    assert path.pop("chosen") == {"heuristic": "or-opt"}
    assert {frozenset(stage) for stage in [path, *others]} == {
        frozenset({"name", "information_loss", "seconds"})
    }
    assert [stage["name"] for stage in report["stages"]] == [
        *("path", "MHM", "descent", "annealing")
    ]
    assert report["stopped"] is False
    assert report["alignment_skipped"] is False
    # The line as written loses a little more than the mean.
    assert report["stages"][-1]["information_loss"] < report["information_loss"]
    assert len(bytes.fromhex(report["key_fingerprint"])) == 8
    assert float(f"{report['width']:.2g}") == report["width"] >= 10.0
    assert set(report["displacement"]) == {"mean", "median", "p95", "max"}
    assert set(report["versions"]) == {"trajanon", "numpy", "numba", "python"}
    assert report["attribution"] == OSM_ATTRIBUTION


def test_the_report_names_neither_source_nor_subjects() -> None:
    text = json.dumps(trajanon.anonymize(walks_in_madrid(), 4).report)
    assert "alice" not in text
    assert "987000" not in text


def test_without_subjects_the_report_says_that_nothing_is_known() -> None:
    report = trajanon.anonymize(walks_in_madrid(people=None), 4).report
    assert report["counted"] == "records"
    assert report["subjects_per_group"] is None
    assert report["attribution"] is None
    assert "nothing is known of their subjects" in report["notice"]


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        (7, None),
        (None, None),
        ({"recordings of unknown subjects": "many", "recordings read": []}, None),
        ({"recordings of unknown subjects": 3}, "3 recordings have no name"),
        ({"recordings of unknown subjects": 3, "recordings read": 9}, "3 recordings have no name"),
    ],
)
def test_counts_of_another_program_are_read_only_if_understood(
    counts: object, says: str | None
) -> None:
    whole = walks_in_madrid()
    some = Trajectories(whole.points, whole.subject, provenance={"counts": counts})
    notice = trajanon.anonymize(some, 3, refine="none").report["notice"]
    assert notice.startswith("For the holder of the data, not for publication.")
    assert ("have no name" in notice) == (says is not None)
    assert says is None or says in notice
