"""GeoJSON, GeoPackage, GeoParquet, Shapefile, FlatGeobuf: points or lines -> traces."""

import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trajanon.atomic_output import drafting
from trajanon.errors import FileProblem
from trajanon.extract.sources.geo import features, gdal, geo_parquet
from trajanon.extract.sources.geo.layer import Layer
from trajanon.extract.sources.streams import DAMAGED, Reading, unpacked
from trajanon.extract.trace import Trace
from trajanon.inputs import other_encoding, seems_utf16

_SUFFIXES = (".geojson", ".geojsonl", ".geojsons", ".geojsonseq", ".gpkg", ".shp", ".fgb")

_BINARY = (gdal.SQLITE, gdal.FLATGEOBUF, gdal.SHAPEFILE, geo_parquet.MAGIC)

_BEFORE_JSON = b"\xef\xbb\xbf\x1e \t\r\n"  # a byte order mark, a separator, blanks

_FEATURE = re.compile(
    rb'"type"\s*:\s*"(Feature|FeatureCollection|GeometryCollection'
    rb'|(Multi)?(Point|LineString))"'
)


def looks_like(name: str, head: bytes) -> bool:
    """Tell whether a file is GeoJSON, GeoPackage, Shapefile or FlatGeobuf; not GeoParquet."""
    geopackage = head.startswith(gdal.SQLITE) and head[68:70] == b"GP"
    flatgeobuf = head.startswith(gdal.FLATGEOBUF)
    geojson = _is_json(head) and _FEATURE.search(head) is not None
    return name.endswith(_SUFFIXES) or geopackage or flatgeobuf or geojson


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read the traces of a file of points or lines; coordinates are those of the geometries."""
    with _plain(path, how) as (plain, size):
        layers = _layers(plain, str(path), label, how)
        total = sum(layer.count or 0 for layer in layers)
        done = told = 0

        def tell(read: int) -> None:
            """Tell of the bytes of the file in step with its features."""
            nonlocal done, told
            done = min(done + read, total)
            before, told = told, size * done // max(total, 1)
            how.read(told - before)

        for layer in layers:
            yield from features.traces_of_features(layer, how, tell)
        how.read(size - told)


def _layers(path: Path, what: str, label: str, how: Reading) -> list[Layer]:
    with path.open("rb") as file:
        head = file.read(100)
    if not head:
        raise FileProblem(f"{what} is empty")
    if head.startswith(geo_parquet.MAGIC):
        return [geo_parquet.layer(path, what, label, how)]
    binary = head.startswith(_BINARY)
    if not binary and seems_utf16(head):
        raise FileProblem(f"{what} {other_encoding(head)}")
    if binary or _is_json(head):
        return gdal.layers(path, head, what, label, how)
    raise FileProblem(
        f"{what} begins like no GeoJSON, GeoPackage, GeoParquet, Shapefile or "
        "FlatGeobuf; give it the suffix of its format"
    )


def _is_json(head: bytes) -> bool:
    return head.lstrip(_BEFORE_JSON).startswith(b"{")


@contextmanager
def _plain(path: Path, how: Reading) -> Iterator[tuple[Path, int]]:
    """Give the file, unpacked, and the bytes that are to be told of yet."""
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
