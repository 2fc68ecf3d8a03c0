"""Subjects: names that are one person's made equal, and numbered; and who has no name."""

import re
import string
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trajanon.common.arrays import Bools, Ints, dense
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of

NAMES_MERGED = "subject names merged"
COPIES_MERGED = "subjects merged (copies of recordings)"
NAMELESS = "recordings of unknown subjects"
NAMELESS_COUNT_AS = "subjects without a name"
"""How provenance counts what is one subject's; recordings without any name, and their subjects."""

_WHOLE = re.compile(r"(-?\d+)\.0+")  # what a gap in a column makes of a whole number

_NUMBER = re.compile(
    r"([+-]?)(\d{1,3}(?:,\d{3})+(?=\.|$)|\d+)(?:[.,](\d*))?(?:e([+-]?\d{1,3}))?", re.ASCII
)
"""A number, perhaps with commas between thousands, a decimal comma, or an exponent."""

_NO_WIDTH = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0]"
)
"""What is not seen, beside controls, formats and separators; tags beyond U+E0000 are formats or
variation selectors."""

_REMEMBERED = 65_536  # names, which come again and again

_UNSEEN_ASCII = dict.fromkeys([*range(0x21), 0x7F])


@lru_cache(_REMEMBERED)
def spelled(name: str) -> str:
    """Write a name in its one spelling: trimmed, single blanks, NFC, 7 for 7.0.

    >>> spelled("  ann   lee "), spelled("7.0")
    ('ann lee', '7')
    """
    name = " ".join(name.split())
    if not name.isprintable() or not name.isascii():
        unseen = ("Cc", "Cf", "Zl", "Zp", "Zs")  # controls, formats, separators
        seen = [n for n, c in enumerate(name) if unicodedata.category(c) not in unseen]
        name = name[seen[0] : seen[-1] + 1] if seen else ""
        name = unicodedata.normalize("NFC", name)
    whole_number = _WHOLE.fullmatch(name) if name.endswith("0") else None
    return name if whole_number is None else whole_number[1]


@lru_cache(_REMEMBERED)
def key_of(name: str, *, exact: bool = False) -> str:
    """Return a form that is equal for all names of one person; with ``exact``, names as they are.

    >>> key_of("Ann Lee."), key_of("ann-lee"), key_of("007"), key_of("+7.0"), key_of("7e0")
    ('annlee', 'ann-lee', '7', '7', '7')
    """
    if exact:
        return name if name.strip() else ""
    if not name.isascii():
        name = _folded(name)
    elif name.isalnum():
        name = name.lower()
    else:
        name = name.translate(_UNSEEN_ASCII).lower()
    if name.isdigit() and name.isascii():
        return name.lstrip("0") or "0"
    if not name or (name[0].isalpha() and name[-1].isalnum()):
        return name

    if (number := _number_key(name)) is not None:
        return number

    inside = _without_punctuation(name)
    return _number_key(inside) or inside or name


def _folded(name: str) -> str:
    """Return a name in Unicode's compatibility form, without case and without what is not seen."""
    before = ""
    while name != before:  # each step may bring forth what another one changes
        before = name
        seen = "".join(_ascii_digit(c) for c in name if not _is_unseen(c))
        name = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())
    return name


def _is_unseen(character: str) -> bool:
    category = unicodedata.category(character)
    if category in ("Cc", "Cf", "Zl", "Zp", "Zs"):  # controls, formats, separators
        return True
    return bool(_NO_WIDTH.match(character)) or 0xE0000 <= ord(character) <= 0xE0FFF


def _ascii_digit(character: str) -> str:
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def _without_punctuation(name: str) -> str:
    """Return a name without the punctuation at its ends."""
    seen = [n for n, c in enumerate(name) if not _is_punctuation(c)]
    return name[seen[0] : seen[-1] + 1] if seen else ""


def _is_punctuation(character: str) -> bool:
    return character in string.punctuation or unicodedata.category(character).startswith("P")


def _number_key(name: str) -> str | None:
    """Return the one way to write a number, digit by digit, or None of what is no number.

    Only a single digit has an exponent, as programs write it: 12e4 is the name of a device.
    """
    number = _NUMBER.fullmatch(name)
    if number is None:
        return None
    sign, whole, fraction, exponent = number.groups(default="")
    if exponent and (len(whole) > 1 or whole == "0"):
        return None
    digits = (whole.replace(",", "") + fraction).lstrip("0")
    significant = digits.rstrip("0")
    if not significant:
        return "0"

    sign = sign.replace("+", "")
    zeros = len(digits) - len(significant) - len(fraction) + int(exponent or 0)
    if zeros >= 0:
        return f"{sign}{significant}{'0' * zeros}"
    padded = significant.rjust(1 - zeros, "0")
    return f"{sign}{padded[:zeros]}.{padded[zeros:]}"


@dataclass(frozen=True, slots=True)
class Merged:
    """How many names, and subjects with copies of a recording, count as another one's."""

    names: int = 0
    copies: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """Return the counts as a provenance has them."""
        return {NAMES_MERGED: self.names, COPIES_MERGED: self.copies}


def merged_sentences(
    merged: Merged, way_out: str = "`subjects_exact=True` takes names as they are"
) -> list[str]:
    """Write what counts as one person, and the way out."""
    sentences = []
    if merged.names:
        names = number_of(merged.names, "name differs", "names differ")
        sentences.append(
            f"{names} from another only in case, blanks, punctuation at the ends or the writing of "
            f"a number: counted as one person ({way_out})."
        )

    if merged.copies:
        people = number_of(merged.copies, "person", "people")
        sentences.append(
            f"{people} fewer: recordings are copies, of the same way at the same times."
        )
    return sentences


class Numbered(NamedTuple):
    """Subjects as numbers; all rows without a name have one, or each its own if none has a name."""

    number: Ints  # in order of appearance
    missing: Bools  # whether a row has no name
    merged: Merged


def column_of(values: ArrayLike | Sequence[object]) -> NDArray[Any]:
    """Return values as an array; of a list, each as it is: 1 and "1" stay two."""
    if hasattr(values, "dtype"):
        return np.asarray(values)
    return np.array(values, dtype=object)


def numbered(
    values: ArrayLike | Sequence[object], *, exact: bool = False, missing_differ: bool = False
) -> Numbered:
    """Number whatever tells subjects apart; None, NaN and blanks are no name."""
    column = column_of(values)
    if column.dtype.kind == "i":  # numbers are as they are
        return Numbered(dense(column), np.zeros(len(column), dtype=np.bool_), Merged())

    import pandas as pd  # tables without subjects do not wait for it

    if column.dtype.kind not in "iuf":
        column = column.astype(object)
    try:
        number, different = pd.factorize(column)
    except (TypeError, ValueError) as error:
        raise BadInput(f"subjects must be names or numbers: {error}") from error

    merged = Merged()
    if column.dtype == object:
        names = [text_of_subject(value) for value in different]
        keys = [key_of(name, exact=exact) for name in names]
        merged = Merged(names=names_merged(names, keys))
        number_of_name = pd.factorize(np.array([key or None for key in keys], dtype=object))[0]
        number = np.append(number_of_name, -1)[number]

    # Rows without a name come last.
    number = number.astype(np.int64)
    missing = number < 0
    named = int(number.max(initial=-1)) + 1
    each_differs = missing_differ or not named
    number[missing] = named + (np.arange(missing.sum()) if each_differs else 0)
    return Numbered(number, missing, merged)


def names_merged(names: Sequence[str], keys: Sequence[str]) -> int:
    """Count the different names beyond one for each key; an empty key is no name."""
    named = {name for name, key in zip(names, keys, strict=True) if key}
    return len(named) - len({*keys} - {""})


def text_of_subject(value: Any) -> str:
    """Write what tells a subject as a name; 7 and 7.0 alike."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    is_whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if is_whole else value)


class Nameless(NamedTuple):
    """How many recordings have no name, and as how many subjects they count."""

    recordings: int = 0
    subjects: int = 0

    @property
    def counts(self) -> dict[str, int]:
        """Return the counts as a provenance has them."""
        return {NAMELESS: self.recordings, NAMELESS_COUNT_AS: self.subjects}


class Identities(NamedTuple):
    """Numbers of subjects and traces, where known, and what to count of them."""

    subject: Ints | None
    trace: Ints | None
    nameless: Nameless = Nameless()
    merged: Merged = Merged()

    @property
    def counts(self) -> dict[str, int]:
        """Return what was found here as a provenance counts it."""
        return {**self.nameless.counts, **self.merged.counts}


def identities(
    subject: ArrayLike | None, trace: ArrayLike | None, *, exact: bool = False
) -> Identities:
    """Number subjects and traces; a trace is all of whom it names in some row.

    All traces without a name are one subject's, or each is its own if none has a name.
    """
    which = None if trace is None else numbered(trace, exact=True, missing_differ=True).number
    if subject is None:
        recordings = 0 if which is None else int(which.max(initial=-1)) + 1
        return Identities(which, which, Nameless(recordings, recordings))
    number, missing, merged = numbered(subject, exact=exact)
    if not missing.any():
        return Identities(number, which, merged=merged)

    recording = np.arange(len(number)) if which is None else which
    named = np.flatnonzero(~missing)[::-1]  # the first row of a trace comes last
    owner = np.full(int(recording.max()) + 1, -1)
    owner[recording[named]] = number[named]
    nameless = owner[recording] < 0
    number = np.where(missing & ~nameless, owner[recording], number)
    if not len(named):
        number = recording

    recordings = len(np.unique(recording[nameless]))
    subjects = 1 if len(named) and recordings else recordings
    return Identities(dense(number), which, Nameless(recordings, subjects), merged)
