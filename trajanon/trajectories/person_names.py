"""Names of persons made equal: whoever is written in several ways is one person."""

import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from decimal import MAX_PREC, Context, Decimal
from functools import lru_cache

_WHOLE_WITH_POINT = re.compile(r"(-?\d+)\.0+")  # what a gap in a column makes of a whole number

_NUMBER = re.compile(
    r"([+-]?)(\d{1,3}(?:,\d{3})+(?=\.|$)|\d+|(?=\.\d))(?:[.,](\d*))?(?:e([+-]?\d{1,3}))?", re.ASCII
)
"""A number, perhaps with commas between thousands, a decimal comma, or an exponent; .5 is 0.5."""

_HEX_IN_PARTS = re.compile(
    r"(?<![0-9a-f])([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
    r"|[0-9a-f]{2}([:-][0-9a-f]{2}){5}(([:-][0-9a-f]{2}){2})?)(?![0-9a-f])"
)
"""A UUID, or a device's address: some programs write signs between the parts, others none."""

_NOBODY = {
    "-1",
    "na",
    "n/a",
    "n.a",
    "nan",
    "none",
    "null",
    "undefined",
    "notavailable",
    "missing",
    "unknown",
    "anonymous",
    "anonym",
    "guest",
    "unbekannt",
    "inconnu",
    "desconocido",
}
"""What programs and people write where nobody is named."""

_ALL_DIGITS = Context(prec=MAX_PREC)  # a long number is a name, and loses none

_NO_WIDTH = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]"
)
"""What is not seen, beside controls, formats and separators; tags beyond U+E0000 are formats or
variation selectors."""

_UNSEEN = ("Cc", "Cf", "Zl", "Zp", "Zs")  # controls, formats, separators
_UNSEEN_ASCII = dict.fromkeys([*range(0x21), 0x7F])  # which `translate` leaves out

_NAMES_CACHED = 65_536  # as they come again and again


@lru_cache(_NAMES_CACHED)
def tidied(name: str) -> str:
    """Write a name in its one spelling: trimmed, single blanks, NFC, 7 for 7.0.

    >>> tidied("  ann   lee "), tidied("7.0")
    ('ann lee', '7')
    """
    name = " ".join(name.split())
    # A printable name in ASCII has nothing unseen, and only one form.
    if not name.isprintable() or not name.isascii():
        name = _without_ends(name, lambda c: unicodedata.category(c) in _UNSEEN)
        name = unicodedata.normalize("NFC", name)
    whole_number = _WHOLE_WITH_POINT.fullmatch(name)
    return name if whole_number is None else whole_number[1]


@lru_cache(_NAMES_CACHED)
def key_of(name: str, *, exact: bool = False) -> str:
    """Return a form that is equal for all names of one person; with ``exact``, names as they are.

    What stands in place of a name, such as ``N/A`` or a dash, has the form of none.

    >>> key_of("Ann Lee."), key_of("ann-lee"), key_of("007"), key_of("+7.0"), key_of("N/A")
    ('annlee', 'ann-lee', '7', '7', '')
    """
    if exact:
        return name if name.strip() else ""
    name = name.translate(_UNSEEN_ASCII).lower() if name.isascii() else _folded(name)

    name = _HEX_IN_PARTS.sub(lambda parts: re.sub("[:-]", "", parts[0]), name)
    # With a letter in front and a letter or digit at its end, a name has no ends to cut, and is no
    # number.
    if name and not (name[0].isalpha() and name[-1].isalnum()):
        # As a whole first: a sign in front belongs to the number.
        inside = _without_ends(name, _is_punctuation)
        name = _number_key(name) or _number_key(inside) or inside
    return "" if name in _NOBODY else name


def _folded(name: str) -> str:
    """Return a name in Unicode's compatibility form, without case and without what is not seen."""
    before = ""
    while name != before:  # each step may bring forth what another one changes
        before = name
        seen = "".join(_ascii_digit(c) for c in name if not _is_unseen(c))
        name = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())
        # In Turkish, i is the small letter of one with a dot, and one without is that of I.
        name = name.replace("\u0131", "i").replace("i\u0307", "i")
    return name


def _is_unseen(character: str) -> bool:
    """Check whether a character leaves no trace on a screen."""
    if unicodedata.category(character) in _UNSEEN:
        return True
    return bool(_NO_WIDTH.match(character)) or 0xE0000 <= ord(character) <= 0xE0FFF


def _ascii_digit(character: str) -> str:
    """Return the digit 0 to 9 of any script's digit; other characters stay."""
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def _without_ends(name: str, is_cut: Callable[[str], bool]) -> str:
    """Return a name without the characters at both ends that are cut off."""
    stays = [place for place, character in enumerate(name) if not is_cut(character)]
    return name[stays[0] : stays[-1] + 1] if stays else ""


def _is_punctuation(character: str) -> bool:
    """Check whether a character is a punctuation mark, of ASCII or any script."""
    return character in string.punctuation or unicodedata.category(character).startswith("P")


def _number_key(name: str) -> str | None:
    """Return the one way to write a number, digit by digit, or None of what is no number.

    Only a single digit has an exponent, as programs write it: 12e4 is the name of a device.
    """
    match = _NUMBER.fullmatch(name)
    if match is None:
        return None
    sign, integer, fraction, exponent = match.groups(default="")
    if exponent and (len(integer) != 1 or integer == "0"):
        return None

    digits = integer.replace(",", "")
    number = Decimal(f"{sign}{digits}.{fraction}e{exponent or 0}").normalize(_ALL_DIGITS)
    return f"{number:f}" if number else "0"


def names_merged(names: Sequence[str], keys: Sequence[str]) -> int:
    """Count the different names beyond one for each key; an empty key is no name."""
    named = {name for name, key in zip(names, keys, strict=True) if key}
    return len(named) - len({*keys} - {""})


def text_of_subject(value: object) -> str:
    """Write what tells a subject as a name; 7 and 7.0 alike."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)
