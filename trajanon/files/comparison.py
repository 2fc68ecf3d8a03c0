"""Whether a released file is what its lines are written as, and nothing else."""

import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from trajanon.errors import FileProblem, TrajanonError
from trajanon.files.release import RELEASE_FORMATS, Contents, Writer
from trajanon.files.release_lines import ReleasedFile, known_attribution

NOTHING_ELSE = "nothing else is in the file"

_CHUNK = 1 << 20  # bytes
_SHOWN = 40  # bytes of a difference


class Compared(NamedTuple):
    """What differs from lines written anew, and what can be said if nothing does."""

    differences: list[str]
    claim: str


def compared(path: Path, found: ReleasedFile, write: Writer | None = None) -> Compared:
    """Write the lines of a release anew, and compare the two files."""
    kind = RELEASE_FORMATS[path.suffix.lower()]
    points = found.lines.places[:, :, ::-1]
    try:
        with TemporaryDirectory() as folder:
            anew = Path(folder) / f"anew{path.suffix}"
            (write or kind.write)(anew, points, known_attribution(found.attribution))
            return _compared(path, anew, kind.contents)
    except TrajanonError:
        raise
    except OSError as error:
        msg = (
            f"cannot write the lines of {path} anew, to compare: "
            f"{error.strerror or error}; TMPDIR names a folder with room"
        )
        raise FileProblem(msg) from error


def _compared(path: Path, anew: Path, contents: Contents | None) -> Compared:
    difference = _first_difference(path, anew)
    if difference is None:
        return Compared([], NOTHING_ELSE)
    if contents is None:
        return Compared([difference], "")
    import pyarrow as pa

    try:
        (writer, here), (own_writer, own) = contents(path), contents(anew)
    except (ValueError, pa.ArrowException, sqlite3.Error) as error:
        msg = f"cannot read all of {path}; write its lines alone with `rewrite`"
        raise FileProblem(msg) from error
    names = sorted(set(here) | set(own))
    if differ := [name for name in names if here.get(name) != own.get(name)]:
        return Compared([f"{name} is not as trajanon writes it" for name in differ], "")
    if writer == own_writer:
        return Compared([difference], "")
    claim = (
        "whatever can be read in the file is of a release; bytes that nobody reads "
        f"could not be compared, as {writer!r} wrote it and here is {own_writer!r}"
    )
    return Compared([], claim)


def _first_difference(path: Path, anew: Path) -> str | None:
    """Tell where two files differ first, escaped and cut; None if they do not."""
    line, byte = 1, 0
    with path.open("rb") as one, anew.open("rb") as other:
        while True:
            found, right = one.read(_CHUNK), other.read(_CHUNK)
            if found != right:
                pairs = enumerate(zip(found, right, strict=False))
                shorter = min(len(found), len(right))
                at = next((place for place, (a, b) in pairs if a != b), shorter)
                line += found[:at].count(b"\n")
                byte += at
                found, right = found + one.read(_SHOWN), right + other.read(_SHOWN)
                shown, expected = (
                    data[at : at + _SHOWN].decode("utf-8", "backslashreplace")
                    for data in (found, right)
                )
                return (
                    f"byte {byte + 1:,} (line {line:,}) has {shown!r} where trajanon "
                    f"writes {expected!r}"
                )
            if not found:
                return None
            line += found.count(b"\n")
            byte += len(found)
