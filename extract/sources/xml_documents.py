"""XML that is read chunk by chunk, and as a tree of all that comes before its damage."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from xml.etree.ElementTree import Element, ParseError, TreeBuilder
from xml.parsers import expat

from trajanon.common.errors import FileProblem
from trajanon.common.inputs import other_encoding
from trajanon.extract.sources.streams import DAMAGED_ZIP

LONGEST = 1 << 23  # bytes of a tag or text
_CHUNK = 1 << 16  # bytes
_BLANK = b" \t\r\n\xef\xbb\xbf"  # and a byte order mark, wherever it stands

Text = Callable[[str], object]


def parsed(
    read: Callable[[int], bytes],
    name: str,
    start: Callable[[str, dict[str, str]], object],
    end: Text,
    text: Text,
    comment: Text | None = None,
) -> Iterator[None]:
    """Call functions for what a document holds, up to what ends the reading; yield at each chunk.

    Names have no prefixes, as files use some undeclared ones.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = lambda tag, attributes: start(tag.rpartition(":")[2], attributes)
    parser.EndElementHandler = lambda tag: end(tag.rpartition(":")[2])
    parser.CharacterDataHandler = text
    parser.CommentHandler = comment

    fed = 0  # bytes
    chunk = b""
    ended = False
    while not ended:
        try:
            chunk = read(_CHUNK)
            ended = not chunk
            chunk = chunk if fed else chunk.lstrip(_BLANK)
            parser.Parse(chunk, ended)
        except DAMAGED_ZIP as error:
            if isinstance(error, FileProblem):
                raise
            why = f"cannot be read to its end ({error}): download it again"
            raise FileProblem(f"{name} {why}") from error
        except LookupError as error:
            why = "has an unknown encoding: save it as UTF-8"
            raise FileProblem(f"{name} {why}") from error
        except expat.ExpatError as error:
            damage = chunk[max(parser.ErrorByteIndex - fed, 0) :]
            why = f"({expat.ErrorString(error.code)}): it may be cut off, or of another kind"
            if damage and not damage[:1].isascii():
                why = f"and {other_encoding(damage)}"
            raise FileProblem(f"{name} is not well-formed XML {why}") from error

        fed += len(chunk)
        yield
        if fed - parser.CurrentByteIndex > LONGEST:
            raise FileProblem(f"{name} has a tag or text of more than 8 MB")


def tree_of(read: Callable[[int], bytes], name: str) -> tuple[Element | None, FileProblem | None]:
    """Read a tree, and what ended the reading; its last child is a mark where that was."""
    builder = TreeBuilder()
    elements: list[Element] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = builder.start(tag, attributes)
        if not elements:
            elements.append(element)

    problem = None
    try:
        for _ in parsed(read, name, start, builder.end, builder.data):
            pass
    except FileProblem as error:
        problem = error

    if elements:
        with suppress(ParseError):
            builder.start("end", {})
            return elements[0], problem
        elements[0].append(Element("end"))  # as it was closed
    return (elements[0] if elements else None), problem
