"""A release as CSV: id, lat1, lon1, ..., latm, lonm."""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.errors import FileProblem
from trajanon.files.released import (
    Lines,
    ReleasedFile,
    as_text,
    texts,
    unknown_attribution,
)


def write(path: Path, points: NDArray[np.float64], attribution: str | None) -> None:
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


def read_released(path: Path) -> ReleasedFile:
    """Read a release, and what stands in it beside.

    Raises
    ------
    FileProblem
        If it has no columns lat1, lon1, lat2, lon2, ... of numbers.
    """
    try:
        # As text, for two ways to write a number tell two rows apart.
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        msg = f"cannot read {path} as CSV: {reason}"
        raise FileProblem(msg) from error
    m = 0
    while {f"lat{m + 1}", f"lon{m + 1}"} <= set(table.columns):
        m += 1
    if not isinstance(table.index, pd.RangeIndex):
        msg = f"{path} has rows with more values than its header has names"
        raise FileProblem(msg)
    names = [f"{axis}{i}" for i in range(1, m + 1) for axis in ("lon", "lat")]
    texts = table[names].astype(str).to_numpy(dtype=object)
    try:
        numbers = np.where(texts == "", "nan", texts).astype(np.float64)
    except ValueError as error:
        msg = f"{path} has something else than numbers in its lat and lon columns"
        raise FileProblem(msg) from error
    if m == 0:
        msg = f"{path} is no release: it has no columns lat1, lon1, lat2, lon2, ..."
        raise FileProblem(msg)
    allowed = {"id", "attribution", *names}
    extras = [f"column {name!r}" for name in table.columns if name not in allowed]
    attribution = None
    if "attribution" in table:
        said = [str(text) for text in table["attribution"].unique()]
        attribution = said[0] if said else None
        extras += [extra for text in said for extra in unknown_attribution(text)]
    ids = table["id"].tolist() if "id" in table else None
    lines = Lines.of_texts(
        list(numbers.reshape(-1, m, 2)), [",".join(row) for row in texts]
    )
    return ReleasedFile(lines, ids, extras, attribution)
