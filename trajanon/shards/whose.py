"""Whose a row is: one number in all parts, however it is written there."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.errors import BadInput
from trajanon.mixing import mixed
from trajanon.partition import of_one_trace

WHOSE = ("subject", "trace")

_OF_TRACES = np.uint64(0x9E3779B97F4A7C15)
"""Keeps the numbers of traces from being those of subjects."""


def subjects(
    where: str, table: Any, kinds: dict[str, str], first: int
) -> NDArray[np.int64]:
    """Number subjects so that all parts do it alike; a trace without is its own.

    Where a trace names its subject in some of these rows only, it is that one's in all
    of them; what other rows name is not known here.

    Two names may get one number, once in very many: then two subjects count as one,
    and groups are larger than they need be.
    """
    numbers, missing = None, None
    for name in WHOSE:
        if name not in kinds:
            continue
        theirs, none = _numbered(where, table[name], name, kinds[name])
        if name == "trace":
            theirs ^= _OF_TRACES
        if numbers is None or missing is None:
            numbers, missing = theirs, none
        else:
            own = np.where(missing, theirs, numbers)
            numbers = of_one_trace(own, missing & ~none, theirs)
            missing &= none
    assert numbers is not None
    assert missing is not None
    if missing.any():  # nobody else's
        rows = first + np.flatnonzero(missing)
        numbers[missing] = mixed(mixed(rows.astype(np.uint64)) ^ _OF_TRACES)
    return numbers.view(np.int64)


def _numbered(
    where: str, column: Any, name: str, kind: str
) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Make a number of each value, and tell which are missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    missing = pc.is_null(column, nan_is_null=True).to_numpy()
    if kind == "names":
        try:
            values = pc.fill_null(column.cast(pa.string()), "").to_numpy()
        except (pa.ArrowException, UnicodeError) as error:
            msg = f"{where} has a {name} whose bytes are no text (UTF-8)"
            raise BadInput(msg) from error
        return pd.util.hash_array(values.astype(object), categorize=True), missing
    try:
        filled = pc.if_else(pc.is_null(column, nan_is_null=True), 0, column)
        whole = filled.cast(pa.int64()).to_numpy()
    except pa.ArrowException as error:
        msg = f"{where} has a {name} that is no whole number, or beyond 64 bits"
        raise BadInput(msg) from error
    exact = _exact_to(column.type)
    if exact is not None and ((whole >= exact) | (whole <= -exact)).any():
        # Another part may write the same one in full, and it would count as two.
        msg = (
            f"{where} has a {name} of {exact:,} or more as a floating-point number "
            "that cannot tell it from the next one: write whole numbers, or names"
        )
        raise BadInput(msg)
    return mixed(whole.astype(np.int64).view(np.uint64)), missing


def _exact_to(kind: Any) -> int | None:
    """From where on floating-point numbers leave out whole ones; None if they are."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if not pa.types.is_floating(kind):
        return None
    return int(2 ** (np.finfo(kind.to_pandas_dtype()).nmant + 1))
