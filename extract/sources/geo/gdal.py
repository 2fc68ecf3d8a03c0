"""Layers of the files that GDAL reads: GeoJSON, GeoPackage, Shapefile, FlatGeobuf."""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyogrio

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.geo.layer import (
    LINES_OF_A_BATCH,
    POINTS_OF_A_BATCH,
    Features,
    Layer,
    geometries_of,
)
from trajanon.extract.sources.streams import Reading
from trajanon.files.arrow import frame

logger = logging.getLogger(__name__)

GEOPACKAGE = b"SQLite format 3\x00"
FLATGEOBUF = b"fgb\x03"
SHAPEFILE = b"\x00\x00\x27\x0a"

NO_FEATURE = "lines that are no features"

_JUDGED = 1_000  # features by which unused columns are judged


def layers(path: Path, head: bytes, what: str, label: str, how: Reading) -> list[Layer]:
    """Open all layers of a file that may hold traces.

    Layers without points or lines, and layers of points without an id, are left out with a warning,
    if there are others.
    """
    if head.startswith(SHAPEFILE):
        _check_shapefile(path, what)
    with _plain_words(what):
        names: list[str | None] = [None]
        if head.startswith(GEOPACKAGE):
            names = [str(name) for name, _ in pyogrio.list_layers(path).reshape(-1, 2)]
        infos = [pyogrio.read_info(path, layer=name) for name in names]
    found: list[Layer] = []
    refused: list[str] = []
    for name, info in zip(names, infos, strict=True):
        within = (what, label)
        if len(names) > 1:
            within = (f"{what}, layer {name!r}", f"{label}:{name}")
        try:
            found.append(_layer(path, name, info, *within, how))
        except BadInput as error:
            refused.append(str(error))
    if not found:
        raise BadInput(refused[0] if refused else f"{what} holds no layer")
    for reason in refused:
        logger.warning("%s; this layer is left out", reason)
    return found


def _layer(
    path: Path, name: str | None, info: dict[str, Any], what: str, label: str, how: Reading
) -> Layer:
    kind, driver = str(info["geometry_type"]), info["driver"]
    if info["geometry_type"] is None:
        msg = f"{what} has no geometries; save its table as CSV or Parquet"
        raise BadInput(msg)
    if "Polygon" in kind or "Surface" in kind:
        msg = f"{what} holds {kind}s; traces are points or lines"
        raise BadInput(msg)
    if info["features"] == 0:
        msg = f"{what} holds no features"
        raise BadInput(msg)
    size = POINTS_OF_A_BATCH if "Point" in kind else LINES_OF_A_BATCH
    count = info["features"] if info["features"] > 0 else None
    layer = Layer(
        what=what,
        label=label,
        names=info["fields"].tolist(),
        system=info["crs"],
        features=partial(_features, path, name, what, driver, size, count, how),
        first=partial(_first, path, name),
        count=count,
        # Without an index, a FlatGeobuf has its features as they were written.
        sorted_by_place=(driver == "FlatGeobuf" and info["capabilities"]["fast_spatial_filter"]),
    )
    if "Point" in kind:
        layer.roles(how.columns, of_points=True)
    return layer


def _features(
    path: Path,
    name: str | None,
    what: str,
    driver: str,
    size: int,
    count: int | None,
    how: Reading,
    columns: Sequence[str],
) -> Iterator[Features]:
    read = 0
    with ExitStack() as opened:
        with _plain_words(what):
            # Texts of times keep their zones, even if the zones differ.
            described, batches = opened.enter_context(
                pyogrio.raw.open_arrow(
                    path,
                    layer=name,
                    columns=list(columns),
                    batch_size=size,
                    use_pyarrow=True,
                    datetime_as_string=True,
                )
            )
        geometry = described["geometry_name"] or "wkb_geometry"
        while True:
            with _plain_words(what):
                batch = next(batches, None)
            if batch is None:
                break
            read += batch.num_rows
            table = pa.Table.from_batches([batch]).drop_columns([geometry])
            others = frame(table, what, integer_object_nulls=True)
            _refuse_holes(batch[geometry], driver, what)
            yield geometries_of(batch[geometry], what, strict=how.strict), others
    if driver == "FlatGeobuf" and count is not None and read < count:
        raise _cut_off(what, f"{read:,} of {count:,} features")
    if driver == "GeoJSONSeq":
        _check_lines(path, read, what, how)


def _first(path: Path, layer: str | None, names: Sequence[str]) -> pd.DataFrame:
    """Read the first rows of some columns."""
    columns = list(names)
    with _plain_words(str(path)):
        _, table = pyogrio.read_arrow(
            path, layer=layer, columns=columns, read_geometry=False, max_features=_JUDGED
        )
    return frame(table, path)[columns]


def _refuse_holes(geometries: pa.Array, driver: str, what: str) -> None:
    """Refuse overlapping geometries, as GDAL makes of features without geometry in FlatGeobuf."""
    try:
        geometries.validate(full=True)
    except pa.ArrowInvalid as error:
        msg = (
            f"{what} has features without geometry, with which GDAL does not read a "
            f"{driver}; leave them out, or save it as GeoPackage"
        )
        raise FileProblem(msg) from error


@contextmanager
def _plain_words(what: str) -> Iterator[None]:
    """Say in one sentence what GDAL cannot read; its warnings do not help here."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (
        *(RuntimeError, OSError, ValueError, LookupError, TypeError),
        pa.ArrowException,
    ) as error:
        reason = " ".join(str(error).split())[:200]
        msg = f"cannot read {what}: {reason}"
        raise FileProblem(msg) from error


def _check_shapefile(path: Path, what: str) -> None:
    """Refuse a Shapefile that is not whole."""
    beside = {file.suffix.lower() for file in path.parent.glob(f"{path.stem}.*")}
    for suffix in (".shx", ".dbf"):
        if suffix not in beside:
            msg = f"{what} needs the other files of its Shapefile: no {suffix} beside it"
            raise FileProblem(msg)
    with path.open("rb") as file:
        said = 2 * int.from_bytes(file.read(28)[24:], "big")
    size = path.stat().st_size
    if size < said:
        raise _cut_off(what, f"{size:,} of {said:,} bytes")


def _check_lines(path: Path, read: int, what: str, how: Reading) -> None:
    """Count the lines of newline-delimited GeoJSON that gave no feature."""
    with path.open("rb") as file:
        separated = file.read(1) == b"\x1e"
        file.seek(0)
        if separated:
            there = sum(line.count(b"\x1e") for line in file)
        else:
            there = sum(not line.isspace() for line in file)
    broken = there - read
    if broken > 0 and how.strict:
        msg = (
            f"{what} has lines that are no features, {broken:,} of {there:,}; mend "
            "them, or read without strict"
        )
        raise FileProblem(msg)
    if broken > 0:
        how.counts[NO_FEATURE] += broken


def _cut_off(what: str, there: str) -> FileProblem:
    return FileProblem(f"{what} is damaged or cut off: it has {there}")
