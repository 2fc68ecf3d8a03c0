"""The line that each row of parts became: a folder beside a release, for its holder."""

import hashlib
from typing import IO

import numpy as np

from trajanon.arrays import Floats, Ints


def line_keys(points: Floats, times: Floats | None = None) -> Ints:
    """Tell lines as written, (n, m, 2), apart: 64 bits of each, equal where lines are, (n,)."""
    lines = points if times is None else np.dstack([points, times])
    words = (hashlib.blake2b(line.tobytes(), digest_size=8).digest() for line in lines)
    return np.frombuffer(b"".join(words), dtype="<i8").astype(np.int64)


def write_lines_of_rows(file: IO[bytes], lines: Ints, slid: Ints | None) -> None:
    """Write the key of the line of each row, (n,), and by how many steps its window slid."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"line": lines}
    if slid is not None:
        columns["slid"] = slid.astype(np.int32)
    pq.write_table(pa.table(columns), file, compression="zstd")
