"""The work: files, choices, the commands that these make, and what the commands gave."""

import json
import re
import shlex
from asyncio.subprocess import Process
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from shutil import rmtree
from typing import Any

import msgspec
from nicegui.binding import BindableProperty

from trajanon.cli.options import MAP, TRAJECTORIES
from trajanon.cli.run_commands import Table, words_of
from trajanon.common.errors import BadInput
from trajanon.common.number_text import enumerated
from trajanon.evaluation.publisher_and_licence import Publisher
from trajanon.studio.command_process import Answer, Spoken, lines_of, start
from trajanon.studio.fields import BY_NAME, Choice, in_words_of_the_page, name_of_data, names_of
from trajanon.studio.results import Columns, Evaluation, MadeRelease, Remedy, changes_of

DOOR = "open.html"  # the page by which the browser gets the code
PAGE = "evaluation.html"
PUBLIC = "map.public.html"
RECORD = "evaluation.record.html"
PUBLISHER = "publisher.toml"
SETTINGS = "settings.toml"

LOOK = ("extract",)
RELEASE = ("extract", "anonymize", "check", "evaluate", "map", "public")
"""What each button does."""

STEPS = {
    "extract": "reading the files",
    "anonymize": "making the lines",
    "check": "checking the release",
    "evaluate": "attacking the release, and measuring what it costs",
    "map": "drawing the map",
    "public": "drawing the map to publish",
}
COMPARED = 3
"""The releases made last that are compared."""

_COMMANDS = {"public": "map"}  # that runs in two ways
_RESULTS = {"extract", "anonymize", "check", "evaluate"}  # commands with --json
_NAME = re.compile(r"\w[\w -]{0,59}")
_TAKEN = {"trajectories", "map", "evaluation", "settings", "publisher", "open", "files"}
_EMPTY: tuple[Choice | list[str], ...] = (None, "", False, [])

Commands = Mapping[str, Any]


@dataclass(frozen=True)
class Problem:
    """Why nothing came of something, in words of the page."""

    sentence: str
    place: str  # of the button beside which it is shown
    roles: Sequence[str] = ()  # whose columns have to be named
    columns: Sequence[str] = ()  # that a table has


class Work:
    """Files in one folder, choices, and the command that is at work, if one is."""

    busy = BindableProperty()  # which the page shows at once

    def __init__(self, folder: Path, commands: Commands) -> None:
        self.folder = folder
        self.commands = commands
        self.files: list[str] = []  # as commands name them, from the folder on
        self.chosen = {name: form_field.default for name, form_field in BY_NAME.items()}
        self._name_of_data = name_of_data(self.files)
        self.chosen["name"] = self._name_of_data
        self.publisher = Publisher()
        self.words = asdict(self.publisher)  # of the publisher, as they stand in the form
        self.problem: Problem | None = None

        self.results: dict[str, Any] = {}  # what commands said last, by their names
        self.messages: dict[str, list[str]] = {}
        self.releases: list[MadeRelease] = []  # made last, the newest first

        self.task = ""
        self.share = 0.0  # of the task that is done
        self.busy = False
        self._cancelled = False
        self.maps_drawn = 0
        self._process: Process | None = None
        self._step = ""
        self._prepared = False  # whether it was said that the program gets ready
        self._made: dict[str, Table] = {}  # the options with which commands made their results

    # The commands.

    @property
    def name(self) -> str:
        """The name of the release."""
        return str(self.chosen["name"] or "").strip()

    @property
    def released_file(self) -> str:
        """The name of the file of the release."""
        return f"{self.name}{self.chosen['format']}"

    def tables(self) -> dict[str, dict[str, Any]]:
        """Return the options of each command, as they are chosen now."""
        chosen = {name: form_field.option(self.chosen) for name, form_field in BY_NAME.items()}
        columns = ",".join(f"{role}={chosen[role]}" for role in names_of("columns") if chosen[role])
        region = chosen["region"]
        in_region = chosen["hide_near"] or self._names_a_boundary(str(chosen["bbox"] or ""))
        released = self.released_file
        originals = str(TRAJECTORIES)

        fixed: dict[str, dict[str, Any]] = {
            "extract": {
                "columns": columns,
                "pbf": region if in_region else "",
                "paths": self.files.copy(),
            },
            "anonymize": {"out": released},
            "check": {"k": chosen["k"], "trajectories": originals, "released": released},
            "evaluate": {"publisher": PUBLISHER, "files": [originals, released]},
            "map": {"offline": True, "roads": region, "files": [originals, released]},
            "public": {
                "view": "public",
                "offline": True,
                "roads": region,
                "out": PUBLIC,
                "files": [released],
            },
        }
        tables: dict[str, dict[str, Any]] = {}
        for command, table in fixed.items():
            from_fields = {name: chosen[name] for name in names_of(command)}
            options = (from_fields | table).items()
            tables[command] = {name: value for name, value in options if value not in _EMPTY}
        return tables

    def _names_a_boundary(self, area: str) -> bool:
        """Whether an area is no city, box or file, so that its name is looked up in the region."""
        from trajanon.extract.earth.area import CITIES  # the page does not wait for it

        is_known = area.lower() in CITIES or "," in area or (self.folder / area).is_file()
        return bool(area) and not is_known

    @property
    def typed(self) -> str:
        """How somebody would type the commands that make the release, a line each."""
        lines = (self.command_line(command, table) for command, table in self.tables().items())
        return "\n".join(shlex.join(["trajanon", *words]) for words in lines)

    def command_line(self, command: str, table: Table) -> list[str]:
        """Return the words by which somebody would run a command with options, from its name on."""
        name = _COMMANDS.get(command, command)
        return [name, *words_of(self.commands[name].params, table)]

    @property
    def settings(self) -> str:
        """The file of settings that repeats the release."""
        tables = self.tables()
        lines = ["# Repeats a release: trajanon run settings.toml"]
        if not all(Path(name).is_absolute() for name in self.files):
            lines.append("# Put uploaded files into a folder named files beside it.")
        lines.append(f"# {PUBLISHER} belongs beside it.")

        for command in RELEASE[:-1]:  # the second map has no table of its own
            lines += ["", f"[{command}]"]
            # A JSON text, number, truth or list of these is one of TOML, too.
            table = tables[command].items()
            lines += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in table]
        return "\n".join([*lines, ""])

    # What is there, and whether it is what was asked for.

    def fresh(self, *commands: str) -> bool:
        """Whether the results of commands are those of what is chosen now."""
        tables = self.tables()
        return all(self._made.get(command) == tables[command] for command in commands)

    def has(self, commands: Sequence[str]) -> bool:
        """Whether all of these have run, whatever was chosen."""
        return self.results.keys() >= {*commands} - {"public"}

    def is_old(self, commands: Sequence[str]) -> bool:
        """Whether something is shown that is not what was asked for."""
        return self.has(commands) and not self.fresh(*self._needed(commands))

    @property
    def released(self) -> bool:
        """Whether the release that was asked for is there, with all that goes with it."""
        return self.fresh(*self._needed(RELEASE))

    @property
    def publishable(self) -> bool:
        """Whether nothing speaks against publishing the release that was made last."""
        return self.evaluation.verdict.kind != "stop" and bool(self.results["check"]["holds"])

    def _needed(self, commands: Sequence[str]) -> list[str]:
        """Leave out the public map of what must not be published."""
        judged = self.has(("check", "evaluate"))
        return [
            command for command in commands if command != "public" or not judged or self.publishable
        ]

    @property
    def offered(self) -> Mapping[str, str]:
        """The files that can be saved, and what each is."""
        if not self.released:
            return {}
        public = {
            self.released_file: "the release, to be published",
            f"{self.name}.datasheet.md": "its datasheet, to be published with it",
            f"{self.name}.certificate.json": "the same for machines, to be published",
            PUBLIC: "the map of the release alone, to be published if you like",
        }
        private = {
            RECORD: "the record of processing, to sign (private)",
            SETTINGS: "repeats the work (private)",
            PUBLISHER: "the publisher's words (private)",
            PAGE: "the evaluation (private)",
            str(MAP): "the map with the originals (private)",
        }
        every = (public if self.publishable else {}) | private
        present = {path.name for path in self.folder.iterdir()} | {SETTINGS}
        return {name: words for name, words in every.items() if name in present}

    @property
    def evaluation(self) -> Evaluation:
        """The evaluation of the release that was made last."""
        return msgspec.convert(self.results["evaluate"], Evaluation)

    # Columns.

    @property
    def columns(self) -> Columns:
        """The columns of the tables that were read."""
        return Columns.of(self.results.get("extract", {}))

    @property
    def has_folders(self) -> bool:
        """Whether a folder was brought, in which folders may be people."""
        return any((self.folder / name).is_dir() for name in self.files)

    @property
    def asks_for_persons(self) -> bool:
        """Whether no column of a table is known to name people, and none was chosen."""
        columns = self.columns
        return bool(columns.names) and "subject" not in columns.roles and not self.chosen["subject"]

    # What changes it.

    def bring(self, name: str) -> None:
        """Take a file, in place of one of the same name."""
        if name not in self.files:
            self._set_files([*self.files, name])
        self.problem = None
        self._made = {}  # a run that goes on keeps the one before, and what it makes is old

    def _set_files(self, files: list[str]) -> None:
        """Name the release after its files, as long as nobody chose a name and there is none."""
        self.files = files
        if self.name == self._name_of_data and not self.results:
            self._name_of_data = name_of_data(files)
            self.chosen["name"] = self._name_of_data

    def drop(self, name: str) -> None:
        """Leave a file out, and remove all results, which are partly its own.

        An uploaded copy is removed, a file opened by its path stays where it is.
        """
        if self.busy:
            return
        self.problem = None
        self._made = {}
        self.results.clear()
        self.messages.clear()
        self.releases.clear()
        self._set_files([file for file in self.files if file != name])
        for path in self.folder.iterdir():
            if path.is_file() and path.name != DOOR:
                path.unlink()
        if not Path(name).is_absolute():
            (self.folder / name).unlink(missing_ok=True)
        if not self.files:  # the next ones have other columns
            self.chosen |= dict.fromkeys(names_of("columns"), "")

    def choose(self, remedy: Remedy, place: str) -> bool:
        """Choose what helps; a column that only the user can name is asked for instead."""
        self.problem = None
        for name, value in changes_of(remedy):
            if value == "NAME":
                sentence = "Choose the column that names the person."
                self.problem = Problem(sentence, place, [name], self.columns.names)
            else:
                self.chosen[name] = BY_NAME[name].default if value is None else value
        return self.problem is None

    def publish_as(self) -> None:
        """Write the publisher's words, which stand in the papers of the next evaluation."""
        self.problem = None
        try:
            publisher = Publisher(**self.words)
        except BadInput as error:
            self.problem = Problem(_finished(in_words_of_the_page(str(error))), "publisher")
            return
        self.publisher = publisher
        self._made.pop("evaluate", None)

    async def run(self, commands: Sequence[str], place: str) -> None:
        """Run commands until one fails, except those with results that are there."""
        if self.busy:
            return
        self.busy = True
        self._cancelled = False
        self._prepared = False
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
        tables = self.tables()
        made = self._made

        for number, command in enumerate(commands, start=1):
            self.problem = self._missing(command, tables[command], place)
            if self.problem is not None or self._cancelled:
                return
            if made.get(command) == tables[command] or command not in self._needed(commands):
                continue

            self._step = f"Step {number} of {len(commands)}: {STEPS[command]}"
            self._show_progress()
            if command == "evaluate":  # without words, the record of processing has blanks
                self.publisher.write(self.folder / PUBLISHER)
            if command == "anonymize":
                self._remove_other_formats(tables[command]["out"])
            # It may write, and fail; and all that follows rests on these two.
            is_base = command in ("extract", "anonymize")
            for old in RELEASE[RELEASE.index(command) :] if is_base else [command]:
                made.pop(old, None)
            if not await self._run_command(command, tables[command], place):
                return
            made[command] = tables[command]

        if commands == RELEASE:
            self._remember(tables)

    def _remove_other_formats(self, released: str) -> None:
        """Remove a release of the same name in another format, whose report is in the way."""
        if not (self.folder / released).exists():
            for path in self.folder.glob(f"{Path(released).stem}.*"):
                path.unlink()

    def _remember(self, tables: Mapping[str, Table]) -> None:
        """Keep the figures of the release beside those of the ones before."""
        made_by = {
            **{f"extract {name}": value for name, value in tables["extract"].items()},
            **{name: value for name, value in tables["anonymize"].items() if name != "out"},
        }
        release = MadeRelease(self.name, self.evaluation, dict(self.chosen), made_by)
        # In another format it is the same release.
        different = [before for before in self.releases if before.made_by != made_by]
        self.releases = [release, *different][:COMPARED]

    def cancel(self) -> None:
        """Stop the command that is at work; what was there before stays."""
        self._cancelled = True
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
        rmtree(self.folder, ignore_errors=True)
        return not self.folder.exists()

    def _missing(self, command: str, table: Table, place: str) -> Problem | None:
        """Find what has to be there before a command runs."""
        if command == "extract" and "paths" not in table:
            return Problem("Choose a file, or use the sample, first.", place)
        if command == "extract" and self.chosen["hide_near"] and not self.chosen["region"]:
            label = BY_NAME["region"].label
            return Problem(f"To cut out sensitive places, name the “{label}”.", place)
        if command != "anonymize":
            return None

        if self.asks_for_persons:
            sentence = "Choose the column that names the person, or that none does."
            return Problem(sentence, place, ["subject"], self.columns.names)
        if "k" not in table:
            return Problem("Enter how many stand behind each line at least, such as 4.", place)
        if not _NAME.fullmatch(self.name) or self.name.casefold() in _TAKEN:
            return Problem(
                f"The release cannot be called {self.name!r}: use letters, digits, spaces, - and "
                f"_, and none of the names {', '.join(sorted(_TAKEN))}.",
                place,
            )
        return None

    async def _run_command(self, command: str, table: Table, place: str) -> bool:
        """Run a command, keep its results, and return whether it gave any."""
        name, *options = self.command_line(command, table)
        as_json = ["--json"] if name in _RESULTS else []
        answer = Answer()
        self._process = await start([name, *as_json, *options], self.folder)
        async for spoken in lines_of(self._process, answer):
            self._listen(spoken)

        if self._cancelled:
            self.problem = Problem("Stopped.", place)
        elif answer.code == 0 or (answer.code == 1 and answer.output):  # 1: it does not hold
            self.results[command] = json.loads(answer.output) if as_json else {}
            self.messages[command] = [
                _finished(in_words_of_the_page(message)) for message in answer.messages
            ]
            self.maps_drawn += command == "map"
            return True
        else:
            failed = answer.problem or {"sentence": f"The step ended with code {answer.code}."}
            roles, columns = failed.get("roles", ()), failed.get("columns", ())
            sentence = in_words_of_the_page(failed["sentence"])
            if unknown := failed.get("table"):
                labels = enumerated([f"“{BY_NAME[role].label}”" for role in roles])
                sentence = f"{unknown}: choose the column for {labels}"
            self.problem = Problem(_finished(sentence), place, roles, columns)
        return False

    def _listen(self, spoken: Spoken) -> None:
        """Show how far a command is; that the program gets ready is said once."""
        if "task" in spoken:
            total = spoken["total"]
            self._show_progress(spoken["task"], spoken["done"] / total if total else 0.0)
        elif spoken.get("compiling") and not self._prepared:
            self._prepared = True
            self._show_progress("getting ready for its first use, up to a minute")

    def _show_progress(self, task: str = "", share: float = 0.0) -> None:
        self.task = f"{self._step} ({task[:1].lower()}{task[1:]})" if task else self._step
        self.share = min(share, 1.0)


def _finished(message: str) -> str:
    """Write a message as a sentence, with one full stop, and a capital but for names of files."""
    first, _, _ = message.partition(" ")
    capital = first if "." in first else f"{first[:1].upper()}{first[1:]}"
    return f"{capital}{message[len(first) :].rstrip('.')}."
