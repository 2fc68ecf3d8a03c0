"""Numbers for who made the rows of a file: the same in every file, whatever their type there."""

from typing import Any

import numpy as np
import pandas as pd

from trajanon.arrays import Bools, Hashes
from trajanon.files.geoparquet import written_column
from trajanon.subjects import key_of, text_of_subject

_OF_TRACES = np.uint64(0x9E3779B97F4A7C15)
"""Keeps the numbers of traces from being those of subjects."""


def makers(where: object, file: Any, *, exact: bool) -> tuple[Hashes, Bools]:
    """Number who made each row, (n,); and mark rows that have neither a subject nor a trace.

    A trace without a subject is its own; one that names it in some rows only has the first of them
    in all.
    """
    who, lacks = _hashed(where, file, "subject", exact=exact)
    trace, untraced = _hashed(where, file, "trace", exact=True)
    trace ^= _OF_TRACES
    names = ~lacks & ~untraced
    named = pd.Series(who[names], index=trace[names])
    named = named[~named.index.duplicated()]
    place = named.index.get_indexer(trace)
    known = lacks & ~untraced & (place >= 0)
    number = np.where(lacks, trace, who)
    number[known] = named.to_numpy()[place[known]]
    return number, lacks & untraced


def _hashed(where: object, file: Any, name: str, *, exact: bool) -> tuple[Hashes, Bools]:
    """Hash the values of a column, equal for 7 and "7", and mark missing ones."""
    if (column := written_column(where, file, name)) is None:
        return np.zeros(file.n, np.uint64), np.ones(file.n, np.bool_)
    code, values = pd.factorize(column)
    keys = [*(key_of(text_of_subject(value), exact=exact) for value in values), ""]
    hashes = pd.util.hash_array(np.array(keys, dtype=object))
    return hashes[code], np.array([not key for key in keys])[code]
