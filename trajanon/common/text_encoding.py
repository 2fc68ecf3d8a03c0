"""The encoding of a text: UTF-8, and what to say of another."""

import codecs

_ENCODING_SAMPLE = 4096  # bytes by which an encoding is judged


def seems_utf16(text: bytes) -> bool:
    """Check whether a text, or its beginning, is of two bytes a letter, marked as such or not."""
    text = text[:_ENCODING_SAMPLE]
    letters = max(len(text) // 2, 1)
    if text.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True

    # The high byte of most letters is zero, the low byte of none. Which one comes first is open.
    fewer_zeros, more_zeros = sorted(text[begin::2].count(0) for begin in (0, 1))
    return fewer_zeros < 0.1 * letters and more_zeros > 0.7 * letters


def is_utf8(text: bytes) -> bool:
    """Check whether a text, perhaps cut off within a letter, is UTF-8."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(text)
    except UnicodeDecodeError:
        return False
    return True


def encoding_problem(text: bytes) -> str:
    """Write what a text that is not UTF-8 seems to be, and the way out."""
    latin = "is not UTF-8, perhaps Latin-1 or Windows-1252"
    is_like = "seems to be UTF-16" if seems_utf16(text) else latin
    return f"{is_like}: save the file as UTF-8, as editors do under Save As, and Excel as CSV UTF-8"
