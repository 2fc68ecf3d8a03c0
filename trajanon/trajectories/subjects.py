"""Subjects: who made which recordings, as numbers; whose names are equal, and who has none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from trajanon.common.arrays import Bools, Column, Ints, renumbered
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.trajectories.person_names import key_of, names_merged, text_of_subject

# How provenance counts what is one subject's.
NAMES_MERGED = "subject names merged"  # other spellings of a name
COPIES_MERGED = "subjects merged (copies of recordings)"
NAMELESS = "recordings of unknown subjects"
NAMELESS_COUNT_AS = "subjects without a name"  # those that they count as
PERHAPS_TRIPS = "people whose only recording is named as another's"
DRAWN_ANEW = "people with names that seem to be drawn anew"
AT_TWO_PLACES = "subjects at two places at one time"


@dataclass(frozen=True, slots=True)
class Merged:
    """How many are another subject by their name, or by a copy of a recording."""

    names: int = 0  # names that differ from another one in spelling alone
    copies: int = 0  # subjects whose recordings are copies of another's, as extraction finds

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
            f"{names} from another only in case, spaces, punctuation at the ends or the writing of "
            f"a number: they count as one person ({way_out})."
        )

    if merged.copies:
        people = number_of(merged.copies, "person", "people")
        sentences.append(
            f"{people} fewer: some recordings are copies, of the same way and at the same times, "
            "if they have any."
        )
    return sentences


class Numbered(NamedTuple):
    """Subjects as numbers; all rows without a name have one, or each its own if none has a name."""

    number: Ints  # in order of appearance
    missing: Bools  # whether a row has no name
    merged: Merged


def column_of(values: ArrayLike | Sequence[object]) -> Column:
    """Return values as an array; of a list, each as it is: 1 and "1" stay two."""
    if hasattr(values, "dtype"):
        return np.asarray(values)
    return np.array(values, dtype=object)


def numbered(
    values: ArrayLike | Sequence[object], *, exact: bool = False, missing_differ: bool = False
) -> Numbered:
    """Number whatever tells subjects apart; None, NaN and blanks are no name.

    With ``exact`` names are told apart by each letter, and with ``missing_differ`` each row without
    a name has a number of its own.
    """
    column = column_of(values)
    # Signed whole numbers have no missing values, and one spelling each.
    if column.dtype.kind == "i":
        return Numbered(renumbered(column), np.zeros(len(column), dtype=np.bool_), Merged())

    import pandas as pd  # tables without subjects do not wait for it

    if column.dtype.kind not in "iuf":  # texts, dates and the like are names
        column = column.astype(object)
    try:
        number, different = pd.factorize(column)
    except (TypeError, ValueError) as error:
        raise BadInput(f"subjects must be names or numbers: {error}") from error

    # Numbers are compared as they are; names by the one form of all their spellings.
    merged = Merged()
    if column.dtype == object:
        names = [text_of_subject(value) for value in different]
        keys = [key_of(name, exact=exact) for name in names]
        merged = Merged(names=names_merged(names, keys))
        number_of_name = pd.factorize(np.array([key or None for key in keys], dtype=object))[0]
        # A missing value has the number -1, which is the last place, and so stays -1.
        number = np.append(number_of_name, -1)[number]

    # Rows without a name have the last numbers.
    number = number.astype(np.int64)
    is_missing = number < 0
    subjects_with_name = int(number.max(initial=-1)) + 1
    each_differs = missing_differ or not subjects_with_name
    place_among_missing = np.arange(is_missing.sum()) if each_differs else 0
    number[is_missing] = subjects_with_name + place_among_missing
    return Numbered(number, is_missing, merged)


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
    nameless_subject: int | None = None  # that of all traces without a name; None if there is none

    @property
    def counts(self) -> dict[str, int]:
        """Return what was found here as a provenance counts it."""
        return {**self.nameless.counts, **self.merged.counts}


def identities(
    subject: ArrayLike | None,
    trace: ArrayLike | None,
    *,
    exact: bool = False,
    nameless: int | None = None,
) -> Identities:
    """Number subjects and traces; a row without a name is of the first subject its trace names.

    All traces without a name are one subject's, or each is its own if none has a name.
    ``nameless`` is the value of ``subject`` for these, where they were numbered before.
    """
    trace_number = (
        None if trace is None else numbered(trace, exact=True, missing_differ=True).number
    )
    if subject is None:
        recordings = 0 if trace_number is None else int(trace_number.max(initial=-1)) + 1
        return Identities(trace_number, trace_number, Nameless(recordings, recordings))
    number, missing, merged = numbered(subject, exact=exact)
    if not missing.any():
        is_nameless = np.isin(column_of(subject), [] if nameless is None else [nameless])
        nameless_subject = _number_at(is_nameless, number)
        return Identities(number, trace_number, merged=merged, nameless_subject=nameless_subject)

    trace_of_row = np.arange(len(number)) if trace_number is None else trace_number
    named_rows = np.flatnonzero(~missing)[::-1]  # of several assignments the last one stays
    subject_of_trace = np.full(int(trace_of_row.max()) + 1, -1)
    subject_of_trace[trace_of_row[named_rows]] = number[named_rows]
    is_nameless = subject_of_trace[trace_of_row] < 0
    traces = len(np.unique(trace_of_row[is_nameless]))
    if not len(named_rows):  # nobody has a name: each trace is a subject
        return Identities(renumbered(trace_of_row), trace_number, Nameless(traces, traces), merged)

    # A row without a name is of the subject of its trace. All traces without any are one's.
    number = renumbered(np.where(missing & ~is_nameless, subject_of_trace[trace_of_row], number))
    return Identities(
        number,
        trace_number,
        Nameless(traces, min(traces, 1)),
        merged,
        nameless_subject=_number_at(is_nameless, number),
    )


def _number_at(is_there: Bools, numbers: Ints) -> int | None:
    """Return the number in the first row that is marked; None if none is."""
    return int(numbers[np.argmax(is_there)]) if np.any(is_there) else None
