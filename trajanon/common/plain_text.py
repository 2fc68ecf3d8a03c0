"""Texts of strangers, such as names of streets, for files, spreadsheets and terminals."""

import re
import unicodedata

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")  # by which spreadsheets know one
_JOINERS = "\u200c\u200d"  # which change how letters of some scripts look
_UNSEEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}  # controls, formats, halves of characters, ends of lines
_OBEYED = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")  # beside JSON's own

EMAIL = re.compile(r"[\w.+'~-]+@[\w-]+(\.[\w-]+)+")
WEB_PAGE = re.compile(r"https?://[\w.-]+(:\d+)?([/?#][^\s<>\"{}|\\^`]*)?")


def plain_text(text: str, *, cell: bool = False) -> str:
    r"""Remove control characters from a text; as a cell of CSV, it is no formula.

    >>> plain_text("High\x1b[2J\nStreet"), plain_text("=1+1", cell=True), plain_text("=1+1")
    ('High[2J Street', "'=1+1", '=1+1')
    """
    blank = " ".join(re.split(r"[\t\n\v\f\r\x85\u2028\u2029]+", text))
    seen = (c for c in blank if c in _JOINERS or unicodedata.category(c) not in _UNSEEN)
    plain = "".join(seen).strip()
    return f"'{plain}" if cell and plain.startswith(_FORMULA) else plain


def code_span(name: str) -> str:
    r"""Quote a file name so that it cannot be anything but text in a table of Markdown.

    >>> code_span("a|`b`\n.csv")
    '`a??b??.csv`'
    """
    shown = "".join(c if c.isprintable() and c not in "`|" else "?" for c in name)
    return f"`{shown}`"


def markdown(text: str) -> str:
    r"""Write a text for Markdown, where it is nothing but text, or a link to itself.

    >>> print(markdown("a|b <script>"), markdown("https://madrid.es/a_b"))
    a\|b \<script\> <https://madrid.es/a_b>
    """
    if EMAIL.fullmatch(text) or WEB_PAGE.fullmatch(text):
        return f"<{text}>"
    return re.sub(r"[\\`*_\[\]<>|&~]", r"\\\g<0>", text)


def escaped_json(text: str) -> str:
    r"""Escape in JSON what terminals obey or hide; its values stay the same.

    >>> print(escaped_json('{"name": "a\x9bb"}'))
    {"name": "a\u009bb"}
    """
    return _OBEYED.sub(lambda c: f"\\u{ord(c[0]):04x}", text)
