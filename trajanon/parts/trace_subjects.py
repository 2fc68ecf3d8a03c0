"""A trace that names its subject in some part is that one's in all parts."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Ints
from trajanon.parts.column_ids import Named
from trajanon.parts.executors import Crew
from trajanon.parts.part_reader import Parts, Unit
from trajanon.progress import Progress


class Naming(NamedTuple):
    """Rows that name the subject of a trace, the first of each."""

    trace: NDArray[np.uint64]  # their numbers, (t,); traces rise
    subject: NDArray[np.uint64]  # their numbers, (t,); traces rise
    row: Ints  # numbers of the rows in the table, (t,)


def with_names(
    crew: Crew, parts: Parts, nameless: Sequence[NDArray[np.uint64]], progress: Progress
) -> Parts:
    """Find who traces are that name their subject in some rows only.

    Else one person would count as two: as who is named, and as the trace. Where rows of a trace
    name several, those without are the first one's, as in a file.
    """
    traces = np.unique(np.concatenate(nameless))
    if not len(traces):
        return parts
    found = crew.each("Looking for names", partial(_namings, parts, traces), parts.units, progress)
    return replace(parts, named=_first_of_each(found))


def _namings(parts: Parts, traces: NDArray[np.uint64], unit: Unit) -> Naming:
    """What a unit says of traces, whose numbers rise."""
    said = parts.read_whose(unit)
    subject, trace = said["subject"], said["trace"]
    names = ~subject.missing & ~trace.missing & np.isin(trace.number, traces)
    row = np.flatnonzero(names)
    named, first = np.unique(trace.number[row], return_index=True)
    row = row[first]
    return Naming(named, subject.number[row], unit.first + row)


def _first_of_each(found: Sequence[Naming]) -> Named:
    """Take what the first row of each trace says, of all units."""
    whole = Naming(*(np.concatenate(arrays) for arrays in zip(*found, strict=True)))
    order = np.argsort(whole.row)
    trace, first = np.unique(whole.trace[order], return_index=True)
    return Named(trace, whole.subject[order][first])
