"""Rows in the order of places along a Hilbert curve, in bounded memory, and boxes around them.

`trajanon extract --partition` writes its parts in this order: the key ``trajanon_order`` in the
footer of each part is then ``hilbert``. The curve fills the rectangle of all longitudes and
latitudes with 2^16 rows and columns of squares, as `geopandas.GeoSeries.hilbert_distance` numbers
them; a row has the number of the middle point of its line. Rows of one recording, or of one run
where several windows lie on it, have the number of the first of them and stay together. Numbers
rise over all parts in the order of their names; rows of one number are in the order of the source.

Each row has its box in a column ``bbox``, which GeoParquet calls a covering. Its least and greatest
values stand in the footer for each row group, and the box around all rows of the part beside its
geometries. Programs that know these skip parts, or row groups, that lie elsewhere.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.trajectories.trajectories import Trajectories

if TYPE_CHECKING:
    import pyarrow as pa

FOOTER = {"trajanon_order": "hilbert"}
"""What the footer of each part says."""

ROWS_PER_GROUP = 5_000
"""Rows of a part that another program reads or skips."""

SIDES = ("xmin", "ymin", "xmax", "ymax")

_KEY = "hilbert"  # the column by which rows are sorted, which is not written
_EARTH = (-180.0, -90.0, 180.0, 90.0)
_MOST_ROWS = 2**31  # of all parts
_BYTES_PER_RUN = 1 << 26
_BYTES_PER_GROUP = 1 << 20  # of a run
_ROWS_PER_KEY = 100  # of a run, of which one is in the sample of keys


def place_columns(trajectories: Trajectories, first: int) -> dict[str, "pa.Array"]:
    """Return boxes of rows, and the key by which they are sorted; ``first`` rows came before."""
    import pyarrow as pa

    points = trajectories.points[..., ::-1]
    sides = np.concatenate([points.min(axis=1), points.max(axis=1)], axis=1).T
    bbox = pa.StructArray.from_arrays([pa.array(side) for side in sides], names=SIDES)

    middle = trajectories.points[:, points.shape[1] // 2]
    if trajectories.tracks is not None:
        recording = trajectories.tracks.recording_of
        _, first_row, number = np.unique(recording, return_index=True, return_inverse=True)
        middle = middle[first_row][number]

    number = np.arange(first, first + len(middle))
    return {"bbox": bbox, _KEY: pa.array(keys_on_curve(middle, number))}


def keys_on_curve(places: Floats, number: Ints) -> Ints:
    """Compute the keys of rows with numbers, that lie at places (lat, lon), (n, 2).

    All keys differ, so that rows of one place need not be in memory together.
    """
    import geopandas
    import shapely

    squares = geopandas.GeoSeries(shapely.points(places[:, ::-1])).hilbert_distance(
        _EARTH, level=16
    )
    return np.asarray(squares, np.int64) * _MOST_ROWS + number


def is_in_order(schema: "pa.Schema") -> bool:
    """Check whether a part says that all parts are in this order."""
    metadata = schema.metadata or {}
    return all(metadata.get(key.encode()) == word.encode() for key, word in FOOTER.items())


def box_of(table: "pa.Table") -> list[float]:
    """Return the box around all rows of a table: west, south, east, north."""
    boxes = table["bbox"].combine_chunks()
    west, south, east, north = (boxes.field(side).to_numpy() for side in SIDES)
    return [float(side) for side in (west.min(), south.min(), east.max(), north.max())]


def in_hilbert_order(tables: Iterable["pa.Table"], scratch: Path) -> Iterator["pa.Table"]:
    """Sort the rows of tables with `place_columns`; sorted runs of them wait in a folder."""
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    runs: list[Path] = []
    sample = [np.empty(0, np.int64)]
    for table in _together(tables):
        run = _sorted(table)
        runs.append(scratch / f"run-{len(runs)}.parquet")
        pq.write_table(
            run,
            runs[-1],
            row_group_size=max(_BYTES_PER_GROUP * len(run) // run.nbytes, 1),
            compression="zstd",
            write_statistics=[_KEY],
            write_page_checksum=True,
        )
        sample.append(run[_KEY].to_numpy()[::_ROWS_PER_KEY])
        del table, run
        pa.default_memory_pool().release_unused()
    if not runs:
        return

    # As many tables as runs: each reads the row groups of all runs in which it has rows.
    keys = np.sort(np.concatenate(sample))
    borders = keys[len(keys) * np.arange(1, len(runs)) // len(runs)].tolist()
    stored = ds.dataset([*map(str, runs)], format=ds.ParquetFileFormat(pre_buffer=False))
    key = ds.field(_KEY)
    for begin, end in pairwise([0, *borders, np.iinfo(np.int64).max]):
        part = stored.to_table(filter=(key >= begin) & (key < end), use_threads=False)
        if len(part):
            yield _sorted(part).drop_columns([_KEY])


def _together(tables: Iterable["pa.Table"]) -> Iterator["pa.Table"]:
    """Put tables together until they are as large as a run."""
    import pyarrow as pa

    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        if sum(rows.nbytes for rows in waiting) >= _BYTES_PER_RUN:
            yield pa.concat_tables(waiting)
            waiting = []
    if waiting:
        yield pa.concat_tables(waiting)


def _sorted(table: "pa.Table") -> "pa.Table":
    return table.take(np.argsort(table[_KEY].to_numpy()))
