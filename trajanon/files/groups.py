"""The line that each row of parts became: a folder beside a release, for its holder."""

import hashlib
from typing import IO, Any, NamedTuple

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput, FileProblem
from trajanon.files.geoparquet import written_column
from trajanon.files.parquet_parts import parquet_of
from trajanon.files.track_rows import whole_numbers
from trajanon.remote_folder import Folder


class LinesOfRows(NamedTuple):
    """Which line stands for each trajectory, in the order of the input."""

    line: Ints  # its key, as of `line_keys`, (n,)
    slid: Ints | None  # steps by which each window moved on its run, (n,); None if none could


def groups_path(release: object) -> str:
    """Where the lines of rows stand beside a release in parts, a path or URL."""
    return f"{str(release).rstrip('/')}.parts.groups"


def line_keys(points: Floats, times: Floats | None = None) -> Ints:
    """Tell lines as written, (n, m, 2), apart: 64 bits of each, equal where lines are, (n,)."""
    lines = points if times is None else np.dstack([points, times])
    words = (hashlib.blake2b(line.tobytes(), digest_size=8).digest() for line in lines)
    return np.frombuffer(b"".join(words), dtype="<i8").astype(np.int64)


def digest_of(points: Floats, labels: Ints, times: Floats | None = None) -> str:
    """Tell trajectories as they were averaged, (n, m, 2), and their groups, from all others."""
    digest = hashlib.blake2b(digest_size=16)
    for array in (points, labels, times):
        if array is not None:
            digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def write_lines_of_rows(file: IO[bytes], lines: Ints, slid: Ints | None) -> None:
    """Write the key of the line of each row, (n,), and by how many steps its window slid."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"line": lines}
    if slid is not None:
        columns["slid"] = slid.astype(np.int32)
    pq.write_table(pa.table(columns), file, compression="zstd")


def read_lines_of_rows(folder: Folder) -> LinesOfRows:
    """Read what all parts say, one after another."""
    if not folder.exists:
        raise FileProblem(
            f"there is no {folder}, with the line of each trajectory: run trajanon anonymize again"
        )
    with parquet_of(folder, _look) as file:
        found = {name: written_column(folder, file, name) for name in LinesOfRows._fields}
    try:
        lines = whole_numbers("line", found["line"])
        slid = None if found["slid"] is None else whole_numbers("slid", found["slid"])
    except BadInput as error:
        raise FileProblem(f"{folder}: {error}; run trajanon anonymize again") from error
    return LinesOfRows(lines, slid)


def _look(schema: Any, where: object) -> None:
    if "line" not in schema.names:
        raise FileProblem(
            f"{where} does not tell the line of each trajectory: run trajanon anonymize again"
        )
