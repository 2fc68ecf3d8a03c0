"""What the studio works on, without a browser: what is old, who the people are, what mends."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from trajanon.__main__ import app
from trajanon.cli.run_commands import Table
from trajanon.studio import server
from trajanon.studio.fields import FIELDS, NOBODY
from trajanon.studio.work import ASK, LOOK, RELEASE, Work

USED = {"roles": {"id": "trip", "lat": "lat", "lon": "lon"}, "unused": ["medallion", "fare"]}
FOUND = {"roles": {"id": "trip", "lat": "lat", "lon": "lon", "subject": "medallion"}, "unused": []}


class Quick(Work):
    """Commands that answer at once, or fail."""

    def __init__(self, folder: Path = Path(), columns: Sequence[object] = ()) -> None:
        super().__init__(folder, {})
        self.bring("/somewhere/tracks")
        self.ran: list[str] = []
        self.failing = ""
        self.kind = "ready"
        self.found = list(columns)

    async def _did(self, command: str, table: Table) -> bool:
        self.ran.append(command)
        if command == self.failing:
            self.trouble = "k is too large: lower -k"
            return False
        verdict = {"kind": self.kind, "headline": "", "sentences": [], "findings": []}
        self.results[command] = {
            "extract": {"columns": self.found},
            "check": {"holds": True},
            "evaluate": {"k": table.get("k", 4), "verdict": verdict},
        }.get(command, {})
        return True

    def go(self, commands: tuple[str, ...] = RELEASE) -> list[str]:
        self.ran = []
        asyncio.run(self.run(commands))
        return self.ran


CHANGES: dict[str, list[Any]] = {
    "k": [5, None],
    "bbox": ["madrid"],
    "windows": [True],
    "times": ["of-day"],
    "format": [".csv"],
    "trim_ends": [200],
    "named": ["lat=y"],
}


@given(st.lists(st.sampled_from([(name, one) for name in CHANGES for one in CHANGES[name]])))
def test_what_can_be_saved_is_what_is_chosen(changes: list[tuple[str, Any]]) -> None:
    work = Quick()
    assert work.go() == [*RELEASE]
    before = dict(work.chosen)
    for name, value in changes:
        work.chosen[name] = value
        assert not work.offered
        assert work.is_old(RELEASE)
    work.chosen.update(before)
    assert "anonymized.parquet" in work.offered
    assert not work.is_old(RELEASE)
    work.bring("/somewhere/tracks")  # perhaps another of the same name
    assert work.is_old(LOOK)
    assert not work.offered


@pytest.mark.parametrize("failing", RELEASE)
def test_nothing_can_be_saved_after_a_run_that_failed(failing: str) -> None:
    """Not even what was there before: a command that failed may have written something."""
    work = Quick()
    work.go()
    work.chosen["k"] = 50
    work.failing = failing
    work.bring("/somewhere/others")
    work.go()
    for _ in range(2):
        assert not work.offered
        assert work.is_old(RELEASE)
        work.drop("/somewhere/others")
        work.bring("/somewhere/others")
        work.chosen["k"] = 4
    work.failing = ""
    work.go()
    assert work.offered


def test_only_what_changed_runs_again() -> None:
    work = Quick()
    work.go()
    assert work.go() == []
    work.chosen["k"] = 5
    assert work.go() == [*RELEASE[1:]]
    work.chosen["k"] = 4
    assert work.go() == [*RELEASE[1:]]  # the file of k = 4 is gone


def test_what_must_not_be_published_has_no_public_files() -> None:
    work = Quick()
    work.kind = "stop"
    assert work.go() == [*RELEASE[:-1]]
    assert not work.is_old(RELEASE)
    assert [*work.offered] == ["settings.toml", "evaluation.html", "map.html"]


def test_a_column_is_asked_for_before_anybody_is_counted() -> None:
    work = Quick(columns=(USED,))
    assert work.go() == ["extract"]
    assert not work.is_old(RELEASE)  # there is none
    assert work.trouble == ASK
    assert [*work.persons] == ["", "trip", "medallion", "fare", NOBODY]
    work.chosen["subject"] = "medallion"
    assert work.tables()["extract"]["columns"] == "subject=medallion"
    work.chosen["named"] = "lat=y"
    assert work.tables()["extract"]["columns"] == "lat=y,subject=medallion"
    work.found = [FOUND]
    assert work.go() == [*RELEASE]
    assert not work.asks


def test_that_no_column_names_people_is_an_answer() -> None:
    work = Quick(columns=(USED,))
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
    work.chosen |= {"named": "id=n", "bbox": "madrid", "hide_near": "x=y", "pbf": "z.osm.pbf"}
    lines = work.typed.splitlines()
    assert len(lines) == len(RELEASE)
    assert "--columns id=n" in lines[0]
    assert "-k 1 " in lines[1] + " "  # whole numbers are written so
    assert lines[-1] == (
        "trajanon map --view public --offline --out map.public.html anonymized.parquet"
    )


def test_an_upload_is_measured_as_it_comes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MOST", 1_000)
    work = Work(tmp_path, {})
    (tmp_path / "files").mkdir()
    sent = iter([600, 600, 600])

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": bytes(next(sent)), "more_body": True}

    request = Request({"type": "http", "headers": [], "method": "PUT"}, receive)
    answer = asyncio.run(server._bring(work, "large.gpx", request))
    assert answer.status_code == 413
    assert list(sent) == [600]  # it read no further
    assert "over a gigabyte" in work.trouble
    assert not work.files
    assert not list((tmp_path / "files").iterdir())
