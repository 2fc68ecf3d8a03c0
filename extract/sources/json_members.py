"""A JSON object or list of any length, member by member."""

import codecs
import io
import json
import re
from collections.abc import Collection, Iterator
from typing import Any

from trajanon.errors import FileProblem
from trajanon.extract.sources.streams import DAMAGED
from trajanon.inputs import other_encoding, seems_utf16

LONGEST = 1 << 26
"""Characters of a value that is read as one; a trip of MDS of 400,000 points is shorter."""

_CHUNK = 1 << 20
_BLANKS = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def json_members(
    stream: io.BufferedIOBase, opened: Collection[str], what: str
) -> Iterator[tuple[str, Any]]:
    """Give the names and values of an object's members.

    Those named in `opened` are given in pieces: a list by its elements, each under the name of the
    list, and an object by its members. If "" is among them, a list may stand for the object.
    """
    text = _Text(stream, what)
    try:
        is_list = "" in opened and text.sign() == "["
        yield from text.elements("") if is_list else text.members(opened)
    except RecursionError as error:
        raise text.broken("it is nested too deeply") from error
    if text.sign():
        raise text.broken("it goes on after its end")


def plain_value(value: Any) -> Any:
    """Give a value of JSON as one that a column of texts or numbers can hold."""
    if isinstance(value, str):
        return value.encode(errors="replace").decode()  # JSON may name half a character
    if isinstance(value, list):
        return [plain_value(one) for one in value]
    return str(value) if isinstance(value, int) and abs(value) > 2**53 else value


class _Text:
    """The text of a stream; it holds no more of it than the next value needs."""

    def __init__(self, stream: io.BufferedIOBase, what: str) -> None:
        self._stream = stream
        self._what = what
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")()
        self._text = ""
        self._at = 0
        self._ended = False

    def broken(self, why: str) -> FileProblem:
        return FileProblem(f"{self._what} is no JSON, or damaged or cut off: {why}")

    def members(self, opened: Collection[str]) -> Iterator[tuple[str, Any]]:
        for _ in self._listed("{", "}"):
            name = self._value()
            if not isinstance(name, str):
                raise self.broken(f"it has {str(name)[:100]!r} for a name")
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
        while True:
            if blanks := _BLANKS.match(self._text, self._at):
                self._at = blanks.end()
            if self._at < len(self._text) or self._ended:
                return self._text[self._at : self._at + 1]
            self._read_more()

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
            raise self.broken(f"it has {sign or 'its end'!r} in place of {' or '.join(signs)}")
        self._at += 1
        return sign

    def _value(self) -> Any:
        """Take the next value, whole."""
        self.sign()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except ValueError as error:
                if self._ended:
                    raise self.broken(str(error)[:100]) from error
            else:
                if end < len(self._text) or self._ended:  # or a number may go on
                    self._at = end
                    return value
            self._read_more()

    def _read_more(self) -> None:
        held = len(self._text) - self._at
        if held > LONGEST:
            raise FileProblem(
                f"{self._what} is no JSON, or holds a value of more than {LONGEST:,} characters; "
                "write long recordings in several pieces"
            )
        data = b""
        try:
            data = self._stream.read(max(_CHUNK, held))  # twice as much: few values are read twice
            if seems_utf16(data):
                raise FileProblem(f"{self._what} {other_encoding(data)}")
            text = self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise FileProblem(f"{self._what} {other_encoding(data)}") from error
        except DAMAGED as error:
            raise FileProblem(f"cannot unpack {self._what}: {error}") from error
        self._text, self._at = self._text[self._at :] + text, 0
        self._ended = not data
