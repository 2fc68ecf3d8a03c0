"""What the studio works on, without a browser: what is old, who the people are, what mends."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.__main__ import app
from trajanon.cli.run_commands import Table
from trajanon.studio.fields import FIELDS, NOBODY
from trajanon.studio.files_choices_and_commands import LOOK, RELEASE, Problem, Work
from trajanon.studio.results import Remedy

USED = {"roles": {"id": "trip", "lat": "lat", "lon": "lon"}, "unused": ["medallion", "fare"]}
FOUND = {"roles": {"id": "trip", "lat": "lat", "lon": "lon", "subject": "medallion"}, "unused": []}


class Quick(Work):
    """Commands that answer at once, or fail."""

    def __init__(self, folder: Path, columns: Sequence[object] = ()) -> None:
        super().__init__(folder, {})
        self.bring("/somewhere/tracks")
        self.ran: list[str] = []
        self.failing = ""
        self.kind = "ready"
        self.found = list(columns)

    async def _run_command(self, command: str, table: Table, place: str) -> bool:
        self.ran.append(command)
        outputs = {"evaluate": "evaluation.html", "map": "map.html", "public": "map.public.html"}
        (self.folder / table.get("out", outputs.get(command, "other"))).touch()
        if command == self.failing:
            self.problem = Problem("k is too large: lower it", place)
            return False
        verdict = {
            "kind": self.kind,
            "colour": "green",
            "headline": "",
            "sentences": [],
            "findings": [],
        }
        self.results[command] = {
            "extract": {"columns": self.found},
            "check": {"holds": True},
            "evaluate": {
                "k": 4,
                "verdict": verdict,
                "answers": [{"question": "", "answer": ""}] * 5,
            },
        }.get(command, {})
        return True

    def go(self, commands: tuple[str, ...] = RELEASE) -> list[str]:
        self.ran = []
        asyncio.run(self.run(commands, "release"))
        return self.ran


CHANGES: dict[str, list[Any]] = {
    "k": [5, None],
    "bbox": ["madrid"],
    "windows": [True],
    "times": ["of-day"],
    "format": [".csv"],
    "trim_ends": [200],
    "lat": ["y"],
    "name": ["rides"],
}


@given(st.lists(st.sampled_from([(name, one) for name in CHANGES for one in CHANGES[name]])))
def test_what_can_be_saved_is_what_is_chosen(
    tmp_path: Path, changes: list[tuple[str, Any]]
) -> None:
    work = Quick(tmp_path)
    assert work.go() == [*RELEASE]
    before = dict(work.chosen)
    for name, value in changes:
        work.chosen[name] = value
        assert not work.offered
        assert work.is_old(RELEASE)
    work.chosen.update(before)
    assert "tracks-anonymized.parquet" in work.offered
    assert not work.is_old(RELEASE)
    work.bring("/somewhere/tracks")  # perhaps another of the same name
    assert work.is_old(LOOK)
    assert not work.offered


@pytest.mark.parametrize("failing", RELEASE)
def test_nothing_can_be_saved_after_a_run_that_failed(tmp_path: Path, failing: str) -> None:
    """Not even what was there before: a command that failed may have written something."""
    work = Quick(tmp_path)
    work.go()
    work.chosen["k"] = 50
    work.failing = failing
    work.bring("/somewhere/others")
    work.go()
    for _ in range(2):
        assert not work.offered
        assert work.is_old(RELEASE)
        work.chosen["k"] = 4
    work.failing = ""
    work.go()
    assert work.offered


def test_only_what_changed_runs_again(tmp_path: Path) -> None:
    work = Quick(tmp_path)
    work.go()
    assert work.go() == []
    work.chosen["k"] = 5
    assert work.go() == [*RELEASE[1:]]
    work.chosen["k"] = 4
    assert work.go() == [*RELEASE[1:]]  # the file of k = 4 is gone


def test_what_must_not_be_published_has_no_public_files(tmp_path: Path) -> None:
    work = Quick(tmp_path)
    work.kind = "stop"
    assert work.go() == [*RELEASE[:-1]]
    assert not work.is_old(RELEASE)
    private = ["settings.toml", "publisher.toml", "evaluation.html", "map.html"]
    assert [*work.offered] == private


def test_of_a_removed_file_nothing_is_left(tmp_path: Path) -> None:
    work = Quick(tmp_path)
    work.go()
    work.bring("/somewhere/others")
    work.drop("/somewhere/tracks")
    assert work.files == ["/somewhere/others"]
    assert not work.results
    assert not work.releases
    assert not work.is_old(RELEASE)
    assert work.name == "others-anonymized"
    assert not list(tmp_path.iterdir())


def test_releases_are_compared_but_not_formats_of_one(tmp_path: Path) -> None:
    work = Quick(tmp_path)
    for k in (2, 3, 4, 5):
        work.chosen["k"] = k
        work.go()
    work.chosen["format"] = ".csv"
    work.go()
    assert [release.chosen["k"] for release in work.releases] == [5, 4, 3]


def test_another_format_takes_the_place_of_a_release_and_its_report(tmp_path: Path) -> None:
    work = Quick(tmp_path)
    work.go()
    (tmp_path / "tracks-anonymized.report.json").touch()
    (tmp_path / "tracks-anonymized-2.parquet").touch()
    work.chosen["format"] = ".csv"
    work.go()
    assert {path.name for path in tmp_path.glob("tracks*")} == {
        "tracks-anonymized.csv",
        "tracks-anonymized-2.parquet",
    }


@pytest.mark.parametrize("name", ["", "../map", ".hidden", "-k", "Map", "trajectories", "a/b"])
def test_a_name_stays_in_the_folder_and_takes_no_other(tmp_path: Path, name: str) -> None:
    work = Quick(tmp_path)
    work.chosen["name"] = name
    assert work.go() == ["extract"]
    assert work.problem is not None
    assert "cannot be called" in work.problem.sentence
    assert work.problem.place == "release"
    work.chosen["name"] = "Rutas de agosto_2"
    assert work.go() == [*RELEASE[1:]]


def test_a_remedy_changes_fields_or_asks_for_a_column(tmp_path: Path) -> None:
    work = Quick(tmp_path, columns=(USED,))
    one_line = Remedy("", {"one_line_each": True, "days": None})
    assert work.choose(one_line, "verdict")
    assert work.chosen["one_line_each"] is True
    work.chosen["times"] = "of-day"
    assert work.choose(Remedy("", {"times": None}), "verdict")
    assert work.chosen["times"] == ""
    work.go()
    assert not work.choose(Remedy("", {"columns": "subject=NAME"}), "verdict")
    assert work.problem is not None
    assert work.problem.roles == ["subject"]
    assert list(work.problem.columns) == ["trip", "lat", "lon", "medallion", "fare"]


def test_the_publishers_words_make_the_papers_old(tmp_path: Path) -> None:
    work = Quick(tmp_path)
    work.go()
    work.words["contact"] = "nobody"
    work.publish_as()
    assert work.problem is not None
    assert work.problem.place == "publisher"
    assert work.released
    work.words["contact"] = "data@example.com"
    work.publish_as()
    assert not work.offered
    assert work.go() == ["evaluate"]
    assert "data@example.com" in (tmp_path / "publisher.toml").read_text("utf-8")


def test_a_column_is_asked_for_before_anybody_is_counted(tmp_path: Path) -> None:
    work = Quick(tmp_path, columns=(USED,))
    assert work.go() == ["extract"]
    assert not work.is_old(RELEASE)  # there is none
    assert work.problem is not None
    assert work.problem.roles == ["subject"]
    columns = work.columns
    choices = columns.choices("subject", columns.names, "", folders=False)
    assert [*choices] == ["", "trip", "lat", "lon", "medallion", "fare", NOBODY]
    work.chosen["subject"] = "medallion"
    assert work.tables()["extract"]["columns"] == "subject=medallion"
    work.chosen["lat"] = "y"
    assert work.tables()["extract"]["columns"] == "lat=y,subject=medallion"
    work.found = [FOUND]
    assert work.go() == [*RELEASE]
    assert not work.asks_for_persons


def test_that_no_column_names_people_is_an_answer(tmp_path: Path) -> None:
    work = Quick(tmp_path, columns=(USED,))
    work.go()
    work.chosen["subject"] = NOBODY
    assert work.tables()["extract"]["columns"] == "subject=none"
    assert work.go() == [*RELEASE]
    work.drop("/somewhere/tracks")
    assert not work.chosen["subject"]  # of other files one is asked again


def test_each_field_sets_an_option_of_its_command(tmp_path: Path) -> None:
    from typer.main import get_command

    commands: Any = get_command(app)
    work = Work(tmp_path, commands.commands)
    work.bring("tracks.gpx")
    work.chosen |= {"windows": True, "times": "of-day"}
    work.chosen |= {field.name: 1.0 for field in FIELDS if field.number}
    work.chosen |= {"id": "n", "bbox": "madrid", "hide_near": "x=y", "region": "z.osm.pbf"}
    lines = work.typed.splitlines()
    assert len(lines) == len(RELEASE)
    assert "--columns id=n" in lines[0]
    assert "-k 1 " in lines[1] + " "  # whole numbers are written so
    assert lines[-1] == (
        "trajanon map --view public --offline --roads z.osm.pbf --out map.public.html "
        "tracks-anonymized.parquet"
    )


def test_an_upload_is_measured_as_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Not above: each worker would load them for this one test.
    from starlette.requests import Request

    from trajanon.studio import server

    monkeypatch.setattr(server, "LARGEST_UPLOAD", 1_000)
    work = Work(tmp_path, {})
    (tmp_path / "files").mkdir()
    sent = iter([600, 600, 600])

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": bytes(next(sent)), "more_body": True}

    request = Request({"type": "http", "headers": [], "method": "PUT"}, receive)
    answer = asyncio.run(server._uploaded(work, "large.gpx", request))
    assert answer.status_code == 413
    assert list(sent) == [600]  # it read no further
    assert work.problem is not None
    assert "over a gigabyte" in work.problem.sentence
    assert not work.files
    assert not list((tmp_path / "files").iterdir())
