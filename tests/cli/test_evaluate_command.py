"""trajanon evaluate: three files, or a sentence."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from commands import FAST, Run, mode
from osm_xml import OsmFile
from plain import PUBLISHED
from toy import toy

import trajanon
from trajanon import Publisher
from trajanon.evaluation.evidence import NOTICE
from trajanon.trajectories.trajectories import Trajectories


@pytest.fixture
def here(tmp_path: Path) -> Path:
    trajanon.write_trajectories(tmp_path / "trajectories.parquet", toy())
    release = trajanon.anonymize(toy(), 2, effort="fast")
    release.write(tmp_path / "anonymized.parquet")
    return tmp_path


def test_the_command_writes_three_files(run: Run, here: Path) -> None:
    answer = run("evaluate")
    assert answer.code == 0
    headline, unknown, said, remedy, *answers = answer.out.splitlines()
    assert headline == (
        "Ready to publish, if places where lines begin and end may be known and both windows "
        "behind a line may be computed."
    )
    assert unknown.startswith("- Nothing says whether these trajectories are whole trips: ")
    assert said.startswith("- With k = 2, ")
    assert remedy == "  A larger k: trajanon anonymize -k 3"
    assert answers[1] == "How many people stand behind each line?"
    cost = r"Released points lie \d+ m on average .* At the nearest point, the ways lie \d+ m"
    assert any(re.match(cost, line) for line in answers)
    assert "Nothing was left out: all trajectories that were read are in the release." in answers
    page = (here / "evaluation.html").read_text(encoding="utf-8")
    text = (here / "evaluation.json").read_text(encoding="utf-8")
    assert NOTICE in page.splitlines()[0]
    assert NOTICE in text.splitlines()[0]
    assert json.loads(text)["problems"] == []
    sheet = (here / "anonymized.datasheet.md").read_text(encoding="utf-8")
    assert sheet.startswith("# Datasheet")
    assert "| File | `anonymized.parquet` |" in sheet
    assert "anonymized.parquet, evaluated on" in page
    assert json.loads(text)["file"] == "anonymized.parquet"
    assert {mode(here / f"evaluation.{end}") for end in ("html", "json")} == {0o600}
    (here / "new").touch()
    assert mode(here / "anonymized.datasheet.md") == mode(here / "new")
    told = run("evaluate", "--json", "--out", "e.html")
    assert json.loads(told.out) == json.loads(text)


def test_no_output_is_written_twice(run: Run, here: Path) -> None:
    twice = run("evaluate", "--out", "anonymized.certificate.html").sentence
    assert "anonymized.certificate.json would be written twice" in twice
    assert "--mode foot is for --roads" in run("evaluate", "--mode", "foot").sentence


def test_each_release_keeps_a_datasheet_of_its_own(run: Run, here: Path) -> None:
    (here / "other").mkdir()
    points = np.concatenate([toy().points, toy().points + np.array([1e-4, 0.0])])
    eight = Trajectories(points, subject=np.arange(8))
    trajanon.write_trajectories(here / "eight.parquet", eight)
    name = "other/anonymized.parquet"
    trajanon.anonymize(eight, 4, effort="fast").write(here / name)
    assert run("evaluate").code == 0
    first = (here / "anonymized.datasheet.md").read_bytes()
    answer = run("evaluate", "eight.parquet", name, "--out", "other.html")
    assert answer.code == 0
    sheet = (here / name).with_suffix(".datasheet.md")
    assert str(sheet.relative_to(here)) in answer.out
    assert "| k | 4: at least 4 " in sheet.read_text(encoding="utf-8")
    assert (here / "anonymized.datasheet.md").read_bytes() == first


def test_check_repeats_the_certificate_of_a_release(run: Run, here: Path) -> None:
    assert run("evaluate").code == 0
    beside = ("--certificate", "anonymized.certificate.json")
    same = run("check", "-k", 2, *beside)
    assert same.code == 0
    assert "anonymized.certificate.json matches this file" in same.out
    trajanon.anonymize(toy(), 2, effort="fast", key=bytes(range(32, 64))).write(
        here / "anonymized.parquet"
    )
    other = run("check", "-k", 2, *beside)
    assert other.code == 1
    assert "- SHA-256: " in other.out
    assert (
        "is not a certificate of trajanon"
        in run("check", "-k", 2, "--certificate", "evaluation.json").sentence
    )


def test_the_command_exits_1_where_the_promise_is_broken(run: Run, here: Path) -> None:
    path = here / "anonymized.report.json"
    report = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(report | {"k": 3}), encoding="utf-8")
    answer = run("evaluate")
    assert answer.code == 1
    assert answer.out.startswith("Do not publish.\n- 2 of 2 groups hold fewer than 3")
    assert "Do not publish." in (here / "evaluation.html").read_text(encoding="utf-8")
    assert "to be published" not in answer.out
    sheet = (here / "anonymized.datasheet.md").read_text(encoding="utf-8")
    assert "must not be published" in sheet
    assert "| k |" not in sheet  # nothing is promised
    certified = json.loads((here / "anonymized.certificate.json").read_text("utf-8"))
    assert certified["certificate"] == "none: this release must not be published"


def test_the_publishers_words_fill_what_is_written(run: Run, here: Path) -> None:
    Publisher(name="Ayuntamiento de Madrid", purpose="bus lines").write(here / "publisher.toml")
    without = run("evaluate")
    assert not (here / "evaluation.record.html").exists()
    answer = run("evaluate", "--publisher", "publisher.toml")
    assert answer.code == 0
    assert "evaluation.record.html: keep these private. Publish" in answer.out
    assert answer.out.splitlines()[:-1] == without.out.splitlines()[:-1]
    record = (here / "evaluation.record.html").read_text("utf-8")
    assert mode(here / "evaluation.record.html") == 0o600
    assert "bus lines" in record
    for public in ("anonymized.datasheet.md", "anonymized.certificate.json"):
        text = (here / public).read_text("utf-8")
        assert "Ayuntamiento de Madrid" in text
        assert "bus lines" not in text


def test_publishers_words_that_cannot_be_used_are_refused_first(run: Run, here: Path) -> None:
    assert "cannot read the publisher's words" in run("evaluate", "--publisher", "no.toml").sentence
    (here / "p.toml").write_text('naem = "Madrid"', "utf-8")
    refused = run("evaluate", "--publisher", "p.toml").sentence
    assert "p.toml: there is no field naem; did you mean name?" in refused
    assert not (here / "evaluation.html").exists()


def test_one_release_gets_one_answer(run: Run, here: Path) -> None:
    """Rows hold and people do not: each command says which of the two it answers."""
    lack = "2 records stand behind each line, but not 2 people: 2 of 2 groups"
    trajanon.write_trajectories("trajectories.parquet", toy(people=1))
    made = run("anonymize", "-k", 2, "--as-published", *FAST)
    assert made.code == 0
    assert lack in made.out
    alone = run("check", "-k", 2)
    assert (alone.code, alone.out.count("\n- ")) == (1, 2)
    assert PUBLISHED[1:] in alone.out
    assert lack in alone.out
    assert json.loads(run("check", "-k", 2, "--json").out)["answered"] == "rows"
    by_holder = ("check", "-k", 2, "--trajectories", "trajectories.parquet")
    counted, evaluated = run(*by_holder), run("evaluate")
    assert (counted.code, evaluated.code) == (1, 1)
    assert lack in counted.out
    assert lack in evaluated.out
    assert PUBLISHED[1:] in counted.out
    assert PUBLISHED[1:] in evaluated.out
    assert json.loads(run(*by_holder, "--json").out)["answered"] == "people"
    sheet = (here / "anonymized.datasheet.md").read_text(encoding="utf-8")
    assert "made as published, for comparison with the papers" in sheet
    assert "is not a release: it holds plain means" in run("map", "--view", "public").sentence
    assert run("map").code == 0
    page = (here / "map.html").read_text(encoding="utf-8")
    assert "Groups of fewer than 2 people" in page
    assert "for comparison with the papers, not for publication of persons" in page


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["trajectories.parquet"], "one or more releases"),
        (["--out", "e.pdf"], "must end in .html"),
        (["--out", "no/e.html"], "there is no folder"),
        (["anonymized.parquet", "trajectories.parquet"], "anonymized.parquet is a release"),
        (["trajectories.parquet", "a.csv"], "there is no a.csv"),
        (["t.parquet", "anonymized.parquet"], "there is no t.parquet"),
        (["--roads", "no.osm.pbf"], "no.osm.pbf"),
    ],
)
def test_the_command_refuses_in_a_sentence(
    run: Run, here: Path, arguments: list[str], says: str
) -> None:
    before = {path.name for path in here.iterdir()}
    assert says in run("evaluate", *arguments).sentence
    assert {path.name for path in here.iterdir()} == before


def test_no_input_is_written_over(run: Run, here: Path) -> None:
    (here / "evaluation.json").symlink_to(here / "anonymized.report.json")
    assert "is read as input" in run("evaluate").sentence


def test_roads_come_from_an_openstreetmap_file(run: Run, here: Path) -> None:
    osm = OsmFile()
    osm.way(osm.nodes([(0.0, -0.01), (0.0, 0.01)]), {"highway": "residential"})
    answer = run("evaluate", "--roads", osm.write(here / "equator.osm"), "--json")
    account = json.loads(answer.out)
    assert account["streets"] is not None
