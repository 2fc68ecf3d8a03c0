"""Parquet is read by Arrow alone, and columns as plain values."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import shapely

from trajanon.common.errors import BadInput, FileProblem
from trajanon.files.arrow import (
    column_of_lists,
    column_of_rows,
    frame,
    geometries_of,
    lists_of,
    reading,
    rows_of_size,
)
from trajanon.files.release_formats import read_release, write_release
from trajanon.files.trajectory_files import read_trajectories, write_trajectories
from trajanon.trajectories.trajectories import Trajectories, TrajectoryRows

POINTS = np.round(40.0 + np.arange(16.0).reshape(4, 2, 2) / 7.0, 7)


def without_threads_in_python(read: Callable[..., Any], of_python: list[str]) -> Callable[..., Any]:
    """Note which files of Python's are read."""

    def noting(source: Any, *rest: Any, **options: Any) -> Any:
        native_file = isinstance(source, pa.NativeFile)
        if not native_file or isinstance(source, pa.PythonFile):
            of_python.append(repr(source))
        return read(source, *rest, **options)

    return noting


@pytest.mark.parametrize("read", [read_release, read_trajectories])
def test_no_file_of_pythons_is_read_in_threads(
    tmp_path: Path, read: Callable[[Path], TrajectoryRows], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that lets go of one while Python ends would end it with code 134."""
    path = tmp_path / "trips.parquet"
    if read is read_release:
        write_release(path, Trajectories(POINTS))
    else:
        write_trajectories(path, Trajectories(POINTS, subject=np.arange(4)))
    of_python: list[str] = []
    for name in ("read_table", "ParquetFile"):
        noting = without_threads_in_python(getattr(pq, name), of_python)
        monkeypatch.setattr(pq, name, noting)
    assert (read(path).points == POINTS).all()
    assert not of_python


@pytest.mark.parametrize(
    ("names", "whose"),
    [
        (["a", None, "b", None], [0, 1, 2, 1]),
        ([None, "b", None, "b"], [0, 1, 0, 1]),
        ([None] * 4, [0, 1, 2, 3]),
    ],
)
def test_a_missing_category_is_nobodys_name(
    tmp_path: Path, names: list[str | None], whose: list[int]
) -> None:
    """Two unknown ones counted as b: groups of fewer than k would go unseen."""
    path = tmp_path / "trips.parquet"
    write_trajectories(path, Trajectories(POINTS))
    table = pq.read_table(path)
    kind = pa.dictionary(pa.int8(), pa.string())
    pq.write_table(table.append_column("subject", pa.array(names, kind)), path)
    found = read_trajectories(path).subject
    assert found is not None
    assert found.tolist() == whose


def test_a_file_that_is_missing_or_none_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(FileProblem, match="holds no part of a release"):
        read_release(tmp_path / "folder.parquet")
    with pytest.raises(FileProblem, match="has no parts with trajectories"):
        read_trajectories(tmp_path / "folder.parquet")
    (tmp_path / "text.parquet").write_text("no Parquet at all")
    for read in (read_release, read_trajectories):
        with pytest.raises(FileProblem, match="as Parquet: it is another kind of file"):
            read(tmp_path / "text.parquet")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (pa.ArrowInvalid("Parquet magic bytes not found"), "another kind of file, or not whole"),
        (pa.ArrowInvalid("Invalid UTF8 payload"), "texts that are not UTF-8: write it anew"),
        (IsADirectoryError(), "a.parquet is a folder; name a file"),
        (OSError("two\nlines"), "cannot read a.parquet as Parquet: two lines"),
        (BadInput("as it is"), "^as it is$"),
    ],
)
def test_what_keeps_a_file_from_being_read_is_one_sentence(error: Exception, says: str) -> None:
    with pytest.raises((FileProblem, BadInput), match=says), reading("a.parquet"):
        raise error


def test_lists_are_written_and_read_with_their_sizes() -> None:
    values, size = lists_of(column_of_lists(np.arange(5.0), np.array([2, 0, 3])), "times")
    assert values.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert size.tolist() == [2, 0, 3]
    hashes = np.array([[2**63 + 1, 3]], np.uint64)
    values, size = lists_of(column_of_rows(hashes), "marks")
    assert values.tolist() == hashes[0].tolist()  # as floats they would lose digits
    with pytest.raises(BadInput, match="its column times holds double, and not lists of numbers"):
        lists_of(pa.array([1.0]), "times")


def test_a_row_has_as_many_times_as_points_or_none() -> None:
    rows = rows_of_size(np.arange(4.0), np.array([2, 0, 2]), 2)
    np.testing.assert_array_equal(rows, [[0.0, 1.0], [np.nan, np.nan], [2.0, 3.0]])
    with pytest.raises(BadInput, match="row 1 has 1 time for 2 points"):
        rows_of_size(np.arange(3.0), np.array([2, 1]), 2)


def test_columns_of_any_type_become_plain_values() -> None:
    day = pa.array([0, 10**7], pa.date32())  # the second is in no calendar of Python
    table = pa.table(
        {
            "category": pa.array(["a", None, "a"]).dictionary_encode()[:2],
            "bytes": pa.array([b"a", b"\xff"]),
            "half": pa.array([1.5, 2.5], pa.float16()),
            "day": day,
        }
    )
    read = frame(table, "a.parquet")
    assert read["category"][0] == "a"
    assert read["category"].isna().tolist() == [False, True]
    assert read["bytes"].tolist() == ["a", "\\xff"]
    assert read["half"].tolist() == [1.5, 2.5]
    assert str(read["day"][0]) == "1970-01-01"
    assert read["day"].isna().tolist() == [False, True]
    assert len(frame(table.select([]), "a.parquet")) == 2


def test_only_bytes_are_geometries() -> None:
    lines = geometries_of(pa.array([shapely.to_wkb(shapely.Point(1, 2)), None]))
    assert lines[0] == shapely.Point(1, 2)
    assert lines[1] is None
    with pytest.raises(TypeError, match="these are string"):
        geometries_of(pa.array(["POINT (1 2)"]))
