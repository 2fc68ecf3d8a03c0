"""The studio's work with commands that answer at once."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from trajanon.common.command_lines import Options
from trajanon.studio.form_to_commands import MAKE_RELEASE
from trajanon.studio.running_commands import Problem, Work


class Quick(Work):
    """Commands that answer at once, or fail."""

    def __init__(self, folder: Path, columns: Sequence[object] = ()) -> None:
        super().__init__(folder, {})
        self.bring("/somewhere/tracks")
        self.ran: list[str] = []
        self.failing = ""
        self.kind = "ready"
        self.found = list(columns)

    async def _run_command(self, command: str, options: Options, place: str) -> bool:
        self.ran.append(command)
        outputs = {
            "evaluate": "evaluation.html",
            "map": "map.html",
            "public map": "map.public.html",
        }
        (self.form.folder / str(options.get("out", outputs.get(command, "other")))).touch()
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
        self.results.outputs[command] = {
            "extract": {"columns": self.found},
            "check": {"holds": True},
            "evaluate": {
                "k": 4,
                "verdict": verdict,
                "answers": [{"question": "", "answer": ""}] * 5,
            },
        }.get(command, {})
        return True

    def go(self, commands: tuple[str, ...] = MAKE_RELEASE) -> list[str]:
        self.ran = []
        asyncio.run(self.run(commands, "release"))
        return self.ran
