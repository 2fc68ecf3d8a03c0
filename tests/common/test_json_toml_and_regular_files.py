"""Files that are read: nothing is waited for that may never come."""

import os
from pathlib import Path

import pytest
from commands import Run
from shards import walks, write_folder


@pytest.mark.parametrize(
    "command",
    [
        "extract csv.parquet --windows --spacing 5",
        "check csv.parquet -k 4",
        "check csv.gpkg -k 4",
        "map csv.parquet --view public",
        "microaggregate parquet.csv -k 4",
    ],
)
def test_a_file_under_the_name_of_another_kind_is_one_sentence(
    run: Run, here: Path, command: str
) -> None:
    text = "\ufeffid,lat,lon\r\na,40,-3\r\n"
    for name in ("csv.parquet", "csv.gpkg"):
        (here / name).write_text(text, encoding="utf-8")
    (here / "parquet.csv").write_bytes((here / "anonymized.parquet").read_bytes())
    said = run(*command.split()).sentence
    assert "magic" not in said
    assert "codec" not in said


@pytest.mark.parametrize(
    "command",
    [
        "anonymize pipe.parquet -k 4",
        "anonymize parts -k 4",
        "check parts -k 4",
        "check pipe.gpkg -k 4",
        "check device.geojson -k 4",
        "check anonymized.parquet -k 4 --trajectories pipe.parquet",
        "check anonymized.parquet -k 4 --trajectories trajectories.parquet --against pipe.parquet",
        "map trajectories.parquet r.parquet",
        "evaluate --roads pipe.pbf",
        "microaggregate pipe.csv -k 4",
        "bound device.csv -k 4",
        "figures pipe.csv",
        "benchmark --table hm2 --data tables",
        "extract device.csv --windows --spacing 5",
        "extract a.gpx --windows --spacing 5 --hide-near amenity=hospital --pbf pipe.pbf",
    ],
)
def test_a_pipe_or_a_device_is_no_file(run: Run, here: Path, command: str) -> None:
    write_folder(here / "parts", walks(12))
    (here / "tables").mkdir()
    (here / "r.parquet").write_bytes((here / "anonymized.parquet").read_bytes())
    (here / "a.gpx").write_text("<gpx/>")
    for name in command.split():
        if name.startswith("device"):
            (here / name).symlink_to("/dev/zero")
        elif name.startswith("pipe"):
            os.mkfifo(here / name)
    for name in ("parts/part-99999.parquet", "tables/census.csv", "r.report.json"):
        os.mkfifo(here / name)
    said = run(*command.split()).sentence
    assert "is a device or a pipe: save it to a file" in said
