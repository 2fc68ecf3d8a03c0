"""A release in parts, read as the one table that it is.

Equal lines are in any of the parts: one part alone does not keep what all promise.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import FileProblem
from trajanon.files import geoparquet
from trajanon.files.partition import is_part
from trajanon.files.released import Lines, ReleasedFile


def read_released(folder: Path) -> ReleasedFile:
    """Read all parts, and what stands in them and in the folder beside.

    Raises
    ------
    FileProblem
        If there are none, or one cannot be read.
    """
    names = sorted(path.name for path in folder.iterdir())
    parts = {
        name: geoparquet.read_released(folder / name) for name in filter(is_part, names)
    }
    if not parts:
        msg = f"{folder} holds no parts of a release, such as part-00000.parquet"
        raise FileProblem(msg)
    found = list(parts.values())
    extras = [f"file {name!r} in the folder" for name in names if name not in parts]
    extras += [f"in {name}, {e}" for name, part in parts.items() for e in part.extras]
    if len({part.attribution for part in found}) > 1:
        extras.append("attributions that differ from part to part")
    ids: list[Any] = []
    for part in found:
        ids += [] if part.ids is None else part.ids
    return ReleasedFile(
        _joined([part.lines for part in found]),
        ids if any(part.ids is not None for part in found) else None,
        extras,
        found[0].attribution,
    )


def _joined(several: Sequence[Lines]) -> Lines:
    width = max(lines.coordinates.shape[1] for lines in several)
    return Lines(
        np.concatenate([lines.kinds for lines in several]),
        np.concatenate([lines.sizes for lines in several]),
        np.concatenate([_as_wide(lines.coordinates, width) for lines in several]),
        np.concatenate([lines.keys for lines in several]),
    )


def _as_wide(points: NDArray[np.float64], width: int) -> NDArray[np.float64]:
    return np.pad(points, ((0, 0), (0, width - points.shape[1])))
