"""Files broken by chance, in their bytes and in what these mean."""

import contextlib
import gzip
import io
import json
import random
import re
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

DEEP = 100_000  # brackets: more than any parser follows

TEXTS = (
    *("", " ", "x", "-1", "0", "1e400", "-1e308", "1e-9", "nan", "inf", "9" * 19),
    *("1" * 400, "2" * 4_301, "null", "true", "[]", "{}", "2020-13-45", "25:61"),
    *("'", '"', "\x1b[31m", "é" * 300, "\udcff", "a,b;c\td|e", "../../x", "none"),
)

VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 2**63, 2**64, 10**400, 1.5, 1e308, float("nan"), "9" * 99),
    *(float("inf"), "", "x", "\ud800", [], {}, [[]], [None], {"x": [1]}, ["a"]),
)

TYPES: tuple[Callable[[int], Any], ...] = (
    lambda n: pa.array([2**63 + i for i in range(n)], pa.uint64()),
    lambda n: pa.array([(-1) ** i * 1e308 * i for i in range(n)]),
    lambda n: pa.array([float("nan")] * n),
    lambda n: pa.array([True] * n),
    lambda n: pa.nulls(n, pa.binary()),
    lambda n: pa.array(["1e999"] * n, pa.large_string()),
    lambda n: pa.array([b"\xff\xfe"] * n).view(pa.string()),
    lambda n: pa.array([{"x": i, "y": [i]} for i in range(n)]),
    lambda n: pa.array([[("a", 1)]] * n, pa.map_(pa.string(), pa.int64())),
    lambda n: pa.array((["a", None] * n)[:n], pa.string()).dictionary_encode(),
    lambda n: pa.array(range(n), pa.int32()).cast(pa.date32()),
    lambda n: pa.array([2**40] * n, pa.timestamp("us", "Nowhere/At_all")),
    lambda n: pa.array([2**62] * n, pa.duration("ms")),
    lambda n: pa.array(["9" * 70] * n).cast(pa.decimal256(76, 0)),
)
"""Columns of so many rows, of what a column might hold."""


def break_file(path: Path, chance: random.Random) -> None:
    """Break what a file means; one time in three, or where that fails, its bytes."""
    content = path.read_bytes()
    mean = _MEANT.get(path.suffix)
    if mean is not None and chance.random() < 2 / 3:
        with contextlib.suppress(ValueError, sqlite3.Error, pa.ArrowException):
            mean(path, chance)
    if path.read_bytes() == content:
        path.write_bytes(_bytes(content, chance))


def _bytes(content: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(content) + 1)
    size = chance.choice((1, 4, 40, len(content)))
    some = chance.choice((b"", b"\0" * 4, b"\xff" * 8, b"\n", chance.randbytes(9)))
    changed = (
        content[:at],
        content[:at] + some + content[at + len(some) :],
        content[:at] + content[at + size :],
        content[:at] + some + content[at:],
        content + content[at : at + size],
        content.decode("latin-1").encode(chance.choice(("utf-8", "utf-16", "utf-16-le"))),
    )
    return chance.choice(changed)


def _json_of(text: str, chance: random.Random) -> str:
    """Put something else in one place of a JSON text, or leave it out there."""
    if chance.random() < 0.1:
        return chance.choice(TEXTS)
    whole = [json.loads(text)]
    owner: Any = whole
    while True:
        key = chance.choice(list(owner) if isinstance(owner, dict) else range(len(owner)))
        inner = owner[key]
        if not (isinstance(inner, dict | list) and inner) or chance.random() < 0.3:
            break
        owner = inner
    if owner is not whole and chance.random() < 0.2:
        del owner[key]
    else:
        owner[key] = "DEEP" if chance.random() < 0.1 else chance.choice(VALUES)
    return json.dumps(whole[0]).replace('"DEEP"', "[" * DEEP + "]" * DEEP)


def _json(path: Path, chance: random.Random) -> None:
    path.write_text(_json_of(path.read_text(), chance))


def _text(path: Path, chance: random.Random) -> None:
    """Put something else in the place of a word or a number."""
    pieces = re.split(r"([^\s,;<>\"=]+)", path.read_text())
    pieces[chance.randrange(len(pieces))] = chance.choice(TEXTS)
    path.write_text("".join(pieces), errors="surrogateescape")


def _packed(path: Path, chance: random.Random) -> None:
    inner = path.with_suffix("")
    inner.write_bytes(gzip.decompress(path.read_bytes()))
    break_file(inner, chance)
    path.write_bytes(gzip.compress(inner.read_bytes()))
    inner.unlink()


def _zip(path: Path, chance: random.Random) -> None:
    """Break a member of an archive, or its name."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    chosen = chance.choice(list(members))
    members[chosen] = _bytes(members[chosen], chance)
    if chance.random() < 0.2:
        members[chance.choice(("../x.gpx", "/x.gpx", "x" * 300))] = members.pop(chosen)
    with zipfile.ZipFile(path, "w") as archive:
        for name, member in members.items():
            archive.writestr(name, member)


def _sqlite(path: Path, chance: random.Random) -> None:
    with contextlib.closing(sqlite3.connect(path)) as base, base:
        found = base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        table = chance.choice([name for (name,) in found])
        columns = base.execute(f'PRAGMA table_info("{table}")').fetchall()
        column = chance.choice(columns)[1]
        change = chance.choice(
            (
                *['UPDATE "{0}" SET "{1}" = ?'] * 8,
                'DELETE FROM "{0}"',
                'DROP TABLE "{0}"',
                'ALTER TABLE "{0}" DROP COLUMN "{1}"',
                'ALTER TABLE "{0}" RENAME COLUMN "{1}" TO "x y"',
            )
        )
        values = ("x", "1e400", None, -1, 2**62, 1e308, b"GP\0\1", b"\xff", "9" * 400)
        given = [chance.choice(values)] if "?" in change else []
        base.execute(change.format(table, column), given)


def _parquet(path: Path, chance: random.Random) -> None:
    table = pq.read_table(path)
    number = chance.randrange(table.num_columns)
    name, rows, column = table.column_names[number], len(table), table[number]
    metadata = dict(table.schema.metadata or {})
    match chance.randrange(8):
        case 0 | 1 | 2:
            table = table.set_column(number, name, chance.choice(TYPES)(rows))
        case 3 if metadata:
            key = chance.choice(list(metadata))
            text = _json_of(metadata[key].decode(), chance).encode(errors="replace")
            metadata[key] = chance.choice((text, text, b"\xff", b"", b'{"\xff": 1}'))
        case 4:
            missing = pa.array([chance.random() < 0.3 for _ in range(rows)])
            table = table.set_column(number, name, pc.if_else(missing, None, column))
        case 5:
            table = table.drop_columns([name])
        case 6:
            other = chance.choice(("x", "", *table.column_names, "\0", "é" * 300))
            table = table.append_column(other, column)
        case _:
            table = table.slice(0, chance.choice((0, 1, 2)))
    sink = io.BytesIO()
    schema = table.schema.with_metadata(metadata)
    with pq.ParquetWriter(sink, schema, store_schema=chance.random() < 0.7) as writer:
        if chance.random() < 0.2:
            writer.write_table(table.slice(0, 0).cast(schema))
        writer.write_table(table.cast(schema), row_group_size=chance.choice((1, 999)))
    path.write_bytes(sink.getvalue())


_TEXTS = (
    *(".csv", ".txt", ".plt", ".gpx", ".osm", ".geojsonl", ".kml", ".tcx", ".nmea", ".jsonl"),
    ".toml",
)

_MEANT: dict[str, Callable[[Path, random.Random], None]] = {
    ".parquet": _parquet,
    **dict.fromkeys((".json", ".geojson"), _json),
    **dict.fromkeys(_TEXTS, _text),
    ".gz": _packed,
    **dict.fromkeys((".zip", ".npz", ".kmz"), _zip),
    **dict.fromkeys((".gpkg", ".ledger"), _sqlite),
}
"""What knows the meaning of a file, by its suffix."""
