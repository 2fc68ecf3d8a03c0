"""trajanon anonymize: what it refuses, and what it says first."""

from pathlib import Path

import pandas as pd
import pytest
from commands import Run, names


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ([], "trajanon anonymize --help"),
        (["-k", "1"], "k must be at least 2 (got 1)"),
        (["-k", "four"], "-k"),
        (["-k", "411"], "259 trajectories cannot form a group of k = 411"),
        (["-k", "150"], "the 259 trajectories come from 113 subjects, and k = 150"),
        (["-k", "4", "--as-published", "--ledger", "a.ledger"], "leave out --ledger"),
        (["-k", "4", "--as-published", "--days", "2"], "is the method alone: leave out --days"),
        (["-k", "4", "--as-published", "--refine", "anneal"], "takes --refine none, swap or rcs"),
        (["-k", "4", "--method", "best"], "choose from hm2, mdav, v-mdav"),
        (["-k", "4", "--days", "0"], "--days must be a whole number from 1 to 24"),
        (["-k", "4", "--days", "2"], "--days takes whole trips"),
        (["-k", "4", "--days", "2", "--one-line-each"], "--one-line-each and --days are two"),
        (["-k", "4", "--days", "2", "--ledger", "a.ledger"], "leave out --ledger"),
        (["-k", "4", "--distinct-ends", "5"], "--distinct-ends must be at most k"),
        (["-k", "4", "--out", "a"], "choose one of .parquet, .gpkg, .geojson"),
        (["-k", "4", "--out", "a.txt"], "a.txt does not end like a release"),
        (["none.parquet", "-k", "4"], "make it with: trajanon extract TRACKS --out none.p"),
        (["folder.csv", "-k", "4", "--out", "a.csv"], "folder.csv"),
        (
            ["damaged.parquet", "-k", "4"],
            "cannot read damaged.parquet as Parquet: it is another kind of file, or not",
        ),
        (["table.parquet", "-k", "4"], "table.parquet"),
        (["tracks.csv", "-k", "4"], "make one with trajanon extract tracks.csv"),
        (["page.gpx.gz", "-k", "4"], "make one with trajanon extract page.gpx.gz"),
        (["trajectories.parquet", "more.parquet", "-k", "4"], "more.parquet"),
    ],
)
def test_anonymize_refuses_in_one_sentence(
    run: Run, here: Path, arguments: list[str], says: str
) -> None:
    (here / "folder.csv").mkdir()
    (here / "tracks.csv").write_text("id,lat,lon\n")
    (here / "page.gpx.gz").touch()
    (here / "damaged.parquet").write_bytes((here / "trajectories.parquet").read_bytes()[:-99])
    pd.DataFrame({"lat": [1.0], "lon": [2.0]}).to_parquet(here / "table.parquet")
    release = (here / "anonymized.parquet").read_bytes()
    before = names(here)
    assert says in run("anonymize", *arguments).sentence
    assert names(here) == before
    assert (here / "anonymized.parquet").read_bytes() == release


def test_counting_records_is_said_in_the_first_line_of_the_report(run: Run, here: Path) -> None:
    answer = run(*("anonymize", "-k", 150, "--as-published"))
    assert answer.code == 0
    assert "150 records stand behind each line, but not 150 people" in answer.out
    first = (here / "anonymized.report.json").read_text().splitlines()[0]
    assert "k counts trajectories" in first


def test_a_release_taken_for_trajectories_is_noticed(run: Run, here: Path) -> None:
    (here / "anonymized.parquet").rename(here / "copy.parquet")  # without its report
    answer = run("anonymize", "copy.parquet", "-k", 4, "--effort", "fast", "--out", "a.csv")
    assert "Nothing was lost" in answer.out
    assert "If this was a release" in answer.out
