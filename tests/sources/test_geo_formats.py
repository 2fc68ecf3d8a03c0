"""Which files are taken for geographic ones, however they are named and packed."""

import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geo_tables import FILES, ROWS, geojson, is_the_two_traces, line, places, points, read, write

from trajanon.errors import BadInput
from trajanon.extract.sources import geo_files
from trajanon.extract.sources.formats import FORMATS
from trajanon.files.trajectory_files import write_trajectories
from trajanon.trajectories import Trajectories

ONE = Trajectories(np.ones((1, 3, 2)), np.array([0]), np.array([0]))


@pytest.mark.parametrize("name", FILES)
def test_files_are_known_by_their_content(tmp_path: Path, name: str) -> None:
    head = write(tmp_path / name, points()).read_bytes()[:4096]
    parquet = name == "x.parquet"  # its end says more than its head
    shapefile = name == "x.shp"  # it is several files, which only names hold together
    assert FORMATS["geo"].looks_like("noname", head) is not (parquet or shapefile)
    assert FORMATS["geo"].looks_like(name, b"") is not parquet


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"lat,lon,id\n1,2,a\n",
        b'{"type": "Topology"}',
        b'[{"type": "Feature"}]',
        b"<gpx></gpx>",
        b"SQLite format 3\x00" + bytes(84),
        b'id,note\n1,"type":"Feature"',
    ],
)
def test_other_files_are_not_taken(head: bytes) -> None:
    assert not FORMATS["geo"].looks_like("x.json", head)


def test_geojson_may_have_any_name_and_white_space(tmp_path: Path) -> None:
    path = geojson(tmp_path / "x.json", (line((1, 2), (1, 3)), {}))
    head = b'\xef\xbb\xbf\n{ "name": "x", "type" : "FeatureCollection"'
    assert FORMATS["geo"].looks_like("x.json", head)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert places(read(path)) == [[(1, 2), (1, 3)]]


@pytest.mark.parametrize("suffix", [".json", ".geojson"])
def test_a_geometry_may_stand_alone(tmp_path: Path, suffix: str) -> None:
    shape = {"type": "LineString", "coordinates": [[1, 2], [1, 3]]}
    path = tmp_path / f"x{suffix}"
    for content in (shape, {"type": "Feature", "properties": {}, "geometry": shape}):
        path.write_text(json.dumps(content))
        assert FORMATS["geo"].looks_like(path.name, path.read_bytes())
        assert places(read(path)) == [[(1, 2), (1, 3)]]


def test_features_one_after_another_may_be_separated_by_records(tmp_path: Path) -> None:
    path = write(tmp_path / "x.geojsonl", points())
    texts = path.read_text().splitlines()
    pretty = (json.dumps(json.loads(text), indent=1) for text in texts)
    path.write_text("".join(f"\x1e{text}\n" for text in pretty))
    assert FORMATS["geo"].looks_like("x", path.read_bytes()[:4096])
    assert is_the_two_traces(read(path))


def test_parquet_is_known_by_its_footer(tmp_path: Path) -> None:
    geo = write(tmp_path / "geo.parquet", points())
    ROWS.to_parquet(table := tmp_path / "table.parquet")
    own = tmp_path / "own.parquet"
    write_trajectories(own, ONE)
    (broken := tmp_path / "broken.parquet").write_bytes(geo.read_bytes()[:-9])
    (text := tmp_path / "text.parquet").write_text("lat,lon")
    nothing = tmp_path / "nothing.parquet"
    every = (geo, table, own, broken, text, nothing)
    assert [path for path in every if b"geo" in geo_files.footer_of(path)] == [geo, own]
    assert [path for path in every if b"trajanon" in geo_files.footer_of(path)] == [own]


def test_what_extract_wrote_is_no_source(tmp_path: Path) -> None:
    path = tmp_path / "trajectories.parquet"
    write_trajectories(path, ONE)
    with pytest.raises(BadInput, match=r"extract wrote.* give it to trajanon anonym"):
        read(path)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
@pytest.mark.parametrize("name", ["x.geojson", "x.gpkg", "x.parquet"])
def test_packed_files_are_unpacked(tmp_path: Path, name: str, pack: Any) -> None:
    path = write(tmp_path / name, points())
    packed = tmp_path / f"{name}.packed"
    packed.write_bytes(pack(path.read_bytes()))
    assert is_the_two_traces(read(packed))
