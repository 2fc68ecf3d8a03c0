"""JSON that anybody may have written: of known types, or refused by name."""

import json
import re
import sys
from collections.abc import Mapping
from reprlib import repr  # in short, however deep
from types import NoneType, UnionType
from typing import Any, TypeVar, cast, get_args, get_origin, get_type_hints, is_typeddict

from trajanon.errors import BadInput
from trajanon.inputs import other_encoding

T = TypeVar("T")

_HALF = re.compile("[\ud800-\udfff]")

_WORDS = {
    int: "a whole number",
    float: "a finite number",
    str: "a text",
    bool: "true or false",
    list: "a list",
    Mapping: "an object",
    NoneType: "null",
}


def parsed(text: str | bytes, kind: type[T]) -> T:
    """Read JSON of a kind, as for `typed`; BadInput says what is wrong, not where."""
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise BadInput("it is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"it {other_encoding(error.object)}") from error
    except ValueError as error:
        raise BadInput(f"it is no JSON: {str(error)[:100]}") from error
    return typed(value, kind)


def typed(value: Any, kind: type[T], key: str = "") -> T:
    """Give a value back if it is of a kind: a type of JSON; BadInput names the key that is not."""
    kinds = get_args(kind) if isinstance(kind, UnionType) else (kind,)
    found: Any = next((one for one in kinds if _is(value, one)), None)
    if found is None:
        words = " or ".join(_WORDS[_outer(one)] for one in kinds)
        raise BadInput(f"{key or 'it'} should be {words}, and is {repr(value)}")
    if is_typeddict(found):
        for name, its in get_type_hints(found).items():
            inner = f"{key}.{name}".lstrip(".")
            if name in value:
                typed(value[name], its, inner)
            elif name in found.__required_keys__:
                raise BadInput(f"it lacks {inner}")
    elif inside := get_args(found):
        pairs = value.items() if isinstance(value, Mapping) else enumerate(value)
        for place, one in pairs:
            if inside[-1] is not int or not _is(one, int):  # labels are many
                typed(one, inside[-1], f"{key}[{repr(place)}]")
    return cast(T, value)


def _outer(kind: Any) -> Any:
    outer = dict if is_typeddict(kind) else get_origin(kind) or kind
    return Mapping if outer is dict else outer


def _is(value: Any, kind: Any) -> bool:
    if kind is int:  # of 64 bits
        return type(value) is int and abs(value) <= sys.maxsize
    if kind is float:  # or a whole number, which numpy may take for one of 64 bits
        return _is(value, int) or (isinstance(value, float) and abs(value) <= sys.float_info.max)
    if kind is str:  # and not half a letter, which no file can hold
        return isinstance(value, str) and not _HALF.search(value)
    return kind is Any or isinstance(value, _outer(kind))
