"""What is worked on: files, choices, the commands these make, and what the commands gave."""

import asyncio
import json
import os
import re
import shlex
import sys
from asyncio.subprocess import PIPE, Process, create_subprocess_exec
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from trajanon.cli.options import ANONYMIZED, TRAJECTORIES
from trajanon.cli.run import Table, words_of
from trajanon.cli.screen import LINES
from trajanon.studio.fields import FIELDS, FILES, RUN

PAGE = "evaluation.html"
COMPARISON = "comparison.html"

LOOK = ("extract",)
RELEASE = ("extract", "anonymize", "check", "evaluate", "map")
COMPARE = ("extract", "anonymize", "compare")
"""What each button does."""

_RESULTS = {"extract", "anonymize", "check", "evaluate"}  # commands with --json
_OPTION = re.compile(r"(?<!\S)--?([a-z][a-z-]*)")

Commands = Mapping[str, Any]


class Work:
    """Files in one folder, choices, and the command that is at work, if one is."""

    def __init__(self, folder: Path, commands: Commands) -> None:
        self.folder, self.commands = folder, commands
        self.files: list[str] = []  # as commands name them, from the folder on
        self.chosen = {field.name: field.default for field in FIELDS}
        self.trouble = dict.fromkeys([FILES, *self.chosen, RUN], "")  # sentences beside fields
        self.results: dict[str, Any] = {}  # what commands said, by their names; of --curve too
        self.task, self.share = "", 0.0  # what is going on, and how far it is
        self.made: dict[str, Table] = {}  # the options of the commands whose results these are
        self._process: Process | None = None
        self._step = ""
        self.busy = self._cancelled = False
        self._brought = self._looked_at = 0  # how often files were brought, and were when read

    def table(self, command: str) -> dict[str, Any]:
        """The options of a command that were chosen, by their names."""
        released = ANONYMIZED.with_suffix(self.chosen["format"]).name
        both = [str(TRAJECTORIES), released]
        k = next(field for field in FIELDS if field.name == "k").option(self.chosen)
        fixed: dict[str, dict[str, Any]] = {
            "extract": {FILES: self.files.copy()},
            "anonymize": {"out": released},
            "check": {"k": k, "trajectories": both[0], "released": both[1]},
            "evaluate": {"files": both},
            "compare": {"files": both, "out": COMPARISON},
            "map": {"offline": True, "files": both},
        }
        own = (field for field in FIELDS if field.command == command)
        chosen = {field.name: field.option(self.chosen) for field in own}
        table = {name: value for name, value in chosen.items() if value not in (None, "", False)}
        return table | {name: value for name, value in fixed[command].items() if value != []}

    def words(self, command: str, table: Table) -> list[str]:
        """The same as words of a command line."""
        name = "evaluate" if command == "compare" else command
        return [name, *words_of(self.commands[name].params, table)]

    def shown(self, commands: Sequence[str]) -> str:
        """The same as somebody would type it."""
        lines = (self.words(command, self.table(command)) for command in commands)
        return "\n".join(shlex.join(["trajanon", *words]) for words in lines)

    @property
    def released(self) -> list[str]:
        """Names of the release that is there and of its datasheet."""
        if "map" not in self.made:
            return []
        name = str(self.made["anonymize"]["out"])
        return [name, f"{Path(name).stem}.datasheet.md"]

    @property
    def settings(self) -> str:
        """The file of settings that repeats the release that is there."""
        lines = ["# Repeats a release: trajanon run settings.toml"]
        brought = self.made["extract"][FILES]
        if not all(Path(name).is_absolute() for name in brought):
            lines.append("# Files that were brought belong into a folder files beside it.")
        for command in RELEASE:
            lines += ["", f"[{command}]"]
            # A JSON text, number, truth or list of these is one of TOML, too.
            table = self.made[command].items()
            lines += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in table]
        return "\n".join([*lines, ""])

    def bring(self, name: str) -> None:
        """Take a file, or one of the same name anew."""
        if name not in self.files:
            self.files.append(name)
        self._brought += 1

    def drop(self, name: str) -> None:
        """Leave a file out; what was brought is removed, what was opened by its path stays."""
        self.files.remove(name)
        if not Path(name).is_absolute():
            (self.folder / name).unlink(missing_ok=True)

    async def run(self, commands: Sequence[str]) -> None:
        """Run commands until one fails, but for those whose results are there."""
        if self.busy:
            return
        self.busy, self._cancelled = True, False
        self.trouble.update(dict.fromkeys(self.trouble, ""))
        try:
            # As chosen now, whatever is chosen meanwhile.
            tables = {command: self.table(command) for command in commands}
            brought = self._brought
            for number, (command, table) in enumerate(tables.items(), start=1):
                if self._missing(command, table) or self._cancelled:
                    return
                old = command == "extract" and self._looked_at != brought
                if self.made.get(command) == table and not old:
                    continue
                self._step = f"Step {number} of {len(tables)}, {command}"
                self._tell()
                if not await self._did(command, table):
                    return
                if command == "extract":
                    self._looked_at = brought
                for later in _AFTER.get(command, ()):
                    self.results.pop(later, None)
                    self.made.pop(later, None)
                self.made[command] = table
        except OSError as error:
            self.trouble[RUN] = f"{error.filename or 'The system'}: {error.strerror or error}"
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

    def _missing(self, command: str, table: Table) -> bool:
        """Say beside its field what has to be there first."""
        if command == "extract" and FILES not in table:
            self.trouble[FILES] = "Bring a file, or take the sample, first."
        elif command == "anonymize" and "k" not in table:
            self.trouble["k"] = "Say how many people stand behind each line at least, such as 4."
        else:
            return False
        return True

    async def _did(self, command: str, table: Table) -> bool:
        """Run a command, and keep what it says."""
        words = self.words(command, table)
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
            self.trouble[RUN] = "Stopped. What was there before is still there."
        elif code == 0 or (code == 1 and out):  # 1: a release that does not hold, with reasons
            self.results[command] = json.loads(out) if as_json else {}
            return True
        else:
            self._place(command, code, said or f"The command ended with code {code}.")
        return False

    async def _listen(self, told: asyncio.StreamReader) -> str:
        """Take progress from what a command tells beside its result; give its last sentence."""
        last = ""
        async for raw in told:
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

    def _place(self, command: str, code: int, sentence: str) -> None:
        """Put a sentence beside the field that it speaks of."""
        own = {field.name for field in FIELDS if field.command == command}
        named = [found.replace("-", "_") for found in _OPTION.findall(sentence)]
        fields = [name for name in named if name in own]
        rest = {"extract": FILES, "anonymize": "k", "compare": "curve"}.get(command, RUN)
        if code != 2 or "cannot write" in sentence:  # of no field: a fault of ours, a full disk
            rest, fields = RUN, []
        self.trouble[fields[0] if fields else rest] = sentence


_AFTER = {
    "extract": ("anonymize", "check", "evaluate", "compare", "map"),
    "anonymize": ("check", "evaluate", "compare", "map"),
}
"""What is out of date once a command has run again."""
