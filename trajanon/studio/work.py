"""What is worked on: files, choices, the commands these make, and what the commands gave."""

import asyncio
import json
import os
import shlex
import sys
from asyncio.subprocess import PIPE, Process, create_subprocess_exec
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trajanon.cli.options import ANONYMIZED, MAP, TRAJECTORIES
from trajanon.cli.report_tables import LINES
from trajanon.cli.run_commands import Table, words_of
from trajanon.common.columns_read import ColumnsRead, columns_read
from trajanon.studio.fields import FIELDS, FOLDER, NOBODY

PAGE = "evaluation.html"
PUBLIC = "map.public.html"

LOOK = ("extract",)
RELEASE = ("extract", "anonymize", "check", "evaluate", "map", "public")
"""What each button does."""

_MADE_OF = {  # what rests on a command, and is old as soon as it runs again
    "extract": RELEASE[1:],
    "anonymize": RELEASE[2:],
}
_NAMES = {"public": "map"}  # that of a command that runs in two ways
_RESULTS = {"extract", "anonymize", "check", "evaluate"}  # commands with --json

_EMPTY: tuple[Any, ...] = (None, "", False, [])
ASK = "Say which column names the person, or that none does."

Commands = Mapping[str, Any]


class Work:
    """Files in one folder, choices, and the command that is at work, if one is."""

    def __init__(self, folder: Path, commands: Commands) -> None:
        self.folder, self.commands = folder, commands
        self.files: list[str] = []  # as commands name them, from the folder on
        self.chosen = {field.name: field.default for field in FIELDS}
        self.trouble = ""  # why nothing came of it, in a sentence
        self.results: dict[str, Any] = {}  # what commands said last, by their names
        self.task, self.share = "", 0.0  # what is going on, and how far it is
        self._process: Process | None = None
        self._step = ""
        self.busy = self._cancelled = False
        self._made: dict[str, Table] = {}  # the options with which results were made

    def tables(self) -> dict[str, dict[str, Any]]:
        """The options of each command, as they are chosen now."""
        chosen = {field.name: field.option(self.chosen) for field in FIELDS}
        released = ANONYMIZED.with_suffix(chosen["format"]).name
        both = [str(TRAJECTORIES), released]
        person = chosen["subject"]
        named = [chosen["named"], f"subject={person}" * (person not in _EMPTY)]
        fixed: dict[str, dict[str, Any]] = {
            "extract": {"columns": ",".join(filter(None, named)), "paths": self.files.copy()},
            "anonymize": {"out": released},
            "check": {"k": chosen["k"], "trajectories": both[0], "released": released},
            "evaluate": {"files": both},
            "map": {"offline": True, "files": both},
            "public": {"view": "public", "offline": True, "out": PUBLIC, "files": [released]},
        }
        tables: dict[str, dict[str, Any]] = {}
        for command, table in fixed.items():
            own = {one.name: chosen[one.name] for one in FIELDS if one.command == command}
            every = (own | table).items()
            tables[command] = {name: value for name, value in every if value not in _EMPTY}
        return tables

    @property
    def typed(self) -> str:
        """How somebody would type what makes the release."""
        lines = (self._words(command, self.tables()[command]) for command in RELEASE)
        return "\n".join(shlex.join(["trajanon", *words]) for words in lines)

    def _words(self, command: str, table: Table) -> list[str]:
        name = _NAMES.get(command, command)
        return [name, *words_of(self.commands[name].params, table)]

    # What is there, and whether it is what was asked for.

    def fresh(self, *commands: str, tables: Mapping[str, Table] | None = None) -> bool:
        """Whether the results of commands are those of what is chosen now."""
        tables = tables or self.tables()
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
        judged = self.results["evaluate"]["verdict"]["kind"]
        return judged != "stop" and bool(self.results["check"]["holds"])

    def _needed(self, commands: Sequence[str]) -> list[str]:
        """Leave out the public map of what must not be published."""
        judged = self.has(("check", "evaluate"))
        return [one for one in commands if one != "public" or not judged or self.publishable]

    @property
    def offered(self) -> Mapping[str, str]:
        """The files that can be saved, and what each is."""
        if not self.released:
            return {}
        name = self.tables()["anonymize"]["out"]
        public = {
            name: "the release, to be published",
            f"{Path(name).stem}.datasheet.md": "its datasheet, to be published with it",
            f"{Path(name).stem}.certificate.json": "the same for machines, to be published",
            PUBLIC: "the map of the release alone, to be published if you like",
        }
        return (public if self.publishable else {}) | {
            "settings.toml": "repeats the work, for you alone",
            PAGE: "the evaluation, for you alone",
            str(MAP): "the map with the originals, for you alone",
        }

    @property
    def settings(self) -> str:
        """The file of settings that repeats the release."""
        tables = self.tables()
        lines = ["# Repeats a release: trajanon run settings.toml"]
        if not all(Path(name).is_absolute() for name in self.files):
            lines.append("# Files that were brought belong into a folder files beside it.")
        for command in RELEASE[:-1]:  # the second map has no table of its own
            lines += ["", f"[{command}]"]
            # A JSON text, number, truth or list of these is one of TOML, too.
            table = tables[command].items()
            lines += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in table]
        return "\n".join([*lines, ""])

    @property
    def uses(self) -> list[ColumnsRead]:
        """How the columns of tables are used, one for each kind of table."""
        return columns_read(self.results.get("extract", {}))

    def _roles(self) -> tuple[dict[str, str], dict[str, str]]:
        """Columns by their roles, and those that have none."""
        roles = {role: name for use in self.uses for role, name in use.roles.items()}
        return roles, {name: name for use in self.uses for name in use.unused}

    @property
    def persons(self) -> dict[str, str]:
        """What may name the people, in words."""
        (roles, unused), chosen = self._roles(), self.chosen["subject"]
        auto = "" if chosen else roles.get("subject", "")
        words = {"": f"{auto}, found by its name" if auto else "Not said yet"}
        used = [roles[role] for role in ("id", "subject") if role in roles]
        words |= {name: name for name in [*used, *unused] if name != auto}
        if any((self.folder / name).is_dir() for name in self.files):
            words[FOLDER] = "The folder that a file is in"
        if not auto:
            words[NOBODY] = "No column does"
        return words | {chosen: words.get(chosen, chosen)}

    @property
    def asks(self) -> bool:
        """Whether no column of a table is known to name people, and none was chosen."""
        return bool(self.uses and "subject" not in self._roles()[0] and not self.chosen["subject"])

    def chance(self, against: str) -> float:
        """How often the best attack on the release, or on the originals, finds its target."""
        attacks = self.results["evaluate"]["attacks"]
        return max(float(one["expected"]) for one in attacks if one["against"] == against)

    # What changes it.

    def bring(self, name: str) -> None:
        """Take a file, in place of one of the same name."""
        if name not in self.files:
            self.files.append(name)
        self._made = {}  # a run that goes on keeps the one before, and what it makes is old

    def drop(self, name: str) -> None:
        """Leave a file out; an uploaded copy is removed, a file opened by its path stays."""
        self.files.remove(name)
        if not Path(name).is_absolute():
            (self.folder / name).unlink(missing_ok=True)
        if not self.files:  # the next ones have other columns
            self.chosen.update(subject="", named="")

    async def run(self, commands: Sequence[str]) -> None:
        """Run commands until one fails, except those with results that are there."""
        if self.busy:
            return
        self.busy, self._cancelled = True, False
        self.trouble = ""
        try:
            tables, made = self.tables(), self._made  # now, whatever is chosen meanwhile
            for number, command in enumerate(commands, start=1):
                self.trouble = self._missing(command, tables[command])
                if self.trouble or self._cancelled:
                    return
                if self.fresh(command, tables=tables) or command not in self._needed(commands):
                    continue
                self._step = f"Step {number} of {len(commands)}, {_NAMES.get(command, command)}"
                self._tell()
                for old in (command, *_MADE_OF.get(command, ())):  # it may write, and fail
                    made.pop(old, None)
                if not await self._did(command, tables[command]):
                    return
                made[command] = tables[command]
        except OSError as error:
            self.trouble = f"{error.filename or 'The system'}: {error.strerror or error}"
        finally:
            self.busy, self._process = False, None

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

    def _missing(self, command: str, table: Table) -> str:
        """Say what has to be there first; empty if all is."""
        if command == "extract" and "paths" not in table:
            return "Bring a file, or take the sample, first."
        if command == "anonymize" and self.asks:
            return ASK
        if command == "anonymize" and "k" not in table:
            return "Say how many stand behind each line at least, such as 4."
        return ""

    async def _did(self, command: str, table: Table) -> bool:
        """Run a command, and keep what it says."""
        words = self._words(command, table)
        as_json = ["--json"] if words[0] in _RESULTS else []
        self._process = process = await create_subprocess_exec(
            *(sys.executable, "-m", "trajanon", words[0], *as_json, *words[1:]),
            cwd=self.folder,
            env=os.environ | {LINES: "lines"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            limit=2**20,  # of a line
            start_new_session=True,  # Ctrl-C is for the studio, which ends it
        )
        assert process.stdout is not None
        assert process.stderr is not None
        out, said = await asyncio.gather(process.stdout.read(), self._listen(process.stderr))
        code = await process.wait()
        if self._cancelled:
            self.trouble = "Stopped."
        elif code == 0 or (code == 1 and out):  # 1: a release that does not hold, with reasons
            self.results[command] = json.loads(out) if as_json else {}
            return True
        else:
            self.trouble = said or f"The command ended with code {code}."
        return False

    async def _listen(self, output: asyncio.StreamReader) -> str:
        """Take progress from the messages of a command; give the last sentence."""
        last = ""
        async for raw in output:
            line = raw.decode(errors="replace").rstrip("\n")
            if line.startswith('{"task"'):
                said = json.loads(line)
                self._tell(said["task"], said["done"] / said["total"] if said["total"] else 0.0)
            elif line:
                last = line.removeprefix("trajanon: ")
                self._tell(last)
        return last

    def _tell(self, task: str = "", share: float = 0.0) -> None:
        self.task, self.share = f"{self._step}: {task}".rstrip(": "), min(share, 1.0)
