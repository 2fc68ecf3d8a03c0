"""XML as a tree that grows: what is whole, where it ends, and documents that never end."""

import gzip
import io
from pathlib import Path
from xml.etree.ElementTree import Element

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trajanon.common.errors import FileProblem
from trajanon.extract import traces
from trajanon.extract.sources import xml_documents
from trajanon.extract.sources.xml_documents import growing_tree, strip_prefixes

MB = 1 << 20


def tags(element: Element) -> list[str]:
    return [child.tag for child in element]


@given(st.integers(1, 40))
def test_of_any_part_of_a_document_all_but_the_last_element_is_whole(size: int) -> None:
    text = b"<rows>" + b"".join(b"<row>%d</row>" % number for number in range(20)) + b"</rows>"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(xml_documents, "_BYTES_AT_ONCE", size)
        taken = []
        for root in growing_tree(io.BytesIO(text).read, "a.xml"):
            taken += [row.text for row in root[:-1]]
            del root[:-1]
    assert taken == [str(number) for number in range(20)]


@pytest.mark.parametrize("before", [b"\n", b"\xef\xbb\xbf\n", b" \xef\xbb\xbf"])
def test_blanks_before_the_declaration_are_passed_over(before: bytes) -> None:
    text = before + b'<?xml version="1.0"?><a><b/></a>'
    *_, root = growing_tree(io.BytesIO(text).read, "a.xml")
    assert tags(root) == ["b", "end"]


def broken_off(text: bytes) -> Element:
    """Return the tree of a document that breaks off, which is refused in the end."""
    roots: list[Element] = []
    with pytest.raises(FileProblem, match=r"a\.xml is not well-formed XML .*it may be cut off"):
        roots.extend(growing_tree(io.BytesIO(text).read, "a.xml"))
    return roots[-1]


def test_what_comes_before_the_damage_ends_with_a_mark() -> None:
    root = broken_off(b"<rows><row>1</row><row>2</row><row")
    assert tags(root) == ["row", "row", "end"]
    assert [row.text for row in root[:2]] == ["1", "2"]


def test_the_mark_stands_within_the_element_that_broke_off() -> None:
    root = broken_off(b"<a><b><c/><d")
    assert tags(root) == ["b"]
    assert tags(root[0]) == ["c", "end"]


def test_letters_of_another_encoding_are_said_to_be_so() -> None:
    text = "<rows><name>Café</name></rows>".encode("latin-1")
    with pytest.raises(FileProblem, match="is not UTF-8, perhaps Latin-1"):
        list(growing_tree(io.BytesIO(text).read, "a.xml"))


def test_comments_are_passed_on() -> None:
    comments: list[str] = []
    text = b"<!-- one --><a><!-- two --></a>"
    *_, root = growing_tree(io.BytesIO(text).read, "a.xml", comments.append)
    assert comments == [" one ", " two "]
    assert tags(root) == ["end"]


def test_prefixes_are_taken_off_all_tags() -> None:
    text = b'<k:kml><gx:Track gx:id="1"><when/></gx:Track></k:kml>'
    *_, root = growing_tree(io.BytesIO(text).read, "a.xml")
    assert [element.tag for element in strip_prefixes(root).iter()] == [
        *("kml", "Track", "when", "end")
    ]
    assert root[0].get("gx:id") == "1"


@pytest.mark.parametrize(
    ("head", "unit", "says"),
    [
        (b"<gpx>", b" ", "a tag or text of more than 8 MB"),
        (b'<gpx a="', b"no end ", "a tag or text of more than 8 MB"),
        (b"<gpx><trk><url>", b"no end ", "a tag or text of more than 8 MB"),
        (b"<gpx>", b"<a>", "more than 10,000 elements within each other"),
    ],
)
def test_an_element_that_never_ends_is_refused(
    tmp_path: Path, head: bytes, unit: bytes, says: str
) -> None:
    path = tmp_path / "a.gpx.gz"
    piece = gzip.compress(unit * (4 * MB // len(unit)))
    path.write_bytes(gzip.compress(head) + 23 * piece)
    with pytest.raises(FileProblem, match=says):
        list(traces(path))
