"""Lines as GeoParquet writes them, WKB, turned to arrays of points."""

from typing import Any, Literal, NamedTuple

import numpy as np

from trajanon.arrays import Bools, Floats, Ints

_HEAD = np.array([1, 2, 0, 0, 0], dtype=np.uint8)
"""Of a LineString without heights, little-endian; the number of its points follows."""

_BEFORE = 9  # bytes before the first point


class Lines(NamedTuple):
    """Lines of any lengths."""

    points: Floats  # latitude and longitude (the second and the first coordinate)
    size: Ints  # how many points each has, shape (n,)
    line: Bools  # whether each one is a LineString at all, and one without heights, (n,)
    flat: Bools  # whether each one is a LineString at all, and one without heights, (n,)


def from_wkb(column: Any, on_invalid: Literal["raise", "ignore"] = "raise") -> Lines:
    """Read geometries.

    Those that are as our own writer wrote them are read as numbers, others one by one with shapely,
    which takes ten times as long.
    """
    lines = _as_numbers(column)
    return _as_geometries(column, on_invalid) if lines is None else lines


def _as_numbers(column: Any) -> Lines | None:
    """Read flat LineStrings; None if there is anything else."""
    import pyarrow as pa

    kinds = {pa.binary(): np.int32, pa.large_binary(): np.int64}
    if column.type not in kinds or column.null_count or not len(column):
        return None
    _, borders, held = column.buffers()
    border = np.frombuffer(borders, kinds[column.type])
    border = border[column.offset : column.offset + len(column) + 1].astype(np.int64)
    length = np.diff(border)
    if (length < _BEFORE).any():
        return None
    data = np.frombuffer(held, np.uint8)[border[0] : border[-1]]
    head = (border[:-1] - border[0])[:, None] + np.arange(_BEFORE)
    size = data[head][:, len(_HEAD) :].copy().view("<u4")[:, 0].astype(np.int64)
    if (
        (data[head[:, : len(_HEAD)]] != _HEAD).any()
        or (length != _BEFORE + 16 * size).any()
        or (size == 1).any()  # no line
    ):
        return None
    spans = zip((head[:, -1] + 1).tolist(), np.cumsum(length).tolist(), strict=True)
    view = data.data
    numbers = np.frombuffer(b"".join([view[begin:end] for begin, end in spans]), "<f8")
    places = numbers.reshape(-1, 2).astype(np.float64, copy=False)
    whole = np.ones(len(column), dtype=np.bool_)
    return Lines(places[:, ::-1], size, whole, whole)


def _as_geometries(column: Any, on_invalid: Literal["raise", "ignore"]) -> Lines:
    import pyarrow as pa
    import shapely

    if not (pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)):
        msg = f"geometries are bytes (WKB), and these are {column.type}"
        raise TypeError(msg)
    with np.errstate(invalid="ignore"):  # NaN is for the reader to judge
        geometries = shapely.from_wkb(column.to_numpy(zero_copy_only=False), on_invalid=on_invalid)
    line = shapely.get_type_id(geometries) == shapely.GeometryType.LINESTRING
    flat = line & ~shapely.has_z(geometries)
    if hasattr(shapely, "has_m"):
        flat &= ~shapely.has_m(geometries)
    return Lines(
        shapely.get_coordinates(geometries)[:, ::-1],
        shapely.get_num_coordinates(geometries).astype(np.int64),
        line,
        flat,
    )
