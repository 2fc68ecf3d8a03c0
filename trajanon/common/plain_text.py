"""Texts of strangers, such as street names, made safe for files, spreadsheets and terminals."""

import re
import unicodedata

# A spreadsheet takes a cell that begins with one of these for a formula; the last four are their
# full-width forms.
_FORMULA_STARTS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")

# Invisible, but kept: they decide how letters of some scripts are joined.
_ZERO_WIDTH_JOINERS = "\u200c\u200d"

# Unicode categories: controls, format characters, halves of characters, ends of lines, paragraphs.
_INVISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}

# Characters that terminals obey (controls, directions of writing) and that JSON need not escape.
_TERMINAL_CONTROLS = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")

EMAIL = re.compile(r"[\w.+'~-]+@[\w-]+(\.[\w-]+)+")
WEB_PAGE = re.compile(r"https?://[\w.-]+(:\d+)?([/?#][^\s<>\"{}|\\^`]*)?")


def plain_text(text: str, *, cell: bool = False) -> str:
    r"""Remove control characters from a text; with ``cell``, also keep it from being a formula.

    Line breaks and tabs become blanks. A text for a cell of CSV gets an apostrophe in front, if a
    spreadsheet would otherwise compute it.

    >>> plain_text("High\x1b[2J\nStreet"), plain_text("=1+1", cell=True), plain_text("=1+1")
    ('High[2J Street', "'=1+1", '=1+1')
    """
    one_line = " ".join(re.split(r"[\t\n\v\f\r\x85\u2028\u2029]+", text))
    visible = (
        character
        for character in one_line
        if character in _ZERO_WIDTH_JOINERS or unicodedata.category(character) not in _INVISIBLE
    )
    plain = "".join(visible).strip()
    return f"'{plain}" if cell and plain.startswith(_FORMULA_STARTS) else plain


def code_span(name: str) -> str:
    r"""Quote a file name so that it cannot be anything but text in a table of Markdown.

    >>> code_span("a|`b`\n.csv")
    '`a??b??.csv`'
    """
    # A backtick would end the span, and a bar the cell of the table.
    shown = "".join(c if c.isprintable() and c not in "`|" else "?" for c in name)
    return f"`{shown}`"


def markdown(text: str) -> str:
    r"""Escape a text for Markdown, so that it has no markup; make an address a link to itself.

    >>> print(markdown("a|b <script>"), markdown("https://madrid.es/a_b"))
    a\|b \<script\> <https://madrid.es/a_b>
    """
    if EMAIL.fullmatch(text) or WEB_PAGE.fullmatch(text):
        return f"<{text}>"
    return re.sub(r"[\\`*_\[\]<>|&~]", r"\\\g<0>", text)


def escaped_json(text: str) -> str:
    r"""Escape what a terminal would obey or hide in JSON; a parser reads the same values.

    >>> print(escaped_json('{"name": "a\x9bb"}'))
    {"name": "a\u009bb"}
    """
    return _TERMINAL_CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
