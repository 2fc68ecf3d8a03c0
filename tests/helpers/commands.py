"""Commands run as people type them, and what they answer."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

FAST = ("--method", "mdav", "--refine", "none")
"""What anonymize needs to be done at once."""


@dataclass(frozen=True)
class Answer:
    code: int | str
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one line by which a command refuses; exit code 2 and nothing else."""
        assert self.code == 2, self
        assert self.out == "", self
        (refused,) = self.err.splitlines(keepends=True)
        assert refused.startswith("trajanon: "), self
        assert len(refused) < 700, self
        return refused


Run = Callable[..., Answer]


def unannounced(said: str) -> str:
    """What was said, but that kernels are compiled: the first command of a process may say so."""
    lines = said.splitlines(keepends=True)
    return "".join(line for line in lines if "compiling for the first run" not in line)


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Writing more fails as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    writes_no_bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # Python would cut a module it compiles short, and say nothing
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        sys.dont_write_bytecode = writes_no_bytecode


def names(folder: Path) -> set[str]:
    """What is in a folder, but for the cache."""
    return {path.name for path in folder.iterdir()} - {".cache"}


def mode(path: Path) -> int:
    """Who may do what with a file, as ls shows it."""
    return path.stat().st_mode & 0o777


def track(lat: float = 40.42, lon: float = -3.7, points: int = 40) -> str:
    """A GPX file of an untimed way to the north, 11 m a step."""
    fixes = "".join(f'<trkpt lat="{lat + i / 10000:.4f}" lon="{lon}"/>' for i in range(points))
    return f'<gpx creator="me"><trk><trkseg>{fixes}</trkseg></trk></gpx>'


@contextmanager
def command(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command in a process of its own, which ends with the test."""
    with subprocess.Popen(
        [sys.executable, "-m", "trajanon", *arguments],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
        | {"NO_PROXY": "127.0.0.1", "XDG_CACHE_HOME": str(folder)},  # as if nobody tested
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
