"""The studio without a browser: which results are old, who the people are, what helps."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process, create_subprocess_exec
from collections.abc import Sequence
from pathlib import Path

import pytest
from quick_commands import Quick

from trajanon.cli.messages import CommandProblem
from trajanon.studio import running_commands
from trajanon.studio.fields import NOBODY
from trajanon.studio.form_to_commands import MAKE_RELEASE
from trajanon.studio.results import Remedy
from trajanon.studio.running_commands import Problem, Work, _Ending, _status_lines

USED = {"roles": {"id": "trip", "lat": "lat", "lon": "lon"}, "unused": ["medallion", "fare"]}
FOUND = {"roles": {"id": "trip", "lat": "lat", "lon": "lon", "subject": "medallion"}, "unused": []}


@pytest.mark.parametrize("failing", MAKE_RELEASE)
def test_nothing_can_be_saved_after_a_run_that_failed(tmp_path: Path, failing: str) -> None:
    """Not even what was there before: a command that failed may have written something."""
    work = Quick(tmp_path)
    work.go()
    work.form.chosen["k"] = 50
    work.failing = failing
    work.bring("/somewhere/others")
    work.go()
    for _ in range(2):
        assert not work.results.files_to_save
        assert work.results.are_old(MAKE_RELEASE)
        work.form.chosen["k"] = 4
    work.failing = ""
    work.go()
    assert work.results.files_to_save


def test_only_what_changed_runs_again(tmp_path: Path) -> None:
    work = Quick(tmp_path)
    work.go()
    assert work.go() == []
    work.form.chosen["k"] = 5
    assert work.go() == [*MAKE_RELEASE[1:]]
    work.form.chosen["k"] = 4
    assert work.go() == [*MAKE_RELEASE[1:]]  # the file of k = 4 is gone


def test_of_a_removed_file_nothing_is_left(tmp_path: Path) -> None:
    work = Quick(tmp_path)
    work.go()
    work.bring("/somewhere/others")
    work.drop("/somewhere/tracks")
    assert work.form.files == ["/somewhere/others"]
    assert not work.results.outputs
    assert not work.results.releases
    assert not work.results.are_old(MAKE_RELEASE)
    assert work.form.name == "others-anonymized"
    assert not list(tmp_path.iterdir())


def test_another_format_takes_the_place_of_a_release_and_its_report(tmp_path: Path) -> None:
    work = Quick(tmp_path)
    work.go()
    (tmp_path / "tracks-anonymized.report.json").touch()
    (tmp_path / "tracks-anonymized-2.parquet").touch()
    work.form.chosen["format"] = ".csv"
    work.go()
    assert {path.name for path in tmp_path.glob("tracks*")} == {
        "tracks-anonymized.csv",
        "tracks-anonymized-2.parquet",
    }


@pytest.mark.parametrize("name", ["", "../map", ".hidden", "-k", "Map", "trajectories", "a/b"])
def test_a_name_stays_in_the_folder_and_takes_no_other(tmp_path: Path, name: str) -> None:
    work = Quick(tmp_path)
    work.form.chosen["name"] = name
    assert work.go() == ["extract"]
    assert work.problem is not None
    assert "cannot be called" in work.problem.sentence
    assert work.problem.place == "release"
    work.form.chosen["name"] = "Rutas de agosto_2"
    assert work.go() == [*MAKE_RELEASE[1:]]


def test_a_remedy_changes_fields_or_asks_for_a_column(tmp_path: Path) -> None:
    work = Quick(tmp_path, columns=(USED,))
    one_line = Remedy("", {"one_line_each": True, "days": None})
    assert work.use_remedy(one_line)
    assert work.form.chosen["one_line_each"] is True
    work.form.chosen["times"] = "of-day"
    assert work.use_remedy(Remedy("", {"times": None}))
    assert work.form.chosen["times"] == ""
    work.go()
    assert not work.use_remedy(Remedy("", {"columns": "subject=NAME"}))
    assert work.problem is not None
    assert work.problem.roles == ["subject"]
    assert list(work.problem.columns) == ["trip", "lat", "lon", "medallion", "fare"]


def test_the_publishers_words_make_the_papers_old(tmp_path: Path) -> None:
    work = Quick(tmp_path)
    work.go()
    work.publisher_form["contact"] = "nobody"
    work.save_publisher()
    assert work.problem is not None
    assert work.problem.place == "publisher"
    assert work.results.are_current(MAKE_RELEASE)
    work.publisher_form["contact"] = "data@example.com"
    work.save_publisher()
    assert not work.results.files_to_save
    assert work.go() == ["evaluate"]
    assert "data@example.com" in (tmp_path / "publisher.toml").read_text("utf-8")


def test_a_column_is_asked_for_before_anybody_is_counted(tmp_path: Path) -> None:
    work = Quick(tmp_path, columns=(USED,))
    assert work.go() == ["extract"]
    assert not work.results.are_old(MAKE_RELEASE)  # there is none
    assert work.problem is not None
    assert work.problem.roles == ["subject"]
    columns = work.results.columns
    choices = columns.choices("subject", columns.names, "", folders=False)
    assert [*choices] == ["", "trip", "lat", "lon", "medallion", "fare", NOBODY]
    work.form.chosen["subject"] = "medallion"
    assert work.form.options()["extract"]["columns"] == "subject=medallion"
    work.form.chosen["lat"] = "y"
    assert work.form.options()["extract"]["columns"] == "lat=y,subject=medallion"
    work.found = [FOUND]
    assert work.go() == [*MAKE_RELEASE]
    assert not work.results.lack_persons


def test_that_no_column_names_people_is_an_answer(tmp_path: Path) -> None:
    work = Quick(tmp_path, columns=(USED,))
    work.go()
    work.form.chosen["subject"] = NOBODY
    assert work.form.options()["extract"]["columns"] == "subject=none"
    assert work.go() == [*MAKE_RELEASE]
    work.drop("/somewhere/tracks")
    assert not work.form.chosen["subject"]  # of other files one is asked again


def test_a_line_of_a_traceback_that_begins_as_json_is_the_reason_of_the_end() -> None:
    async def ended(text: str) -> _Ending:
        process = await create_subprocess_exec(
            *(sys.executable, "-c", f"import sys; sys.exit({text!r})"), stdout=PIPE, stderr=PIPE
        )
        ending = _Ending()
        async for _ in _status_lines(process, ending):
            pass
        return ending

    for reason in ("{'k': 4} is no file", "[] is no file", "7"):
        ending = asyncio.run(ended(reason))
        assert ending.problem == CommandProblem(reason)
        assert ending.code == 1


def test_a_sensitive_place_needs_no_file_of_the_region(tmp_path: Path) -> None:
    work = Quick(tmp_path)
    work.form.chosen["hide_near"] = "40.42,-3.69"
    assert work.go() == [*MAKE_RELEASE]
    assert work.problem is None


def test_a_command_that_was_stopped_while_it_began_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Quick(tmp_path)

    async def begun(words: Sequence[str], folder: Path) -> Process:
        endless = "import time; time.sleep(600)"
        process = await create_subprocess_exec(
            *(sys.executable, "-c", endless), stdout=PIPE, stderr=PIPE
        )
        work.cancel()  # which does not know the process yet
        return process

    monkeypatch.setattr(running_commands, "_start", begun)
    monkeypatch.setattr(work.form, "command_line", lambda command, options: [command])
    assert not asyncio.run(Work._run_command(work, "extract", {}, "look"))
    assert work.problem == Problem("Stopped.", "look")
