"""Texts that are not UTF-8: what they seem to be is said in one sentence, and the way out."""

import json
from pathlib import Path

import pytest
from commands import Run

EXTRACT = ("extract", "--points", 5, "--windows", "--spacing", 100, "--out", "out.parquet")
WAY = [[-3.0, 40.0 + step / 1000] for step in range(50)]
TIMES = [1_600_000_000_000 + 10_000 * step for step in range(50)]
MOVES = {"type": "MovingPoint", "coordinates": WAY, "datetimes": TIMES}
TRACK = "".join(f'<trkpt lat="{lat}" lon="{lon}"/>' for lon, lat in WAY)
FEATURE = {"type": "Feature", "properties": {"id": "Café"}}


def collection(**feature: object) -> str:
    whole = {"type": "FeatureCollection", "features": [FEATURE | feature]}
    return json.dumps(whole, ensure_ascii=False)


TEXTS = {
    "points.csv": ("id,lat,lon,años\n" + "".join(f"a,{y},{x},1\n" for x, y in WAY), EXTRACT),
    "track.gpx": (f"<gpx><trk><name>Café</name><trkseg>{TRACK}</trkseg></trk></gpx>", EXTRACT),
    "moving.mfjson": (collection(temporalGeometry=MOVES), EXTRACT),
    "line.geojson": (collection(geometry={"type": "LineString", "coordinates": WAY}), EXTRACT),
    "table.csv": ("Größe,a\n" + "1,2\n" * 9, ("microaggregate", "-k", 3, "--columns", "a")),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1", "utf-16", "utf-16-le"])
def test_an_encoding_is_named_in_plain_words(
    run: Run, tmp_path: Path, name: str, encoding: str
) -> None:
    text, command = TEXTS[name]
    (tmp_path / name).write_bytes(text.encode(encoding))
    answer = run(*command, name)
    assert "codec" not in answer.err
    if encoding == "utf-8-sig" or (name == "track.gpx" and "16" in encoding):
        assert "UTF" not in answer.err
        assert answer.code == 0, answer
        return
    assert answer.code == 2
    seems = "seems to be UTF-16: " if "16" in encoding else "is not UTF-8, perhaps Latin-1 or "
    assert seems in answer.sentence
    assert name in answer.sentence
    assert "save the file as UTF-8" in answer.sentence
