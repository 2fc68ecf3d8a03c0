"""What is a recording where no column says so, and who is its subject."""

from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from geo_tables import points, write
from gpx_written import timed
from point_tables import csv, names, read

from trajanon.errors import BadInput
from trajanon.extract import Extraction, Rules, traces
from trajanon.extract.trips import CUT_OFF


def drive(rows: int = 30, *, east: float = 0.0, extra: str = "") -> str:
    """Rows of time, place and perhaps more; {i} stands for the number of the row."""
    return "".join(
        f"2023-05-13T08:{i // 3:02}:{20 * (i % 3):02}Z,48.2,{16.37 + east + 0.0008 * i:.4f}"
        f"{extra.format(i=i, few=i // 12)}\n"
        for i in range(rows)
    )


@pytest.mark.parametrize(
    ("columns", "extra"),
    [
        ("", ""),
        (",ele,speed,sats", ",{i}.5,7,{few}"),
        (",device", ",logger"),
        (",id", ",{i}"),
        (",local", ",2023-05-13 10:0{few}"),
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".geojson"])
def test_a_file_without_ids_is_one_recording_and_that_is_counted(
    tmp_path: Path, columns: str, extra: str, suffix: str
) -> None:
    path = csv(tmp_path, f"time,lat,lon{columns}\n{drive(extra=extra)}", "p0.csv")
    if suffix == ".geojson":
        path = write(tmp_path / "p0.geojson", points(pd.read_csv(path)))
    counts: Counter[str] = Counter()
    (one,) = traces(path, counts=counts)
    assert (one.name, one.subject, len(one)) == (path.name, None, 30)
    assert counts["tables without ids, each taken for one recording"] == 1


@pytest.mark.parametrize(
    ("columns", "extra", "asked"),
    [(",medallion", ",m{few}", "medallion"), (",shift", ",{few}", "shift")],
)
def test_a_column_that_may_name_recordings_has_to_be_named(
    tmp_path: Path, columns: str, extra: str, asked: str
) -> None:
    path = csv(tmp_path, f"time,lat,lon{columns}\n{drive(extra=extra)}")
    with pytest.raises(BadInput, match=f"say `columns` id={asked}, or id=file if each file is one"):
        read(path)
    assert len(read(path, id="file")) == 1
    assert len(read(path, id=asked)) == 3


def test_several_people_in_one_file_without_ids_are_not_mixed(tmp_path: Path) -> None:
    one, other = drive().splitlines(), drive(east=1.0).splitlines()
    rows = [row for pair in zip(one, other, strict=True) for row in pair]
    path = csv(tmp_path, "\n".join(["time,lat,lon", *rows, ""]))
    with pytest.raises(BadInput, match="its points leap 59 times, as if several people"):
        read(path)


def test_points_without_ids_and_times_are_no_recording(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no column known as id; its columns are lat, lon: say"):
        read(csv(tmp_path, "lat,lon\n48.2,16.37\n48.3,16.38\n"))


def test_ids_that_count_rows_are_no_recordings(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = csv(tmp_path, f"time,lat,lon,id,user_id\n{drive(extra=',{i},u{few}')}")
    assert names(read(path)) == [("u0", "u0"), ("u1", "u1"), ("u2", "u2")]
    assert "the column 'id' of" in caplog.text
    assert "counts rows: each subject (user_id) is taken for one recording" in caplog.text
    assert len(read(path, id="id")) == 30


@pytest.mark.parametrize("name", ["a.gpx", "a.csv"])
def test_a_folder_may_be_the_person(tmp_path: Path, name: str) -> None:
    """The outermost folder: those within it may be years."""
    for folder in ("ann/2023", "ann/2024", "bob", "."):
        (tmp_path / "tracks" / folder).mkdir(parents=True, exist_ok=True)
        text = f"time,lat,lon\n{drive(2)}" if name == "a.csv" else timed("2023-05-13T08:00:00Z")
        csv(tmp_path / "tracks" / folder, text, name)
    by_folder = {"subject": "folder"}
    whole = [one.subject for one in traces(tmp_path / "tracks", columns=by_folder)]
    assert sorted(map(str, whole)) == ["ann", "ann", "bob", "tracks"]
    several = [tmp_path / "tracks" / "ann", tmp_path / "tracks" / "bob" / name]
    assert [one.subject for one in traces(several, columns=by_folder)] == ["ann", "ann", "bob"]


def test_columns_said_of_files_without_any_are_not_ignored_silently(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = csv(tmp_path, timed("2023-05-13T08:00:00Z"), "a.gpx")
    list(traces(path, columns={"subject": "name"}))
    assert caplog.messages == [
        "a.gpx has no columns (gpx): `columns` subject=name is not used for it; subject=folder "
        "takes each folder for a person"
    ]


def test_a_column_named_folder_is_not_confused_with_the_folder(tmp_path: Path) -> None:
    path = csv(tmp_path, "id,lat,lon,folder\na,48.2,16.3,x\n")
    with pytest.raises(
        BadInput, match="has a column 'folder', and subject=folder means the folder"
    ):
        list(traces(path, columns={"subject": "folder"}))


def test_namesakes_of_different_years_are_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rows = [f"{year}-08-0{day} 06:00:00,20,-60,ANA" for year in (1979, 1985) for day in (1, 2)]
    read(csv(tmp_path, "\n".join(["time,lat,lon,id", *rows, ""])))
    assert "points#ANA of points has points more than a year apart" in caplog.text


def test_days_alone_do_not_make_one_recording_of_a_file(tmp_path: Path) -> None:
    rows = "".join(f"2023-05-{1 + i:02},48.2,{16.37 + i / 1000}\n" for i in range(20))
    path = csv(tmp_path, f"time,lat,lon\n{rows}")
    with pytest.raises(BadInput, match="no column known as id, and no times"):
        read(path)
    assert len(read(path, id="file")) == 1


@pytest.mark.parametrize(("cut", "trips"), [(0, 3), (1, 3), (9, 2), (30, 2)])
def test_a_table_that_was_cut_off_gives_no_whole_trip_of_its_last_recording(
    tmp_path: Path, cut: int, trips: int
) -> None:
    """A line without its end is no sign of that, if all its fields are there."""
    rows = [
        f"p{who},2023-05-13T08:{i // 3:02}:{20 * (i % 3):02}Z,48.2{who},{16.37 + 0.0008 * i:.4f}\n"
        for who in range(3)
        for i in range(30)
    ]
    text = "id,time,lat,lon\n" + "".join(rows)
    path = csv(tmp_path, text[: len(text) - cut])
    counts = Extraction(path, rules=Rules()).trajectories().provenance["counts"]
    assert counts["trajectories"] == trips
    assert counts.get(CUT_OFF, 0) == 3 - trips
    assert counts.get("tables cut off in their last line", 0) == 3 - trips
