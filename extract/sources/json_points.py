"""JSON with a point in each line, or in each element of a list, OwnTracks among them -> traces."""

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pandas as pd

from trajanon.errors import FileProblem
from trajanon.extract.sources.column_use import check_use, with_recordings
from trajanon.extract.sources.columns import known_as, roles
from trajanon.extract.sources.delimited import POINTS, UNREAD
from trajanon.extract.sources.json_members import json_members
from trajanon.extract.sources.point_groups import traces_of_points
from trajanon.extract.sources.streams import BYTE_ORDER_MARK, DAMAGED, Reading
from trajanon.extract.trace import Trace
from trajanon.files.arrow import reading

OTHERS = "messages of OwnTracks that are no locations"

_HEAD = re.compile(rb"\s*(\[\s*\{|\{|[-:0-9TZ]{20}\t.{1,99}\t\{)")  # the last is OwnTracks' .rec
_NAME = re.compile(rb'"([^"\\]{2,99})"\s*:')
_CHUNK = 50_000  # points that are read at a time
_LONGEST = 1 << 20  # bytes of a line
_DEEPEST = 4


def looks_like(name: str, head: bytes) -> bool:
    """Tell whether a file is JSON that names lat and lon, as columns of tables are named."""
    names = (found.decode(errors="replace") for found in _NAME.findall(head))
    is_json = _HEAD.match(head.removeprefix(BYTE_ORDER_MARK)) is not None
    return is_json and {"lat", "lon"} <= {role for name in names for role in known_as(name)}


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read points as rows of a table, whose columns are the names of the objects.

    Without ids and subjects, a file is one recording, as of a device.
    """
    what = str(path)
    with reading(path, POINTS, *DAMAGED), how.unpacked(path) as stream:
        rows = (row for value in _values(stream, what, how) if (row := _row(value, how)))
        begun = list(islice(rows, _CHUNK))
        if not begun:
            raise FileProblem(f"{what} holds no JSON object with a point, in a line or in a list")
        names = list(dict.fromkeys(name for row in begun for name in row))
        frame = _frame(begun, names)

        def first(columns: Sequence[str]) -> pd.DataFrame:
            return frame[list(columns)]

        column_of = roles(names, how.columns, what)
        if "id" in column_of:
            column_of = with_recordings(names, column_of, first, what, how)
        check_use(names, column_of, first, what, how)
        more = iter(lambda: list(islice(rows, _CHUNK)), [])
        chunks = (_points(some, column_of) for some in chain([begun], more))
        yield from traces_of_points(chunks, label, how)


def _values(stream: io.BufferedReader, what: str, how: Reading) -> Iterator[Any]:
    """Give the elements of a list, or what stands in each line, from its first brace on."""
    if stream.peek().lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        yield from (value for _, value in json_members(stream, ("",), what))
        return
    while line := stream.readline(_LONGEST):
        try:
            if line.strip():
                yield json.loads(line[max(line.find(b"{"), 0) :])
        except (ValueError, RecursionError):
            how.counts[UNREAD] += 1


def _row(value: Any, how: Reading) -> dict[str, Any] | None:
    """Give what an object says in plain values; None if it is no point."""
    if not isinstance(value, dict):
        how.counts[UNREAD] += 1
        return None
    row: dict[str, Any] = {}
    _add_to(row, value, _DEEPEST)
    if "_type" not in row:
        return row
    if row["_type"] != "location":
        how.counts[OTHERS] += 1
        return None
    _, user, device, *_ = [*str(row.get("topic", "")).split("/"), "", "", ""]
    names = {"user": user or row.get("tid"), "trace_id": f"{user}/{device}" if device else ""}
    place = {"lat": row.get("lat"), "lon": row.get("lon"), "time": row.get("tst")}
    return place | {name: value for name, value in names.items() if value}


def _add_to(row: dict[str, Any], value: Mapping[str, Any], levels: int) -> None:
    """Add the members of an object, and of those within it, whose names are not taken."""
    for name, one in value.items():
        if isinstance(one, str):
            row.setdefault(name, one.encode(errors="replace").decode())  # or half a character
        elif isinstance(one, int | float) and not isinstance(one, bool):
            row.setdefault(name, one if abs(one) <= 2**53 else str(one))
    for one in value.values():
        if isinstance(one, dict) and levels:
            _add_to(row, one, levels - 1)


def _frame(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> pd.DataFrame:
    return pd.DataFrame({name: [row.get(name) for row in rows] for name in names}, dtype=object)


def _points(rows: Sequence[Mapping[str, Any]], column_of: Mapping[str, str]) -> pd.DataFrame:
    """Give points as columns under the names of their roles."""
    frame = _frame(rows, list(column_of.values()))
    return pd.DataFrame({role: frame[name] for role, name in column_of.items()})
