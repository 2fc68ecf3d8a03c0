"""XML whose elements tell fixes, chunk by chunk."""

from collections.abc import Callable, Iterator

from trajanon.errors import FileProblem
from trajanon.extract.sources.devices.fixes import Fix
from trajanon.extract.sources.gpx.xml_parser import XmlParser

_LONGEST = 1 << 26
"""Characters of one element; a line of a million places has fewer."""


class XmlFixes(XmlParser):
    """Tells its subclass when an element begins and ends; the names are without prefixes."""

    root = ""  # the element that a document begins with

    def __init__(self, read: Callable[[int], bytes], name: str) -> None:
        super().__init__(read, name)
        self._path: list[str] = []  # down to the element at hand
        self._found: list[Fix | None] = []
        self._texts: list[str] = []
        self._length = 0
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._add_text

    def __iter__(self) -> Iterator[Fix | None]:
        """Read the fixes in their order; once."""
        at_end, problem = False, None
        while not at_end and problem is None:
            try:
                at_end = self.read_chunk()
            except FileProblem as error:
                problem = error
            found, self._found = self._found, []
            yield from found
        if problem is not None:
            raise problem
        yield from self._rest()

    def _begun(self, tag: str) -> None:
        """Take note of an element that begins."""

    def _ended(self, tag: str, text: str) -> None:
        """Take note of an element that ends, the last of the path, and of the text in it."""

    def _rest(self) -> Iterator[Fix | None]:
        """Give what is known only at the end."""
        return iter(())

    def _start(self, tag: str, _: list[str]) -> None:
        self._path.append(tag.rpartition(":")[2])
        self._check_depth(len(self._path))
        if len(self._path) == 1 and self._path != [self.root]:
            self._refuse(f"it begins with <{self._path[0]}>, not with <{self.root}>")
        self._texts, self._length = [], 0
        self._begun(self._path[-1])

    def _add_text(self, text: str) -> None:
        self._length += len(text)
        if self._length > _LONGEST:
            self._refuse(f"an element of it has more than {_LONGEST:,} characters")
        self._texts.append(text)

    def _end(self, _: str) -> None:
        self._ended(self._path[-1], "".join(self._texts).strip())
        self._texts, self._length = [], 0
        self._path.pop()
