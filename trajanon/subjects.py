"""Subjects: spellings of one name made equal, and numbered."""

import re
import unicodedata
from collections.abc import Mapping, Sequence, Sized
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from trajanon.arrays import Bools, Ints
from trajanon.errors import BadInput

BY_CASE = "subject names merged (upper and lower case)"
BY_BLANKS = "subject names merged (blanks, accents)"
NAMELESS = "recordings of unknown subjects"
"""How provenance counts names that are one subject's, and recordings without any."""

_WHOLE = re.compile(r"(-?\d+)\.0+")  # what a gap in a column makes of a whole number


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
    found = _WHOLE.fullmatch(name) if name.endswith("0") else None
    return name if found is None else found[1]


def key_of(name: str, *, exact: bool = False) -> str:
    """Give a form that is equal for all spellings of a name; with ``exact``, except for case."""
    name = spelled(name)
    if exact:
        return name
    if name.isascii():
        return name.lower()
    # As Unicode defines a match without case; some letters fold to several.
    decomposed = unicodedata.normalize("NFD", name).casefold()
    return unicodedata.normalize("NFC", decomposed)


class Merged(NamedTuple):
    """How many names differ from another only in case; in blanks or accents."""

    case: int = 0
    blanks: int = 0

    @classmethod
    def among(cls, given: Sized, spelt: Sized, keys: Sized) -> "Merged":
        """Count different names as given, as `spelled`, and by their `key_of`."""
        return cls(len(spelt) - len(keys), len(given) - len(spelt))

    @classmethod
    def counted_in(cls, provenance: Mapping[str, Any]) -> "Merged":
        """Read what a provenance counts."""
        return cls(count_of(provenance, BY_CASE) or 0, count_of(provenance, BY_BLANKS) or 0)

    @property
    def counts(self) -> dict[str, int]:
        """As a provenance counts them."""
        return {BY_CASE: self.case, BY_BLANKS: self.blanks}

    def sentence(self, way_out: str = "`subjects_exact=True` keeps these apart") -> str:
        """Say what was merged, and the way out; empty if nothing was."""
        case = f"{self.case:,} differed in upper and lower case ({way_out})"
        blanks = f"{self.blanks:,} differed in blanks or in the encoding of accents"
        names = ", ".join([case] * bool(self.case) + [blanks] * bool(self.blanks))
        return f"Spellings of one name count as one subject: {names}." if names else ""


class Numbered(NamedTuple):
    """Subjects as numbers; a row without a name gets a subject of its own."""

    number: Ints  # in order of appearance
    missing: Bools  # whether a row has no name
    merged: Merged


def column_of(values: ArrayLike | Sequence[object]) -> NDArray[Any]:
    """Take values as an array; of a list, each as it is: 1 and "1" stay two."""
    if hasattr(values, "dtype"):
        return np.asarray(values)
    return np.array(values, dtype=object)


def numbered(values: ArrayLike | Sequence[object], *, exact: bool = False) -> Numbered:
    """Number whatever tells subjects apart; None, NaN and blanks are no name."""
    given = column_of(values)
    if given.dtype.kind not in "iuf":
        given = given.astype(object)
    try:
        number, found = pd.factorize(given)
    except (TypeError, ValueError) as error:
        raise BadInput(f"subjects must be names or numbers: {error}") from error
    merged = Merged()
    if given.dtype == object:
        names = [text_of_subject(value) for value in found]
        spelt = [spelled(name) for name in names]
        keys = [key_of(name, exact=exact) for name in spelt]
        named = {(n, s, k) for n, s, k in zip(names, spelt, keys, strict=True) if k}
        merged = Merged.among(*map(set, zip(*named, strict=True))) if named else merged
        same = pd.factorize(np.array([key or None for key in keys], dtype=object))[0]
        number = np.append(same, -1)[number]
    number = number.astype(np.int64)
    missing = number < 0
    number[missing] = number.max(initial=-1) + 1 + np.arange(missing.sum())
    return Numbered(number, missing, merged)


def text_of_subject(value: Any) -> str:
    """Write what tells a subject as a name; 7 and 7.0 alike."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value) if whole else value)


class Identities(NamedTuple):
    """Numbers of subjects and traces, where known, and what to count of them."""

    subject: Ints | None
    trace: Ints | None
    nameless: int = 0
    merged: Merged = Merged()

    def counted_in(self, provenance: Mapping[str, Any]) -> Mapping[str, Any]:
        """Add what was found here to what a provenance counts."""
        found = {NAMELESS: self.nameless, **self.merged.counts}
        more = {what: n + (count_of(provenance, what) or 0) for what, n in found.items() if n}
        if not more:
            return provenance
        counts = provenance.get("counts")
        return {**provenance, "counts": {**(counts if isinstance(counts, Mapping) else {}), **more}}


def identities(
    subject: ArrayLike | None, trace: ArrayLike | None, *, exact: bool = False
) -> Identities:
    """Number subjects and traces; a trace is all of whom it names in some row, or else its own."""
    which = None if trace is None else numbered(trace, exact=True)
    if subject is None:
        number = None if which is None else which.number
        return Identities(number, number)
    who = numbered(subject, exact=exact)
    number, missing = who.number, who.missing
    if which is not None and missing.any():
        own = number.max() + 1 + np.arange(which.number.max() + 1)
        named = np.flatnonzero(~missing)[::-1]  # the first row of a trace comes last
        own[which.number[named]] = number[named]
        number = numbered(np.where(missing, own[which.number], number)).number
        missing &= ~np.isin(which.number, which.number[named])
    nameless = len(np.unique(number[missing]))
    return Identities(number, None if which is None else which.number, nameless, who.merged)


def nameless(provenance: Mapping[str, Any]) -> int:
    """Count recordings that have no subject, and count as one each."""
    return count_of(provenance, NAMELESS) or 0


def count_of(provenance: Mapping[str, Any], what: str) -> int | None:
    """Read what a provenance counts; None if it does not."""
    counts = provenance.get("counts")
    count = counts.get(what) if isinstance(counts, Mapping) else None
    return count if type(count) is int and count >= 0 else None
