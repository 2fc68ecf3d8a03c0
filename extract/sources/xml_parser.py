"""XML chunk by chunk, without a tree, and with limits to what a document can cost."""

from collections.abc import Callable, Container, Iterator
from contextlib import suppress
from typing import Any, Self
from xml.parsers import expat

from trajanon.errors import FileProblem
from trajanon.extract.sources.streams import DAMAGED_ZIP
from trajanon.inputs import other_encoding

CHUNK = 1 << 18  # bytes to feed at once

_BEGINNING = 1 << 14  # bytes that show the kind of a document
_LARGEST_TAG = 1 << 20
_DEEPEST = 256
_BLANK = b" \t\r\n\xef\xbb\xbf"  # and a byte order mark, wherever it stands


class XmlParser:
    """Tells its subclass where elements begin and end, and the text of those that are wanted."""

    kind = "GPX"  # what a document is asked to be
    root = ""  # the element that it begins with
    texts: Container[str] = ()  # elements to read the text of
    longest = 1 << 26  # characters of a text; a line of a million places has fewer

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        self._read = read
        self._name = name
        self._fed = 0
        self._head = b""
        self._path: list[str] = []  # down to the element at hand; names without prefixes
        self._parts: list[str] = []  # of the text at hand
        self._length = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.StartDoctypeDeclHandler = lambda name, *_: self._refuse(
            f"it declares the document type {name!r}"
        )

    def __iter__(self) -> Iterator[Any]:
        """Give what stands in the document, in its order, up to what ends the reading; once."""
        at_end, problem = False, None
        while not at_end and problem is None:
            try:
                at_end = self.read_chunk()
            except FileProblem as error:
                problem = error
            yield from self._taken()
        if problem is not None:
            raise problem

    def read_chunk(self, size: int = CHUNK) -> bool:
        """Read on, at most `size` bytes; say whether this is the end of the document."""
        try:
            chunk = self._read(size)
        except DAMAGED_ZIP as error:
            raise FileProblem(
                f"{self._name} cannot be read to its end ({error}): download it again"
            ) from error
        last = not chunk
        if not self._fed:  # blanks before a document, which XML does not allow
            chunk = chunk.lstrip(_BLANK)
            self._head = chunk[:20]
        self._feed(chunk, last=last)
        if self._fed - self._parser.CurrentByteIndex > _LARGEST_TAG:
            self._refuse("a tag of it goes on for a megabyte")
        return last

    def read_beginning(self) -> Self:
        """Read the first lines of a document, whatever is wrong with them."""
        with suppress(FileProblem):
            self.read_chunk(_BEGINNING)
        return self

    def _begun(self, tag: str, attributes: dict[str, str]) -> None:
        """Take note of an element that begins, the last of the path."""

    def _ended(self, tag: str, text: str) -> None:
        """Take note of an element that ends, the last of the path, and of its text."""

    def _taken(self) -> Iterator[Any]:
        """Give what the last chunk has brought to its end."""
        return iter(())

    def _feed(self, chunk: bytes, *, last: bool = False) -> None:
        try:
            self._parser.Parse(chunk, last)
        except expat.ExpatError as error:
            there = chunk[max(self._parser.ErrorByteIndex - self._fed, 0) :]
            why = f"({expat.ErrorString(error.code)}): it may be cut off, or of another kind"
            if there and not there[:1].isascii():
                why = f"and {other_encoding(there)}"
            raise FileProblem(f"{self._name} is not well-formed XML {why}") from error
        except (LookupError, ValueError) as error:
            raise FileProblem(
                f"{self._name} is in an encoding that is not known here: save it as UTF-8"
            ) from error
        self._fed += len(chunk)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        self._path.append(name)
        if len(self._path) > _DEEPEST:
            self._refuse(f"more than {_DEEPEST} elements stand in each other")
        if len(self._path) == 1 and name != self.root:
            self._refuse(f"it begins with <{name}>, not with <{self.root}>")
        self._parts, self._length = [], 0
        self._parser.CharacterDataHandler = self._add_text if name in self.texts else None
        self._begun(tag, attributes)

    def _add_text(self, text: str) -> None:
        self._length += len(text)
        if self._length > self.longest:
            self._refuse(f"an element of it has more than {self.longest:,} characters")
        self._parts.append(text)

    def _end(self, tag: str) -> None:
        self._ended(tag, "".join(self._parts).strip())
        self._parts = []
        self._parser.CharacterDataHandler = None
        self._path.pop()

    def _refuse(self, why: str) -> None:
        raise FileProblem(f"{self._name} is not {self.kind}: {why}")
