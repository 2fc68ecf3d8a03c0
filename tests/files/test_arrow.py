"""Parquet is read by Arrow alone, and categories as the values they stand for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trajanon.common.errors import FileProblem
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
