"""A JSON object or list, member by member: only one of them is held as values at a time."""

import io
import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from trajanon.errors import FileProblem
from trajanon.extract.sources.streams import DAMAGED
from trajanon.inputs import other_encoding, seems_utf16

_BLANKS = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def json_members(
    stream: io.BufferedIOBase, opened: Collection[str], what: str
) -> Iterator[tuple[str, Any]]:
    """Give the names and values of an object's members.

    Those named in `opened` are given in pieces: a list by its elements, each under the name of the
    list, and an object by its members. If "" is among them, a list may stand for the object.
    """
    try:
        data = stream.read()
    except DAMAGED as error:
        raise FileProblem(f"cannot unpack {what}: {error}") from error
    try:
        written = "" if seems_utf16(data) else data.decode("utf-8-sig")
    except UnicodeDecodeError:
        written = ""
    if data and not written:
        raise FileProblem(f"{what} {other_encoding(data)}")
    text = _Text(written)
    del data, written
    try:
        is_list = "" in opened and text.sign() == "["
        yield from text.elements("") if is_list else text.members(opened)
        if text.sign():
            raise ValueError("it goes on after its end")
    except (ValueError, RecursionError) as error:
        why = str(error)[:100] if isinstance(error, ValueError) else "it is nested too deeply"
        raise FileProblem(f"{what} is no JSON, or damaged or cut off: {why}") from error


def plain_value(value: Any) -> Any:
    """Give a value of JSON as one that a column of texts or numbers can hold."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()  # JSON may name half a character
    if isinstance(value, list):
        return [plain_value(one) for one in value]
    return str(value) if isinstance(value, int) and abs(value) > 2**53 else value


class _Text:
    """A text that is taken from its beginning on; a `ValueError` says what is wrong with it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def members(self, opened: Collection[str]) -> Iterator[tuple[str, Any]]:
        for _ in self._listed("{", "}"):
            name = self._value()
            if not isinstance(name, str):
                raise ValueError(f"it has {str(name)[:100]!r} for a name")
            self._take(":")
            inside = self.sign() if name in opened else ""
            if inside == "{":
                yield from self.members(opened)
            elif inside == "[":
                yield from self.elements(name)
            else:
                yield name, self._value()

    def elements(self, name: str) -> Iterator[tuple[str, Any]]:
        for _ in self._listed("[", "]"):
            yield name, self._value()

    def sign(self) -> str:
        """Look at the next character that is not blank; empty at the end."""
        blanks = _BLANKS.match(self._text, self._at)
        self._at = blanks.end() if blanks else self._at
        return self._text[self._at : self._at + 1]

    def _listed(self, begin: str, end: str) -> Iterator[None]:
        """Stop before each of the items between two signs; who iterates takes them."""
        self._take(begin)
        if self.sign() == end:
            self._take(end)
            return
        yield
        while self._take(f",{end}") == ",":
            yield

    def _take(self, signs: str) -> str:
        """Take the next character, which is one of these."""
        sign = self.sign()
        if not sign or sign not in signs:
            raise ValueError(f"it has {sign or 'its end'!r} in place of {' or '.join(signs)}")
        self._at += 1
        return sign

    def _value(self) -> Any:
        """Take the next value, whole."""
        self.sign()
        value, self._at = _DECODER.raw_decode(self._text, self._at)
        return value
