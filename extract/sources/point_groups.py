"""Rows of points in any order -> traces."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.errors import ColumnsUnclear
from trajanon.common.number_text import number_of
from trajanon.extract.sources.column_evidence import as_given
from trajanon.extract.sources.column_roles import FILE, MARKS
from trajanon.extract.sources.coordinates import numbers, reader_of_degrees
from trajanon.extract.sources.points_apart import leaps_in, of_several, without_order
from trajanon.extract.sources.streams import TABLE_CUT_OFF, Reading
from trajanon.extract.sources.timestamps import TimeColumn
from trajanon.extract.trace import Trace
from trajanon.trajectories.person_names import key_of, spelled

FIRST = 100_000  # rows at the beginning of a table by which it is judged

_MARKED = np.inf  # latitude of a row that is marked as not valid: its time alone is used

NOT_VALID = "rows marked as not valid"
WITHOUT_ID = "points without an id"
SEVERAL = "recordings of points that several people must have made"

# How tables write yes and no of a row; V is for void, in NMEA, and SPS for a standard fix.
_SAYS = {
    True: {
        *("true", "t", "yes", "y", "1", "1.0", "a", "valid", "ok", "good", "fix", "2d", "3d"),
        *("sps", "dgps", "pps", "rtk"),
    },
    False: {
        *("false", "f", "no", "n", "0", "0.0", "v", "void", "invalid", "not valid", "bad"),
        *("no fix", "nofix", "no_fix", "no-fix", "none"),
    },
}


class _Rows(NamedTuple):
    owner: NDArray[np.int32]  # places in `owners`
    owners: Sequence[tuple[str, str | None]]  # an id, and a subject as it is written
    # Latitude, longitude, seconds since 1970 UTC or NaN, and perhaps numbers in their order;
    # shape (3 or 4, rows).
    values: Floats


def traces_of_points(
    chunks: Iterable[pd.DataFrame], reading: Reading, column_of: Mapping[str, str] | None = None
) -> Iterator[Trace]:
    """Gather the rows of each subject and id, or either, or all; columns are named by roles.

    If the table was cut off, the trace of its last row may be incomplete. The columns of the table,
    by role, are for messages.
    """
    coming = iter(chunks)
    already_cut_off = reading.counts[TABLE_CUT_OFF]
    first = next((rows for rows in coming if len(rows)), None)
    if first is None:
        return

    degrees = reader_of_degrees(first[:FIRST], reading)
    times = TimeColumn(first[:FIRST], reading)
    parts: list[_Rows] = []
    for chunk in chain([first], coming):
        values = [*degrees(chunk), times.seconds(chunk)]
        if "order" in first:
            values.append(numbers(chunk["order"]))
        parts.append(_rows_of(chunk, np.stack(values), reading))
    rows = _joined(parts)

    # Equal ids of two files differ.
    single = {"id", "subject"}.isdisjoint(first)
    prefix = reading.label if single else "" if "subject" in first else f"{reading.label}#"
    traces = list(_traces(rows, prefix, reading))
    if single and "id" not in reading.columns:
        _check_one_recording(traces, reading)

    cut_off = reading.counts[TABLE_CUT_OFF] > already_cut_off and len(rows.owner) > 0
    last = prefix + rows.owners[rows.owner[-1]][0] if cut_off else None
    for trace in _checked(traces, column_of or {}, reading):
        yield replace(trace, cut_off=True) if trace.name == last else trace


def _rows_of(chunk: pd.DataFrame, values: Floats, reading: Reading) -> _Rows:
    """Name the owners in a part of a table; rows without an id are left out."""
    subject = np.full(len(chunk), -1)
    subjects: list[str | None] = []
    if "subject" in chunk:
        subject, subjects = _coded(chunk["subject"])
    if "id" in chunk:
        trace, traces = _coded(_with_part(chunk) if "part" in chunk else chunk["id"])
        traces = [name and spelled(name) for name in traces]
    elif "subject" in chunk:
        exact = reading.subjects_exact
        trace, traces = subject, [name and key_of(name, exact=exact) for name in subjects]
    else:
        trace = np.zeros_like(subject)
        traces = [""]

    valid = _valid(chunk, reading)
    owned = trace >= 0
    if not valid.all():
        reading.counts[NOT_VALID] += int((~valid).sum())
        values[0, ~valid] = _MARKED

    if not owned[valid].all():
        reading.counts[WITHOUT_ID] += int((valid & ~owned).sum())
        role = "id" if "id" in chunk else "subject"
        has = f"has rows without {role}: they are left out and counted"
        reading.warn_of_file(WITHOUT_ID, f"{has}; name another column with `columns` id=...")
    if not owned.all():
        trace = trace[owned]
        subject = subject[owned]
        values = values[:, owned]

    # An owner is a pair of an id and a subject, or none.
    owner, pairs = pd.factorize(trace * (len(subjects) + 1) + subject + 1)
    trace, subject = np.divmod(pairs, len(subjects) + 1)
    owners = [
        (str(traces[i]), subjects[j - 1] if j else None)
        for i, j in zip(trace.tolist(), subject.tolist(), strict=True)
    ]
    return _Rows(owner.astype(np.int32), owners, values)


def _valid(chunk: pd.DataFrame, reading: Reading) -> Bools:
    """Mark the rows that no column says to be wrong, as Movebank and loggers do."""
    valid = np.ones(len(chunk), dtype=np.bool_)
    for role, wrong in MARKS.items():
        if role not in chunk:
            continue
        code, words = pd.factorize(chunk[role].astype("string"))
        plain_words = [" ".join(str(word).lower().split()) for word in words]
        says_wrong = np.array([*(word in _SAYS[wrong] for word in plain_words), False], np.bool_)
        valid &= ~says_wrong[code]
        unknown = [
            word for word in plain_words if word and not any(map({word}.issubset, _SAYS.values()))
        ]
        for word in unknown[:1]:
            why = "which is no known word: they are used; remove them if they are wrong"
            reading.warn_of_file("words of validity", f"has rows with {role} {word!r}, {why}")
    return valid


def _coded(values: pd.Series) -> tuple[Ints, list[str | None]]:
    """Read each name once: the place of the name of each row, or -1, and all names."""
    code, names = pd.factorize(values)
    texts = as_given(pd.Series(names))
    place = [-1 if name is None else i for i, name in enumerate(texts)]
    return np.array([*place, -1])[code], texts


def _with_part(chunk: pd.DataFrame) -> pd.Series:
    """Join ids and parts to names; a row without its part has no name."""
    trace, part = (
        pd.array([*(name and spelled(name) for name in names), None], "string").take(code)
        for code, names in (_coded(chunk[role]) for role in ("id", "part"))
    )
    return pd.Series(trace + "/" + part)


def _joined(parts: list[_Rows]) -> _Rows:
    """Put rows one behind the other; empties the list, for the memory."""
    first = np.cumsum([0, *(len(rows.owners) for rows in parts)]).tolist()
    owner = np.concatenate([rows.owner + start for rows, start in zip(parts, first, strict=False)])
    owners = [pair for rows in parts for pair in rows.owners]

    values = np.empty((len(parts[0].values), len(owner)))
    end = len(owner)
    while parts:
        part = parts.pop().values
        values[:, end - part.shape[1] : end] = part
        end -= part.shape[1]
    return _Rows(owner, owners, values)


def _traces(rows: _Rows, prefix: str, reading: Reading) -> Iterator[Trace]:
    """Sort rows by their traces, and yield these; rows that are marked leave their times."""
    spellings, numbers_of_owners, names = _persons(rows, reading)

    # Codes of few bytes are sorted much faster.
    code = np.array(numbers_of_owners, np.min_scalar_type(len(names)))[rows.owner]
    values = rows.values
    if len(values) > 3:
        order = np.lexsort((values[3], code))
        values = values[:3]
    else:
        order = np.argsort(code, kind="stable")
    for column in values:  # one after the other, for the memory
        column[:] = column[order]
    del order

    any_marked = bool((values[0] == _MARKED).any())
    ends = np.cumsum(np.bincount(code)).tolist()
    for (name, key), start, end in zip(names, [0, *ends], ends, strict=False):
        lat, lon, time = values[:, start:end]
        without_fix: tuple[float, ...] = ()
        if any_marked:
            valid = lat != _MARKED
            without_fix = tuple(time[~valid].tolist())
            lat, lon, time = lat[valid], lon[valid], time[valid]
        if len(lat):
            spelled_as = tuple(spellings[key])
            subject = spelled(spelled_as[0]) if spelled_as else None
            name = prefix + name
            yield Trace(name, subject, lat, lon, time, spelled_as, without_fix=without_fix)


def _persons(
    rows: _Rows, reading: Reading
) -> tuple[Mapping[str | None, list[str]], list[int], list[tuple[str, str | None]]]:
    """Find the spellings of each person, and number the traces: of each owner, and their names."""
    written = dict.fromkeys(subject for _, subject in rows.owners)
    keys = {name: name and key_of(name, exact=reading.subjects_exact) for name in written}
    spellings: defaultdict[str | None, list[str]] = defaultdict(list)
    for name, key in keys.items():
        if name is not None:
            spellings[key].append(name)

    # Rows without a subject are of the subject of their id, if it has but one.
    only: dict[str, str | None] = {}
    for name, subject in rows.owners if None in keys else ():
        if (key := keys[subject]) is not None:
            only[name] = key if only.get(name, key) == key else None

    number: dict[tuple[str, str | None], int] = {}
    numbers_of_owners = [
        number.setdefault((name, keys[subject] or only.get(name)), len(number))
        for name, subject in rows.owners
    ]
    return spellings, numbers_of_owners, list(number)


def _check_one_recording(traces: Sequence[Trace], reading: Reading) -> None:
    """Refuse points without an order, or that leap to and fro, as those of several people do."""
    for trace in traces:
        problem = "" if trace.is_timed else "no times"
        if leaps := leaps_in(trace):
            problem = f"its points leap {leaps:,} times, as if several people were in it"
        if problem:
            way_out = f"say `columns` id=..., or id={FILE} if it is one recording, in its order"
            problem = f"{reading.what} has no column known as id, and {problem}"
            raise ColumnsUnclear(problem, way_out, ["id"], reading.tables.columns)


def _checked(
    traces: Sequence[Trace], column_of: Mapping[str, str], reading: Reading
) -> list[Trace]:
    """Leave out recordings of several people; refuse tables of these alone, or in no order."""
    if "order" not in reading.columns and without_order(traces):
        way_out = "say `columns` time=..., or order=... if a column numbers them"
        problem = f"the points of {reading.what} lie in no order"
        raise ColumnsUnclear(problem, way_out, ["time", "order"], reading.tables.columns)
    said_one = reading.columns.get("id") == FILE
    several = set() if said_one else {trace.name for trace in of_several(traces)}
    if several:
        owner = column_of.get("id") or column_of.get("subject") or "id"
        apart = f"{number_of(len(several), 'recording')} of {reading.what}"
        msg = f"{apart}, by the column {owner!r}, must be of several people: points of one time "
        msg += "lie far apart, again and again"
        if 2 * len(several) > len(traces):
            way_out = "name the column that tells recordings apart, `columns` id=..."
            raise ColumnsUnclear(msg, way_out, ["id"], reading.tables.columns)
        reading.counts[SEVERAL] += len(several)
        reading.warn(SEVERAL, f"{msg}; they are left out", reading.what)
        traces = [trace for trace in traces if trace.name not in several]
    return list(traces)
