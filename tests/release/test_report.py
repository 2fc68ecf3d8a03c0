"""The report: what it has, what it says first, and what it never names."""

import json

import numpy as np
import pytest
from madrid_walks import walks_in_madrid
from msgspec import structs
from reports import reported
from verdicts import alone

import trajanon
from trajanon.common.errors import BadInput
from trajanon.release.report import (
    Chains,
    GroupsInOnePlace,
    InLedger,
    Mended,
    Persons,
    Suppressed,
    WideGroups,
    WorstGroups,
    digest_of,
)
from trajanon.trajectories.clock_and_time_zones import Clock
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


def test_parts_of_a_release_add_up() -> None:
    one = Mended(WideGroups(1, 2, 3), GroupsInOnePlace(4, 5), WorstGroups(metres=10, of_metres=20))
    other = Mended(WideGroups(10, 20, 30), worst=WorstGroups(of_metres=5))
    assert one + other == Mended(
        WideGroups(11, 22, 33), GroupsInOnePlace(4, 5), WorstGroups(metres=10, of_metres=25)
    )


def test_of_nobody_on_several_lines_no_share_is_below_k() -> None:
    assert Chains(drives=0, drives_below=0).share_below == 0.0
    assert Chains(drives=8, drives_below=2).share_below == 0.25
    assert Persons(people=0, people_below=0).share_below == 0.0
    assert Persons(people=8, people_below=2).share_below == 0.25


def test_what_is_in_no_group_or_not_new_is_not_released() -> None:
    report = structs.replace(reported(n=3), suppressed=Suppressed([1]), ledger=InLedger(rows=[4]))
    assert report.released(5).tolist() == [True, False, True, True, False]
    for n in (4, 6):  # of another file
        with pytest.raises(BadInput, match="do not belong together"):
            report.released(n)
    for twice_or_none in ([1], [-1], [5]):
        odd = structs.replace(report, ledger=InLedger(rows=twice_or_none))
        with pytest.raises(BadInput, match="do not belong together"):
            odd.released(5)


@pytest.mark.parametrize("labels", [[0, 1], [0, 2, 2], [1, 1, 2], [0, 1, 1, 1]])
def test_labels_number_all_groups_and_only_these(labels: list[int]) -> None:
    assert reported(n=3, labels=[1, 0, 1]).groups_of_released.tolist() == [1, 0, 1]
    with pytest.raises(BadInput, match="the labels of the report do not match its groups"):
        _ = reported(n=3, labels=labels).groups_of_released


def test_the_digest_is_of_points_groups_and_times_in_their_order() -> None:
    points = np.arange(24.0).reshape(4, 3, 2)
    labels, times = np.array([0, 0, 1, 1]), np.arange(12.0).reshape(4, 3)
    whole = digest_of([points], labels, [times])
    assert digest_of([points[:1], points[1:]], labels, [times[:3], times[3:]]) == whole
    others = {
        digest_of([points], labels),
        digest_of([points[::-1]], labels, [times]),
        digest_of([points], labels[::-1], [times]),
        digest_of([points], labels, [times + 1.0]),
    }
    assert len(others | {whole}) == 5


def test_a_clock_out_of_range_is_refused() -> None:
    report = reported(**alone(0))
    assert report.clock == Clock("of-day", "Europe/Madrid", 300)
    assert report.timing is not None
    assert report.timing.minute_worth == 3.0
    assert report.times is not None
    odd = structs.replace(report, times=structs.replace(report.times, step=59))
    with pytest.raises(BadInput, match="`time_step` must be a whole number from 60"):
        _ = odd.clock
    assert reported().clock is None
    assert reported().timing is None
