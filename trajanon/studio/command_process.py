"""A command in a process of its own, and the lines of JSON in which it reports."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process, create_subprocess_exec
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypedDict

from trajanon.cli.messages import LINES

_LONGEST_LINE = 2**20  # bytes


class Spoken(TypedDict, total=False):
    """A line of a command: how far it is, what it compiles, a message, or why it failed."""

    task: str
    done: float
    total: float | None
    compiling: str
    message: str
    problem: "SpokenProblem"


class SpokenProblem(TypedDict, total=False):
    """Why a command failed, and the columns of a table if one of them has to be named."""

    sentence: str
    roles: Sequence[str]
    columns: Sequence[str]


@dataclass
class Answer:
    """What a command that ended has said."""

    code: int = 0
    output: str = ""
    messages: list[str] = field(default_factory=list)
    problem: SpokenProblem | None = None


async def start(words: Sequence[str], folder: Path) -> Process:
    """Start a command in a folder."""
    return await create_subprocess_exec(
        *(sys.executable, "-m", "trajanon", *words),
        cwd=folder,
        env=os.environ | {LINES: "lines"},
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=PIPE,
        limit=_LONGEST_LINE,
        start_new_session=True,  # Ctrl-C is for the studio, which ends it
    )


async def lines_of(process: Process, answer: Answer) -> AsyncIterator[Spoken]:
    """Yield what a command says while it runs, and write the rest of it into the answer."""
    assert process.stdout is not None
    assert process.stderr is not None
    output = asyncio.create_task(process.stdout.read())

    async for raw in process.stderr:
        line = raw.decode(errors="replace").strip()
        if line.startswith("{"):
            spoken: Spoken = json.loads(line)
            if "message" in spoken:
                answer.messages.append(spoken["message"])
            answer.problem = spoken.get("problem", answer.problem)
            yield spoken
        elif line:  # of a traceback, which ends with the reason
            answer.problem = {"sentence": line}

    answer.output = (await output).decode(errors="replace")
    answer.code = await process.wait()
