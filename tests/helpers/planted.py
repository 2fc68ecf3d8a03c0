"""Releases written for tests, changed, and checked."""

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from plain import plain_means

import trajanon
from trajanon.common.arrays import Floats
from trajanon.files.release_formats import RELEASE_FORMATS, write_release
from trajanon.files.rounding_order_and_keys_of_lines import in_order
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories

K = 4

UNTIMED = [suffix for suffix in RELEASE_FORMATS if suffix != ".mfjson"]
"""Formats of releases that need no times."""


def groups(sizes: tuple[int, ...] = (4, 5, 4, 7), m: int = 3) -> Floats:
    """Released points of groups, each member equal, sorted."""
    rng = np.random.default_rng(0)
    centroids = np.round(rng.uniform((40, -4), (41, -3), (len(sizes), m, 2)), 4)
    points: Floats = np.repeat(centroids, sizes, axis=0)
    return points[in_order(points)]


def written(
    path: Path, points: Floats | None = None, attribution: str | None = OSM_ATTRIBUTION
) -> Path:
    """Write lines, sorted."""
    points = groups() if points is None else points
    points = points[in_order(points)]
    write_release(path, Trajectories(points, provenance={"attribution": attribution}))
    return path


def problems(path: Path, k: int = K) -> str:
    with plain_means():  # of 7 decimals
        findings = trajanon.check(path, k)
    assert findings.holds == (not findings.problems)
    return "\n".join(findings.problems)


def repacked(
    path: Path, change: Callable[[pa.Table], pa.Table], points: Floats | None = None
) -> str:
    """Change a written table, write it again, and say what the checker says."""
    table = change(pq.read_table(written(path, points)))
    pq.write_table(table, path, compression="zstd", write_statistics=False)
    return problems(path)


def with_metadata(**members: str) -> Callable[[pa.Table], pa.Table]:
    return lambda table: table.replace_schema_metadata(
        table.schema.metadata | {k.encode(): v.encode() for k, v in members.items()}
    )


def run_sql(path: Path, *commands: str, tidy: bool = True) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA synchronous = OFF")  # no waiting for the disk
        triggers = database.execute(  # they call functions of GDAL
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        ).fetchall()
        for name, _ in triggers:
            database.execute(f'DROP TRIGGER "{name}"')
        for command in commands:
            database.execute(command)
        for _, definition in triggers:
            with suppress(sqlite3.Error):  # of what is no longer there
                database.execute(definition)
        if tidy:
            database.execute("VACUUM")
