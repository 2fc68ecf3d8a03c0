"""Geometries as files hold them, WKB in a column of Arrow -> arrays of points."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Bools, Floats, Ints

_POINT = np.array([1, 1, 0, 0, 0], dtype=np.uint8)
_LINE = np.array([1, 2, 0, 0, 0], dtype=np.uint8)
"""How geometries of x and y begin, little-endian. The number of its points follows in a line."""


class WkbLines(NamedTuple):
    """Lines of any lengths."""

    points: Floats  # latitude and longitude (the second and the first coordinate)
    size: Ints  # how many points each has, shape (n,)
    line: Bools  # whether each geometry is a line, or several, shape (n,)
    flat: Bools  # whether each one is a LineString without heights, shape (n,)


def read_lines(column: Any, on_invalid: Literal["raise", "ignore"] = "raise") -> WkbLines:
    """Read geometries as lines: flat ones as numbers, which is ten times as fast as shapely."""
    import shapely

    if (numbers := _flat(column, _LINE)) is not None:
        xy, size = numbers
        whole = np.ones(len(size), dtype=np.bool_)
        return WkbLines(xy[:, ::-1], size, whole, whole)
    geometries = read_geometries(column, on_invalid)
    kind = shapely.get_type_id(geometries)
    line = kind == shapely.GeometryType.LINESTRING
    flat = line & ~shapely.has_z(geometries)
    if hasattr(shapely, "has_m"):
        flat &= ~shapely.has_m(geometries)
    xy = shapely.get_coordinates(geometries)
    size = shapely.get_num_coordinates(geometries).astype(np.int64)
    line = line | (kind == shapely.GeometryType.MULTILINESTRING)
    return WkbLines(xy[:, ::-1], size, line, flat)


def read_points(column: Any) -> Floats | None:
    """Read x and y of flat points, shape (n, 2); None if there is anything else."""
    numbers = _flat(column, _POINT)
    return None if numbers is None else numbers[0]


def read_geometries(
    column: Any, on_invalid: Literal["raise", "ignore"] = "raise"
) -> NDArray[np.object_]:
    """Read geometries of any kind, one by one."""
    import pyarrow as pa
    import shapely

    if not (pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)):
        raise TypeError(f"geometries are bytes (WKB), and these are {column.type}")
    with np.errstate(invalid="ignore"):  # NaN is for the reader to judge
        values = column.to_numpy(zero_copy_only=False)
        return np.asarray(shapely.from_wkb(values, on_invalid=on_invalid))


def _flat(column: Any, head: NDArray[np.uint8]) -> tuple[Floats, Ints] | None:
    """Read x and y, and how many points each geometry has, if all of them begin so."""
    import pyarrow as pa

    kinds = {pa.binary(): np.int32, pa.large_binary(): np.int64}
    if column.type not in kinds or column.null_count or not len(column):
        return None
    _, borders, held = column.buffers()
    border = np.frombuffer(borders, kinds[column.type])[column.offset :][: len(column) + 1]
    border = border.astype(np.int64)
    length, begin = np.diff(border), border[:-1] - border[0]
    before = len(head) + 4 * (head is _LINE)  # bytes before the first point
    if (length < before).any():
        return None
    data = np.frombuffer(held, np.uint8)[border[0] : border[-1]]
    heads = data[begin[:, None] + np.arange(before)]
    size = np.ones(len(column), dtype=np.int64)
    if head is _LINE:
        size = heads[:, len(head) :].copy().view("<u4")[:, 0].astype(np.int64)
        size[size == 1] = -1  # no line
    if (heads[:, : len(head)] != head).any() or (length != before + 16 * size).any():
        return None
    if (length == length[0]).all():
        content = data.reshape(len(column), -1)[:, before:].tobytes()
    else:
        spans = zip((begin + before).tolist(), (begin + length).tolist(), strict=True)
        content = b"".join([data.data[start:end] for start, end in spans])
    xy = np.frombuffer(content, "<f8").reshape(-1, 2)
    return xy.astype(np.float64, copy=False), size
