"""A release as GeoPackage."""

import errno
import hashlib
import json
import os
import sqlite3
import warnings
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from trajanon.errors import FileProblem
from trajanon.files.release_lines import COUNTED, Layout, Lines, ReleaseFormat, words_in
from trajanon.trajectories import Trajectories

if TYPE_CHECKING:
    from geopandas import GeoDataFrame

_LAYER = "anonymized"

_NO_TIME = "1970-01-01T00:00:00.000Z"
"""For the time of the last change, which the format wants."""

_COUNTERS = (24, 92)
"""Where SQLite counts its transactions: GDAL makes one more now and then, so they are set to 1."""

_SQLITE = b"SQLite format 3\0"
_SETTINGS = (
    *("application_id", "auto_vacuum", "encoding", "freelist_count"),
    *("journal_mode", "page_count", "page_size", "user_version"),
)


def _write(path: Path, release: Trajectories) -> None:
    """Write a release; its words are the description of its layer, times a column of JSON."""
    import geopandas
    import pandas as pd
    import shapely

    layout = Layout.of(release)
    lines, columns = layout.lines, layout.columns
    if lines.times is not None:
        # All times of a GeoPackage are in UTC.
        columns["departure"] = pd.to_datetime(columns["departure"], utc=True)
        columns["times"] = np.array([json.dumps(some) for some in lines.times.astype(int).tolist()])
    table = geopandas.GeoDataFrame(
        columns, geometry=shapely.linestrings(lines.points[:, :, ::-1]), crs="EPSG:4326"
    )
    write_layer(path, table, _LAYER, layout.text)


def write_layer(path: Path, table: "GeoDataFrame", layer: str, words: str | None) -> None:
    """Write a table as a layer, with words as its description: the same bytes on every day."""
    path.unlink(missing_ok=True)  # GDAL takes an empty file for a broken one
    options = {} if words is None else {"DESCRIPTION": words}
    try:
        table.to_file(path, driver="GPKG", layer=layer, engine="pyogrio", **options)
        with closing(sqlite3.connect(path)) as file:
            file.execute("UPDATE gpkg_contents SET last_change = ?", [_NO_TIME])
            file.commit()
        with path.open("r+b") as header:
            for place in _COUNTERS:
                header.seek(place)
                header.write(bytes((0, 0, 0, 1)))
    except (RuntimeError, sqlite3.Error) as error:  # pyogrio's errors are such
        number = errno.ENOSPC if "full" in str(error) else errno.EIO
        raise OSError(number, os.strerror(number)) from error  # the words are SQL


def _read(path: Path) -> Lines:
    import pyogrio
    import shapely

    try:
        with path.open("rb") as file:
            if file.read(len(_SQLITE)) != _SQLITE:
                raise ValueError
        # NaN is for the reader to judge, and so is all that GDAL warns of.
        with np.errstate(invalid="ignore"), warnings.catch_warnings(action="ignore"):
            layers = [str(name) for name in pyogrio.list_layers(path)[:, 0]]
            layer = _LAYER if _LAYER in layers else layers[0]
            info = pyogrio.read_info(path, layer=layer)
            about = info.get("layer_metadata") or {}
            fields = set(info["fields"])
            names = sorted(fields & {*COUNTED, "times"})
            _, _, shapes, values = pyogrio.raw.read(path, layer=layer, columns=names)
            columns = dict(zip(names, values, strict=True))
            words = words_in(about.get("DESCRIPTION") or None, timed="times" in columns)
            times = [_list(text) for text in columns["times"]] if "times" in columns else None
            found = Lines.of(shapely.from_wkb(shapes), shapes)
            return found.with_words(words[0], times, words[1], columns)
    # The base of pyogrio's errors is RuntimeError.
    except (
        *(OSError, ValueError, IndexError, TypeError, AttributeError),
        *(RuntimeError, shapely.errors.ShapelyError),
    ) as error:
        raise FileProblem(f"cannot read {path} as a GeoPackage") from error


def _list(text: Any) -> Any:
    """Read a list of times; None if it is no JSON."""
    with suppress(ValueError, TypeError, RecursionError):
        return json.loads(text)
    return None


def _contents(path: Path) -> tuple[str, dict[str, Any]]:
    """Take a file apart that SQLite reads: its version, and all that it shows of it."""
    found: dict[str, Any] = {}
    place = f"{path.resolve().as_uri()}?mode=ro"
    with closing(sqlite3.connect(place, uri=True)) as file:
        file.text_factory = bytes
        for name in _SETTINGS:
            found[f"its {name}"] = file.execute(f"PRAGMA {name}").fetchall()
        query = "SELECT type, name, tbl_name, sql FROM sqlite_master"
        for kind, raw, *definition in file.execute(query).fetchall():
            name = raw.decode("utf-8", "surrogateescape")
            what = f"{kind.decode()} {name!r}"
            found[what] = definition
            if kind == b"table":
                quoted = name.replace('"', '""')
                rows = hashlib.blake2b()
                for row in file.execute(f'SELECT * FROM "{quoted}"'):
                    rows.update(repr(row).encode())
                found[f"the content of {what}"] = rows.digest()
    with path.open("rb") as whole:
        version = int.from_bytes(whole.read(100)[-4:], "big")
    return f"SQLite {version}", found


GEOPACKAGE = ReleaseFormat(_write, _read, _contents)
