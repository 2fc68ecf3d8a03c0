"""A series of releases with one ledger: each trip is in one of them, whatever befalls a run."""

import multiprocessing
import os
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from commands import FAST, Run, names
from ledgers import TOLD, marks_of, trace, trips_of, windows_of
from reports import reported
from shards import walks, write_parts

import trajanon
from trajanon.common.errors import BadInput, FileProblem, TooFewRecords, TooFewSubjects
from trajanon.files.trajectory_files import read_trajectories, write_trajectories
from trajanon.release.holder_key import fingerprint
from trajanon.release.ledger import Ledger, content_of, opened
from trajanon.release.report_files import json_ready, read_report
from trajanon.release.verdict import verdict
from trajanon.shards.anonymize_folders import anonymize_parts
from trajanon.shards.anonymize_one_file import anonymize_file
from trajanon.trajectories.subjects import NAMELESS

QUICK: dict[str, Any] = {"method": "mdav", "refine": "none"}


def write_trips(folder: Path, name: str, which: slice = slice(None), n: int = 60) -> Path:
    """Some of the same trips, marked by their numbers; two of each subject."""
    path = folder / name
    write_trajectories(path, trips_of(np.arange(n)[which], walks(n)[which]))
    return path


@pytest.mark.usefixtures("few_tried")
def test_a_series_has_every_trip_once(tmp_path: Path, book: Path) -> None:
    """Groups hold new ones only; reports tell which, and belong to the originals."""
    seen = np.zeros(60, np.int64)
    for number, which in enumerate((slice(0, 40), slice(20, 50), slice(0, 60))):
        source, out = write_trips(tmp_path, "trips.parquet", which), tmp_path / f"{number}.csv"
        report = anonymize_file(source, out, 3, ledger=book, **QUICK)
        told = report["ledger"]
        left = np.zeros(which.stop - which.start, bool)
        left[told["rows"]] = True
        seen[which] += ~left
        assert report["n"] == told["new"] == int((~left).sum())
        assert told["already_released"] == int(left.sum())
        assert min(report["subjects_per_group"]) >= 3
        evaluation = trajanon.evaluate(
            read_trajectories(source), trajanon.read_release(out), read_report(out)
        )
        assert evaluation.trajectories == told["new"]
    assert (seen == 1).all()
    with opened(book) as ledger:
        assert [entry.note["n"] for entry in ledger.entries] == [40, 10, 10]
        assert [said for _, said in ledger.verify()] == ["in place"] * 3


@pytest.mark.parametrize(("more", "k", "error"), [(2, 3, TooFewRecords), (5, 4, TooFewSubjects)])
def test_too_few_wait_for_the_next_time(
    tmp_path: Path, book: Path, more: int, k: int, error: type[Exception]
) -> None:
    first = write_trips(tmp_path, "trips.parquet", slice(0, 40))
    anonymize_file(first, tmp_path / "a.csv", k, ledger=book, **QUICK)
    grown = write_trips(tmp_path, "trips.parquet", slice(0, 40 + more))
    says = f"40 of {40 + more} were released before, and the {more} new ones wait for the next time"
    with pytest.raises(error, match=says):
        anonymize_file(grown, tmp_path / "b.csv", k, ledger=book, **QUICK)
    assert {"trips.parquet", "a.csv", "a.report.json", "trips.ledger"} == names(tmp_path)
    grown = write_trips(tmp_path, "trips.parquet")
    assert anonymize_file(grown, tmp_path / "b.csv", k, ledger=book, **QUICK)["n"] == 20


def test_what_is_left_out_as_too_far_from_others_may_come_again(tmp_path: Path, book: Path) -> None:
    """Three are alone on their continents at first, and then in company."""
    source, points, far = tmp_path / "trips.parquet", walks(306), [7, 9, 11]
    points[300:] = points[far * 2] + 1e-4
    for away, rows in zip(
        (20, -20, 40), ([7, 300, 303], [9, 301, 304], [11, 302, 305]), strict=True
    ):
        points[rows, :, 0] += away
    trips = trips_of(np.arange(306), points)
    write_trajectories(source, trips.take(np.arange(300)))
    first = anonymize_file(source, tmp_path / "a.csv", 3, ledger=book, **QUICK)
    assert first["suppressed"]["rows"] == far
    assert first["n"] == 297
    write_trajectories(source, trips)
    second = anonymize_file(source, tmp_path / "b.csv", 3, ledger=book, **QUICK)
    assert sorted({*range(306)} - {*second["ledger"]["rows"]}) == [*far, *range(300, 306)]
    found = trajanon.evaluate(
        trips, trajanon.read_release(tmp_path / "b.csv"), read_report(tmp_path / "b.csv")
    )
    assert found.trajectories == 9


def test_the_same_groups_have_the_same_lines_by_the_key_of_the_ledger(
    tmp_path: Path, book: Path
) -> None:
    source = write_trips(tmp_path, "trips.parquet")
    write_parts(tmp_path / "parts", read_trajectories(source))
    for number in range(2):
        report = anonymize_file(source, tmp_path / f"{number}.csv", 3, ledger=book, **QUICK)
        with opened(book) as ledger:
            ledger.forget(number + 1)
            assert report["key_fingerprint"] == fingerprint(ledger.release_key)
            assert ledger.release_key != ledger._key
    anonymize_parts(str(tmp_path / "parts"), str(tmp_path / "2"), 3, ledger=book, **QUICK)
    one, again = ((tmp_path / f"{number}.csv").read_bytes() for number in range(2))
    assert one == again
    lines = [trajanon.read_release(tmp_path / name).records for name in ("0.csv", "2")]
    assert np.array_equal(lines[0], lines[1])
    anonymize_file(source, tmp_path / "3.csv", 3, **QUICK)
    assert (tmp_path / "3.csv").read_bytes() != one


def test_a_release_in_the_ledger_is_not_written_over(tmp_path: Path, book: Path) -> None:
    source = write_trips(tmp_path, "trips.parquet", slice(0, 30))
    anonymize_file(source, tmp_path / "a.csv", 3, ledger=book, **QUICK)
    before = (tmp_path / "a.csv").read_bytes()
    write_trips(tmp_path, "trips.parquet")
    with pytest.raises(BadInput, match=r"a\.csv is release 1 of .*trips\.ledger: write elsewhere"):
        anonymize_file(source, tmp_path / "a.csv", 3, ledger=book, **QUICK)
    assert (tmp_path / "a.csv").read_bytes() == before


def test_parts_take_a_ledger_too(tmp_path: Path, book: Path) -> None:
    trips = trips_of(np.arange(200), walks(200))
    source = write_parts(tmp_path / "trips", trips.take(np.arange(120)))
    grown = write_parts(tmp_path / "grown", trips, rows=40)
    outs = [tmp_path / "march", tmp_path / "april"]
    for folder, out in zip((source, grown), outs, strict=True):
        report = anonymize_parts(str(folder), str(out), 3, ledger=book, **QUICK)
    assert (report["n"], report["ledger"]["already_released"]) == (80, 120)
    assert report["ledger"]["rows"] == list(range(120))
    evaluation = trajanon.evaluate(
        read_trajectories(grown), trajanon.read_release(outs[1]), read_report(outs[1])
    )
    assert evaluation.trajectories == 80
    assert evaluation.holds
    with pytest.raises(BadInput, match="nothing is new: 200 of 200 were released before"):
        anonymize_parts(str(grown), str(tmp_path / "may"), 3, ledger=book, **QUICK)
    with opened(book) as ledger:
        assert [said for _, said in ledger.verify()] == ["in place"] * 2


def test_windows_of_parts_stay_off_released_runs(tmp_path: Path, book: Path) -> None:
    """As in a file: what is on the run of a released window counts as released."""
    ways = [trace(str(number), slice(0, 200), subject=str(number)) for number in range(6)]
    for number, way in enumerate(ways):
        way.lat[:] += 1e-3 * number
    windows = windows_of(*ways)
    source = write_parts(tmp_path / "trips", windows, rows=10)
    assert windows.marks is not None
    assert windows.tracks is not None
    with opened(book, new=True) as ledger:
        ledger.announce(TOLD, ledger.digests_of_marks(windows.marks[:1]))
    out = str(tmp_path / "out")
    report = anonymize_parts(str(source), out, 3, ledger=book, **QUICK)
    assert report["ledger"]["rows"] == np.flatnonzero(windows.tracks.run == 0).tolist()


# A run that is killed.


def killed(step: str, folder: Path, book: Path) -> None:
    """Die in a step of the second release."""
    first, second = (folder / f"{number}.parquet" for number in range(2))
    anonymize_file(first, folder / "0.csv", 3, ledger=book, **QUICK)

    def dying(*_: object, **__: object) -> None:
        os._exit(9)

    if step == "announce":
        patch.object(Ledger, "announce", dying).start()
    elif step == "rename":
        patch.object(Path, "replace", dying).start()
    else:
        patch.object(Ledger, "_settle", dying).start()
    anonymize_file(second, folder / "1.csv", 3, ledger=book, **QUICK)


@pytest.fixture
def after(request: pytest.FixtureRequest, tmp_path: Path, book: Path) -> Path:
    """A folder after a run that was killed in a step."""
    write_trips(tmp_path, "0.parquet", slice(0, 30))
    write_trips(tmp_path, "1.parquet", slice(30, 60))
    process = multiprocessing.get_context("spawn").Process(
        target=killed, args=(request.param, tmp_path, book)
    )
    process.start()
    process.join()
    assert process.exitcode == 9
    return tmp_path


@pytest.mark.parametrize(
    ("after", "said", "there"),
    [("announce", None, False), ("rename", "forgotten", False), ("settle", "settled", True)],
    indirect=["after"],
)
def test_a_kill_leaves_a_ledger_that_says_so(
    after: Path, book: Path, said: str | None, there: bool, run: Run
) -> None:
    assert (after / "1.csv").exists() == there
    again = ("anonymize", "1.parquet", "-k", "3", "--ledger", "trips.ledger", *FAST)
    if said is not None:
        sentence = run(*again, "--out", "2.csv").sentence
        assert "was killed" in sentence
        assert "trajanon ledger verify" in sentence
        assert "its run was killed" in run("ledger", "show", "trips.ledger").out
        assert said in run("ledger", "verify", "trips.ledger").out
    with opened(book) as ledger:
        assert len(ledger.entries) == 1 + there
        assert all(content_of(one.note["release"]) == one.note["content"] for one in ledger.entries)
    answer = run(*again, "--out", "2.csv")
    if there:
        assert "nothing is new" in answer.sentence
    else:
        assert answer.code == 0


@pytest.mark.parametrize("named", [False, True])
def test_a_failed_run_is_forgotten_unless_its_file_has_its_name(
    tmp_path: Path, book: Path, named: bool
) -> None:
    draft = write_trips(tmp_path, "draft.csv")
    with opened(book, new=True):
        pass

    def fail() -> None:
        with opened(book) as ledger, ledger.recording(tmp_path / "a.csv"):
            report = reported(k=3, ledger={"rows": []})
            ledger.enter(
                tmp_path / "a.csv", draft, draft, report, ledger.digests_of_marks(marks_of([1, 10]))
            )
            assert [one.note["settled"] for one in ledger.entries] == [False]
            if named:
                draft.rename(tmp_path / "a.csv")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    with opened(book) as ledger:
        assert [entry.note["settled"] for entry in ledger.entries] == [True] * named


def test_who_is_on_lines_of_several_releases_is_told(tmp_path: Path, book: Path) -> None:
    """Whoever knows two trips of a person knows both lines; of new names nobody knows whose."""
    for name, rows, before, expected in (
        ("a", np.arange(0, 40, 2), None, []),
        ("b", np.arange(1, 50, 2), 20, ["people_in_series"]),
        ("c", np.arange(50, 60, 2), 0, ["people_new_in_series"]),
    ):
        path = tmp_path / f"{name}.parquet"
        write_trajectories(path, trips_of(rows, walks(60)[rows]))
        out = tmp_path / f"{name}.csv"
        assert anonymize_file(path, out, 3, ledger=book, **QUICK)["persons"]["people"] == 0
        report = read_report(out)
        assert report.ledger is not None
        assert report.ledger.people_before == before
        kinds = [finding.kind for finding in verdict(report).findings]
        assert [kind for kind in kinds if kind.endswith("in_series")] == expected


@pytest.mark.parametrize("again", [True, False])
def test_one_line_each_holds_over_all_releases_of_a_ledger(
    tmp_path: Path, book: Path, again: bool
) -> None:
    """Whoever is on a line is on no other, whether that one promises it, too, or not."""
    some = write_trips(tmp_path, "some.parquet", slice(0, 31))  # of 16 people
    report = anonymize_file(some, tmp_path / "a.csv", 3, ledger=book, one_line_each=True, **QUICK)
    assert report["n"] == report["choice"]["people"] == 16
    with pytest.raises(BadInput, match="nothing is new: 16 of 31 were released before, and 15"):
        anonymize_file(some, tmp_path / "b.csv", 3, ledger=book, one_line_each=again, **QUICK)
    whole = write_trips(tmp_path, "trips.parquet")
    later = anonymize_file(whole, tmp_path / "b.csv", 3, ledger=book, one_line_each=again, **QUICK)
    told = later["ledger"]
    assert (told["new"], told["already_released"], told["on_a_line"]) == (28, 16, 16)
    people = np.arange(60) // 2
    kept = np.setdiff1d(np.arange(60), told["rows"])
    assert people[kept].min() == 16
    assert later["n"] == (14 if again else 28)


def test_one_line_each_with_a_ledger_needs_names(tmp_path: Path, book: Path) -> None:
    trips = trips_of(np.arange(60), walks(60))
    path = tmp_path / "trips.parquet"
    write_trajectories(path, replace(trips, provenance={"counts": {NAMELESS: 60}}))
    anonymize_file(path, tmp_path / "a.csv", 3, ledger=None, one_line_each=True, **QUICK)
    with pytest.raises(BadInput, match="and 60 recordings have no name: extract again"):
        anonymize_file(path, tmp_path / "b.csv", 3, ledger=book, one_line_each=True, **QUICK)
    assert not book.exists()


def test_one_line_each_of_an_earlier_release_needs_names_later(tmp_path: Path, book: Path) -> None:
    """Whoever has no name may be on a line of it already."""
    some = write_trips(tmp_path, "some.parquet", slice(0, 31))
    anonymize_file(some, tmp_path / "a.csv", 3, ledger=book, one_line_each=True, **QUICK)
    trips = trips_of(np.arange(60), walks(60))
    path = tmp_path / "trips.parquet"
    write_trajectories(path, replace(trips, provenance={"counts": {NAMELESS: 7}}))
    with pytest.raises(BadInput, match=r"release 1 of .*trips.ledger.* and 7 recordings have no"):
        anonymize_file(path, tmp_path / "b.csv", 3, ledger=book, **QUICK)


def test_one_line_each_needs_names_in_earlier_releases(tmp_path: Path, book: Path) -> None:
    """Whoever had no name then may be on a line already, and has a name now."""
    trips = trips_of(np.arange(30), walks(60)[:30])
    path = tmp_path / "trips.parquet"
    write_trajectories(path, replace(trips, provenance={"counts": {NAMELESS: 7}}))
    anonymize_file(path, tmp_path / "a.csv", 3, ledger=book, **QUICK)
    whole = write_trips(tmp_path, "whole.parquet")
    with pytest.raises(BadInput, match=r"release 1 of .*trips.ledger may have recordings without"):
        anonymize_file(whole, tmp_path / "b.csv", 3, ledger=book, one_line_each=True, **QUICK)
    assert anonymize_file(whole, tmp_path / "b.csv", 3, ledger=book, **QUICK)["n"] == 30


def test_an_older_copy_that_is_put_back_is_told_by_the_reports(
    tmp_path: Path, book: Path, run: Run
) -> None:
    source = write_trips(tmp_path, "trips.parquet", slice(0, 20))
    other = tmp_path / "other.ledger"  # whose reports are of no concern
    copies = []
    for number in range(3):
        write_trips(tmp_path, "trips.parquet", slice(0, 20 * (number + 1)))
        report = anonymize_file(source, tmp_path / f"{number}.csv", 3, ledger=book, **QUICK)
        assert report["ledger"]["link"]["releases"] == number + 1
        assert json_ready(read_report(tmp_path / f"{number}.csv")) == report
        anonymize_file(source, tmp_path / f"other-{number}.csv", 3, ledger=other, **QUICK)
        copies.append(book.read_bytes())
    assert run("ledger", "verify", "trips.ledger").out.count("in place") == 3

    book.write_bytes(copies[0])
    says = "trips.ledger is not whole from release 2 on (1.report.json is of a release"
    assert says in run("ledger", "verify", "trips.ledger").sentence.replace(f"{tmp_path}/", "")
    with pytest.raises(FileProblem, match="is not whole from release 2 on"):
        anonymize_file(source, tmp_path / "3.csv", 3, ledger=book, **QUICK)
    assert not (tmp_path / "3.csv").exists()

    # Another second release: as many are in it, and not the same.
    for number in (1, 2):
        (tmp_path / f"{number}.report.json").rename(tmp_path / f"{number}.json")
    anonymize_file(source, tmp_path / "3.csv", 3, ledger=book, **QUICK)
    (tmp_path / "2.json").rename(tmp_path / "2.report.json")
    assert "from release 3 on" in run("ledger", "verify", "trips.ledger").sentence
    (tmp_path / "1.json").rename(tmp_path / "1.report.json")
    assert "from release 2 on" in run("ledger", "verify", "trips.ledger").sentence


def test_a_run_that_is_refused_leaves_no_new_ledger(run: Run, tmp_path: Path) -> None:
    write_trips(tmp_path, "trips.parquet")
    assert run("anonymize", "trips.parquet", "-k", 400, "--ledger", "a.ledger").code == 2
    assert not (tmp_path / "a.ledger").exists()
