"""XML as a tree that grows while it is read, so that what comes before its damage can be used."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from xml.etree.ElementTree import Element, ParseError, TreeBuilder
from xml.parsers import expat

from trajanon.common.errors import FileProblem
from trajanon.common.text_encoding import encoding_problem
from trajanon.extract.sources.archives import DAMAGED_ZIP

_LONGEST = 1 << 23  # bytes of a tag or text
_DEEPEST = 10_000  # elements within elements
_BYTES_AT_ONCE = 1 << 14  # of more, the elements leave the cache before they are used
_BLANK = b" \t\r\n\xef\xbb\xbf"  # and a byte order mark, wherever it stands


def growing_tree(
    read: Callable[[int], bytes], name: str, comment: Callable[[str], object] | None = None
) -> Iterator[Element]:
    """Yield the root of a document whenever more of it is read, up to what ends the reading.

    An element is whole if another one follows, also the mark <end/> that is put where the reading
    ended.
    What is whole may be taken out of the tree. ``comment`` is called with each comment.
    """
    parser = expat.ParserCreate()
    builder = TreeBuilder()
    roots: list[Element] = []  # empty until it begins

    def begin(tag: str, attributes: dict[str, str]) -> None:
        roots.append(builder.start(tag, attributes))
        parser.StartElementHandler = builder.start

    # For all other elements, of which there may be millions, no function of Python is called.
    parser.StartElementHandler = begin
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.CommentHandler = comment
    parser.buffer_text = True

    parsed = 0  # bytes
    parsed_at_newest = 0  # when the newest element began
    newest: Element | None = None
    problem = None
    chunk = b"\n"  # anything but the end
    text = b""  # what is parsed of the chunk
    while chunk and problem is None:
        try:
            chunk = read(_BYTES_AT_ONCE)
            text = chunk if parsed else chunk.lstrip(_BLANK)  # XML begins without blanks
            parser.Parse(text, not chunk)
        except (*DAMAGED_ZIP, expat.ExpatError, LookupError) as error:
            damage = text[max(parser.ErrorByteIndex - parsed, 0) :]
            problem = _problem_of(error, name, damage)

        parsed += len(text)
        for root in roots:
            newest_before = newest
            newest = _newest(root, name)
            if newest is not newest_before:
                parsed_at_newest = parsed
            if problem or not chunk:
                _mark_end(root, builder)
            yield root
        if parsed - parsed_at_newest > _LONGEST:
            raise FileProblem(f"{name} has a tag or text of more than 8 MB")
    if problem:
        raise problem


def _newest(root: Element, name: str) -> Element:
    """Return the element that began last."""
    element = root
    for _ in range(_DEEPEST):
        if not len(element):
            return element
        element = element[-1]
    raise FileProblem(f"{name} has more than {_DEEPEST:,} elements within each other")


def _mark_end(root: Element, builder: TreeBuilder) -> None:
    """Put a mark where the reading ended, after what is whole."""
    with suppress(ParseError):
        builder.start("end", {})
        return
    root.append(Element("end"))  # the document was closed, so the builder takes no more


def _problem_of(error: Exception, name: str, damage: bytes) -> FileProblem:
    """Describe what ended the reading; damage begins with the bytes that are wrong."""
    if isinstance(error, FileProblem):  # an OSError too: it says already what is wrong
        return error
    why = f"cannot be read to its end ({error}): download it again"
    if isinstance(error, LookupError):
        why = "has an unknown encoding: save it as UTF-8"
    elif isinstance(error, expat.ExpatError):
        why = f"({expat.ErrorString(error.code)}): it may be cut off, or of another kind"
        if damage and not damage[:1].isascii():
            why = f"and {encoding_problem(damage)}"
        why = f"is not well-formed XML {why}"
    return FileProblem(f"{name} {why}")


def strip_prefixes(root: Element) -> Element:
    """Take the prefixes off all tags; expat does not, as some files do not declare theirs."""
    for element in root.iter():
        if ":" in element.tag:
            element.tag = element.tag.rpartition(":")[2]
    return root
