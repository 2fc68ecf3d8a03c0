"""JSON that anybody may have written: of known types, or refused by name."""

import re
import sys
from typing import Annotated, Any, TypeVar

import msgspec

from trajanon.errors import BadInput

T = TypeVar("T")

Finite = Annotated[float, msgspec.Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
Whole = Annotated[int, msgspec.Meta(ge=-sys.maxsize, le=sys.maxsize)]


_KINDS = {
    "int": "a whole number",
    "float": "a finite number",
    "str": "a text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}


def parsed(text: str | bytes, kind: type[T]) -> T:
    """Read JSON as for `typed`; BadInput says what is wrong."""
    try:
        if isinstance(text, bytes):
            text = text.decode()
        value = msgspec.json.decode(text)
    except UnicodeError as error:
        raise BadInput("it is not UTF-8") from error
    except RecursionError as error:
        raise BadInput("it is nested too deeply") from error
    except msgspec.DecodeError as error:
        raise BadInput(f"it is no JSON: {error}") from error
    return typed(value, kind)


def typed(value: Any, kind: type[T]) -> T:
    """Check that a value, with its contents, is of a type; BadInput names the wrong entry."""
    try:
        msgspec.convert(value, kind)
    except RecursionError as error:
        raise BadInput("it is nested too deeply") from error
    except msgspec.ValidationError as error:
        raise BadInput(_plain(str(error))) from error
    found: T = value
    return found


def _plain(words: str) -> str:
    """Translate msgspec's message: which entry should be of which type."""
    what, _, path = words.partition(" - at `$")
    entry = path.rstrip("`").lstrip(".")
    names = re.findall("`(.+?)`", what)
    if not names:  # a number that no float holds
        return f"{entry or 'it'}: {what[:1].lower()}{what[1:]}"
    if what.startswith("Object missing"):
        return f"it lacks {'.'.join(filter(None, (entry, names[0])))}"
    wanted, *got = (
        " or ".join(_KINDS.get(one, one) for one in each.split(" | ")) for each in names
    )
    said = f"{entry or 'it'} should be {wanted}"
    return f"{said}, and is {got[0]}" if got else said
