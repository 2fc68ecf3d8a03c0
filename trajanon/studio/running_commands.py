"""Commands that run one after the other, in processes beside the page: progress, stop, problems."""

import asyncio
import json
import os
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process, create_subprocess_exec
from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from shutil import rmtree

import msgspec
from nicegui.binding import BindableProperty

from trajanon.cli.messages import PROGRESS_VARIABLE, CommandProblem, StatusLine
from trajanon.common.command_lines import Options
from trajanon.common.errors import BadInput
from trajanon.common.number_text import enumerated
from trajanon.evaluation.publisher_and_licence import Publisher
from trajanon.studio.fields import FIELDS_BY_NAME, field_names, in_words_of_the_page
from trajanon.studio.form_to_commands import (
    DOOR,
    MAKE_RELEASE,
    NAMES_IN_USE,
    PUBLISHER,
    Commands,
    Form,
)
from trajanon.studio.results import Remedy, Results, changes_of

_STEPS = {
    "extract": "reading the files",
    "anonymize": "making the lines",
    "check": "checking the release",
    "evaluate": "attacking the release, and measuring what it costs",
    "map": "drawing the map",
    "public map": "drawing the map to publish",
}

_WITH_JSON = {"extract", "anonymize", "check", "evaluate"}
"""Commands that print their results as JSON if they are asked to."""

_RELEASE_NAME = re.compile(r"\w[\w -]{0,59}")
_LONGEST_LINE = 2**20  # bytes


@dataclass(frozen=True)
class Problem:
    """Why nothing came of something, in words of the page."""

    sentence: str
    place: str  # of the button beside which it is shown
    roles: Sequence[str] = ()  # whose columns have to be named
    columns: Sequence[str] = ()  # that a table has


class Work:
    """What everybody at the page works on, and the command that is running, if one is."""

    busy = BindableProperty()  # which the page shows at once

    def __init__(self, folder: Path, commands: Commands) -> None:
        self.form = Form(folder, commands)
        self.results = Results(self.form)
        self.publisher = Publisher()
        self.publisher_form = asdict(self.publisher)  # as it is typed, and perhaps wrong
        self.problem: Problem | None = None

        self.task = ""
        self.share_done = 0.0  # of the task
        self.busy = False
        self._is_cancelled = False
        self._process: Process | None = None
        self._step = ""
        self._has_compiled = False  # in this run: it is said once

    # Files and choices.

    def bring(self, name: str) -> None:
        """Take a file, in place of one of the same name."""
        files = self.form.files
        if name not in files:
            self.form.set_files([*files, name], renames_release=not self.results.outputs)
        self.results.make_old()

    def drop(self, name: str) -> None:
        """Leave a file out, and remove all results, which are partly its own.

        An uploaded copy is removed, a file opened by its path stays where it is.
        """
        if self.busy:
            return
        self.results.clear()
        form = self.form
        form.set_files([file for file in form.files if file != name], renames_release=True)

        # The page by which the browser comes in stays; the files of the user are in another folder.
        for path in form.folder.iterdir():
            if path.is_file() and path.name != DOOR:
                path.unlink()
        if not Path(name).is_absolute():
            (form.folder / name).unlink(missing_ok=True)
        if not form.files:  # the next ones have other columns
            form.chosen |= dict.fromkeys(field_names("columns"), "")

    def use_remedy(self, remedy: Remedy) -> bool:
        """Choose what helps; a column that only the user can name is asked for instead."""
        self.problem = None
        for name, value in changes_of(remedy):
            if value == "NAME":  # as remedies write a column that the program cannot name
                sentence = "Choose the column that names the person."
                self.problem = Problem(sentence, "verdict", [name], self.results.columns.names)
            else:
                default = FIELDS_BY_NAME[name].default
                self.form.chosen[name] = default if value is None else value
        return self.problem is None

    def save_publisher(self) -> None:
        """Keep the publisher's words, which stand in the papers of the next evaluation."""
        self.problem = None
        try:
            self.publisher = Publisher(**self.publisher_form)
        except BadInput as error:
            self.problem = Problem(_as_sentence(str(error)), "publisher")
        else:
            self.results.made_with.pop("evaluate", None)

    # Commands.

    async def run(self, commands: Sequence[str], place: str) -> None:
        """Run commands until one fails, except those with results that are current."""
        if self.busy:
            return
        self.busy = True
        self._is_cancelled = False
        self._has_compiled = False
        self.problem = None
        try:
            await self._run(commands, place)
        except OSError as error:
            sentence = f"{error.filename or 'The system'}: {error.strerror or error}"
            self.problem = Problem(sentence, place)
        finally:
            self.busy = False
            self._process = None

    async def _run(self, commands: Sequence[str], place: str) -> None:
        # As they are now, whatever is chosen, or brought, meanwhile.
        options = self.form.options()
        made_with = self.results.made_with

        for number, command in enumerate(commands, start=1):
            self.problem = self._what_is_missing(command, options[command], place)
            if self.problem is not None or self._is_cancelled:
                return
            is_current = made_with.get(command) == options[command]
            if is_current or command not in self.results.needed(commands):
                continue

            self._step = f"Step {number} of {len(commands)}: {_STEPS[command]}"
            self._show_progress()
            if command == "evaluate":  # without words, the record of processing has blanks
                self.publisher.write(self.form.folder / PUBLISHER)
            if command == "anonymize":
                self._remove_other_formats(str(options[command]["out"]))

            # A command may write something, and fail; and all that follows rests on these two.
            is_base = command in ("extract", "anonymize")
            for stale in MAKE_RELEASE[MAKE_RELEASE.index(command) :] if is_base else [command]:
                made_with.pop(stale, None)
            if not await self._run_command(command, options[command], place):
                return
            made_with[command] = options[command]

        if commands == MAKE_RELEASE:
            self.results.compare(options)

    def _what_is_missing(self, command: str, options: Options, place: str) -> Problem | None:
        """Find what has to be there before a command runs."""
        form = self.form
        if command == "extract" and "paths" not in options:
            return Problem("Choose a file, or use the sample, first.", place)
        if command != "anonymize":
            return None

        if self.results.lack_persons:
            sentence = "Choose the column that names the person, or that none does."
            return Problem(sentence, place, ["subject"], self.results.columns.names)
        if "k" not in options:
            return Problem("Enter how many stand behind each line at least, such as 4.", place)
        if not _RELEASE_NAME.fullmatch(form.name) or form.name.casefold() in NAMES_IN_USE:
            return Problem(
                f"The release cannot be called {form.name!r}: use letters, digits, spaces, - and "
                f"_, and none of the names {', '.join(sorted(NAMES_IN_USE))}.",
                place,
            )
        return None

    def _remove_other_formats(self, released: str) -> None:
        """Remove a release of the same name in another format, whose report is in the way."""
        if not (self.form.folder / released).exists():
            for path in self.form.folder.glob(f"{Path(released).stem}.*"):
                path.unlink()

    async def _run_command(self, command: str, options: Options, place: str) -> bool:
        """Run a command, keep its results, and return whether it gave any."""
        name, *words = self.form.command_line(command, options)
        as_json = ["--json"] if name in _WITH_JSON else []
        self._process = await _start([name, *as_json, *words], self.form.folder)
        if self._is_cancelled:  # while it began
            self._process.terminate()
        ending = _Ending()
        async for status in _status_lines(self._process, ending):
            self._show_status(status)

        if self._is_cancelled:
            self.problem = Problem("Stopped.", place)
            return False
        # Code 1 and results: the release does not keep its promise.
        if ending.code != 0 and not (ending.code == 1 and ending.output):
            self.problem = _problem_of(ending, place)
            return False

        self.results.outputs[command] = json.loads(ending.output) if as_json else {}
        self.results.messages[command] = list(map(_as_sentence, ending.messages))
        self.results.maps_drawn += command == "map"
        return True

    def _show_status(self, status: StatusLine) -> None:
        """Show how far a command is; that kernels are compiled is said once."""
        if status.task:
            self._show_progress(status.task, status.done / status.total if status.total else 0.0)
        elif status.compiling and not self._has_compiled:
            self._has_compiled = True
            self._show_progress("getting ready for its first use, up to a minute")

    def _show_progress(self, task: str = "", share_done: float = 0.0) -> None:
        self.task = f"{self._step} ({task[:1].lower()}{task[1:]})" if task else self._step
        self.share_done = min(share_done, 1.0)

    # Ends.

    def cancel(self) -> None:
        """Stop the command that is running; what was there before stays."""
        self._is_cancelled = True
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()

    async def end(self) -> None:
        """Stop, and wait for it."""
        self.cancel()
        if self._process is not None:
            await self._process.wait()

    async def remove_all(self) -> bool:
        """Stop, remove all files of the studio, and check that they are gone."""
        await self.end()
        rmtree(self.form.folder, ignore_errors=True)
        return not self.form.folder.exists()


# A command in a process of its own, and the lines of JSON in which it reports.


@dataclass
class _Ending:
    """What a command that ended leaves."""

    code: int = 0
    output: bytes = b""
    messages: list[str] = field(default_factory=list)
    problem: CommandProblem | None = None


async def _start(words: Sequence[str], folder: Path) -> Process:
    """Start a command in a folder."""
    return await create_subprocess_exec(
        *(sys.executable, "-m", "trajanon", *words),
        cwd=folder,
        env=os.environ | {PROGRESS_VARIABLE: "lines"},
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
        limit=_LONGEST_LINE,
        start_new_session=True,  # Ctrl-C is for the studio, which ends it
    )


async def _status_lines(process: Process, ending: _Ending) -> AsyncIterator[StatusLine]:
    """Yield what a command reports while it runs, and fill in how it ended."""
    assert process.stdout is not None
    assert process.stderr is not None
    output = asyncio.create_task(process.stdout.read())

    async for line in process.stderr:
        try:
            status = msgspec.json.decode(line, type=StatusLine)
        except msgspec.DecodeError:
            # Lines of a traceback: the last one is the reason.
            if text := line.decode(errors="replace").strip():
                ending.problem = CommandProblem(text)
            continue

        if status.message:
            ending.messages.append(status.message)
        ending.problem = status.problem or ending.problem
        yield status

    ending.output = await output
    ending.code = await process.wait()


def _problem_of(ending: _Ending, place: str) -> Problem:
    """Write why a command failed, in words of the page."""
    problem = ending.problem or CommandProblem(f"The step ended with code {ending.code}.")
    sentence = problem.sentence
    if problem.table:
        labels = enumerated([f"“{FIELDS_BY_NAME[role].label}”" for role in problem.roles])
        sentence = f"{problem.table}: choose the column for {labels}"
    return Problem(_as_sentence(sentence), place, problem.roles, problem.columns)


def _as_sentence(message: str) -> str:
    """Write a message of a command as a sentence of the page.

    It has one full stop, and a capital, but where it begins with the name of a file.
    """
    message = in_words_of_the_page(message)
    first_word, _, _ = message.partition(" ")
    capital = first_word if "." in first_word else f"{first_word[:1].upper()}{first_word[1:]}"
    return f"{capital}{message[len(first_word) :].rstrip('.')}."
