"""Times in released files that are checked: sound, odd, or of other words."""

import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from plain import plain_means
from planted import K, run_sql
from releases_with_times import CLOCK, release, released, written

import trajanon
from trajanon.common.errors import BadInput
from trajanon.common.search_and_release_options import TimesName
from trajanon.files.release_formats import RELEASE_FORMATS, read_release, write_release
from trajanon.files.release_inspection import NOTHING_ELSE
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION

every_format = pytest.mark.parametrize("suffix", RELEASE_FORMATS)


def problems(path: Path, k: int = K) -> str:
    with plain_means():  # of 7 decimals
        findings = trajanon.check(path, k)
    assert findings.holds == (not findings.problems)
    return "\n".join(findings.problems)


@every_format
@pytest.mark.parametrize("times", ["of-day", "of-week", "date"])
def test_a_release_holds(tmp_path: Path, suffix: str, times: TimesName) -> None:
    path = written(tmp_path / f"r{suffix}", released(clock=Clock(times, "Europe/Madrid", 300)))
    findings = trajanon.check(path, K)
    assert findings.holds, findings
    assert findings.claim == NOTHING_ELSE
    assert (findings.trajectories, findings.groups, findings.smallest) == (20, 4, 4)
    assert "2 of 4 different trajectories occur fewer than 5" in problems(path, 5)


@every_format
def test_equal_places_at_other_times_are_other_lines(tmp_path: Path, suffix: str) -> None:
    of = released((5, 5, 5, 7))
    assert of.times is not None
    of.times[7] += 300.0
    path = written(tmp_path / f"r{suffix}", of)
    found = trajanon.check(path, K)
    assert found.groups == 5
    assert "1 of 5 different trajectories occur fewer than 4 times" in problems(path, K)


@every_format
def test_equal_places_are_sorted_by_their_times(tmp_path: Path, suffix: str) -> None:
    points = np.full((8, 2, 2), 40.0) + np.array([[0.0], [1.0]])
    times = 30_000.0 + 300 * np.repeat([0, 1], 4)[:, None] + np.array([0, 300])
    for order in (np.arange(8), np.arange(8)[::-1]):
        path = tmp_path / f"r{suffix}"
        write_release(path, release(points, times[order]))
        assert ("are not sorted by their coordinates" in problems(path)) == (order[0] > 0)


def in_text(old: str, new: str, count: int = -1) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, count), encoding="utf-8")

    return change


def in_parquet(change: Callable[[pa.Table], pa.Table]) -> Callable[[Path], None]:
    def repack(path: Path) -> None:
        table = change(pq.read_table(path))
        pq.write_table(table, path, compression="zstd", write_statistics=False)

    return repack


def in_sql(*commands: str) -> Callable[[Path], None]:
    return lambda path: run_sql(path, *commands)


def with_sentence(text: str | None) -> dict[str, Callable[[Path], None]]:
    """What changes the words on times in each format, or takes them away."""
    metadata = {} if text is None else {b"times": text.encode()}
    old, told = CLOCK.sentence, text or ""
    member = "" if text is None else f'"times": "{text}", '
    json_member = in_text(f'"times": "{old}", ', member)
    description = OSM_ATTRIBUTION + f"\n{told}" * (text is not None)

    def csv(path: Path) -> None:
        in_text(f',"{old}"', "" if text is None else f',"{text}"')(path)
        if text is None:
            in_text(",attribution,times", ",attribution")(path)

    return {
        ".parquet": in_parquet(
            lambda table: table.replace_schema_metadata(
                {name: one for name, one in table.schema.metadata.items() if name != b"times"}
                | metadata
            )
        ),
        ".gpkg": in_sql(f"UPDATE gpkg_contents SET description = '{description}'"),
        ".geojson": json_member,
        ".csv": csv,
        ".gpx": in_text(f"\n{old}", "" if text is None else f"\n{text}"),
        ".mfjson": json_member,
    }


def finer(second: str) -> str:
    return CLOCK.sentence.replace("300 s", second)


@every_format
@pytest.mark.parametrize(
    ("sentence", "says"),
    [
        (None, "the file does not say what these count from"),
        ("alice", "an unknown sentence on times 'alice'"),
        (CLOCK.sentence + " for alice", "an unknown sentence on times"),
        (CLOCK.sentence.replace("Europe/Madrid", "Alice/Home"), "an unknown sentence on times"),
        (finer("0300 s"), "an unknown sentence on times"),
        (finer("86401 s"), "an unknown sentence on times"),
        (finer("3600 s"), "have a time that is finer than the 3600 s they claim"),
        (finer("30 s"), "times are rounded to 30 s, and those of a release to a minute at least"),
    ],
)
def test_times_of_another_sentence_are_found(
    tmp_path: Path, suffix: str, sentence: str | None, says: str
) -> None:
    path = written(tmp_path / f"r{suffix}")
    with_sentence(sentence)[suffix](path)
    assert says in problems(path).splitlines()[0]


def replaced(change: Callable[[list[list[Any]]], Any]) -> Callable[[pa.Table], pa.Table]:
    """Change the lists of times in a table; what comes back is their column."""

    def of(table: pa.Table) -> pa.Table:
        rows = table["times"].to_pylist()
        return table.set_column(2, "times", pa.array(change(rows) or rows))

    return of


def set_row(values: Any, rows: list[list[Any]]) -> None:
    rows[5] = values


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (None, "1 of 20 trajectories do not have a time at each of their points"),
        ([], "1 of 20 trajectories do not have a time at each"),
        ([30_000, 30_000], "1 of 20 trajectories do not have a time at each"),
        ([30_000] * 4, "1 of 20 trajectories do not have a time at each"),
        ([30_000, None, 30_000], "1 of 20 trajectories do not have a time at each"),
        ([30_000, float("nan"), 30_000], "1 of 20 trajectories do not have a time at each"),
        ([30_000, float("inf"), 30_000], "1 of 20 trajectories do not have a time at each"),
        ([30_000, 30_000, 2**40 * 300], "1 of 20 trajectories do not have a time at each"),
        ([30_000, 29_700, 30_000], "1 of 20 trajectories have times that run back"),
        ([30_000, 30_001, 30_300], "1 of 20 trajectories have a time that is finer than the 300"),
        ([30_000, 30_000.5, 30_300], "1 of 20 trajectories have a time that is finer than"),
        ([-300, 30_000, 30_300], "1 of 20 trajectories depart before or after the day"),
        ([10_500, 30_000, 30_300], "1 of 20 trajectories depart before or after the day"),
        ([97_500, 97_500, 97_500], "1 of 20 trajectories depart before or after the day"),
        ([97_200, 97_200, 200_100], "1 of 5 different trajectories"),  # as a mean may be rounded
    ],
)
@pytest.mark.parametrize("suffix", [".parquet", ".geojson"])
def test_odd_times_of_a_line_are_found(tmp_path: Path, suffix: str, values: Any, says: str) -> None:
    path = written(tmp_path / f"r{suffix}")
    if suffix == ".parquet":
        in_parquet(replaced(partial(set_row, values)))(path)
    else:
        collection = json.loads(path.read_text(encoding="utf-8"))
        collection["features"][5]["properties"]["times"] = values
        path.write_text(json.dumps(collection, ensure_ascii=False), encoding="utf-8")
    found = problems(path)
    assert says in found
    assert "1 of 5 different trajectories occur fewer than 4 times" in found
    if "do not have" in says:
        with pytest.raises(BadInput, match="in some rows only"):
            read_release(path)


@pytest.mark.parametrize(
    "column",
    [pa.array(range(20)), pa.array(["[30000, 30000, 30000]"] * 20), pa.nulls(20)],
    ids=["numbers", "texts", "nothing"],
)
def test_a_column_that_holds_no_lists_is_found(tmp_path: Path, column: Any) -> None:
    path = written(tmp_path / "r.parquet")
    in_parquet(lambda table: table.set_column(2, "times", column))(path)
    assert "20 of 20 trajectories do not have a time at each of their points" in problems(path)


def test_an_empty_file_does_not_hold(tmp_path: Path) -> None:
    path = written(tmp_path / "r.parquet")
    in_parquet(lambda table: table[:0])(path)
    assert problems(path) == "the file holds no trajectory"
    in_sql("DELETE FROM anonymized")(written(tmp_path / "r.gpkg"))
    assert problems(tmp_path / "r.gpkg") == "the file holds no trajectory"
    empty = {"type": "FeatureCollection", "times": CLOCK.sentence, "features": []}
    (tmp_path / "r.mfjson").write_text(json.dumps(empty), encoding="utf-8")
    assert problems(tmp_path / "r.mfjson") == "the file holds no trajectory"


def test_two_columns_of_times_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "r.parquet")
    in_parquet(lambda table: table.append_column("times", table["times"]))(path)
    with pytest.raises(trajanon.TrajanonError, match="two columns 'times'"):
        problems(path)
    held = tmp_path / "t.parquet"
    trajanon.write_trajectories(held, released())
    in_parquet(lambda table: table.append_column("times", table["times"]))(held)
    with pytest.raises(BadInput, match="two columns 'times'"):
        trajanon.read_trajectories(held)


def test_rows_with_a_value_too_many_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "r.csv")
    rows = path.read_text(encoding="utf-8").splitlines()
    more = [f"{number},{row}" for number, row in enumerate(rows[1:], start=1)]
    path.write_text("\n".join([rows[0], *more]), encoding="utf-8")
    with pytest.raises(trajanon.TrajanonError, match="more values than"):
        problems(path)


FIRST_DATE = re.compile(r"2001-01-01T\d\d:\d\d:\d\d")


@pytest.mark.parametrize("suffix", [".gpx", ".mfjson"])
@pytest.mark.parametrize(
    ("date", "says"),
    [
        ("", "do not have a time"),
        ("yesterday", "do not have a time"),
        ("1970-13-05T08:00:00", "do not have a time"),
        ("2001-01-01 08:00:00", "do not have a time"),
        ("2001-01-01T08:00:00+01:00", "do not have a time"),
        ("2001-01-01T02:00:00", "depart before or after the day"),
        ("1969-12-31T08:00:00", "depart before or after the day"),
        ("2001-01-01T23:00:00", "have times that run back"),
        ("2001-01-01T08:00:01", "finer than the 300 s"),
    ],
)
def test_odd_dates_are_found(tmp_path: Path, suffix: str, date: str, says: str) -> None:
    path = written(tmp_path / f"r{suffix}")
    text = path.read_text(encoding="utf-8")
    path.write_text(FIRST_DATE.sub(date, text, count=1), encoding="utf-8")
    assert says in problems(path)


def test_rows_without_a_date_are_found(tmp_path: Path) -> None:
    path = written(tmp_path / "r.gpx")
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub("<time>.*?</time>", "", text, count=1), encoding="utf-8")
    assert "1 of 20 trajectories do not have a time" in problems(path)
    path.write_text(re.sub("<time>.*?</time>", "", text), encoding="utf-8")
    assert problems(path).splitlines()[0] == "the file describes its times, but has none"


@pytest.mark.parametrize("other", ["time9", "lat9"])
def test_columns_without_times_are_found(tmp_path: Path, other: str) -> None:
    path = written(tmp_path / "r.csv")
    in_text(",time2", f",{other}", 1)(path)
    assert "20 of 20 trajectories do not have a time" in problems(path)


@pytest.mark.parametrize("text", ["NULL", "'['", "'7'", "'{}'", "'[1]'", "5", "x'00'"])
def test_texts_that_are_no_lists_are_found(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / "r.gpkg")
    in_sql(f"UPDATE anonymized SET times = {text} WHERE id = 6")(path)
    assert "1 of 20 trajectories do not have a time" in problems(path)


@pytest.mark.parametrize("suffix", [".geojson", ".mfjson"])
def test_heights_stay_a_problem(tmp_path: Path, suffix: str) -> None:
    path = written(tmp_path / f"r{suffix}")
    text = path.read_text(encoding="utf-8")
    place = r"(\[-\d\.\d+, \d+\.\d+)(, 0.0, [\d.]+)?\]"
    path.write_text(re.sub(place, r"\1, 7]", text), encoding="utf-8")
    assert "points have a third number" in problems(path)


@pytest.mark.parametrize(("minutes", "fast"), [(0, True), (10, True), (60, False)])
def test_lines_that_nothing_can_follow_are_found(tmp_path: Path, minutes: int, fast: bool) -> None:
    """Of a thousand kilometres; times are rounded to five minutes."""
    points = np.tile(np.array([[[40.0, -3.0], [49.0, -3.0]]]), (4, 1, 1))
    times = np.tile(30_000.0 + np.array([[0.0, 60 * minutes]]), (4, 1))
    path = tmp_path / "r.parquet"
    write_release(path, release(points, times))
    says = "4 of 4 trajectories are faster than anything on Earth moves"
    assert (says in problems(path)) == fast
