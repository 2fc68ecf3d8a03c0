"""Rows sorted along a Hilbert curve, in bounded memory, and boxes around them.

`trajanon extract --partition` writes its parts in this order: the key ``trajanon_order`` in the
footer of each part is then ``hilbert``. The curve fills the rectangle of all longitudes and
latitudes with 2^16 rows and columns of squares, as `geopandas.GeoSeries.hilbert_distance` numbers
them; a row has the number of the square with the middle point of its line. Rows of one recording,
or of one run (a piece of its track) where several windows lie on it, have the number of the first
of them and stay together. Numbers rise over all parts in the order of their names; rows of one
number are in the order of the source.

Each row has its box in a column ``bbox``, which GeoParquet calls a covering. Its least and greatest
values stand in the footer for each row group, and the box around all rows of the part beside its
geometries. Programs that know these skip parts, or row groups, that lie elsewhere.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import shapely

from trajanon.common.arrays import Floats, Ints
from trajanon.trajectories.trajectories import Trajectories

FOOTER = {"trajanon_order": "hilbert"}
"""Key and value in the footer of each part."""

ROWS_PER_GROUP = 5_000
"""Rows of a row group, which is what another program reads or skips."""

SIDES = ("xmin", "ymin", "xmax", "ymax")  # of a box: west, south, east, north, in degrees

_KEY = "hilbert"  # the column by which rows are sorted, which is not written
_EARTH = (-180.0, -90.0, 180.0, 90.0)  # the rectangle of the curve, in the order of SIDES
_MOST_ROWS = 2**31  # of all parts: a key is the number of a square, times this, plus that of a row

# Rows are sorted in chunks of this size, which wait in files until all have been read.
_BYTES_PER_CHUNK = 1 << 26
_BYTES_PER_CHUNK_GROUP = 1 << 20  # of a row group in these files
_ROWS_PER_SAMPLED_KEY = 100


def box_and_key_columns(trajectories: Trajectories, rows_before: int) -> dict[str, pa.Array]:
    """Return the columns with the box of each row, and with the key by which rows are sorted."""
    lon_lat = trajectories.points[..., ::-1]
    sides = np.concatenate([lon_lat.min(axis=1), lon_lat.max(axis=1)], axis=1).T
    bbox = pa.StructArray.from_arrays([pa.array(side) for side in sides], names=SIDES)

    # All windows of a recording, or run, lie where the first one does, so that they stay together.
    middle = trajectories.points[:, lon_lat.shape[1] // 2]
    if trajectories.tracks is not None:
        recording = trajectories.tracks.recording_of
        _, first_row, place = np.unique(recording, return_index=True, return_inverse=True)
        middle = middle[first_row][place]

    row_number = np.arange(rows_before, rows_before + len(middle))
    return {"bbox": bbox, _KEY: pa.array(keys_on_curve(middle, row_number))}


def keys_on_curve(places: Floats, row_number: Ints) -> Ints:
    """Compute the keys of rows by their places, (n, 2), latitude and longitude in degrees.

    The number of a row is part of its key. So all keys differ, and rows of one place need not be in
    memory together.
    """
    import geopandas

    squares = geopandas.GeoSeries(shapely.points(places[:, ::-1])).hilbert_distance(
        _EARTH, level=16
    )
    return np.asarray(squares, np.int64) * _MOST_ROWS + row_number


def is_in_order(schema: pa.Schema) -> bool:
    """Check whether the footer of a part says that all parts are in this order."""
    metadata = schema.metadata or {}
    return all(metadata.get(key.encode()) == value.encode() for key, value in FOOTER.items())


def box_of(table: pa.Table) -> list[float]:
    """Return the box around all rows of a table: west, south, east, north."""
    boxes = table["bbox"].combine_chunks()
    west, south, east, north = (boxes.field(side).to_numpy() for side in SIDES)
    return [float(side) for side in (west.min(), south.min(), east.max(), north.max())]


def in_hilbert_order(tables: Iterable[pa.Table], scratch: Path) -> Iterator[pa.Table]:
    """Sort the rows of tables that have `box_and_key_columns`, by way of files in a folder.

    Chunks of rows are sorted one by one and written. Then ranges of keys are read from all chunks.
    """
    chunk_files: list[Path] = []
    sample = [np.empty(0, np.int64)]
    for table in _in_chunks(tables):
        chunk = _sorted_by_key(table)
        chunk_files.append(scratch / f"chunk-{len(chunk_files)}.parquet")
        pq.write_table(
            chunk,
            chunk_files[-1],
            row_group_size=max(_BYTES_PER_CHUNK_GROUP * len(chunk) // chunk.nbytes, 1),
            compression="zstd",
            write_statistics=[_KEY],
            write_page_checksum=True,
        )
        sample.append(chunk[_KEY].to_numpy()[::_ROWS_PER_SAMPLED_KEY])

        # This chunk must be out of memory before the next one is gathered.
        del table, chunk
        pa.default_memory_pool().release_unused()

    if not chunk_files:
        return

    # There are as many ranges of keys as chunks, with about equally many rows by the sample. For
    # each, only the row groups with such keys are read, and not ahead or in threads, for memory.
    count = len(chunk_files)
    keys = np.sort(np.concatenate(sample))
    borders = keys[len(keys) * np.arange(1, count) // count].tolist()
    stored = ds.dataset([*map(str, chunk_files)], format=ds.ParquetFileFormat(pre_buffer=False))
    key = ds.field(_KEY)
    for begin, end in pairwise([0, *borders, np.iinfo(np.int64).max]):
        part = stored.to_table(filter=(key >= begin) & (key < end), use_threads=False)
        if len(part):
            yield _sorted_by_key(part).drop_columns([_KEY])


def _in_chunks(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Put tables together until they are as large as a chunk."""
    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        if sum(rows.nbytes for rows in waiting) >= _BYTES_PER_CHUNK:
            yield pa.concat_tables(waiting)
            waiting = []

    if waiting:
        yield pa.concat_tables(waiting)


def _sorted_by_key(table: pa.Table) -> pa.Table:
    """Sort the rows of a table, whose keys all differ."""
    return table.take(np.argsort(table[_KEY].to_numpy()))
