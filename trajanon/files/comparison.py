"""Whether a released file is what its lines are written as, and nothing else."""

import filecmp
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from trajanon.errors import FileProblem, TrajanonError
from trajanon.files.release import RELEASE_FORMATS
from trajanon.files.release_lines import Lines, ReleaseFormat, Writer
from trajanon.trajectories import Trajectories

NOTHING_ELSE = "nothing else is in the file"

_SHOWN = 40  # bytes of a difference


class Compared(NamedTuple):
    """What differs from lines written anew, and what can be said if nothing does."""

    differences: list[str]
    claim: str


def compared(path: Path, found: Lines, write: Writer | None = None) -> Compared:
    """Write the lines of a release anew, with times that it explains, and compare the two files."""
    kind = RELEASE_FORMATS[path.suffix.lower()]
    places = found.places[:, :, ::-1]
    once = Trajectories(places, provenance=found.provenance | found.form, times=found.times)
    release = once.take(found.of_rows)
    try:
        with TemporaryDirectory() as folder:
            anew = Path(folder) / f"anew{path.suffix}"
            (write or kind.write)(anew, release)
            if filecmp.cmp(path, anew, shallow=False):
                return Compared([], NOTHING_ELSE)
            return _compared_contents(path, anew, kind)
    except TrajanonError:
        raise
    except OSError as error:
        raise FileProblem(
            f"cannot write the lines of {path} anew, to compare: "
            f"{error.strerror or error}; TMPDIR names a folder with room"
        ) from error


def _compared_contents(path: Path, anew: Path, kind: ReleaseFormat) -> Compared:
    if kind.contents is None:
        return Compared([_first_difference(path, anew)], "")
    import pyarrow as pa

    try:
        (writer, here), (own_writer, own) = kind.contents(path), kind.contents(anew)
    except (ValueError, pa.ArrowException, sqlite3.Error) as error:
        raise FileProblem(
            f"cannot read all of {path}; write its lines alone with `rewrite`"
        ) from error
    names = sorted(set(here) | set(own))
    if differ := [name for name in names if here.get(name) != own.get(name)]:
        return Compared([f"{name} is not as trajanon writes it" for name in differ], "")
    if writer == own_writer:
        return Compared([_first_difference(path, anew)], "")
    claim = (
        "whatever can be read in the file is of a release; bytes that nobody reads "
        f"could not be compared, as {writer!r} wrote it and here is {own_writer!r}"
    )
    return Compared([], claim)


def _first_difference(path: Path, anew: Path) -> str:
    found, right = path.read_bytes(), anew.read_bytes()
    shorter = min(len(found), len(right))
    differ = np.frombuffer(found, np.uint8, shorter) != np.frombuffer(right, np.uint8, shorter)
    at = int(differ.argmax()) if differ.any() else shorter
    shown, expected = (
        data[at : at + _SHOWN].decode("utf-8", "backslashreplace") for data in (found, right)
    )
    line = 1 + found.count(b"\n", 0, at)
    return f"byte {at + 1:,} (line {line:,}) has {shown!r} where trajanon writes {expected!r}"
