"""What commands write: never over an input, and whole or not at all."""

import os
from pathlib import Path

import pandas as pd
import pytest
from commands import FAST, Run, files_of_at_most, mode, names, track
from shards import walks, write_folder

from trajanon.data import sample


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        (["extract", "points.parquet", "--windows", "--spacing", "5"], "points.parquet"),
        (["anonymize", "-k", "4"], "trajectories.parquet"),
        (["map"], "anonymized.report.json"),
        (["map", "--view", "public", "anonymized.parquet"], "anonymized.parquet"),
        (["microaggregate", "points.parquet", "-k", "2"], "points.parquet"),
    ],
)
def test_an_input_is_never_an_output(run: Run, here: Path, arguments: list[str], read: str) -> None:
    pd.DataFrame({"lat": [1.0], "lon": [2.0], "id": 1}).to_parquet("points.parquet")
    before = (here / read).read_bytes()
    link = "link.html" if arguments[0] == "map" else "link.parquet"
    (here / link).symlink_to(here / read)
    assert "is read as input" in run(*arguments, "--out", link).sentence
    assert read in run(*arguments, "--out", read).sentence
    assert (here / read).read_bytes() == before


def test_the_report_of_a_release_is_no_input_either(run: Run, here: Path) -> None:
    """--out a.csv writes a.report.json too."""
    (here / "t.report.json").write_bytes((here / "trajectories.parquet").read_bytes())
    answer = run("anonymize", "t.report.json", "-k", 4, "--out", "t.csv")
    assert "t.report.json is read as input" in answer.sentence


@pytest.mark.parametrize(
    "arguments",
    [
        ["extract", str(sample()), "--bbox", "madrid", "--out", "{}.parquet"],
        ["anonymize", "-k", "4", "--out", "{}.csv"],
        ["map", "--out", "{}.html"],
        ["microaggregate", "points.csv", "-k", "2", "--out", "{}.csv"],
    ],
)
@pytest.mark.parametrize(
    ("place", "says"),
    [("no/out", "there is no folder"), ("folder", "it is a folder"), ("/proc/out", "")],
)
def test_an_output_that_cannot_be_written_is_found_out_before_the_work(
    run: Run, here: Path, arguments: list[str], place: str, says: str
) -> None:
    out = arguments[-1].format(place)
    if place == "folder":
        (here / out).mkdir()
    before = names(here)
    answer = run(*arguments[:-1], out)
    assert f"cannot write {out}: {says}" in answer.sentence
    assert names(here) == before


def test_a_release_takes_no_place_of_recordings_and_is_not_released_again(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "tracks").mkdir()
    for number in range(4):
        way = track(lon=number / 1000, points=99)
        (tmp_path / "tracks" / f"{number}.gpx").write_text(way)
    assert run("extract", "tracks", "--columns", "nameless=different").code == 0
    again = run("anonymize", "-k", 2, *FAST, "--out", "tracks/0.gpx").sentence
    assert "tracks/0.gpx is read as input" in again

    assert run("anonymize", "-k", 2, *FAST).code == 0
    assert run("anonymize", "-k", 2, *FAST).code == 0  # it may take its own place
    released_twice = run("anonymize", "anonymized.parquet", "-k", 2, "--out", "b.parquet").sentence
    assert "anonymized.parquet is a release already" in released_twice


def test_an_earlier_datasheet_is_not_that_of_a_new_release(run: Run, here: Path) -> None:
    (here / "anonymized.datasheet.md").write_text("of before")
    answer = run("anonymize", "-k", 2, *FAST)
    assert "anonymized.datasheet.md is of an earlier release" in answer.out


@pytest.mark.parametrize(
    ("arguments", "out"),
    [
        (["extract", str(sample()), "--bbox", "madrid"], "trajectories.parquet"),
        (["anonymize", "-k", "2", *FAST, "--out", "a.csv"], "a.csv"),
        (["anonymize", "-k", "2", *FAST, "--out", "a.gpkg"], "a.gpkg"),
        (["map"], "map.html"),
        (["microaggregate", "long.csv", "-k", "2", *FAST], "microaggregated.csv"),
    ],
)
def test_a_full_disk_is_one_sentence(run: Run, here: Path, arguments: list[str], out: str) -> None:
    if arguments[0] in ("anonymize", "microaggregate"):  # compiled before the limit
        run("anonymize", "-k", "2", *FAST, "--out", "compiled.csv")
    (here / "long.csv").write_text("a\n" + "0.123456789012345\n" * 1000)
    before = {name: (here / name).read_bytes() for name in names(here)}
    with files_of_at_most(9000):
        answer = run(*arguments)
    assert answer.sentence in (
        f"trajanon: cannot write {out}: {words}; write elsewhere\n"
        for words in ("File too large", "Input/output error")
    )
    assert {name: (here / name).read_bytes() for name in names(here)} == before


PRIVATE = {"r.report.json", "trips", "trips/part-00000.parquet", "b.parts.report.json", "map.html"}

WRITING = [
    ["anonymize", "-k", "4", *FAST, "--out", "r.gpkg"],
    ["anonymize", "parts", "-k", "3", *FAST, "--out", "b"],
    ["map"],
    ["map", "--view", "public", "--out", "public.html"],
    ["microaggregate", "long.csv", "-k", "2", *FAST],
    ["extract", "a.gpx", "--windows", "--spacing", "5", "--partition", "9", "--out", "trips"],
]


@pytest.mark.parametrize(
    ("umask", "arguments"), [(0o077, WRITING[0]), *((0o022, one) for one in WRITING)]
)
def test_only_what_is_for_publication_can_be_read_by_others(
    run: Run, here: Path, umask: int, arguments: list[str]
) -> None:
    (here / "a.gpx").write_text(track())
    (here / "long.csv").write_text("a\n" + "0.1\n" * 4)
    write_folder(here / "parts", walks(12))
    before = {*here.rglob("*")}
    usual = os.umask(umask)
    try:
        assert run(*arguments).code == 0
    finally:
        os.umask(usual)
    written = {*here.rglob("*")} - before
    assert written
    for path in written:
        allowed = 0o777 if path.is_dir() else 0o666
        name = str(path.relative_to(here))
        allowed &= ~0o077 if name in PRIVATE else ~umask
        assert mode(path) == allowed, name
