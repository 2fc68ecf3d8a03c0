"""What is amiss in a file of a release, word by word and at the limits."""

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import shapely

from trajanon.common.arrays import Floats
from trajanon.common.errors import FileProblem
from trajanon.files.release_contents import MADE_AS_PUBLISHED, Lines
from trajanon.files.release_formats import RELEASE_FORMATS, read_lines, write_release
from trajanon.files.release_inspection import (
    NOTHING_ELSE,
    InspectedFile,
    _at_odds,
    _faulty_times,
    _not_trajectories,
    _too_fine,
    _unsorted,
    compare_with_rewrite,
    inspected,
)
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.trajectories import Trajectories, attribution_as_published

CLOCK = Clock("of-day", "Europe/Madrid", 60)
WAY = [(1.0, 2.0), (1.0, 3.0)]


def lines(*ways: Sequence[tuple[float, ...]]) -> Lines:
    return Lines.of_points([np.array(way) for way in ways])


def timed(times: Floats | None, clock: str | None, *ways: Sequence[tuple[float, ...]]) -> Lines:
    ways = ways or tuple([WAY] * (0 if times is None else len(times)))
    return replace(lines(*(ways or [WAY])), times=times, clock=clock)


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (lines(), ["the file holds no trajectory"]),
        (lines(WAY, [(0.0, 0.0), (0.0, 1.0)]), []),
        (lines([(180.0, 90.0), (-180.0, -90.0)]), []),
        (lines([(180.5, 0.0), (0.0, 0.0)]), ["some coordinates are not on Earth"]),
        (lines([(0.0, -90.5), (0.0, 0.0)]), ["some coordinates are not on Earth"]),
        (lines([(np.nan, 0.0), (0.0, 0.0)]), ["some coordinates are not finite numbers"]),
        (
            lines([(0.0, 0.0, 9.0), (0.0, 1.0, 9.0)]),
            ["points have a third number: a height or a time"],
        ),
        (lines(WAY, [*WAY, (1.0, 4.0)]), ["trajectories have different numbers of points"]),
        (
            replace(lines(WAY), sizes=np.array([1])),
            ["some geometries are not lines of two or more points"],
        ),
        (
            replace(lines(WAY), counts=np.array([0])),
            ["1 line has a number of rows that is no whole number from 1 to 10,000,000"],
        ),
    ],
)
def test_what_is_no_trajectory_is_named(found: Lines, says: list[str]) -> None:
    assert _not_trajectories(found) == says


def test_places_of_other_geometries_are_not_looked_at() -> None:
    shapes = np.array([shapely.LineString(WAY), shapely.Point(999.0, 999.0)])
    found = Lines.of(shapes, shapely.to_wkb(shapes))
    assert _not_trajectories(found) == ["1 geometry is Point, not LineString"]


def test_what_helps_to_tell_who_is_in_a_group_is_said_with_the_reason() -> None:
    assert _too_fine(lines([(0.000001, 0.0), (0.0, 0.0)])) == [
        "a coordinate has more than the 5 decimals that a release may have: each one more helps "
        "to tell who is in a group"
    ]
    assert _unsorted(lines(WAY[::-1], WAY)) == [
        "trajectories are not sorted by their coordinates, so their order may identify people: "
        "run trajanon anonymize again"
    ]
    # Latitudes come first, and longitudes are not passed over.
    assert _unsorted(lines([(2.0, 1.0), WAY[0]], [(1.0, 2.0), WAY[0]])) == []
    assert _unsorted(lines([(2.0, 1.0), WAY[0]], [(1.0, 1.0), WAY[0]])) != []


MORNING = 3 * 3_600.0


@pytest.mark.parametrize(
    ("times", "clock", "says", "impossible"),
    [
        (None, None, [], False),
        (None, CLOCK.sentence, ["the file describes its times, but has none"], True),
        (
            [[MORNING, MORNING]],
            None,
            ["trajectories have times, but the file does not say what these count from"],
            True,
        ),
        ([[MORNING, MORNING]], "x" * 99, [f"an unknown sentence on times {'x' * 40!r}"], True),
        # A day begins at 03:00, and its last departure is at 27:00.
        ([[MORNING, 11_000.0 - 200.0]], CLOCK.sentence, [], False),
        ([[27 * 3_600.0, 28 * 3_600.0]], CLOCK.sentence, [], False),
        (
            [[MORNING - 60.0, MORNING], [27 * 3_600.0 + 60.0, 28 * 3_600.0]],
            CLOCK.sentence,
            ["2 of 2 trajectories depart before or after the day from which their times count"],
            True,
        ),
        ([[60.0, 120.0]], Clock("date", "Europe/Madrid", 60).sentence, [], False),
        (
            [[MORNING + 120.0, MORNING]],
            CLOCK.sentence,
            ["1 of 1 trajectory have times that run back"],
            True,
        ),
        ([[MORNING, MORNING + 1.0]], Clock("of-day", "UTC", 30).sentence, None, False),
        (
            [[MORNING, MORNING + 1.0]],
            CLOCK.sentence,
            ["1 of 1 trajectory have a time that is finer than the 60 s they claim"],
            False,
        ),
        (
            [[np.nan, MORNING], [MORNING, MORNING]],
            CLOCK.sentence,
            ["1 of 2 trajectories do not have a time at each of their points, and others do"],
            True,
        ),
    ],
)
def test_faulty_times_are_counted_and_impossible_ones_known(
    times: list[list[float]] | None, clock: str | None, says: list[str] | None, impossible: bool
) -> None:
    short = [(1.0, 2.0), (1.0, 2.001)]
    found = None if times is None else np.array(times)
    ways = [short] * len(times or [0])
    if says is None:
        says = ["times are rounded to 30 s, and those of a release to a minute at least"]
    assert _faulty_times(timed(found, clock, *ways)) == (says, impossible)


@pytest.mark.parametrize(("kilometres", "fast"), [(119, False), (121, True)])
def test_a_line_may_be_as_fast_as_its_rounded_times_allow(kilometres: int, fast: bool) -> None:
    """A kilometre a second: in a minute as written, two of them as it may have been."""
    way = [(0.0, 0.0), (0.0, 0.0), (0.0, kilometres / 111.195)]
    times = np.array([[MORNING, MORNING, MORNING + 60.0]])
    problems, _ = _faulty_times(timed(times, CLOCK.sentence, way))
    assert problems == ["1 of 1 trajectory are faster than anything on Earth moves"] * fast


@pytest.mark.parametrize("suffix", [".csv", ".geojson", ".gpkg", ".gpx", ".parquet"])
def test_a_zero_of_another_sign_is_not_as_it_is_written(tmp_path: Path, suffix: str) -> None:
    """The sign of a zero could tell one row of a line from another."""
    points = np.array([[[40.0, -0.0], [40.0, 0.5]]] * 2)
    path = tmp_path / f"r{suffix}"
    write_release(path, Trajectories(points))
    assert inspected(path, keep=False)[1] != []


def part(first: Floats, last: Floats, clock: str | None = None) -> InspectedFile:
    keys = np.array([], "S16")
    return InspectedFile(Path(), None, 9, keys, [], "", np.stack([first, last]), clock)


def test_parts_that_do_not_go_together_are_named() -> None:
    places = [np.array([[lat, 5.0], [lat, 6.0]]) for lat in (1.0, 2.0, 3.0, 4.0)]
    early, late = np.array([[60.0], [120.0]]), np.array([[120.0], [180.0]])
    order = ["parts are not sorted by their coordinates: run trajanon anonymize again"]
    hours = ["parts have times that count from different hours, or some have none"]

    first, second, third, fourth = places
    assert _at_odds([part(first, second), part(third, fourth)]) == []
    assert _at_odds([part(third, fourth), part(first, second)]) == order
    assert _at_odds([part(first, second, "one"), part(third, fourth, "other")]) == hours
    # Equal places follow one another by their times.
    begins, ends = (np.hstack([first, times]) for times in (early, late))
    assert _at_odds([part(begins, begins), part(ends, ends)]) == []
    assert _at_odds([part(ends, ends), part(begins, begins)]) == order


THREE = np.array([[[1.0, 2.0], [1.0, 3.0]], [[4.0, 2.0], [4.0, 5.0]], [[6.0, 2.0], [6.0, 7.0]]])


def written(path: Path) -> Path:
    write_release(path, Trajectories(THREE, provenance={"attribution": None}))
    return path


def test_what_is_kept_of_a_file(tmp_path: Path) -> None:
    path = written(tmp_path / "r.geojson")
    ((kept,), problems) = inspected(path, keep=True)
    assert problems == []
    assert kept.claim == NOTHING_ELSE
    assert kept.lines is not None
    assert kept.ends is not None
    assert kept.ends.tolist() == THREE[[0, -1]].tolist()
    ((file,), _) = inspected(path, keep=False)
    assert (file.lines, file.path, file.line_count) == (None, path, 3)

    path.write_text(path.read_text().replace("6.0]", "96.0]"))
    for keep in (False, True):
        ((file,), problems) = inspected(path, keep=keep)
        assert problems == ["some coordinates are not on Earth"]
        assert (file.path, file.line_count, file.claim) == (path, 3, "")
        assert (file.lines is not None) == keep


def test_a_file_as_large_and_as_old_as_its_rewrite_is_compared_byte_by_byte(tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv")
    lines_read = read_lines(path)
    path.write_text(path.read_text().replace("1", "7", 1))
    write = RELEASE_FORMATS[".csv"].write

    def write_as_old(rewrite: Path, rows: object) -> None:
        write(rewrite, rows)  # type: ignore[arg-type]
        os.utime(rewrite, ns=(path.stat().st_mtime_ns, path.stat().st_mtime_ns))

    differences, claim = compare_with_rewrite(path, lines_read, write_as_old)
    assert len(differences) == 1
    assert differences[0].startswith("byte ")
    assert claim == ""

    def fail(rewrite: Path, rows: object) -> None:
        raise OSError("no strerror")

    sentence = f"cannot write the lines of {path} anew, to compare: no strerror; TMPDIR names a"
    with pytest.raises(FileProblem, match=sentence):
        compare_with_rewrite(path, lines_read, fail)


def test_times_are_among_what_is_kept_of_the_ends(tmp_path: Path) -> None:
    times = MORNING + 3_600.0 * np.arange(6.0).reshape(3, 2)
    words = {"attribution": None, "times": CLOCK.sentence}
    path = tmp_path / "r.mfjson"
    write_release(path, Trajectories(THREE, provenance=words, times=times))
    ((file,), problems) = inspected(path, keep=False)
    assert problems == []
    assert file.clock == CLOCK.sentence
    assert file.ends is not None
    assert file.ends[..., 2].tolist() == times[[0, -1]].tolist()

    # Impossible times are not written again, so that nothing can be claimed of the rest.
    for suffix in (".mfjson", ".csv"):
        path = tmp_path / f"late{suffix}"
        words["attribution"] = attribution_as_published(None)
        write_release(path, Trajectories(THREE, provenance=words, times=times + 86_400.0))
        ((file,), problems) = inspected(path, keep=False)
        assert problems[:2] == [
            MADE_AS_PUBLISHED,
            "2 of 3 trajectories depart before or after the day from which their times count",
        ]
        assert (file.claim, file.clock) == ("", None)


def test_places_of_ends_come_before_their_times() -> None:
    near, far = (np.array([[1.0, 5.0], [lat, 6.0]]) for lat in (2.0, 3.0))
    late, early = (np.array([[time], [time]]) for time in (120.0, 60.0))
    first, last = np.hstack([near, late]), np.hstack([far, early])
    assert _at_odds([part(first, first), part(last, last)]) == []


def test_a_folder_keeps_lines_if_they_are_wanted_and_names_a_gap(tmp_path: Path) -> None:
    written(tmp_path / "part-00001.parquet")
    for keep in (False, True):
        (file,), problems = inspected(tmp_path, keep=keep)
        assert (file.lines is not None) == keep
        assert problems == [
            "'part-00001.parquet' stands where 'part-00000.parquet' should: parts are numbered "
            "without gaps, so one is missing, or was renamed"
        ]


@pytest.mark.parametrize("suffix", sorted({*RELEASE_FORMATS} - {".mfjson"}))
@pytest.mark.parametrize("counted", ["subjects", "records"])
def test_counts_of_people_and_of_records_are_as_they_are_written(
    tmp_path: Path, suffix: str, counted: str
) -> None:
    words = {"attribution": None, "rows": "lines", "counted": counted}
    path = tmp_path / f"r{suffix}"
    write_release(path, Trajectories(np.repeat(THREE, 2, axis=0), provenance=words))
    assert compare_with_rewrite(path, read_lines(path)) == ([], NOTHING_ELSE)


def test_contents_that_differ_or_cannot_be_read_leave_no_claim(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "r.parquet")
    found = read_lines(path)
    moved = tmp_path / "moved.parquet"
    write_release(moved, Trajectories(THREE + 1.0, provenance={"attribution": None}))
    differences, claim = compare_with_rewrite(moved, found)
    assert all(" is not as trajanon writes it" in difference for difference in differences)
    assert (len(differences) > 0, claim) == (True, "")

    def use(contents: Callable[[Path], tuple[str, dict[str, object]]]) -> None:
        formats = {".parquet": RELEASE_FORMATS[".parquet"]._replace(contents=contents)}
        monkeypatch.setattr("trajanon.files.release_inspection.RELEASE_FORMATS", formats)

    # Unused bytes of one version of a library are equal, too.
    use(lambda _: ("one library", {}))
    (difference,), claim = compare_with_rewrite(moved, found)
    assert (difference[:5], claim) == ("byte ", "")

    def unreadable(_: Path) -> tuple[str, dict[str, object]]:
        raise ValueError

    use(unreadable)
    says = f"cannot read all of {moved}: write the release again with trajanon anonymize"
    with pytest.raises(FileProblem, match=says):
        compare_with_rewrite(moved, found)
