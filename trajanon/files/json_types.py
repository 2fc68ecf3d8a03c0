"""JSON that anybody may have written: of known types, or refused by name."""

import sys
from typing import Annotated, Any, TypeVar

import msgspec

from trajanon.errors import BadInput

T = TypeVar("T")

Finite = Annotated[float, msgspec.Meta(ge=-sys.float_info.max, le=sys.float_info.max)]
Whole = Annotated[int, msgspec.Meta(ge=-sys.maxsize, le=sys.maxsize)]


def parsed(text: str | bytes, kind: type[T]) -> T:
    """Read JSON as for `typed`; BadInput says what is wrong."""
    try:
        return typed(msgspec.json.decode(text), kind)
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise BadInput(f"it is no JSON: {error}") from error


def typed(value: Any, kind: type[T]) -> T:
    """Give a value back, with all that is in it, if it is of a kind; BadInput names what is not."""
    try:
        msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise BadInput(f"{str(error)[:1].lower()}{str(error)[1:]}") from error
    found: T = value
    return found
