"""What a run writes meanwhile: a file of each task, gone once the step that reads it is done."""

from collections import Counter
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from shards import shards_of, walks, write_folder

from trajanon.errors import FileProblem
from trajanon.parts.scratch import Arrays, Scratch, replacing_release
from trajanon.parts.workflow import anonymize_parts
from trajanon.remote_folder import Folder


@pytest.fixture(params=["file", "s3"])
def out(request: pytest.FixtureRequest, tmp_path: Path) -> Folder:
    """On disk, and on an object store, where there are no folders."""
    where = tmp_path if request.param == "file" else request.getfixturevalue("bucket")
    return Folder(f"{where}/here")


def test_rows_come_back(out: Folder) -> None:
    pieces: list[tuple[int, int, Arrays]] = [
        (3, 2, {"row": np.arange(2), "line": np.zeros((2, 3)), "other": np.ones(7, dtype=np.int8)}),
        (5, 3, {"row": np.arange(3, dtype=np.uint64)}),
    ]
    scratch = Scratch(out.url)
    scratch.make()
    written = scratch.write_pieces("some.npz", pieces)
    assert [(number, place.rows) for number, place in written] == [(3, 2), (5, 3)]
    for (_, _, piece), (_, place) in zip(pieces, written, strict=True):
        found = scratch.read_piece(place)
        assert found.keys() == piece.keys()
        assert all(found[name].dtype == piece[name].dtype for name in piece)
        assert all(np.array_equal(found[name], piece[name]) for name in piece)
    short = place._replace(end=place.end - 1)
    with pytest.raises(FileProblem, match=r"cannot use .*here/some\.npz"):
        scratch.read_piece(short)


def test_what_comes_late_is_in_no_other_run(out: Folder) -> None:
    def stopped() -> Scratch:
        with replacing_release(out, out.url) as scratch:
            late.append(scratch)
            raise KeyboardInterrupt

    late: list[Scratch] = []
    with pytest.raises(KeyboardInterrupt):
        stopped()
    with replacing_release(out, out.url) as scratch:
        for one, rows in ((scratch, b"new"), (late[0], b"old")):
            try:
                with one.writing("release/part-00000.parquet") as file:
                    file.write(rows)
            except FileProblem:  # on a disk its folder is gone
                assert one is late[0]
                assert one.local is not None
        with scratch.writing("report.json") as file:
            file.write(b"{}")
    with out.open("part-00000.parquet") as file:
        assert file.read() == b"new"
    assert not Folder(f"{out}.unfinished").exists


def test_a_second_run_is_refused(out: Folder) -> None:
    with replacing_release(out, out.url) as scratch:
        with (
            pytest.raises(FileProblem, match=r"here\.unfinished belongs to a run that is still"),
            replacing_release(out, out.url),
        ):
            pytest.fail("two at work")
        for name in ("release/part-00000.parquet", "report.json"):
            with scratch.writing(name) as file:
                file.write(b"{}")
    assert out.names() == ["part-00000.parquet"]


def test_a_run_that_cannot_begin_leaves_nothing(out: Folder) -> None:
    full = FileProblem("No space left on device")
    with (
        patch.object(Folder, "make", side_effect=full),
        pytest.raises(FileProblem, match="No space left"),
        replacing_release(out, out.url),
    ):
        pytest.fail("the work began")
    assert not Folder(f"{out}.unfinished").exists


def test_pieces_go_once_they_are_used(tmp_path: Path) -> None:
    write_folder(tmp_path / "trips", walks(600), rows=100)
    seen: dict[str, list[Counter[str]]] = {}

    def look(task: str, done: float, total: float | None, note: str = "") -> None:
        names = [path.name for path in (tmp_path / "out.unfinished").glob("*/*.npz")]
        seen.setdefault(task, []).append(Counter(name.partition("-")[0] for name in names))

    with shards_of(60):
        anonymize_parts(
            str(tmp_path / "trips"), str(tmp_path / "out"), 3, effort="fast", progress=look
        )
    assert seen["Grouping shards"][0] == {"rows": 6}
    assert seen["Writing the release"][0] == {"lines": 10, "released": 10}
    assert seen["Writing groups"][-1] == {"lines": 10}
