"""A release as CSV: id, lat1, lon1, ..., latm, lonm."""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.errors import FileProblem
from trajanon.files.released import DECIMALS, Lines, ReleasedFile, unknown_attribution


def write(path: Path, points: NDArray[np.float64], attribution: str | None) -> None:
    """Write a release; the attribution is a column, so that it cannot get lost."""
    n, m, _ = points.shape
    names = [f"{axis}{i}" for i in range(1, m + 1) for axis in ("lat", "lon")]
    table = pd.DataFrame(points.reshape(n, -1), columns=names)
    table.insert(0, "id", np.arange(1, n + 1))
    if attribution is not None:
        table["attribution"] = attribution
    table.to_csv(path, index=False, float_format=f"%.{DECIMALS}f")


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
