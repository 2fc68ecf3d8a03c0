"""Input files: only finite ones; small tables, TOML, and JSON of known types."""

import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Annotated, Any, TypeVar

import msgspec

from trajanon.common.errors import BadInput, FileProblem

T = TypeVar("T")

# Types of what JSON of strangers holds: numbers that are neither infinite nor beyond 64 bits.
Finite = Annotated[float, msgspec.Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
Positive = Annotated[float, msgspec.Meta(gt=0.0, le=sys.float_info.max)]
Whole = Annotated[int, msgspec.Meta(ge=-sys.maxsize, le=sys.maxsize)]

Json = str | float | None | Sequence["Json"] | Mapping[str, "Json"]
"""What JSON can hold."""


def table_beside(module_file: str, name: str) -> list[dict[str, str]]:
    """Read a table of CSV that stands beside a module: a row each, by the names of columns."""
    text = Path(module_file).with_name(name).read_text("utf-8")
    return [*csv.DictReader(text.splitlines())]


def regular(path: Path) -> Path:
    """Return a path; refuse a pipe, a device or a socket before it is opened: it may never end."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return path
    if not S_ISREG(mode) and not S_ISDIR(mode):
        raise BadInput(f"{path} is a device or a pipe: save it to a file, and name that")
    return path


def local_state(path: Path) -> str:
    """Return size, time and number of a file, by which changes are seen; "" if it vanished.

    Owner and mode are left out.
    """
    try:
        state = path.stat()
    except OSError:
        return ""
    return f"{state.st_size} {state.st_mtime_ns} {state.st_ino}"


def read_toml(path: Path, content: str) -> dict[str, Any]:
    """Read a file of TOML that anybody may have written, whose content errors name."""
    import tomllib  # --help does not wait for it

    try:
        return tomllib.loads(regular(path).read_text("utf-8-sig"))
    except OSError as error:
        raise FileProblem(
            f"cannot read {content} {path}: {error.strerror}; name another file"
        ) from error
    except RecursionError as error:
        raise BadInput(f"{path} is nested too deeply") from error
    except ValueError as error:
        raise BadInput(f"{path} does not hold {content}, as TOML in UTF-8: {error}") from error


def parsed(text: str | bytes, value_type: type[T]) -> T:
    """Read JSON that anybody may have written; BadInput says what is wrong."""
    try:
        return typed(msgspec.json.decode(text), value_type)
    except (msgspec.DecodeError, UnicodeError) as error:
        raise BadInput(f"it is not JSON: {error}") from error
    except RecursionError as error:
        raise BadInput("it is nested too deeply") from error


def typed(value: object, value_type: type[T]) -> T:
    """Read a value as a type, without unknown entries; BadInput names a wrong one."""
    try:
        return msgspec.convert(value, value_type)
    except RecursionError as error:
        raise BadInput("it is nested too deeply") from error
    except msgspec.ValidationError as error:
        raise BadInput(str(error).replace("`", "")) from error  # they are no parameters
