"""Files and methods of other programs, read and run for an audit."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from audits import N, trips_of_a_town

from trajanon.cli.audit_of_other_programs import read_any, read_originals, run_method, write_points
from trajanon.common.errors import BadInput, FileProblem


def test_rows_of_strangers_are_read_with_any_number_of_points(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    fixes = {
        "id": ["a"] * 3 + ["b"] * 2 + ["c"],
        "lat": [41.0, 41.0, 41.0, 41.1, 41.2, 41.3],
        "lon": [2.0, 2.001, 2.003, 2.0, 2.0, 2.0],
    }
    pd.DataFrame(fixes).to_csv(path, index=False)
    found = read_any(path, 4)
    assert list(found.names) == ["a", "b", "c"]
    assert found.times is None
    assert found.points[0, :, 1] == pytest.approx([2.0, 2.001, 2.002, 2.003])
    assert found.points[1, :, 0] == pytest.approx(np.linspace(41.1, 41.2, 4))
    assert (found.points[2] == [41.3, 2.0]).all()
    assert np.diff(found.first).tolist() == [3, 2, 1]


def test_points_that_are_no_places_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,lat,lon\na,41,2\na,,\na,41.2,2\nb,,\nb,91,2\nc,42,2\nc,42.1,2\n", "utf-8")
    found = read_any(path, 3)
    assert list(found.names) == ["a", "c"]
    assert found.points[:, :, 0] == pytest.approx(np.array([[41.0, 41.1, 41.2], [42, 42.05, 42.1]]))
    assert found.first.tolist() == [0, 2, 4]

    path.write_text("id,lat,lon\na,41,2\na,,\n", "utf-8")
    assert len(read_any(path, 3).points) == 1
    path.write_text("id,lat,lon\na,0,0\na,0,0\n", "utf-8")
    with pytest.raises(BadInput, match="holds no line"):
        read_any(path, 3)


def test_an_id_with_a_number_sign_is_read_whole(tmp_path: Path) -> None:
    """Else all would be called 1, and that they kept their ids would not be noticed."""
    rows = "".join(f"{name}#1,41.{at},2.1\n" for name in ("ann", "bob") for at in range(4))
    path = tmp_path / "points.csv"
    path.write_text(f"id,lat,lon\n{rows}", "utf-8")
    assert read_any(path, 4).names == ["ann#1", "bob#1"]
    assert read_originals(path).names[0] == ["ann#1", "bob#1"]


def test_ways_of_no_length_stay_where_they_are(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    fixes = {
        "id": ["a"] * 2 + ["b"] * 2,
        "lat": [41.0, 41.0, 42.0, 42.0],
        "lon": [2.0, 2.0, 3.0, 3.1],
        "time": ["2008-06-01T10:00:00Z", "2008-06-01T10:01:00Z"] * 2,
    }
    pd.DataFrame(fixes).to_csv(path, index=False)
    found = read_any(path, 3)
    assert found.points[0].tolist() == [[41.0, 2.0]] * 3
    assert found.points[1, :, 1] == pytest.approx([3.0, 3.05, 3.1])
    assert found.times is not None
    assert (found.times[:, -1] - found.times[:, 0]).tolist() == [60.0, 60.0]


def test_originals_may_be_recordings(tmp_path: Path) -> None:
    table = trips_of_a_town().trips.to_dataframe().rename(columns={"trajectory": "id"})
    table["time"] = pd.to_datetime(table["time"], unit="s", utc=True)
    table[["id", "lat", "lon", "time"]].to_parquet(tmp_path / "points.parquet", index=False)
    found = read_originals(tmp_path / "points.parquet")
    assert len(found.trips) == N
    assert found.trips.subject is None
    assert found.names[0][:2] == ["0", "1"]


def test_originals_that_are_no_parquet_are_refused_as_recordings_are(tmp_path: Path) -> None:
    (tmp_path / "metres.csv").write_text("id,lat,lon\na,40300,-3700\na,40301,-3701\n", "utf-8")
    with pytest.raises(BadInput, match="not degrees on Earth"):
        read_originals(tmp_path / "metres.csv")
    (tmp_path / "metres.parquet").write_bytes(b"PAR1")
    with pytest.raises(FileProblem, match="Parquet"):
        read_originals(tmp_path / "metres.parquet")


def test_a_recording_without_a_name_does_not_hide_the_names_of_others(tmp_path: Path) -> None:
    table = pd.DataFrame({"id": np.repeat(np.arange(6), 2), "lat": 40.0, "lon": 2.0})
    table["lat"] += 0.01 * np.arange(12)
    table["subject"] = np.repeat(["ann", "Ann", "bob", None, None, "bob"], 2)
    table.to_csv(tmp_path / "points.csv", index=False)
    subject = read_originals(tmp_path / "points.csv").trips.subject
    assert subject is not None
    assert len(np.unique(subject)) == 3  # ann, bob, and nobody
    assert subject[3] == subject[4]


def test_a_method_reads_points_with_whole_numbers_as_ids(tmp_path: Path) -> None:
    trips = trips_of_a_town().trips
    write_points(tmp_path / "points.parquet", trips)
    points = pd.read_parquet(tmp_path / "points.parquet")
    assert set(points.columns) == {"id", "lat", "lon", "subject", "time"}
    assert points["id"].drop_duplicates().tolist() == list(range(N))
    assert trips.times is not None
    seconds = (points["time"] - pd.Timestamp(0, tz="UTC")).dt.total_seconds()
    assert seconds.to_numpy() == pytest.approx(trips.times.ravel(), abs=1e-3)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("no-such-program {in} {out}", "cannot be run: No such file"),
        ("true {in} {out}", "it wrote no {out}"),
        ("sh -c 'echo first >&2; echo last >&2; exit 3' {in} {out}", "failed: last"),
    ],
)
def test_a_method_that_fails_is_refused_with_its_last_words(
    tmp_path: Path, command: str, says: str
) -> None:
    with pytest.raises(BadInput, match=re.escape(says)):
        run_method(command, trips_of_a_town().trips, tmp_path / "out.csv")
