"""Layers of the files that GDAL reads: GeoJSON, GeoPackage, Shapefile, FlatGeobuf."""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa

from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.geo.layer import BATCH_OF_FEATURES, Features, Layer, features_of
from trajanon.extract.sources.streams import Reading
from trajanon.extract.sources.tables.columns import FILE, listed
from trajanon.inputs import other_encoding
from trajanon.number_text import number_of

logger = logging.getLogger(__name__)

SQLITE = b"SQLite format 3\x00"
FLATGEOBUF = b"fgb\x03"
SHAPEFILE = b"\x00\x00\x27\x0a"

NO_FEATURE = "lines that are no features"

_UNREADABLE = (RuntimeError, OSError, ValueError, LookupError, TypeError, pa.ArrowException)


def layers(path: Path, head: bytes, what: str, label: str, how: Reading) -> list[Layer]:
    """Open the layers of a file that may hold traces; others are left out with a warning."""
    import pyogrio

    if head.startswith(SHAPEFILE):
        _check_shapefile(path, what)
    names: list[str | None] = [None]
    if head.startswith(SQLITE):
        with _plain_words(what):
            names = [str(name) for name, _ in pyogrio.list_layers(path).reshape(-1, 2)]
    found: list[Layer] = []
    refused: list[str] = []
    for name in names:
        within = (what, label)
        if len(names) > 1:
            within = (f"{what}, layer {name!r}", f"{label}:{name}")
        try:
            found.append(_layer(path, name if len(names) > 1 else None, *within, how))
        except BadInput as error:
            refused.append(str(error))
    if not found:
        raise BadInput(refused[0] if refused else f"{what} holds no layer")
    for reason in refused:
        how.warn(logger, "layers", f"{reason}; this layer is left out", reason)
    return found


def _layer(path: Path, name: str | None, what: str, label: str, how: Reading) -> Layer:
    import pyogrio

    with _plain_words(what):
        info = pyogrio.read_info(path, layer=name)
    kind, driver, count = str(info["geometry_type"]), info["driver"], info["features"]
    refused = {
        "has no geometries; save its table as CSV or Parquet": info["geometry_type"] is None,
        f"holds {kind}s; traces are points or lines": "Polygon" in kind or "Surface" in kind,
        "holds no features": count == 0,
    }
    for reason, applies in refused.items():
        if applies:
            raise BadInput(f"{what} {reason}")

    def features(columns: Sequence[str]) -> Iterator[Features]:
        read, size = 0, BATCH_OF_FEATURES["points" if "Point" in kind else "lines"]
        for batch, geometry in _batches(path, name, columns, size, what):
            read += batch.num_rows
            try:  # after a feature without geometry, GDAL may give geometries that overlap
                batch[geometry].validate(full=True)
            except pa.ArrowInvalid as error:
                raise FileProblem(
                    f"{what} has features without geometry, with which GDAL does not read a "
                    f"{driver}; leave them out, or save it as GeoPackage"
                ) from error
            yield features_of(batch, geometry, what)
        if driver == "FlatGeobuf" and read < count:
            raise _cut_off(what, f"{read:,} of {number_of(count, 'feature')}")
        if driver == "GeoJSONSeq":
            _check_lines(path, read, how)

    layer = Layer(
        what=what,
        label=label,
        names=info["fields"].tolist(),
        system=info["crs"],
        features=features,
        count=count if count > 0 else None,
        # Without an index, a FlatGeobuf has its features as they were written.
        sorted_by_place=(driver == "FlatGeobuf" and info["capabilities"]["fast_spatial_filter"]),
    )
    if "Point" in kind and name is not None:
        _check_ids(layer, how)
    return layer


def _check_ids(layer: Layer, how: Reading) -> None:
    """Refuse the points of one layer among others that have no ids; shops are no recording."""
    column_of = layer.roles(how.columns, of_points=True)
    if column_of.keys().isdisjoint(("id", "subject")) and how.columns.get("id") != FILE:
        raise BadInput(
            f"{layer.what} has no column known as id; {listed(layer.names)}: say `columns` id=..."
        )


def _batches(
    path: Path, name: str | None, columns: Sequence[str], size: int, what: str
) -> Iterator[tuple[pa.RecordBatch, str]]:
    """Read some features of a layer at a time, with the name of the column of geometries."""
    import pyogrio

    with ExitStack() as opened:
        with _plain_words(what):
            reader = pyogrio.raw.open_arrow(
                path,
                layer=name,
                columns=list(columns),
                batch_size=size,
                use_pyarrow=True,
                datetime_as_string=True,  # so that times keep their zones, even if these differ
            )
            described, batches = opened.enter_context(reader)
        geometry = described["geometry_name"] or "wkb_geometry"
        while True:
            with _plain_words(what):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch, geometry


@contextmanager
def _plain_words(what: str) -> Iterator[None]:
    """Say in one sentence what GDAL cannot read; its warnings do not help here."""
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    except _UNREADABLE as error:
        reason = " ".join(str(error).split())[:200]
        if isinstance(error, UnicodeDecodeError):
            reason = f"it {other_encoding(error.object)}"
        raise FileProblem(f"cannot read {what}: {reason}") from error


def _check_shapefile(path: Path, what: str) -> None:
    """Refuse a Shapefile that is not whole."""
    beside = {file.suffix.lower() for file in path.parent.glob(f"{path.stem}.*")}
    for suffix in (".shx", ".dbf"):
        if suffix not in beside:
            raise FileProblem(
                f"{what} needs the other files of its Shapefile: no {suffix} beside it"
            )
    with path.open("rb") as file:
        said = 2 * int.from_bytes(file.read(28)[24:], "big")
    size = path.stat().st_size
    if size < said:
        raise _cut_off(what, f"{size:,} of {said:,} bytes")


def _check_lines(path: Path, read: int, how: Reading) -> None:
    """Count the lines of newline-delimited GeoJSON that gave no feature."""
    with path.open("rb") as file:
        separated = file.read(1) == b"\x1e"
        file.seek(0)
        counted = (line.count(b"\x1e") if separated else not line.isspace() for line in file)
        there = sum(counted)
    if there > read:
        how.counts[NO_FEATURE] += there - read


def _cut_off(what: str, there: str) -> FileProblem:
    return FileProblem(f"{what} is damaged or cut off: it has {there}")
