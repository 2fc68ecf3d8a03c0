"""When the points of lines were passed, where a list beside each line says so."""

import json
from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from trajanon.arrays import Floats, Ints
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables.timestamps import TimeColumn

TIMES_OF_POINTS = ("coordTimes", "times", "coordinateProperties")
"""Where converters from GPX to GeoJSON put the times of points; the last one is an
object that has them under ``times``."""

_LISTS = (list, tuple, np.ndarray)

OTHER_TIMES = "lines with more or fewer times than points"


class LineTimes:
    """Reads the times of the points of lines, some lines after the other.

    Times are written as the first of them are: see `TimeColumn`.
    """

    def __init__(self, what: str, how: Reading) -> None:
        self._what = what
        self._how = how
        self._clock: TimeColumn | None = None

    def read(self, columns: pd.DataFrame, points: Ints) -> Floats:
        """Read the times of all points."""
        time = np.full(points.sum(), np.nan)
        lists = [_lists(columns[name]) for name in columns]
        found: list[Any] = []
        timed = np.zeros(len(points), dtype=np.bool_)
        for line, size in enumerate(points.tolist() if any(lists) else ()):
            times = next((column[line] for column in lists if line in column), None)
            if times is not None and len(times) != size:
                self._how.counts[OTHER_TIMES] += 1
            elif times is not None:
                found += times
                timed[line] = True
        if found:
            rows = pd.DataFrame({"time": found})
            self._clock = self._clock or TimeColumn(rows, self._what)
            time[np.repeat(timed, points)] = self._clock.seconds(rows, self._how)
        return time


def _lists(column: pd.Series) -> dict[int, list[Any]]:
    """Find the lists of a column, by the number of the row."""
    if not pd.api.types.is_object_dtype(column) | pd.api.types.is_string_dtype(column):
        return {}
    found = ((row, _flat(_parsed(cell))) for row, cell in enumerate(column))
    return {row: times for row, times in found if times is not None}


def _parsed(cell: Any) -> Any:
    if isinstance(cell, str) and cell.lstrip()[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            cell = json.loads(cell)
    return cell.get("times") if isinstance(cell, dict) else cell


def _flat(cell: Any) -> list[Any] | None:
    """Put the lists of the parts of a line one after another."""
    if not isinstance(cell, _LISTS):
        return None
    times: list[Any] = []
    for item in cell:
        times += item if isinstance(item, _LISTS) else [item]
    return times
