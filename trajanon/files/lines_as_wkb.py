"""Lines of equally many points as WKB: read and written as one array of numbers.

A library of geometries makes an object of each line, which takes ten times as long.
"""

import struct

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trajanon.common.arrays import Column, Floats

_LITTLE_ENDIAN = 1
_LINE_STRING = 2
_HEADER_FORMAT = "<BII"  # the order of bytes, the type, and the number of points
_HEADER_BYTES = struct.calcsize(_HEADER_FORMAT)
_BYTES_PER_POINT = 16


def _layout(m: int) -> np.dtype[np.void]:
    """Return how a line of m points is laid out."""
    return np.dtype([("header", np.uint8, _HEADER_BYTES), ("lon_lat", "<f8", (m, 2))])


def _header(m: int) -> Column:
    """Return the bytes with which lines of m points begin."""
    return np.frombuffer(struct.pack(_HEADER_FORMAT, _LITTLE_ENDIAN, _LINE_STRING, m), np.uint8)


def wkb_of_points(points: Floats) -> pa.Array:
    """Write lines of points (lat, lon), (n, m, 2), as a column."""
    n, m = points.shape[:2]
    lines = np.empty(n, _layout(m))
    lines["header"] = _header(m)
    lines["lon_lat"] = points[..., ::-1]

    buffers = [None, pa.py_buffer(lines)]
    column = pa.FixedSizeBinaryArray.from_buffers(pa.binary(lines.itemsize), n, buffers)
    return column.cast(pa.binary())


def points_of_wkb(column: pa.Array) -> Floats | None:
    """Read the points (lat, lon) of a column, (n, m, 2).

    None of anything but lines in two dimensions, of equally many points, as most programs write
    them: it may be sound all the same.
    """
    is_binary = pa.types.is_binary(column.type) or pa.types.is_large_binary(column.type)
    if not is_binary or column.null_count or not len(column):
        return None

    sizes = pc.min_max(pc.binary_length(column)).as_py()
    size = int(sizes["min"])
    m = (size - _HEADER_BYTES) // _BYTES_PER_POINT
    if size != sizes["max"] or m < 2 or size != _layout(m).itemsize:
        return None

    _, offsets, content = column.buffers()
    offset_type = np.int32 if pa.types.is_binary(column.type) else np.int64
    first_byte = int(np.frombuffer(offsets, offset_type)[column.offset])
    lines = np.frombuffer(content, _layout(m), count=len(column), offset=first_byte)
    if (lines["header"] != _header(m)).any():
        return None
    return np.ascontiguousarray(lines["lon_lat"][..., ::-1])
