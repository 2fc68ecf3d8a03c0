"""Encodings other than UTF-8, and what to say of them."""

import pytest

from trajanon.common.text_encoding import encoding_problem, is_utf8, seems_utf16


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_two_bytes_a_letter_are_noticed_with_and_without_a_mark(encoding: str) -> None:
    text = "Straße;Länge\n1;2\n".encode(encoding)
    assert seems_utf16(text)
    assert "seems to be UTF-16: save the file as UTF-8" in encoding_problem(text)


@pytest.mark.parametrize("text", [b"", b"a", b"lat;lon\n", b"\0" * 100, "日本".encode()])
def test_other_texts_are_not_taken_for_it(text: bytes) -> None:
    assert not seems_utf16(text)


def test_what_is_neither_is_perhaps_latin() -> None:
    assert encoding_problem("Länge".encode("latin-1")).startswith("is not UTF-8, perhaps Latin-1")


def test_a_text_that_is_cut_off_within_a_letter_is_still_utf8() -> None:
    text = "Länge".encode()
    assert is_utf8(text)
    assert is_utf8(text[:2])  # the ä has two bytes
    assert not is_utf8("Länge".encode("latin-1"))
