"""Geometries as files hold them, in the columns of Arrow -> shapely."""

from typing import Any

import numpy as np
import pyarrow as pa
import shapely
from numpy.typing import NDArray

from trajanon.arrays import Floats
from trajanon.errors import FileProblem

_POINT = np.frombuffer(b"\x01\x01\x00\x00\x00", np.uint8)  # how a plain point begins
_SIZE = len(_POINT) + 16


def from_wkb(column: pa.Array, what: str, *, strict: bool) -> NDArray[Any]:
    """Read geometries; what cannot be read becomes None, as what is not there.

    Columns of nothing but plain points, the most there are, are not made objects first.
    """
    xy = _plain_points(column)
    if xy is not None:
        return xy
    if not (pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)):
        msg = f"{what} has no geometries (WKB) where it should: {column.type}"
        raise FileProblem(msg)
    with np.errstate(invalid="ignore"):  # NaN is for the reader to judge
        geometries: NDArray[Any] = shapely.from_wkb(
            column.to_numpy(zero_copy_only=False), on_invalid="ignore"
        )
    unreadable = int(shapely.is_missing(geometries).sum()) - column.null_count
    if unreadable and strict:
        msg = (
            f"{what} has geometries that cannot be read, {unreadable:,} of the next "
            f"{len(column):,}; mend them, or read without strict"
        )
        raise FileProblem(msg)
    return geometries


def _plain_points(column: pa.Array) -> Floats | None:
    """Read a column of points with two coordinates; None if it holds anything else."""
    if column.null_count or not pa.types.is_binary(column.type) or len(column) == 0:
        return None
    _, places, content = column.buffers()
    ends = np.frombuffer(places, np.int32)[column.offset :][: len(column) + 1]
    if (np.diff(ends) != _SIZE).any():
        return None
    points = np.frombuffer(content, np.uint8)[ends[0] : ends[-1]].reshape(-1, _SIZE)
    if (points[:, : len(_POINT)] != _POINT).any():
        return None
    xy = np.ascontiguousarray(points[:, len(_POINT) :]).view("<f8")
    return xy if np.isfinite(xy).all() else None
