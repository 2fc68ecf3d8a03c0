"""XML documents as trees that grow chunk by chunk, so that what is whole can be taken out."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from xml.etree.ElementTree import Element, ParseError, TreeBuilder
from xml.parsers import expat

from trajanon.common.errors import FileProblem
from trajanon.common.inputs import other_encoding
from trajanon.extract.sources.streams import DAMAGED_ZIP

_LONGEST = 1 << 23  # bytes of a tag or text
_CHUNK = 1 << 16  # bytes: few elements at a time, for the collector of garbage
_BLANK = b" \t\r\n\xef\xbb\xbf"  # and a byte order mark, wherever it stands


class XmlDocument:
    """A document whose elements have names without prefixes, as files use some undeclared ones."""

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        self._read = read
        self._name = name
        self._root: Element | None = None
        self._builder = TreeBuilder()
        self.comments = deque[str](maxlen=10)

    def growing(self, levels: int) -> Iterator[Element]:
        """Return the root after each chunk, up to what ends the reading.

        The last child of an element may go on; those before it are whole, and are then removed from
        the upper levels. In the end, the last child is a mark where the reading ended.
        """
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._builder.end
        parser.CharacterDataHandler = self._builder.data
        parser.CommentHandler = self.comments.append

        fed = shrunk = 0  # bytes
        problem: FileProblem | None = None
        chunk = b""
        ended = False
        while not (ended or problem):
            try:
                chunk = self._read(_CHUNK)
                ended = not chunk
                if not fed:
                    chunk = chunk.lstrip(_BLANK)
                parser.Parse(chunk, ended)
            except DAMAGED_ZIP as error:
                why = f"cannot be read to its end ({error}): download it again"
                problem = FileProblem(f"{self._name} {why}")
            except LookupError:
                problem = FileProblem(f"{self._name} has an unknown encoding: save it as UTF-8")
            except expat.ExpatError as error:
                problem = self._ill_formed(error, chunk[max(parser.ErrorByteIndex - fed, 0) :])

            fed += len(chunk)
            if self._root is not None:
                if problem or ended:
                    self._mark_end(self._root)
                yield self._root
                if _shrink(self._root, levels):
                    shrunk = fed
            if levels and fed - shrunk > _LONGEST:
                raise FileProblem(f"{self._name} has a tag or text of more than 8 MB")

        # It holds this object, with the buffer of the stream, until a collector comes by.
        del parser
        if problem:
            raise problem

    def _ill_formed(self, error: expat.ExpatError, there: bytes) -> FileProblem:
        why = f"({expat.ErrorString(error.code)}): it may be cut off, or of another kind"
        if there and not there[:1].isascii():
            why = f"and {other_encoding(there)}"
        return FileProblem(f"{self._name} is not well-formed XML {why}")

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if ":" in tag:
            tag = tag.rpartition(":")[2]
        element = self._builder.start(tag, attributes)
        if self._root is None:
            self._root = element

    def _mark_end(self, root: Element) -> None:
        with suppress(ParseError):
            self._builder.start("end", {})
            return
        root.append(Element("end"))  # as it was closed


def _shrink(root: Element, levels: int) -> bool:
    """Remove what is whole from the upper levels; return whether anything was."""
    shrunk = False
    element = root
    for _ in range(levels):
        if len(element) > 1:
            del element[:-1]
            shrunk = True
        if not len(element):
            break
        element = element[-1]
    return shrunk
