"""Files and folders of all kinds, one after another or several at once."""

import gzip
import logging
import os
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pytest
from toy import toy

import trajanon
from trajanon.common.errors import BadInput, FileProblem
from trajanon.data import sample
from trajanon.extract import Trace, extract_to, traces
from trajanon.extract.sources import files, reading
from trajanon.extract.sources.reading import Reading
from trajanon.files.trajectory_files import read_trajectories

ROWS = "lat,lon,time,id\n" + "".join(
    f"40.{i:03d},-3,{1_700_000_000 + 60 * i},a\n" for i in range(100)
)


def gpx(lat: float, creator: str = "me") -> bytes:
    points = "".join(
        f'<trkpt lat="{lat + i / 1000:.4f}" lon="2"><time>2020-01-01T00:{i:02d}:00Z</time></trkpt>'
        for i in range(10)
    )
    track = f"<trk><trkseg>{points}</trkseg></trk>"
    return f'<gpx version="1.1" creator="{creator}">{track}</gpx>'.encode()


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A folder as people have them."""
    folder = tmp_path / "traces"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    (folder / "10.gpx").write_bytes(gpx(10))
    (folder / "9.gpx").write_bytes(gpx(9))
    (folder / "deep" / "10.gpx").write_bytes(gpx(20))
    (folder / "deep" / "er" / "x.gpx.gz").write_bytes(gzip.compress(gpx(30)))
    (folder / "table.csv").write_text(ROWS)
    (folder / "notes.md").write_text("# what I did\n")
    (folder / ".hidden" / "1.gpx").write_bytes(gpx(40))
    (folder / ".1.gpx").write_bytes(gpx(50))
    return folder


def names(found: list[Trace]) -> list[tuple[str, int]]:
    return [(one.name, len(one)) for one in found]


def equal(found: list[Trace], other: list[Trace]) -> bool:
    assert [(one.name, one.subject) for one in found] == [(one.name, one.subject) for one in other]
    for one, two in zip(found, other, strict=True):
        for name in ("lat", "lon", "time"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    return True


def test_a_folder_is_read_in_order_by_what_its_files_look_like(mixed: Path) -> None:
    trajanon.write_trajectories(mixed / "trajectories.parquet", toy())
    counts: Counter[str] = Counter()
    found = list(traces(mixed, counts=counts))
    assert names(found) == [
        ("traces/9.gpx", 10),
        ("traces/10.gpx", 10),
        ("deep/10.gpx", 10),
        ("er/x.gpx.gz", 10),
        ("traces/table.csv#a", 100),
    ]
    assert counts == {
        "files of no known kind (.md)": 1,
        "files of trajectories, which are no traces": 1,
    }


def test_a_file_of_no_known_kind_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "export.dat"
    path.write_text("what I did")
    with pytest.raises(BadInput, match=r"export\.dat is of no known kind.*suffix of its kind"):
        list(traces(path))
    path.write_text(ROWS)
    assert names(list(traces(path))) == [("export.dat#a", 100)]


def test_geoparquet_is_read_by_its_geometries_unless_columns_are_named(tmp_path: Path) -> None:
    rows = pd.DataFrame({"lat": [1.0, 1.0], "lon": [2.0, 2.0], "id": ["a", "a"]})
    places = geopandas.points_from_xy([-3.0, -3.1], [40.0, 40.1], crs="EPSG:4326")
    path = tmp_path / "points.parquet"
    geopandas.GeoDataFrame(rows, geometry=places).to_parquet(path)
    (found,) = traces(path)
    assert found.lat.tolist() == [40.0, 40.1]
    (found,) = traces(path, columns={"lat": "lat", "lon": "lon"})
    assert found.lat.tolist() == [1.0, 1.0]


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileProblem, match="there is no file or folder nowhere: look at its"):
        list(traces("nowhere"))
    with pytest.raises(FileProblem, match="holds no file of traces"):
        list(traces(tmp_path))


@pytest.mark.usefixtures("far_lines")
def test_releases_are_nobodys_traces(mixed: Path) -> None:
    """Their centroids would count as people of their own."""
    extract_to(mixed / "trajectories.parquet", mixed, spacing=5)
    found = read_trajectories(mixed / "trajectories.parquet")
    release = trajanon.anonymize(found, 2, method="mdav", refine="none")
    for suffix in (".parquet", ".gpx", ".geojson", ".csv", ".gpkg"):
        release.write(mixed / f"released{suffix}")
    counts: Counter[str] = Counter()
    assert len(list(traces(mixed, counts=counts))) == 5
    assert counts["releases and their counts, which are no traces"] == 5


def test_links_are_followed_to_files_and_named_if_they_lead_to_folders(
    mixed: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "1.gpx").write_bytes(gpx(60))
    (mixed / "11.gpx").symlink_to(other / "1.gpx")
    (mixed / "more").symlink_to(other)
    (mixed / "lost.gpx").symlink_to(tmp_path / "nowhere")
    os.mkfifo(mixed / "pipe.gpx")
    counts: Counter[str] = Counter()
    with caplog.at_level(logging.WARNING, "trajanon"):
        found = [one.name for one in traces(mixed, counts=counts)]
    assert "traces/11.gpx" in found
    assert len(found) == 6
    assert counts[reading.UNREADABLE] == 2
    assert counts["links to folders"] == 1
    for words in (
        "more is a link to a folder, which is not followed: name the folder as a source, too",
        "there is no",
        "pipe.gpx is a device or a pipe",
    ):
        assert words in caplog.text
    with pytest.raises(BadInput, match=r"pipe\.gpx is a device or a pipe: save it"):
        list(traces(mixed / "pipe.gpx"))


def test_its_own_output_is_no_source(mixed: Path) -> None:
    """`extract .` writes into the folder that it reads the next time."""
    out = mixed / "trajectories.parquet"
    first = extract_to(out, mixed, spacing=5)
    again = extract_to(out, mixed, spacing=5)
    no_source = {"files of trajectories, which are no traces": 1}
    assert again["counts"] == {**first["counts"], **no_source}


def test_a_file_that_cannot_be_read_among_good_ones_is_left_out(
    mixed: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (mixed / "9.gpx").write_bytes(gpx(9)[:300])
    (mixed / "other.csv").write_text("a,b\n1,2\n")
    counts: Counter[str] = Counter()
    with caplog.at_level(logging.WARNING, "trajanon"):
        found = list(traces(mixed, counts=counts))
    assert [one.name for one in found if "9.gpx" not in one.name] == [
        "traces/10.gpx",
        "deep/10.gpx",
        "er/x.gpx.gz",
        "traces/table.csv#a",
    ]
    assert (counts[reading.UNREADABLE], counts[reading.USED_IN_PART]) == (1, 1)
    damaged, unread = (record.message for record in caplog.records)
    assert "9.gpx" in damaged
    assert damaged.endswith("before that are used")
    assert "other.csv" in unread
    assert unread.endswith("; going on without it")


def test_of_warnings_of_a_kind_ten_are_shown_and_the_others_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in range(13):
        (tmp_path / f"{number}.csv").write_text("lat,lon\n40,-3\n")
        (tmp_path / f"link{number}").symlink_to(tmp_path)
        (tmp_path / f"{number}.gpx").write_bytes(b"<gpx/>")
        rows = "".join(f"a,40.{i},-3,2020-01-01T00:0{i}:00Z\n" for i in range(9))
        (tmp_path / f"t{number}.csv").write_text(f"id,lat,lon,logged{number}\n{rows}")
    (tmp_path / "good.gpx").write_bytes(gpx(60))
    counts: Counter[str] = Counter()
    with caplog.at_level(logging.WARNING, "trajanon"):
        assert len(list(traces(tmp_path, counts=counts, jobs=2))) == 14
    assert counts[reading.UNREADABLE] == 13
    assert counts["links to folders"] == 13
    for what in ("is a link to a", "no column recognised as id", "no track points", "holds times"):
        said = [message for message in caplog.messages if what in message]
        *ten, rest = said
        assert len(ten) == 10
        assert rest.startswith("3 more warnings like this one: ")
        assert "more" not in "".join(ten)
    assert len(caplog.messages) == 44


def test_where_nothing_can_be_read_the_reason_is_given(tmp_path: Path) -> None:
    for name in ("a.gpx", "b.gpx"):
        (tmp_path / name).write_bytes(gpx(1)[:90])
    for path, named in ((tmp_path, r"a\.gpx"), (tmp_path / "b.gpx", r"b\.gpx")):
        with pytest.raises(FileProblem, match=named):
            list(traces(path))


def test_several_at_once_give_the_same(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are large are read as streams, others by processes."""
    sizes = sorted(path.stat().st_size for path in mixed.rglob("*") if path.is_file())
    monkeypatch.setattr(files, "LARGE", sizes[len(sizes) // 2])
    one, two = Counter[str](), Counter[str]()
    source = [mixed, sample()]
    alone = list(traces(source, counts=one))
    assert equal(list(traces(source, counts=two, jobs=2)), alone)
    assert one == two
    assert len(alone) > 300


def test_a_process_that_is_ended_is_said(mixed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the system does when memory runs out."""
    found = files.files_of([mixed], Reading())
    contents = files.read_ahead(found, Reading(), jobs=1)  # so that some files still wait
    list(next(contents))
    kill_children()
    with pytest.raises(FileProblem, match="a reading process was killed"):
        list(chain.from_iterable(contents))


def kill_children() -> None:
    me = os.getpid()
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            command = status.with_name("cmdline").read_text()
        except OSError:
            continue
        if int(fields[1]) == me and "spawn_main" in command:
            os.kill(int(status.parent.name), 9)


def test_progress_goes_from_nothing_to_all(mixed: Path) -> None:
    said: list[tuple[str, float, Any]] = []
    list(traces(mixed, progress=lambda *words, note="": said.append(words)))
    total = sum(file.size for file in files.files_of([mixed], Reading()))
    assert {(task, whole) for task, _, whole in said} == {("Reading 5 files", total)}
    done = [some for _, some, _ in said]
    assert done == sorted(done)
    assert done[-1] == total
