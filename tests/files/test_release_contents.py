"""What a release is made of: lines once, counts, and words on all."""

from typing import Any

import numpy as np
import pytest
from plain_releases import points_of, release

from trajanon.files.release_contents import (
    MOST_ROWS,
    Layout,
    Lines,
    amiss_in_counts,
    clock_of,
    words_in,
)
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.trajectories import (
    OSM_ATTRIBUTION,
    Trajectories,
    attribution_as_published,
)

CLOCK = Clock("of-day", "Europe/Madrid", 60)
LINES = Lines.of_points([np.array([[1.0, 2.0], [1.0, 3.0]])] * 2)


@pytest.mark.parametrize(("counted", "column"), [("subjects", "people"), ("records", "records")])
def test_a_line_that_stands_for_several_is_laid_out_once(counted: str, column: str) -> None:
    points = points_of(3)[[0, 1, 1, 2, 2, 2]]
    laid_out = Layout.of(Trajectories(points, provenance={"rows": "lines", "counted": counted}))
    assert np.array_equal(laid_out.lines.points, points[[0, 1, 3]])
    assert [*laid_out.counts] == [column]
    assert laid_out.columns[column].tolist() == [1, 2, 3]
    assert laid_out.columns["id"].tolist() == [1, 2, 3]


def test_a_row_each_has_no_counts() -> None:
    laid_out = Layout.of(release())
    assert laid_out.counts == {}
    assert len(laid_out.lines) == 6
    assert laid_out.words == {"attribution": OSM_ATTRIBUTION}


@pytest.mark.parametrize("attribution", [None, OSM_ATTRIBUTION, "a\nb"])
@pytest.mark.parametrize("clock", [None, CLOCK.sentence])
def test_words_are_parted_again(attribution: str | None, clock: str | None) -> None:
    text = "\n".join(word for word in (attribution, clock) if word is not None) or None
    assert words_in(text, timed=clock is not None) == (attribution, clock)


def test_times_count_from_what_the_release_says() -> None:
    times = np.zeros((6, 3))
    words = {"times": CLOCK.sentence}
    assert clock_of(Trajectories(points_of(), times=times, provenance=words)) == CLOCK
    assert clock_of(Trajectories(points_of(), provenance=words)) is None
    assert clock_of(Trajectories(points_of(), times=times)) is None


@pytest.mark.parametrize(
    ("counts", "read"),
    [
        ([2, 3.0], [2, 3]),
        ([np.int64(1), MOST_ROWS], [1, MOST_ROWS]),
        ([0, MOST_ROWS + 1], [0, 0]),
        (["2", 2.5], [0, 0]),
        ([float("nan"), None], [0, 0]),
        ([1], [0, 0]),  # fewer than lines
    ],
)
def test_counts_of_a_file_are_whole_numbers_or_none(counts: list[Any], read: list[int]) -> None:
    lines = LINES.with_words(None, None, None, {"records": counts})
    assert lines.counts is not None
    assert lines.counts.tolist() == read
    odd = read.count(0)
    problems = amiss_in_counts(lines)
    if sum(read) > MOST_ROWS:
        assert problems == [
            "lines count 10,000,001 rows, more than the 10,000,000 that a file may have"
        ]
    else:
        assert len(problems) == bool(odd)
        assert all(problem.startswith(f"{odd} line") for problem in problems)


def test_times_of_a_file_are_numbers_for_each_point_or_none() -> None:
    rows = [[1, 2.5], [1, "soon"]]
    times = LINES.with_words(None, rows, None, {}).times
    np.testing.assert_array_equal(times, [[1.0, 2.5], [np.nan, np.nan]])
    beyond = LINES.with_words(None, [[1, 2, 3], [0, 1e12]], None, {}).times
    np.testing.assert_array_equal(beyond, np.full((2, 2), np.nan))


def test_only_known_words_are_taken_from_a_file() -> None:
    """Any other attribution could say anything."""
    for words, known in [
        (OSM_ATTRIBUTION, True),
        (attribution_as_published(None), True),
        ("call me", False),
    ]:
        lines = LINES.with_words(words, None, None, {})
        assert lines.provenance["attribution"] == (words if known else None)
        assert lines.as_published is (words == attribution_as_published(None))


def test_lines_that_are_none_stay_in_their_rows() -> None:
    point, line, high = np.array([[1.0, 2.0]]), np.zeros((2, 2)), np.zeros((2, 3))
    lines = Lines.of_points([point, line, high])
    assert lines.kinds.tolist() == ["nothing", "LineString", "LineString"]
    assert lines.sizes.tolist() == [0, 2, 2]
    assert lines.coordinates.shape == (4, 3)
    assert lines.shapes[0] == b""
    assert lines.of_rows.tolist() == [0, 1, 2]
