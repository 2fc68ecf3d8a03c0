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
from trajanon.cli.run import words_of
from trajanon.cli.screen import LINES
from trajanon.studio.fields import FIELDS, FILES, RUN

PAGE = "evaluation.html"
COMPARISON = "comparison.html"

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
        self.compared = "2,3,4,5,8,10"
        self.results: dict[str, Any] = {}  # what commands said, by their names; of --curve too
        self.task, self.share = "", 0.0  # what is going on, and how far it is
        self._made: dict[str, list[str]] = {}  # the words of the commands whose results these are
        self._process: Process | None = None
        self.busy = self._cancelled = False

    @property
    def released(self) -> str:
        """Name of the released file."""
        return ANONYMIZED.with_suffix(self.chosen["format"]).name

    def table(self, command: str) -> dict[str, Any]:
        """The options of a command that were chosen, by their names."""
        both = [str(TRAJECTORIES), self.released]
        fixed: dict[str, dict[str, Any]] = {
            "extract": {FILES: self.files},
            "anonymize": {"out": self.released},
            "check": {"k": self.chosen["k"], "trajectories": both[0], "released": both[1]},
            "evaluate": {"files": both},
            "compare": {"files": both, "curve": self.compared, "out": COMPARISON},
            "map": {"offline": True, "files": both},
        }
        own = (field for field in FIELDS if field.command == command)
        chosen = {field.name: field.option(self.chosen) for field in own}
        table = {name: value for name, value in chosen.items() if value not in (None, "", False)}
        return table | {name: value for name, value in fixed[command].items() if value != []}

    def words(self, command: str) -> list[str]:
        """The same as words of a command line."""
        name = "evaluate" if command == "compare" else command
        return [name, *words_of(self.commands[name].params, self.table(command))]

    def shown(self, command: str) -> str:
        """The same as somebody would type it."""
        return shlex.join(["trajanon", *self.words(command)])

    @property
    def settings(self) -> str:
        """The file of settings that repeats the work."""
        files = [name for name in self.files if not Path(name).is_absolute()]
        lines = ["# Repeats a release: trajanon run settings.toml"]
        if files:
            lines.append("# Put beside it, in the folder files, what was brought: see below.")
        for command in ("extract", "anonymize", "check", "evaluate", "map"):
            lines += ["", f"[{command}]"]
            # A JSON text, number, truth or list of these is one of TOML, too.
            table = self.table(command).items()
            lines += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in table]
        return "\n".join([*lines, ""])

    def bring(self, name: str) -> None:
        """Take a file, or one of the same name anew."""
        if name not in self.files:
            self.files.append(name)
        self._made.clear()

    def drop(self, name: str) -> None:
        """Leave a file out; what was brought is removed, what was opened by its path stays."""
        self.files.remove(name)
        if not Path(name).is_absolute():
            (self.folder / name).unlink(missing_ok=True)

    async def look(self) -> None:
        """Read the files."""
        await self._run(["extract"])

    async def release(self) -> None:
        """Make a release, check and evaluate it, and draw the map."""
        await self._run(["extract", "anonymize", "check", "evaluate", "map"])

    async def compare(self) -> None:
        """Make releases of other k, and see what each costs."""
        await self._run(["extract", "anonymize", "compare"])

    def cancel(self) -> None:
        """Stop the command that is at work; what was there before stays."""
        self._cancelled = True
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()

    async def _run(self, commands: Sequence[str]) -> None:
        """Run commands until one fails, but for those whose results are there."""
        if self.busy:
            return
        self.busy, self._cancelled = True, False
        self.trouble.update(dict.fromkeys(self.trouble, ""))
        try:
            for command in commands:
                if self._missing(command) or self._cancelled:
                    return
                words = self.words(command)
                if self._made.get(command) == words:
                    continue
                later = [*_AFTER[command], command]
                self.results = {n: one for n, one in self.results.items() if n not in later}
                self._made = {n: one for n, one in self._made.items() if n not in later}
                self.task, self.share = f"trajanon {words[0]}", 0.0
                if not await self._did(command, words):
                    return
                self._made[command] = words
        except OSError as error:
            self.trouble[RUN] = f"{error.filename or 'The system'}: {error.strerror or error}"
        finally:
            self.busy, self.task, self.share, self._process = False, "", 0.0, None

    def _missing(self, command: str) -> bool:
        """Say beside its field what has to be there first."""
        if command == "extract" and not self.files:
            self.trouble[FILES] = "Bring a file, or take the sample, first."
        elif command == "anonymize" and not self.chosen["k"]:
            self.trouble["k"] = "Say how many people stand behind each line at least, such as 4."
        else:
            return False
        return True

    async def _did(self, command: str, words: list[str]) -> bool:
        """Run a command, and keep what it says."""
        as_json = ["--json"] if words[0] in _RESULTS else []
        self._process = process = await create_subprocess_exec(
            *(sys.executable, "-m", "trajanon", words[0], *as_json, *words[1:]),
            cwd=self.folder,
            env=os.environ | {LINES: "lines"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
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
            self._place(command, said or f"The command ended with code {code}.")
        return False

    async def _listen(self, told: asyncio.StreamReader) -> str:
        """Take progress from what a command tells beside its result; give its last sentence."""
        last = ""
        async for raw in told:
            line = raw.decode(errors="replace").rstrip("\n")
            if line.startswith('{"task"'):
                said = json.loads(line)
                self.task = said["task"]
                self.share = min(said["done"] / said["total"], 1.0) if said["total"] else 0.0
            elif line:
                last = line.removeprefix("trajanon: ")
                self.task = last
        return last

    def _place(self, command: str, sentence: str) -> None:
        """Put a sentence beside the field that it speaks of."""
        named = [found.replace("-", "_") for found in _OPTION.findall(sentence)]
        fields = [name for name in named if name in self.chosen]
        rest = {"extract": FILES, "anonymize": "k"}.get(command, RUN)
        self.trouble[fields[0] if fields else rest] = sentence


_AFTER = {
    "extract": ("anonymize", "check", "evaluate", "compare", "map"),
    "anonymize": ("check", "evaluate", "compare", "map"),
    "check": (),
    "evaluate": (),
    "compare": (),
    "map": (),
}
"""What is out of date once a command runs again."""
