"""Rows of points in any order -> traces."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np
import pandas as pd

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
from trajanon.trajectories.subjects import key_of, spelled

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


_Owner = tuple[str, str | None, int]  # an id, a subject as it is written, a piece of a line


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
    owners: dict[_Owner, int] = {}
    parts: list[tuple[Ints, Floats]] = []
    for chunk in chain([first], coming):
        values = [*degrees(chunk), times.seconds(chunk)]
        if "order" in first:
            values.append(numbers(chunk["order"]))
        parts.append(_owned(chunk, np.stack(values), owners, reading))
    owner = np.concatenate([part for part, _ in parts])
    values_of_rows = np.concatenate([part for _, part in parts], axis=1)
    del parts  # for the memory

    # Equal ids of two files differ.
    single = {"id", "subject"}.isdisjoint(first)
    prefix = reading.label if single else "" if "subject" in first else f"{reading.label}#"
    cut_off = reading.counts[TABLE_CUT_OFF] > already_cut_off and len(owner) > 0
    last = prefix + list(owners)[owner[-1]][0] if cut_off else None

    traces = list(_traces(owner, values_of_rows, list(owners), prefix, reading))
    if single and "id" not in reading.columns:
        _check_one_recording(traces, reading)
    if "piece" not in first and "order" not in reading.columns and without_order(traces):
        way_out = "say `columns` time=..., or order=... if a column numbers them"
        problem = f"the points of {reading.what} lie in no order"
        raise ColumnsUnclear(problem, way_out, ["time", "order"], reading.tables.columns)
    for trace in _of_one_person(traces, column_of or {}, reading):
        yield replace(trace, cut_off=True) if trace.name == last else trace


def _owned(
    chunk: pd.DataFrame, values: Floats, owners: dict[_Owner, int], reading: Reading
) -> tuple[Ints, Floats]:
    """Number the owners of rows, which are added to those known; leave out rows without an id."""
    subject = np.full(len(chunk), -1)
    subjects: list[str | None] = []
    if "subject" in chunk:
        subject, subjects = _coded(chunk["subject"])
    if "id" in chunk:
        trace, names = _coded(_with_part(chunk) if "part" in chunk else chunk["id"])
        traces = [name and spelled(name) for name in names]
    elif "subject" in chunk:
        trace = subject
        traces = [name and key_of(name, exact=reading.subjects_exact) for name in subjects]
    else:
        trace = np.zeros_like(subject)
        traces = [""]

    valid = _valid(chunk, reading)
    owned = trace >= 0
    reading.counts.update({NOT_VALID: int((~valid).sum())} if not valid.all() else {})
    values[0, ~valid] = _MARKED
    if not owned[valid].all():
        reading.counts[WITHOUT_ID] += int((valid & ~owned).sum())
        role = "id" if "id" in chunk else "subject"
        has = f"has rows without {role}: they are left out and counted"
        reading.warn_of_file(WITHOUT_ID, f"{has}; name another column with `columns` id=...")
    if not owned.all():
        trace, subject, values = trace[owned], subject[owned], values[:, owned]

    owner = pd.factorize(trace * (len(subjects) + 1) + subject + 1)[0]
    piece = np.zeros_like(owner)
    if "piece" in chunk:
        piece = chunk["piece"].to_numpy()[owned]
        owner = pd.factorize(owner * (piece.max(initial=0) + 1) + piece)[0]

    first = np.zeros(owner.max(initial=-1) + 1, dtype=np.int64)  # row of each owner
    first[owner[::-1]] = np.arange(len(owner))[::-1]
    known = zip(trace[first].tolist(), subject[first].tolist(), piece[first].tolist(), strict=True)
    subjects.append(None)
    numbers_of_owners = [
        owners.setdefault((str(traces[name]), subjects[person], part), len(owners))
        for name, person, part in known
    ]
    return np.array(numbers_of_owners, dtype=np.int32)[owner], values


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


def _traces(
    owner: Ints, values: Floats, owners: Sequence[_Owner], prefix: str, reading: Reading
) -> Iterator[Trace]:
    """Sort rows by their traces, and yield these; rows that are marked leave their times."""
    spellings, numbers_of_owners, names = _persons(owners, reading)

    # Codes of few bytes are sorted much faster.
    code = np.array(numbers_of_owners, np.min_scalar_type(len(names)))[owner]
    order = np.argsort(code, kind="stable")
    if len(values) > 3:
        order = np.lexsort((values[3], code))
    values = values[:3]
    for column in values:  # one after the other, for the memory
        column[:] = column[order]
    del order

    any_marked = bool((values[0] == _MARKED).any())
    ends = np.cumsum(np.bincount(code)).tolist()
    for (name, key, _), start, end in zip(names, [0, *ends], ends, strict=False):
        lat, lon, time = values[:, start:end]
        without_fix: tuple[float, ...] = ()
        if any_marked:
            valid = lat != _MARKED
            without_fix = tuple(time[~valid].tolist())
            lat, lon, time = lat[valid], lon[valid], time[valid]
        if len(lat):
            written = tuple(spellings[key])
            subject = spelled(written[0]) if written else None
            yield Trace(prefix + name, subject, lat, lon, time, written, without_fix=without_fix)


def _persons(
    owners: Sequence[_Owner], reading: Reading
) -> tuple[Mapping[str | None, list[str]], list[int], list[_Owner]]:
    """Find the spellings of each person, and number the traces: of each owner, and their names."""
    written = dict.fromkeys(subject for _, subject, _ in owners)
    keys = {name: name and key_of(name, exact=reading.subjects_exact) for name in written}
    spellings: defaultdict[str | None, list[str]] = defaultdict(list)
    for name, key in keys.items():
        if name is not None:
            spellings[key].append(name)

    # Rows without a subject are of the subject of their id, if it has but one.
    persons_of_ids: defaultdict[str, set[str]] = defaultdict(set)
    for name, subject, _ in owners if None in keys else ():
        if (key := keys[subject]) is not None:
            persons_of_ids[name].add(key)
    only = {name: min(people) for name, people in persons_of_ids.items() if len(people) == 1}

    number: dict[_Owner, int] = {}
    numbers_of_owners = [
        number.setdefault((name, keys[subject] or only.get(name), piece), len(number))
        for name, subject, piece in owners
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


def _of_one_person(
    traces: Sequence[Trace], column_of: Mapping[str, str], reading: Reading
) -> list[Trace]:
    """Leave out recordings of several people; refuse tables of these alone."""
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
