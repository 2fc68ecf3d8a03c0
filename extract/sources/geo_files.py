"""GeoJSON, GeoPackage, GeoParquet, Shapefile, FlatGeobuf: points or lines -> traces."""

import shutil
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from trajanon.atomic_output import drafting
from trajanon.errors import BadInput, FileProblem
from trajanon.extract.sources.columns import FILE, listed
from trajanon.extract.sources.features import Features, Layer, traces_of_features
from trajanon.extract.sources.source_tables import PARQUET
from trajanon.extract.sources.streams import BYTE_ORDER_MARK, DAMAGED, Reading, unpacked
from trajanon.extract.trace import Trace
from trajanon.files.arrow import frame, geometries_of, opened, reading
from trajanon.files.geoparquet import described
from trajanon.inputs import other_encoding, seems_utf16
from trajanon.number_text import number_of

NO_FEATURE = "lines that are no features"

BATCH_OF_FEATURES = {"points": 65_536, "lines": 2_048}  # read at a time; lines may be long

_SQLITE = b"SQLite format 3\x00"
_SHAPEFILE = b"\x00\x00\x27\x0a"
_BEFORE_JSON = BYTE_ORDER_MARK + b"\x1e \t\r\n"  # the second is a separator


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read the traces of a file of points or lines; coordinates are those of the geometries."""
    with _plain(path, how) as (plain, size):
        layers = _layers(plain, str(path), label, how)
        total = sum(layer.count or 0 for layer in layers)
        left = size  # bytes of the file that are yet to be reported, in step with its features

        def report(read: int) -> None:
            nonlocal left
            step = min(left, size * read // max(total, 1))
            left -= step
            how.read(step)

        for layer in layers:
            yield from traces_of_features(layer, how, report)
        how.read(left)


@contextmanager
def _plain(path: Path, how: Reading) -> Iterator[tuple[Path, int]]:
    """Give the file, unpacked, and the bytes that are yet to be reported."""
    with Reading().open(path) as stream:
        packed = unpacked(stream) is not stream
    if not packed:
        yield path, path.stat().st_size
        return
    with drafting(Path(tempfile.gettempdir(), "trajanon-unpacked")) as draft:
        plain = draft.path.with_name(path.stem)
        try:
            with how.open(path) as stream, plain.open("wb") as file:
                shutil.copyfileobj(unpacked(stream), file, 1 << 20)
        except DAMAGED as error:
            raise FileProblem(f"cannot unpack {path}: {error}") from error
        yield plain, 0


def _layers(path: Path, what: str, label: str, how: Reading) -> list[Layer]:
    """Open the layers of a file that may hold traces; others are left out with a warning."""
    import pyogrio

    with path.open("rb") as file:
        head = file.read(100)
    if head.startswith(PARQUET):
        return [_layer_of_parquet(path, what, label)]
    if not head.startswith((_SQLITE, b"fgb\x03", _SHAPEFILE)):
        if seems_utf16(head):
            raise FileProblem(f"{what} {other_encoding(head)}")
        if not head.lstrip(_BEFORE_JSON).startswith(b"{"):
            why = "begins like no GeoJSON, GeoPackage, GeoParquet, Shapefile or FlatGeobuf"
            raise FileProblem(f"{what} {why if head else 'is empty'}; give it its suffix")
    if head.startswith(_SHAPEFILE):
        _check_shapefile(path, what)
    names: list[str | None] = [None]
    if head.startswith(_SQLITE):
        with _by_gdal(what):
            names = [str(name) for name, _ in pyogrio.list_layers(path).reshape(-1, 2)]
    found: list[Layer] = []
    refused: list[str] = []
    for name in names:
        within = (name, f"{what}, layer {name!r}", f"{label}:{name}")
        try:
            found.append(_layer(path, *(within if len(names) > 1 else (None, what, label)), how))
        except BadInput as error:
            refused.append(str(error))
    if not found:
        raise BadInput(refused[0] if refused else f"{what} holds no layer")
    for reason in refused:
        how.warn("layers", f"{reason}; this layer is left out", reason)
    return found


def _layer(path: Path, name: str | None, what: str, label: str, how: Reading) -> Layer:
    import pyogrio

    with _by_gdal(what):
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
    if "Point" in kind and name is not None:  # shops beside tracks are no recording
        column_of = layer.roles(how.columns, of_points=True)
        if column_of.keys().isdisjoint(("id", "subject")) and how.columns.get("id") != FILE:
            raise BadInput(
                f"{what} has no column known as id; {listed(layer.names)}: say `columns` id=..."
            )
    return layer


def _batches(
    path: Path, name: str | None, columns: Sequence[str], size: int, what: str
) -> Iterator[tuple[pa.RecordBatch, str]]:
    """Read some features of a layer at a time, with the name of the column of geometries."""
    import pyogrio

    with ExitStack() as stack:
        with _by_gdal(what):
            reader = pyogrio.raw.open_arrow(
                path,
                layer=name,
                columns=list(columns),
                batch_size=size,
                use_pyarrow=True,
                datetime_as_string=True,  # so that times keep their zones, even if these differ
            )
            info, batches = stack.enter_context(reader)
        geometry = info["geometry_name"] or "wkb_geometry"
        while True:
            with _by_gdal(what):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch, geometry


@contextmanager
def _by_gdal(what: str) -> Iterator[None]:
    """Say in one sentence what GDAL cannot read; its warnings do not help here."""
    errors = (RuntimeError, ValueError, LookupError, TypeError)
    with reading(what, "points or lines", *errors), warnings.catch_warnings(action="ignore"):
        yield


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


def features_of(batch: pa.RecordBatch, geometry: str, what: str, encoding: str = "WKB") -> Features:
    """Read the features of a batch; geometries that are unreadable become None."""
    column = batch[geometry]
    others = frame(
        pa.Table.from_batches([batch]).drop_columns([geometry]), what, integer_object_nulls=True
    )
    try:
        if encoding == "WKB":
            return geometries_of(column, "ignore"), others
        import geopandas

        meant = {"ARROW:extension:name": f"geoarrow.{encoding}"}
        field = pa.field("geometry", column.type, metadata=meant)
        table = pa.record_batch([column], schema=pa.schema([field]))
        return geopandas.GeoDataFrame.from_arrow(table).geometry.to_numpy(), others
    except (TypeError, ValueError, LookupError, AttributeError, pa.ArrowException) as error:
        raise FileProblem(
            f"{what} has no geometries in the encoding {encoding!r} where it should, but "
            f"{column.type}; write them as WKB"
        ) from error


def footer_of(path: Path) -> dict[bytes, bytes]:
    """Read what the footer of Parquet says of it: `geo` of geometries, `trajanon` of our own."""
    try:
        with path.open("rb") as file:
            if file.read(len(PARQUET)) != PARQUET:
                return {}
        return dict(pq.read_metadata(opened(path)).metadata or {})
    except (OSError, UnicodeError, pa.ArrowException):
        return {}  # its reader names the fault


def _layer_of_parquet(path: Path, what: str, label: str) -> Layer:
    with reading(what, "GeoParquet"):
        file = pq.ParquetFile(opened(path))
        schema, names = file.schema_arrow, file.schema_arrow.names
    if b"trajanon" in (file.metadata.metadata or {}):
        raise BadInput(
            f"{what} is what trajanon extract wrote, no source: give it to trajanon anonymize"
        )
    geo = described(schema, what)
    geometry = geo["primary_column"]
    column = geo["columns"][geometry]
    encoding = column.get("encoding", "WKB")
    only_points = set(column.get("geometry_types") or "?") <= {"Point", "Point Z"}
    size = BATCH_OF_FEATURES["points" if only_points else "lines"]

    def features(columns: Sequence[str]) -> Iterator[Features]:
        with reading(what, "GeoParquet"):
            for batch in file.iter_batches(size, columns=[geometry, *columns]):
                yield features_of(batch, geometry, what, encoding)

    names.remove(geometry)
    system = column.get("crs", "OGC:CRS84")
    return Layer(what, label, names, system, features, file.metadata.num_rows)
