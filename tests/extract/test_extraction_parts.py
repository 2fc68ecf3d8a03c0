"""Extraction into a folder of parts."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import geopandas
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
import shapely
from commands import Run

from trajanon.common.atomic_output import replacing_folder
from trajanon.common.errors import BadInput, FileProblem
from trajanon.data import sample
from trajanon.extract import extract_to, extraction
from trajanon.files import hilbert_order
from trajanon.files.trajectory_files import (
    is_part,
    part_name,
    read_trajectories,
    write_trajectories,
)
from trajanon.trajectories.provenance import NAMELESS_SUBJECT


def is_ours(name: str) -> bool:
    return name.startswith("ours")


def test_parts_together_are_the_file(tmp_path: Path) -> None:
    """To the bit, with the runs on which windows slide, also where a run goes on in a part."""
    rows = 7
    folder = tmp_path / "trips"
    for out, partition in ((folder, rows), (tmp_path / "file.parquet", None)):
        how: dict[str, Any] = {"spacing": 150, "per_recording": None, "partition": partition}
        extract_to(out, str(sample()), "madrid", **how)
    parts = [read_trajectories(path) for path in sorted(folder.iterdir())]
    file, whole = read_trajectories(tmp_path / "file.parquet"), read_trajectories(folder)
    assert [len(part) for part in parts[:-1]] == [rows] * ((len(file) - 1) // rows)
    assert 0 < len(parts[-1]) <= rows
    # Subjects are numbered in the order of rows.
    in_parts, in_file = (
        {name: said for name, said in read.provenance.items() if name != NAMELESS_SUBJECT}
        for read in (whole, file)
    )
    assert in_parts == in_file

    number = np.concatenate(
        [pq.read_table(part)["trajectory"] for part in sorted(folder.iterdir())]
    )
    whole = whole.take(np.argsort(number))
    assert whole.nameless is not None
    assert file.nameless is not None
    assert whole.nameless.tolist() == file.nameless.tolist()
    for name in ("points", "times", "marks"):
        assert getattr(whole, name).tobytes() == getattr(file, name).tobytes(), name
    for name in ("subject", "trace"):  # which are numbered as they come
        same = [pd.factorize(getattr(of, name))[0].tolist() for of in (whole, file)]
        assert same[0] == same[1]
    assert whole.tracks is not None
    assert file.tracks is not None
    assert whole.tracks.recording is file.tracks.recording is None  # several of one stay on runs
    for row in range(0, len(file), 5):
        runs = [of.take(np.array([row])).tracks for of in (whole, file)]
        assert len({run.points[:].tobytes() for run in runs if run}) == 1
        assert len({run.times.tobytes() for run in runs if run and run.times is not None}) == 1


@pytest.mark.parametrize(
    ("partition", "says"),
    [
        (2.5, "a whole number (got 2.5)"),
        ("2", "a whole number (got '2')"),
        (0, "at least 1 (got 0)"),
    ],
)
def test_a_partition_that_is_no_count_is_refused(tmp_path: Path, partition: Any, says: str) -> None:
    with pytest.raises(BadInput) as refused:
        extract_to(tmp_path / "trips", str(sample()), partition=partition)
    assert str(refused.value) == f"`partition` must be {says}"


def test_parts_are_in_the_order_of_places(tmp_path: Path) -> None:
    """Along a curve that other libraries know, and whoever looks for a place skips the others."""
    extract_to(tmp_path / "trips", str(sample()), partition=40, points=6)
    paths = sorted((tmp_path / "trips").iterdir())
    parts = [geopandas.read_parquet(path) for path in paths]
    whole = pd.concat(parts)
    middle = shapely.points(shapely.get_coordinates(whole.geometry).reshape(-1, 6, 2)[:, 3])
    curve = geopandas.GeoSeries(middle).hilbert_distance((-180.0, -90.0, 180.0, 90.0), level=16)
    assert curve.is_monotonic_increasing
    order = whole.groupby(curve.to_numpy())["trajectory"]
    assert (order.diff().dropna() > 0).all()

    for path, part in zip(paths, parts, strict=True):
        footer = pq.read_schema(path).metadata
        assert footer[b"trajanon_order"] == b"hilbert"
        column = json.loads(footer[b"geo"])["columns"]["geometry"]
        assert column["bbox"] == part.total_bounds.tolist()
        near = part.geometry.iloc[:1]
        found = geopandas.read_parquet(path, bbox=tuple(near.total_bounds))
        assert near.index[0] in found.index
        assert found.geometry.intersects(shapely.box(*near.total_bounds)).any()


def test_row_groups_that_lie_elsewhere_are_skipped(tmp_path: Path) -> None:
    """By the least and greatest values in the footer, as libraries for Parquet do it."""
    with patch.object(hilbert_order, "ROWS_PER_GROUP", 20):
        extract_to(tmp_path / "trips", str(sample()), partition=1_000)
    (path,) = (tmp_path / "trips").iterdir()
    lines = geopandas.read_parquet(path).geometry
    west, south, east, north = lines.iloc[0].bounds
    side = ds.field("bbox", "xmin") <= east
    near = (ds.field("bbox", "xmax") >= west) & side
    near &= (ds.field("bbox", "ymin") <= north) & (ds.field("bbox", "ymax") >= south)
    (fragment,) = ds.dataset(path).get_fragments()
    groups = fragment.split_by_row_group()
    read = fragment.split_by_row_group(near)
    assert len(groups) == -(-len(lines) // 20)
    assert 0 < len(read) < len(groups)


@pytest.mark.parametrize("bytes_per_run", [1, 20_000])
def test_parts_are_the_same_however_much_fits_into_memory(
    tmp_path: Path, bytes_per_run: int
) -> None:
    extract_to(tmp_path / "a", str(sample()), "madrid", partition=100)
    with (
        patch.object(hilbert_order, "_BYTES_PER_CHUNK", bytes_per_run),
        patch.object(extraction, "HELD", 30),
    ):
        extract_to(tmp_path / "b", str(sample()), "madrid", partition=100)
    for path in (tmp_path / "a").iterdir():
        assert pq.read_table(path).equals(pq.read_table(tmp_path / "b" / path.name))


def test_parts_of_several_extractions_are_refused(made: Path, tmp_path: Path) -> None:
    file = read_trajectories(made / "trajectories.parquet")
    other = replace(file, subject=None, trace=None)
    for different, says in (
        (replace(file, provenance={}), "its footer has another extraction"),
        (replace(other, times=None, tracks=None), "other columns"),
    ):
        write_trajectories(tmp_path / "a.parquet", file)
        write_trajectories(tmp_path / "b.parquet", different)
        with pytest.raises(BadInput, match=rf"b\.parquet is not like a\.parquet: .*{says}"):
            read_trajectories(tmp_path)
    for name, subject in (("a", [1, 2**53 + 1]), ("b", [1.0, None])):
        write_two(tmp_path / f"{name}.parquet", subject)
    with pytest.raises(BadInput, match="parts write subject in several ways"):
        read_trajectories(tmp_path)


def write_two(path: Path, subject: Sequence[object]) -> None:
    lines = shapely.linestrings([[[3.0, 40.1], [3.2, 40.3]], [[3.1, 40.2], [3.3, 40.4]]])
    frame = geopandas.GeoDataFrame({"subject": subject}, geometry=lines, crs="EPSG:4326")
    frame.to_parquet(path)


def test_parts_may_be_empty_or_hidden(tmp_path: Path) -> None:
    """Whom no part names is one person beside the others; whom two parts name is one, too."""
    for name, subject in (("a", ["x", None]), ("b", [None, None]), ("c", ["y", "x"])):
        write_two(tmp_path / f"{name}.parquet", subject)
    pq.write_table(pa.table({"odd": pa.array([], pa.int64())}), tmp_path / "none.parquet")
    (tmp_path / ".draft.parquet").touch()
    (tmp_path / "notes.txt").touch()
    whole = read_trajectories(tmp_path)
    assert whole.points[4].tolist() == [[40.1, 3.0], [40.3, 3.2]]
    assert whole.subject is not None
    assert whole.subject[0] == whole.subject[5]
    assert len(set(whole.subject.tolist())) == 3
    for path in tmp_path.glob("[abc].parquet"):
        path.unlink()
    way_out = f"make trajectories.parquet with: trajanon extract {tmp_path}"
    with pytest.raises(FileProblem, match=way_out):
        read_trajectories(tmp_path)


def test_a_folder_is_whole_or_as_it_was(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with replacing_folder(out, is_ours) as (draft,):
        (draft / "ours1").touch()
    with pytest.raises(KeyboardInterrupt):
        stop_in(out)
    assert [path.name for path in out.iterdir()] == ["ours1"]
    with replacing_folder(out, is_ours) as (draft,):
        (draft / "ours2").touch()
    assert [path.name for path in out.iterdir()] == ["ours2"]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def stop_in(out: Path) -> None:
    with replacing_folder(out, is_ours) as (draft,):
        (draft / "ours9").touch()
        raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("error", "raised"), [(KeyboardInterrupt(), KeyboardInterrupt), (OSError(16), FileProblem)]
)
def test_a_folder_is_as_it_was_if_it_cannot_be_moved(
    tmp_path: Path, error: BaseException, raised: type[BaseException]
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "ours.txt").write_text("old")
    move = Path.replace

    def moved(self: Path, other: Path) -> None:
        if other == out and not (self / "ours.txt").exists():
            raise error
        move(self, other)

    with (
        patch.object(Path, "replace", moved),
        pytest.raises(raised),
        replacing_folder(out, is_ours) as (draft,),
    ):
        (draft / "ours2").write_text("new")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert [path.name for path in out.iterdir()] == ["ours.txt"]


def test_a_folder_that_somebody_makes_at_the_last_moment_is_not_written_into(
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    move = Path.replace

    def moved(self: Path, other: Path) -> None:
        if other == out:
            out.mkdir()
            (out / "thesis.txt").touch()
        move(self, other)

    with (
        patch.object(Path, "replace", moved),
        pytest.raises(FileProblem, match="out: Directory not empty"),
        replacing_folder(out, is_ours) as (draft,),
    ):
        (draft / "ours1").touch()
    assert [path.name for path in out.iterdir()] == ["thesis.txt"]


def test_a_file_that_somebody_writes_at_the_last_moment_stays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    move = Path.replace

    def moved(self: Path, other: Path) -> None:
        if other == out:
            out.write_text("a thesis")
        move(self, other)

    with (
        patch.object(Path, "replace", moved),
        pytest.raises(FileProblem, match="out: Not a directory"),
        replacing_folder(out, is_ours) as (draft,),
    ):
        (draft / "ours1").touch()
    assert out.read_text() == "a thesis"


@pytest.mark.parametrize("name", ["ours1", "ours2", "thesis.txt"])
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
        with replacing_folder(out, is_ours) as (draft,):
            (draft / "ours1").write_text("new")
            out.mkdir(exist_ok=True)
            (out / name).write_text("theirs!")

    with pytest.raises(FileProblem, match=f"somebody else wrote or removed .*/{name} during"):
        work()
    assert (out / name).read_text() == "theirs!"
    old = {"ours1"} if there else set()
    assert {path.name for path in out.iterdir()} == {name} | old
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


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
        "Wrote 273 trips to trajectories. Next: trajanon anonymize trajectories -k 4"
    )
    assert len(list(Path("trajectories").iterdir())) == 2
    for arguments, says in (
        (["--partition", "0"], "--partition must be at least 1 (got 0)"),
        (["--partition", "9", "--out", "a.parquet"], "--out names a folder"),
        (["--out", "a"], "a must end in .parquet"),
    ):
        assert says in run(*given, *arguments).sentence
    assert len(list(Path("trajectories").iterdir())) == 2
