"""A release as CSV: id, lat1, lon1, ..., latm, lonm."""

from pathlib import Path

import numpy as np
import pandas as pd

from trajanon.arrays import Floats
from trajanon.errors import FileProblem
from trajanon.files import arrow
from trajanon.files.release_lines import Lines, ReleasedFile, as_text, texts


def write_csv(path: Path, points: Floats, attribution: str | None) -> None:
    """Write a release; the attribution is a column, so that it cannot get lost."""
    m = points.shape[1]
    names = [f"{axis}{i}" for i in range(1, m + 1) for axis in ("lat", "lon")]
    more = last = ""
    if attribution is not None:
        doubled = attribution.replace('"', '""')
        more, last = ",attribution", f',"{doubled}"'
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"id,{','.join(names)}{more}\n")
        for number, numbers in enumerate(texts(points, _numbers), start=1):
            file.write(f"{number},{numbers}{last}\n")


def _numbers(line: list[list[float]]) -> str:
    return ",".join(as_text(degrees) for point in line for degrees in point)


def read_csv(path: Path) -> ReleasedFile:
    """Read the lines of a release."""
    with arrow.reading(path, "CSV", ValueError, OverflowError):
        header = set(pd.read_csv(path, nrows=0).columns)
        m = 0
        while {f"lat{m + 1}", f"lon{m + 1}"} <= header:
            m += 1
        names = [f"{axis}{i}" for i in range(1, m + 1) for axis in ("lon", "lat")]
        table = pd.read_csv(
            path,
            usecols=[*names, *header & {"attribution"}],
            dtype=dict.fromkeys(names, np.float64),
        )
    if m == 0:
        msg = (
            f"{path} is no release: it has no columns lat1, lon1, lat2, lon2, ...; to "
            "check columns of a table, name them with trajanon check --columns"
        )
        raise FileProblem(msg)
    if not isinstance(table.index, pd.RangeIndex):
        msg = f"{path} has rows with more values than its header has names"
        raise FileProblem(msg)
    lines = Lines.of_points(list(table[names].to_numpy().reshape(-1, m, 2)))
    said = table.get("attribution", ())
    return ReleasedFile(lines, str(said[0]) if len(said) else None)
