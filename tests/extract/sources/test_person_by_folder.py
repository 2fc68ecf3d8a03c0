"""Whose folder a file lies in."""

from dataclasses import replace
from pathlib import Path

import pytest
from tracks import trace

from trajanon.extract.sources.person_by_folder import folder_of_person, of_person, outermost_folder


@pytest.mark.parametrize(
    ("file", "sources", "person"),
    [
        ("data/ann/2023/1.gpx", ["data"], "ann"),  # the only source: each folder within it
        ("data/1.gpx", ["data"], "data"),
        ("ann/2023/1.gpx", ["ann", "bob"], "ann"),  # several: each of them
        ("bob/1.gpx", ["ann", "bob"], "bob"),
    ],
)
def test_a_source_is_a_person_or_each_folder_within_the_only_one(
    file: str, sources: list[str], person: str
) -> None:
    paths = [Path(source) for source in sources]
    (source,) = [path for path in paths if Path(file).is_relative_to(path)]
    assert folder_of_person(Path(file), source, paths) == person


def test_the_working_folder_has_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ann").mkdir()
    monkeypatch.chdir(tmp_path / "ann")
    assert folder_of_person(Path("1.gpx"), Path(), [Path()]) == "ann"


@pytest.mark.parametrize(
    ("member", "folder"),
    [("a.zip/ann/2023/1.gpx", "ann"), ("a.zip/ann/1.gpx", "ann"), ("a.zip/1.gpx", "")],
)
def test_the_outermost_folder_of_an_archive_is_the_person(member: str, folder: str) -> None:
    assert outermost_folder(member, "a.zip") == folder


def test_a_trace_of_a_folder_is_of_nobody_else() -> None:
    ada = replace(trace([(41.0, 2.0)], subject="ada"), spellings=("Ada", "ADA"))
    for folder, subject in (("bob", "bob"), (" bob ", "bob"), ("", None)):
        found = of_person(ada, folder)
        assert (found.subject, found.spellings) == (subject, ())
