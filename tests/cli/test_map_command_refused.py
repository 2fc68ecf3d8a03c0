"""trajanon map: what it refuses, in one sentence."""

from pathlib import Path

import pytest
from commands import FAST, Run, names, track


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["one.parquet"], "map takes trajectories and their release"),
        (["--view", "public", "1", "2", "3"], "map takes trajectories and their release"),
        (["none.parquet", "anonymized.parquet"], "there is no none.parquet"),
        (["trajectories.parquet", "none.parquet"], "there is no none.parquet"),
        (["anonymized.parquet", "trajectories.parquet"], "trajectories.report.json"),
        (["--tiles", "Nowhere"], "no street map is called 'Nowhere'"),
        (["--view", "upside-down"], "not one of 'overlay', 'side-by-side', 'public'"),
        (["trajectories.parquet", "a.csv", "b.csv"], "map takes trajectories and their release"),
        (["--offline", "--tiles", "OpenStreetMap"], "an offline map has no tiles"),
        (["--out", "map"], ".html"),
        (["--out", "precious.parquet"], ".html"),
    ],
)
def test_map_refuses_in_one_sentence(run: Run, here: Path, arguments: list[str], says: str) -> None:
    before = names(here)
    assert says in run("map", *arguments).sentence
    assert names(here) == before


@pytest.mark.parametrize(
    "arguments", [["trajectories.parquet"], ["anonymized.parquet", "trajectories.parquet"]]
)
def test_a_public_map_never_shows_originals(run: Run, here: Path, arguments: list[str]) -> None:
    """Arguments are easily swapped, and the page would say that it is the release."""
    assert "trajectories.parquet" in run("map", "--view", "public", *arguments).sentence
    assert not (here / "map.public.html").exists()


def test_a_public_map_takes_no_private_ones_name(run: Run, here: Path) -> None:
    private = run("map", "--offline")
    public = run("map", "--offline", "--view", "public")
    assert "map.html in a browser (keep it private: it shows the originals)." in private.out
    assert "map.public.html in a browser (for publication)." in public.out


def test_a_missing_report_names_the_ways_out(run: Run, here: Path) -> None:
    (here / "anonymized.report.json").unlink()
    said = run("map").sentence
    assert "there is no anonymized.report.json" in said
    assert "trajanon anonymize again" in said
    assert "--view public" in said
    assert run("map", "--view", "public").code == 0


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"n": 1}', "\x00"])
def test_a_damaged_report_is_one_sentence(run: Run, here: Path, text: str) -> None:
    (here / "anonymized.report.json").write_text(text)
    assert "trajanon anonymize again" in run("map").sentence


def test_files_of_different_releases_are_one_sentence(run: Run, here: Path) -> None:
    says, report = "do not belong together: give all three of one run", "anonymized.report.json"
    text = (here / report).read_bytes()
    assert run("anonymize", "-k", 7, *FAST).code == 0
    (here / report).write_bytes(text)
    assert says in run("map").sentence
    (here / "a.gpx").write_text(track())
    assert run("extract", "a.gpx", "--windows", "--spacing", 5).code == 0
    assert says in run("map").sentence
