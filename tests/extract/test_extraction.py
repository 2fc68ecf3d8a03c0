"""The Python calls: sources, areas and the account of both, in memory and on disk."""

import errno
import inspect
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import platformdirs
import pytest
import shapely
from osm_server import Fault, OsmServer, serving
from tracks import GEOD

from trajanon.common.arrays import renumbered
from trajanon.common.command_lines import Options
from trajanon.common.errors import BadInput, FileProblem, ServerProblem
from trajanon.data import sample
from trajanon.extract import (
    Box,
    Rules,
    SourceOptions,
    extract,
    extract_to,
    extraction,
    traces,
    traces_to_trajectories,
)
from trajanon.extract.earth.area import CITIES, AreaLike
from trajanon.extract.sources import osm_api_download
from trajanon.extract.traces_to_trajectories import Cutter
from trajanon.files.trajectory_files import read_trajectories
from trajanon.trajectories.subjects import NAMES_MERGED
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, Trajectories

MADRID = CITIES["madrid"][0]


def gpx(path: Path, metres: float, lat: float = 40.42, head: str = 'creator="me"') -> Path:
    """A file with one straight way to the north, ten metres a second."""
    fixes = []
    for second in range(int(metres / 10) + 1):
        east, north, _ = GEOD.fwd(-3.7, lat, 0, second * 10)
        fixes.append(
            f'<trkpt lat="{north:.9f}" lon="{east:.9f}"><time>2020-01-01T00:'
            f"{second // 60:02d}:{second % 60:02d}Z</time></trkpt>"
        )
    track = f"<trk><trkseg>{''.join(fixes)}</trkseg></trk>"
    path.write_text(f"<gpx {head}>{track}</gpx>")
    return path


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[OsmServer]:
    """Two pages: a trace of an account, then points without time."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda _: tmp_path / "cache")
    monkeypatch.setattr("time.sleep", lambda _: None)
    page = gpx(tmp_path / "page.gpx", 500, head='version="1.0" creator="OpenStreetMap.org"')
    text = page.read_text().replace("<trk>", "<trk><url>/user/ann/traces/1</url>")
    page.unlink()
    cloud = (
        '<gpx version="1.0" creator="OpenStreetMap.org"><trk><trkseg>'
        '<trkpt lat="40.4" lon="-3.7"/></trkseg></trk></gpx>'
    )
    with serving(OsmServer([text.encode(), cloud.encode()])) as server:
        yield server


def test_trajectories_are_trips_unless_windows_are_asked_for(tmp_path: Path) -> None:
    gpx(tmp_path / "a.gpx", 5000)
    for area in (None, "madrid", MADRID):
        trip = extract(tmp_path, area)
        assert trip.points.shape == (1, 30, 2)
        assert (trip.provenance["trips"], trip.provenance["spacing"]) == (True, None)
        assert (trip.tracks, trip.true_ends is None) == (None, area is None)
    # Windows have no ends of their own, but their runs have.
    windows = extract(tmp_path, "madrid", windows=True)
    assert windows.true_ends is None
    assert windows.tracks is not None
    assert windows.tracks.true_ends is not None
    assert windows.tracks.true_ends.all()


def test_windows_without_city_need_a_spacing(tmp_path: Path) -> None:
    path = gpx(tmp_path / "a.gpx", 500)
    for area in (None, MADRID):
        with pytest.raises(BadInput, match="`spacing=100`"):
            extract(path, area, windows=True)


def test_the_server_needs_an_area() -> None:
    with pytest.raises(BadInput, match="name an area: `area` barcelona, madrid, tarraco"):
        extract(spacing=10)


def test_no_file_at_all_does_not_ask_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern that matched nothing shall not become a download."""

    def asked(**_: object) -> None:
        pytest.fail("the server was asked")

    monkeypatch.setattr(osm_api_download, "NumberedPages", asked)
    with pytest.raises(BadInput):
        extract([], "madrid")


def test_the_provenance_names_files_but_no_folders(tmp_path: Path) -> None:
    paths = [gpx(tmp_path / f"{i}.gpx", 500, 40 + i / 10) for i in range(5)]
    assert extract(paths[:3], spacing=10).provenance["source"] == "0.gpx, 1.gpx, 2.gpx"
    source = extract(paths, spacing=10).provenance["source"]
    assert source == "0.gpx, 1.gpx, 2.gpx and 2 more files"


def test_only_what_came_from_openstreetmap_is_attributed_to_it(tmp_path: Path) -> None:
    mine = gpx(tmp_path / "mine.gpx", 500)
    osm = gpx(tmp_path / "osm.gpx", 600, 40.1, 'version="1.0" creator="OpenStreetMap.org"')
    assert extract(mine, spacing=10).attribution is None
    assert extract(osm, spacing=10).attribution == OSM_ATTRIBUTION
    assert extract([mine, osm], spacing=10).attribution == OSM_ATTRIBUTION


def test_an_area_may_be_a_polygon_four_numbers_or_a_file(tmp_path: Path) -> None:
    path = gpx(tmp_path / "a.gpx", 1200)
    south = shapely.box(-3.75, 40.38, -3.65, 40.425)
    outline = tmp_path / "outline.geojson"
    outline.write_text(shapely.to_geojson(south))
    areas: list[AreaLike] = [
        Box(*south.bounds),
        south,
        shapely.MultiPolygon([shapely.force_3d(south)]),
        south.bounds,
        list(south.bounds),
        np.array(south.bounds),
        outline,
        str(outline),
    ]
    found = [extract(path, area, spacing=10) for area in areas]
    assert len(found[0]) == 1
    for each in found[1:]:
        np.testing.assert_allclose(each.points, found[0].points, rtol=0, atol=1e-9)
    assert found[1].provenance["area"] == "the polygon within -3.75,40.38,-3.65,40.425"


def test_each_option_is_described_where_it_is_declared() -> None:
    shown = inspect.signature(extract).parameters
    for declared, names in (
        (extract, list(shown)[:6]),
        (Rules, [one.name for one in fields(Rules)]),
        (SourceOptions, [one.name for one in fields(SourceOptions)]),
    ):
        described = re.findall(r"^[\w, ]+$", inspect.getdoc(declared) or "", re.MULTILINE)
        assert [name for line in described for name in line.split(", ") if name in names] == names
        assert set(names) <= set(shown)
    with pytest.raises(BadInput, match="no option `spcing`: did you mean `spacing`"):
        extract("a.gpx", spcing=10)  # type: ignore[call-arg]


def test_the_server_is_a_source(server: OsmServer) -> None:
    found = extract(area="madrid", spacing=10, api_url=server.url)
    assert server.asked_for == [0, 1]
    assert len(found) == 1
    assert found.attribution == OSM_ATTRIBUTION
    assert found.provenance["source"].startswith("OSM API, ")
    assert "127.0.0.1" in found.provenance["source"]
    assert found.provenance["counts"]["points without time"] == 1


def test_a_password_for_the_server_is_kept_nowhere(server: OsmServer, tmp_path: Path) -> None:
    url = server.url.replace("http://", "http://me:secret@")
    found = extract(area="madrid", spacing=10, api_url=url)
    assert "secret" not in json.dumps(dict(found.provenance))
    run: Options = {"bbox": ["madrid"], "api_url": url}
    made = extract_to(tmp_path / "x.parquet", area="madrid", spacing=10, api_url=url, run=run)
    assert made["run"] == {"bbox": ["madrid"], "api_url": server.url}
    assert b"secret" not in (tmp_path / "x.parquet").read_bytes()

    server.faults = [Fault(403)]
    with pytest.raises(ServerProblem, match=r"127\.0\.0\.1:.* refuses page") as refused:
        extract(area="barcelona", spacing=10, api_url=url)
    assert "secret" not in str(refused.value)


def test_the_sample_is_as_its_readme_says(madrid: Trajectories) -> None:
    """300 traces; 120 accounts, and 30 traces that name none, which count as one person's."""
    counts = madrid.provenance["counts"]
    assert counts["recordings read"] == 300
    assert counts["recordings of unknown subjects"] == 30
    assert counts["subjects read"] == 120 + 1
    assert madrid.attribution is None
    assert MADRID.contains(madrid.points[..., 0], madrid.points[..., 1]).all()


def test_the_trips_of_the_sample_are_as_its_readme_says() -> None:
    trips = extract(sample(), "madrid")
    assert trips.subject is not None
    assert (len(trips), len(set(trips.subject.tolist()))) == (273, 111 + 1)
    different = extract(sample(), "madrid", columns={"nameless": "different"})
    assert different.subject is not None
    assert len(set(different.subject.tolist())) == 111 + 27
    counts = trips.provenance["counts"]
    assert counts["trips with a gap"] == 40
    assert counts["stray points"] == 3


PEOPLE = ["ann", "bob", "cy ", "cy", "Bob"]
"""Three, one of them in two cases, one with a blank."""


def trips(seed: int, number: int) -> pd.DataFrame:
    """Trips to the north, a fix every ten seconds and some 100 m."""
    rng = np.random.default_rng(seed)
    parts = []
    for trip in range(number):
        fixes = int(rng.integers(2, 60))
        lat = 40.0 + rng.uniform(0, 1) + np.cumsum(rng.uniform(8e-4, 1e-3, fixes))
        part = pd.DataFrame({"lat": lat, "lon": -3.0 + trip / 100})
        part["time"] = 1e9 + 10.0 * np.arange(fixes)
        parts.append(part.assign(trip_id=f"{seed}-{trip}", user_id=PEOPLE[rng.integers(5)]))
    return pd.concat(parts)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few trajectories, batches of a few traces."""
    monkeypatch.setattr(extraction, "HELD", 20)
    monkeypatch.setattr(traces_to_trajectories, "POINTS_PER_BATCH", 60)


@pytest.fixture
def folder(tmp_path: Path, small: None) -> Path:
    """Three tables of 34 trips in all; the third repeats a trip of the first."""
    folder = tmp_path / "traces"
    folder.mkdir()
    first = trips(0, 12)
    again = first[first.trip_id == "0-3"].assign(user_id="99", trip_id="again")
    for number, table in enumerate((first, trips(1, 1), pd.concat([trips(2, 20), again]))):
        table.to_csv(folder / f"{number}.csv", index=False)
    return folder


WINDOWS = Rules(per_recording=None, spacing=50, points=5)
TRIPS = Rules(points=6, min_length=700.0)


@pytest.mark.parametrize("rules", [WINDOWS, TRIPS])
def test_in_parts_and_by_two_processes_they_are_as_in_memory(
    folder: Path, tmp_path: Path, rules: Rules
) -> None:
    out, options = tmp_path / "out.parquet", asdict(rules)
    expected = extract(folder, **options)
    counts = expected.provenance["counts"]
    assert counts[NAMES_MERGED] == 2
    jobs = 2 if rules.trips else 1
    assert extract_to(out, folder, jobs=jobs, **options) == expected.provenance
    written = read_trajectories(out)
    assert written.provenance == expected.provenance
    np.testing.assert_array_equal(written.points, expected.points)
    np.testing.assert_array_equal(written.times, expected.times)
    for name in ("subject", "trace"):  # a file that is read numbers those it has
        mine, theirs = (renumbered(getattr(each, name)) for each in (written, expected))
        np.testing.assert_array_equal(mine, theirs)
    assert (expected.tracks is None) == rules.trips
    for name in ("points", "first", "run", "start") if not rules.trips else ():
        mine, theirs = (getattr(each.tracks, name) for each in (written, expected))
        np.testing.assert_array_equal(mine, theirs)
    extract_to(tmp_path / "parts", folder, partition=7, **options)
    parts = [read_trajectories(path) for path in sorted((tmp_path / "parts").glob("*.parquet"))]
    assert {len(part) for part in parts[:-1]} == {7}
    points = np.concatenate([part.points for part in parts])  # in the order of places
    assert len(points) == len(expected)
    np.testing.assert_array_equal(np.unique(points, axis=0), np.unique(expected.points, axis=0))


@pytest.mark.parametrize(
    ("partition", "error", "raised"),
    [
        (7, KeyboardInterrupt(), KeyboardInterrupt),
        (None, OSError(errno.ENOSPC, "No space left on device"), FileProblem),
    ],
)
def test_stopped_it_leaves_what_was_there(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    partition: int | None,
    error: BaseException,
    raised: type[BaseException],
) -> None:
    out = tmp_path / ("out.parquet" if partition is None else "out")
    extract_to(out, folder, partition=partition, **asdict(WINDOWS))
    files = [out] if partition is None else sorted(out.iterdir())
    before = {path: path.read_bytes() for path in files}
    cut = Cutter.cut

    def until(cutter: Cutter, some: Any) -> Any:
        if cutter.counts["recordings read"] > 20:
            (draft,) = tmp_path.glob(".out*.draft")
            assert len(list(draft.rglob("[0-9].parquet"))) > 1
            raise error
        return cut(cutter, some)

    monkeypatch.setattr(Cutter, "cut", until)
    with pytest.raises(raised, match=rf"cannot write {out}: No space" if error.args else None):
        extract_to(out, folder, partition=partition, **asdict(WINDOWS))
    assert {path: path.read_bytes() for path in files} == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [out.name, "traces"]


@pytest.mark.parametrize("columns", [None, {"subject": "none"}])
def test_persons_that_nobody_asks_for_are_not_read(
    tmp_path: Path, columns: dict[str, str] | None
) -> None:
    path = gpx(tmp_path / "page.gpx", 500, head='version="1.0" creator="OpenStreetMap.org"')
    path.write_text(path.read_text().replace("<trk>", "<trk><url>/user/ann/traces/7</url>"))
    (trace,) = traces(path, columns=columns)
    assert trace.subject == ("osm:ann" if columns is None else None)


def test_traces_are_read_by_one_process_or_more(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="`jobs` must be at least 1"):
        traces(gpx(tmp_path / "a.gpx", 500), jobs=0)
