"""Times as the fourth number of a place, or as its M; and lines beyond 180 degrees."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyogrio
import pytest
import shapely

from trajanon.extract import traces
from trajanon.extract.trace import Trace

START = 1_683_964_800.0
TIMES = [START + 20 * step for step in range(30)]
PLACES = [(16.3 + step / 1e3, 48.2) for step in range(30)]


def line(scale: float = 1.0, height: float | None = 0.0, **more: Any) -> dict[str, Any]:
    """A trip as kepler.gl writes it."""
    points = [[*place, height, time * scale] for place, time in zip(PLACES, TIMES, strict=True)]
    geometry = {"type": "LineString", "coordinates": points}
    return {"type": "Feature", "properties": {"vendor": "A", **more}, "geometry": geometry}


def several(*features: dict[str, Any]) -> dict[str, Any]:
    return {"type": "FeatureCollection", "features": list(features)}


def halves() -> dict[str, Any]:
    whole = line()
    points = whole["geometry"]["coordinates"]
    geometry = {"type": "MultiLineString", "coordinates": [points[:9], points[9:]]}
    return whole | {"geometry": geometry}


def written(folder: Path, content: Any, name: str = "x.geojson") -> list[Trace]:
    text = content if isinstance(content, str) else json.dumps(content)
    (folder / name).write_text(text)
    return list(traces(folder / name))


@pytest.mark.parametrize(
    "content",
    [
        several(line()),
        several(line(1e3, height=None)),
        several(halves()),
        line(),
        "\n".join(json.dumps(line(id=name)) for name in "a"),
    ],
    ids=["seconds", "milliseconds", "two parts", "a feature", "a line of text"],
)
def test_the_fourth_number_of_a_place_is_its_time(tmp_path: Path, content: Any) -> None:
    found = written(tmp_path, content)
    assert np.concatenate([trace.time for trace in found]).tolist() == TIMES
    assert np.concatenate([trace.lon for trace in found]).tolist() == [lon for lon, _ in PLACES]


def test_features_in_lines_are_told_apart(tmp_path: Path) -> None:
    text = "\n".join(json.dumps(line(id=name, user=name)) for name in "ab")
    found = written(tmp_path, text, "x.geojsonl")
    assert [trace.subject for trace in found] == ["a", "b"]
    assert [trace.time.tolist() for trace in found] == [TIMES, TIMES]


def test_a_fourth_number_that_is_no_time_is_none(tmp_path: Path) -> None:
    (found,) = written(tmp_path, several(line(1e-7)))
    assert len(found) == 30
    assert np.isnan(found.time).all()


MEASURED = {"M": "Measured LineString", "ZM": "Measured 3D LineString"}
WKT = {
    "M": ", ".join(f"{lon} {lat} {time}" for (lon, lat), time in zip(PLACES, TIMES, strict=True)),
    "ZM": ", ".join(f"{x} {y} 9 {t}" for (x, y), t in zip(PLACES, TIMES, strict=True)),
}


@pytest.mark.parametrize("kind", ["M", "ZM"])
@pytest.mark.parametrize("suffix", ["gpkg", "shp", "fgb", "csv", "points.csv"])
def test_the_measure_of_a_line_is_its_time(tmp_path: Path, kind: str, suffix: str) -> None:
    path = tmp_path / f"x.{suffix}"
    text = f"LINESTRING {kind} ({WKT[kind]})"
    if suffix == "csv":
        path.write_text(f'id,wkt\na,"{text}"\n')
    elif suffix == "points.csv":
        rows = "".join(f"a,POINT {kind} ({place})\n" for place in WKT[kind].split(", "))
        path.write_text(f"id,wkt\n{rows}")
    else:
        content = shapely.to_wkb(shapely.from_wkt(text), flavor="iso", output_dimension=4)
        pyogrio.raw.write(
            path, np.array([content], object), [np.array(["a"], object)], ["id"],
            geometry_type=MEASURED[kind], crs="EPSG:4326",
        )  # fmt: skip
    (found,) = traces(path)
    assert found.time.tolist() == TIMES


def moving(*east: float) -> dict[str, Any]:
    times = [f"2023-05-13T08:00:{second:02d}Z" for second in range(len(east))]
    point = {"type": "MovingPoint", "coordinates": [[lon, -17.0] for lon in east]}
    return {"type": "Feature", "temporalGeometry": {**point, "datetimes": times}, "properties": {}}


def test_a_line_beyond_180_degrees_goes_on_at_the_other_side(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    others = [moving(*(10.0 + step / 1e4 for step in range(50))) for _ in range(30)]
    ferry, back = moving(179.9, 180.0, 180.2), moving(-179.9, -180.1)
    *_, first, second = written(tmp_path, several(*others, ferry, back), "x.mfjson")
    assert first.lon.tolist() == pytest.approx([179.9, 180.0, -179.8])
    assert second.lon.tolist() == pytest.approx([-179.9, 179.9])
    assert "has lines beyond 180 degrees, such as 180.2" in caplog.text


def test_one_wrong_place_does_not_make_a_line_go_beyond(tmp_path: Path) -> None:
    others = [moving(*(10.0 + step / 1e4 for step in range(50))) for _ in range(30)]
    *_, wrong = written(tmp_path, several(*others, moving(10.0, 200.0, 10.1)), "x.mfjson")
    assert wrong.lon.tolist() == [10.0, 200.0, 10.1]
