"""Extraction into a folder of parts."""

from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from commands import Run

from trajanon.data import sample
from trajanon.errors import BadInput, FileProblem
from trajanon.extract.extraction import Extraction
from trajanon.files.trajectories import is_part, part_name, read_trajectories
from trajanon.folder import Folder
from trajanon.outputs import replacing_folder
from trajanon.trajectories import Trajectories, joined_trajectories


def is_ours(name: str) -> bool:
    return name.startswith("ours")


@pytest.mark.parametrize("rows", [7, 100, 10_000])
def test_parts_together_are_the_file(madrid: Trajectories, tmp_path: Path, rows: int) -> None:
    folder = tmp_path / "trips"
    Extraction(str(sample()), "madrid").write(folder, partition=rows)
    parts = [read_trajectories(path) for path in sorted(folder.iterdir())]
    assert [len(part) for part in parts[:-1]] == [rows] * ((len(madrid) - 1) // rows)
    assert 0 < len(parts[-1]) <= rows
    assert (np.concatenate([part.points for part in parts]) == madrid.points).all()
    whole = joined_trajectories(parts)
    assert whole.tracks is not None
    assert madrid.tracks is not None
    assert (whole.tracks.start == madrid.tracks.start).all()
    # Numbers of subjects begin anew where a part is read; who is the same stays so.
    for part, start in zip(parts, range(0, len(madrid), rows), strict=True):
        assert part.subject is not None
        assert madrid.subject is not None
        pairs = {*zip(part.subject.tolist(), madrid.subject[start:].tolist())}  # noqa: B905
        assert len(pairs) == len(set(part.subject.tolist()))


def test_a_folder_is_whole_or_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with replacing_folder(out, is_ours) as draft:
        (draft / "ours1").touch()
    with pytest.raises(KeyboardInterrupt):
        stop_in(out)
    assert [path.name for path in out.iterdir()] == ["ours1"]
    with replacing_folder(out, is_ours) as draft:
        (draft / "ours2").touch()
    assert [path.name for path in out.iterdir()] == ["ours2"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def stop_in(out: Path) -> None:
    with replacing_folder(out, is_ours) as draft:
        (draft / "ours9").touch()
        raise KeyboardInterrupt


def test_a_folder_is_as_it_was_if_it_cannot_be_moved(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "ours.txt").write_text("old")
    move = Folder.move

    def moved(self: Folder, other: Folder) -> None:
        if other.local == out and not (self / "ours.txt").exists:
            raise KeyboardInterrupt
        move(self, other)

    with (
        patch.object(Folder, "move", moved),
        pytest.raises(KeyboardInterrupt),
        replacing_folder(out, is_ours),
    ):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (out / "ours.txt").read_text() == "old"


def test_a_folder_is_as_it_was_if_the_disk_refuses_to_move_it(tmp_path: Path) -> None:
    """As it does where something is mounted."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "ours1").write_text("old")
    with (
        patch.object(Path, "replace", side_effect=OSError(16, "Device or resource busy")),
        pytest.raises(FileProblem, match="out: Device or resource busy"),
        replacing_folder(out, is_ours) as draft,
    ):
        (draft / "ours2").write_text("new")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in out.iterdir()] == ["ours1"]


def test_a_folder_that_somebody_makes_at_the_last_moment_is_not_written_into(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    move = Folder.move

    def moved(self: Folder, other: Folder) -> None:
        out.mkdir()
        (out / "thesis.txt").touch()
        move(self, other)

    with (
        patch.object(Folder, "move", moved),
        pytest.raises(FileProblem, match="out: Directory not empty"),
        replacing_folder(out, is_ours) as draft,
    ):
        (draft / "ours1").touch()
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]


def test_what_somebody_puts_there_meanwhile_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "ours1").write_text("old")
    with replacing_folder(out, is_ours) as draft:
        (draft / "ours2").write_text("new")
        (out / "thesis.txt").write_text("theirs")
    assert {path.name for path in out.iterdir()} == {"ours2", "thesis.txt"}
    assert (out / "thesis.txt").read_text() == "theirs"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert "thesis.txt was put into" in caplog.text


@pytest.mark.parametrize("name", ["ours1", "ours2"])
@pytest.mark.parametrize("there", [True, False])
def test_what_somebody_else_wrote_like_ours_is_not_replaced(
    tmp_path: Path, name: str, there: bool
) -> None:
    """As another run that writes to the same folder."""
    out = tmp_path / "out"
    if there:
        out.mkdir()
        (out / "ours1").write_text("old")

    def work() -> None:
        with replacing_folder(out, is_ours) as draft:
            (draft / "ours1").write_text("new")
            out.mkdir(exist_ok=True)
            (out / name).write_text("theirs!")

    with pytest.raises(FileProblem, match=f"somebody else wrote .*/{name} during"):
        work()
    assert (out / name).read_text() == "theirs!"
    old = {"ours1"} if there else set()
    assert {path.name for path in out.iterdir()} == {name} | old
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_what_is_wrong_elsewhere_is_not_said_of_the_folder(tmp_path: Path) -> None:
    with (
        pytest.raises(FileNotFoundError, match="elsewhere"),
        replacing_folder(tmp_path / "out", is_ours),
    ):
        (tmp_path / "elsewhere").read_text()


def test_only_numbered_parts_are_ours() -> None:
    assert is_part(part_name(0))
    assert is_part(part_name(123_456))
    for name in ("part-of-a-thesis.parquet", "part-00000-6d5a.snappy.parquet"):
        assert not is_part(name)


def test_a_folder_that_is_not_ours_is_left_alone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "thesis.txt").touch()
    with (
        pytest.raises(FileProblem, match=r"cannot write .*out: there is thesis\.txt"),
        replacing_folder(out, is_ours),
    ):
        pass
    with (
        pytest.raises(FileProblem, match="it is no folder"),
        replacing_folder(out / "thesis.txt", is_ours),
    ):
        pass
    with (
        pytest.raises(FileProblem, match=r"there is no folder .*nowhere"),
        replacing_folder(tmp_path / "nowhere" / "out", is_ours),
    ):
        pass
    (out / "thesis.txt").rename(out / "ours.txt")
    with (
        pytest.raises(BadInput, match="out is read as input"),
        replacing_folder(out, is_ours, inputs=[out / "ours.txt"]),
    ):
        pass
    assert [path.name for path in out.iterdir()] == ["ours.txt"]


def test_the_command_line_writes_parts(run: Run) -> None:
    given = ("extract", str(sample()), "--bbox", "madrid")
    answer = run(*given, "--partition", "150")
    assert answer.code == 0
    assert answer.out.splitlines()[-1] == (
        "Wrote 406 trajectories to trajectories. Next: trajanon anonymize trajectories -k 4"
    )
    assert len(list(Path("trajectories").iterdir())) == 3
    for arguments, says in (
        (["--partition", "0"], "--partition must be at least 1 (got 0)"),
        (["--partition", "9", "--out", "a.parquet"], "--out names a folder"),
        (["--out", "a"], "a must end in .parquet"),
    ):
        assert says in run(*given, *arguments).sentence
    assert len(list(Path("trajectories").iterdir())) == 3
