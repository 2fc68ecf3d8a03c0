"""Commands on broken files and with odd words: each must end in a sentence."""

import contextlib
import gzip
import io
import json
import random
import re
import shutil
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

import geo_tables
import numpy as np
import osmium
import pandas as pd
import shapely
from commands import FAST
from fit_written import fit
from mutations import TEXTS, break_file
from numpy.typing import NDArray
from osm_xml import OsmFile
from parts_of_release import write_shards

from trajanon import anonymize, write_trajectories
from trajanon.__main__ import main
from trajanon.extract import extract
from trajanon.release.report_files import report_path
from trajanon.trajectories.trajectories import Trajectories

QUICK = ("-k", "2", *FAST)
EXTRACT = ("extract", "--points", "5", "--windows", "--spacing", "50", "--out", "out.parquet")
TRIPS = ("extract", "--points", "5", "--out", "out.parquet")
BOX = "-3.71,40.4,-3.69,40.44"
SERVER = ("--bbox=" + BOX, "--api-url", "http://127.0.0.1:9", "--max-pages", "1")

Words = tuple[str, ...]


class Seed(NamedTuple):
    """A folder of whole files, the one to be broken, and what is then run.

    Of the commands the first is the one that is soonest done.
    """

    folder: Path
    breaks: str
    commands: Sequence[Words]


class Case(NamedTuple):
    """A command in a folder of its own."""

    number: int
    folder: Path
    words: list[str]
    what: str


def seeds(root: Path) -> list[Seed]:
    """Write small files of every kind that a command reads."""
    sources, osm = _sources(root / "sources"), _areas(root / "areas")
    shutil.copy(sources / "one.gpx", osm)
    loose = ("--max-gap", "none")
    found = [
        Seed(sources, path.name, [(*EXTRACT, of), (*EXTRACT, of, *loose), (*TRIPS, of)])
        for path in sorted(sources.iterdir())
        if path.suffix not in (".prj", ".cpg")
        for of in (re.sub("(dbf|shx)$", "shp", path.name),)
    ]
    found += [
        Seed(osm, name, [(*EXTRACT, "one.gpx", "--area", name)])
        for name in ("area.geojson", "area.gpkg", "area.parquet")
    ]
    for name in ("land.osm", "land.osm.pbf"):
        of = (*EXTRACT, "one.gpx", "--pbf", name)
        near = ("--bbox=" + BOX, "--hide-near", "amenity=school")
        found.append(Seed(osm, name, [(*of, "--area", "Nova"), (*of, *near)]))
    trajectories = extract(sources / "points.csv", spacing=50, points=5)
    return [
        *found,
        *_of_releases(root / "releases", trajectories),
        *_of_releases(root / "timed", _at_two_hours(trajectories), ("--times", "of-day")),
        *_of_tables(root / "tables"),
        *_of_folders(root / "folders", trajectories, sources),
        *_of_holders(root / "holders", trajectories),
    ]


def _sources(folder: Path) -> Path:
    """Eight ways of 700 m, of four people, in every format."""
    folder.mkdir()
    rows = pd.DataFrame(
        {
            "id": np.repeat([f"t{i}" for i in range(8)], 32),
            "subject": np.repeat([f"s{i // 2}" for i in range(8)], 32),
            "lat": 40.41 + 2e-4 * np.tile(np.arange(32), 8),
            "lon": -3.70 + 1e-4 * np.repeat(np.arange(8), 32),
            # Not at one time: ways a few metres apart would be copies of one recording.
            "time": 1_600_000_000
            + 15 * np.tile(np.arange(32), 8)
            + 1_000 * np.repeat(np.arange(8), 32),
        }
    )
    rows.to_csv(folder / "points.csv", index=False)
    dates = pd.to_datetime(rows.time, unit="s", utc=True)
    rows.assign(time=dates).to_parquet(folder / "points.parquet")
    ways = [one[["lon", "lat"]].to_numpy() for _, one in rows.groupby("id")]
    lines = geo_tables.lines(
        [shapely.LineString(way) for way in ways], "EPSG:4326", times=["[1, 2]"] * 8
    )
    _moving(folder, ways)
    _devices(folder, ways[0])
    for suffix in ("geojson", "geojsonl", "gpkg", "fgb", "shp", "parquet"):
        geo_tables.write(folder / f"lines.{suffix}", lines)
        geo_tables.write(folder / f"places.{suffix}", geo_tables.points(rows))
    lines.to_parquet(folder / "arrow.parquet", geometry_encoding="geoarrow")
    one = [
        (f"{lat:.5f}", f"{lon:.5f}", f"2020-01-01 00:{number:02d}:00")
        for number, (lon, lat) in enumerate(ways[0])
    ]
    point = '<trkpt lat="{}" lon="{}"><time>{}Z</time></trkpt>'
    track = "".join(point.format(*fix) for fix in one).replace(" 00:", "T00:")
    gpx = f"<gpx><trk><name>a</name><trkseg>{track}</trkseg></trk></gpx>"
    trips = [f'"{n}","7","16","False","{ways[n].tolist()}"' for n in range(2)]
    life = [f"{lat},{lon},0,9,39000,{time.replace(' ', ',')}" for lat, lon, time in one]
    texts = {
        "one.gpx": [gpx],
        "life.plt": ["Geolife trajectory", *"12345", *life],
        "porto.csv": ["TRIP_ID,TAXI_ID,TIMESTAMP,MISSING_DATA,POLYLINE", *trips],
        "new_cab.txt": [f"{fix[0]} {fix[1]} 0 {10**9 - n}" for n, fix in enumerate(one)],
        "1.txt": [f"1,{time},{lon},{lat}" for lat, lon, time in one],
    }
    for name, written in texts.items():
        (folder / name).write_text("\n".join(written) + "\n")
    for name in ("one.gpx", "points.csv"):
        packed = gzip.compress((folder / name).read_bytes())
        (folder / f"{name}.gz").write_bytes(packed)
    with zipfile.ZipFile(folder / "some.zip", "w") as archive:
        archive.writestr("a.gpx", gpx)
        archive.writestr("b.gpx", gpx)
    shutil.make_archive(str(folder / "some"), "tar", folder, "one.gpx")
    return folder


def _moving(folder: Path, ways: Sequence[NDArray[np.float64]]) -> None:
    """The same ways as trips of MDS, and as moving features."""
    times = [1_600_000_000_000 + 15_000 * step for step in range(32)]
    trips, features = [], []
    for number, way in enumerate(ways):
        fixes = [
            {"properties": {"timestamp": time}, "geometry": {"coordinates": place}}
            for place, time in zip(way.tolist(), times, strict=True)
        ]
        trips.append({"trip_id": number, "device_id": number // 2, "route": {"features": fixes}})
        moves = {"type": "MovingPoint", "coordinates": way.tolist(), "datetimes": times}
        about = {"id": f"t{number}", "subject": number // 2}
        features.append({"type": "Feature", "temporalGeometry": moves, "properties": about})
    (folder / "trips.json").write_text(json.dumps({"data": {"trips": trips}}))
    collection = {"type": "FeatureCollection", "features": features}
    (folder / "moving.json").write_text(json.dumps(collection))


def _devices(folder: Path, way: NDArray[np.float64]) -> None:
    """One of these ways as watches, receivers and phones write it."""
    start = 1_600_000_000
    whens = [str(np.datetime64(start + 15 * step, "s")) for step in range(len(way))]
    rows = [
        {"lat": lat, "lon": lon, "time": when}
        for (lon, lat), when in zip(way.tolist(), whens, strict=True)
    ]
    track = "<when>{time}</when><gx:coord>{lon} {lat} 9</gx:coord>"
    place = (
        "<Trackpoint><Time>{time}</Time><Position><LatitudeDegrees>{lat}</LatitudeDegrees>"
        "<LongitudeDegrees>{lon}</LongitudeDegrees></Position></Trackpoint>"
    )
    tracks, laps = ("".join(one.format(**row) for row in rows) for one in (track, place))
    kml = f"<kml><Document><Placemark><gx:Track>{tracks}</gx:Track></Placemark></Document></kml>"
    activity = f"<Activity><Lap><Track>{laps}</Track></Lap></Activity>"
    rmc = "$GPRMC,{time},A,{lat:09.4f},N,{lon:010.4f},W,0,0,130920,,"
    log = [
        rmc.format(
            time=row["time"][11:].replace(":", ""),
            lat=4000 + 60 * (row["lat"] - 40),
            lon=300 + 60 * (-row["lon"] - 3),
        )
        for row in rows
    ]
    e7 = [
        {"latitudeE7": row["lat"] * 1e7, "longitudeE7": row["lon"] * 1e7, "timestamp": row["time"]}
        for row in rows
    ]
    path = [{"point": f"{row['lat']}°, {row['lon']}°", "time": row["time"]} for row in rows]
    timed = [[lon, lat, 9, start + 15 * step] for step, (lon, lat) in enumerate(way.tolist())]
    line = {"geometry": {"type": "LineString", "coordinates": timed}, "properties": {}}
    located = [
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": [row["lon"], row["lat"]]},
         "properties": {"timestamp": row["time"]}}
        for row in rows
    ]  # fmt: skip
    sensor = ["OBSDataFormat=2&DeviceId=ab", "Date;Time;Latitude;Longitude;InsidePrivacyArea"]
    sensor += [
        f"13.09.2020;{row['time'][11:]};{row['lat']};{row['lon']};{int(step < 3)};1;2"
        for step, row in enumerate(rows)
    ]
    simra = ["9#1#0", "key,lat,lon,ts,bike", "", "=====", "9#1", "lat,lon,X,timeStamp"]
    simra += [
        f"{lat},{lon},1,{1000 * (start + 15 * step)}\n,,2,"
        for step, (lon, lat) in enumerate(way.tolist())
    ]
    texts = {
        "one.obs.csv": "\n".join(sensor),
        "ride": "\n".join(simra),
        "kepler.geojson": json.dumps({"type": "Feature", **line}),
        "overland.json": json.dumps({"locations": located}),
        "one.kml": kml,
        "one.tcx": f"<TrainingCenterDatabase>{activity}</TrainingCenterDatabase>",
        "one.nmea": "\n".join(log),
        "one.jsonl": "\n".join(map(json.dumps, rows)),
        "records.json": json.dumps({"locations": e7}),
        "timeline.json": json.dumps(
            {
                "semanticSegments": [{"timelinePath": path[:9]}],
                "rawSignals": [
                    {"position": {"LatLng": one["point"], "timestamp": one["time"]}} for one in path
                ],
            }
        ),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    fixes = [(lat, lon, start + 15 * step) for step, (lon, lat) in enumerate(way.tolist())]
    (folder / "one.fit").write_bytes(fit(fixes))
    with zipfile.ZipFile(folder / "one.kmz", "w") as archive:
        archive.writestr("doc.kml", kml)


def _areas(folder: Path) -> Path:
    """An outline in three formats, and a town with a school and a road."""
    folder.mkdir()
    outline = geo_tables.lines([shapely.box(-3.8, 40.3, -3.6, 40.5)])
    for suffix in ("geojson", "gpkg", "parquet"):
        geo_tables.write(folder / f"area.{suffix}", outline)
    land = OsmFile()
    land.node(40.42, -3.7, {"amenity": "school"})
    border = land.square(40.3, -3.8, 0.2, {"highway": "path"})
    land.town("Nova", 8, [border])
    land.write(folder / "land.osm")
    plain = osmium.io.File(str(folder / "land.osm.pbf"), "pbf,pbf_compression=none")
    with osmium.SimpleWriter(plain) as writer:
        for one in osmium.FileProcessor(folder / "land.osm"):
            writer.add(one)
    return folder


def _at_two_hours(trajectories: Trajectories) -> Trajectories:
    """The same without tracks, at times that are not those of their tracks."""
    times = np.repeat([1_600_000_000.0, 1_600_036_000.0], len(trajectories) // 2)[:, None]
    return Trajectories(
        trajectories.points, trajectories.subject, times=times + 30 * np.arange(5), provenance={}
    )


def _of_releases(root: Path, trajectories: Trajectories, timed: Words = ()) -> list[Seed]:
    how: dict[str, Any] = {"times": timed[1], "rows": "lines"} if timed else {}
    release = anonymize(trajectories, 2, method="mdav", refine="none", **how)
    found = []
    for suffix in ("parquet", "gpkg", "geojson", "csv", "gpx", "mfjson")[: 6 if timed else 5]:
        folder = root / suffix
        folder.mkdir(parents=True)
        name, both = f"a.{suffix}", ("t.parquet", f"a.{suffix}")
        write_trajectories(folder / "t.parquet", trajectories)
        release.write(folder / name)
        check = ("check", "-k", "2", name)
        draws = ("map", "--view", "public", name)
        found.append(Seed(folder, name, [check, draws]))
        looks = [(*check, "--trajectories", "t.parquet"), ("evaluate", *both)]
        looks += [("map", *both)]
        if suffix == "parquet":
            found += 4 * [Seed(folder, "a.report.json", looks)]
            groups = ("anonymize", *QUICK, *timed, "t.parquet")
            found += 4 * [Seed(folder, "t.parquet", [groups, *looks])]
    return found


def _of_tables(folder: Path) -> list[Seed]:
    folder.mkdir()
    names = [f"n{i}" for i in range(12)]
    table = pd.DataFrame({"a": range(12), "b": np.arange(12) / 2, "name": names})
    table.to_csv(folder / "x.csv", index=False)
    table.to_parquet(folder / "x.parquet")
    rows = [
        f"hm2,Census,2-opt,two-opt,{run},{k},{statistic},{k + run / 7}"
        for k in (3, 5)
        for run in range(4)
        for statistic in ("run_il", "run_path_length")
    ]
    header = "table,dataset,method,by,setting,k,statistic,ours"
    (folder / "m.csv").write_text("\n".join([header, *rows]))
    found = []
    for name in ("x.csv", "x.parquet"):
        means = ("microaggregate", name, *QUICK)
        more = (*means, "--columns", "a,b", "--subject", "name", "--weights", "a=2,b=0.5")
        bound = ("bound", name, "-k", "2", "--effort", "fast")
        found += 3 * [Seed(folder, name, [means, more, bound])]
    return [*found, Seed(folder, "m.csv", [("figures", "m.csv")])]


def _of_folders(root: Path, trajectories: Trajectories, sources: Path) -> list[Seed]:
    """A cache of pages, and trajectories in parts."""
    parts = root / "parts"
    page = root / "cache/cache/osm-api" / "127.0.0.1_9_-3.71_40.4_-3.69_40.44" / "page0000.gpx.gz"
    for folder in (parts / "t", page.parent):
        folder.mkdir(parents=True)
    shutil.copy(sources / "one.gpx.gz", page)
    for number in range(2):
        rows = np.arange(4 * number, 4 * number + 4)
        part = parts / "t" / f"part-{number:05d}.parquet"
        write_trajectories(part, trajectories.take(rows))
    apart = ("anonymize", "t", *QUICK, "--memory", "1GB")
    return [
        Seed(root / "cache", str(page.relative_to(root / "cache")), [EXTRACT + SERVER]),
        Seed(parts, "t/part-00001.parquet", [apart]),
    ]


def _of_holders(folder: Path, trajectories: Trajectories) -> list[Seed]:
    """What a holder keeps: settings, a ledger, and a release that several shards made."""
    folder.mkdir()
    write_trajectories(folder / "t.parquet", trajectories)
    again = ("anonymize", "t.parquet", *QUICK, "--out", "b.parquet", "--ledger", "a.ledger")
    with contextlib.chdir(folder):
        run((*again[:-3], "a.parquet", *again[-2:]))
    release = anonymize(trajectories, 2, method="mdav", refine="none", align=False)
    shards = write_shards(folder / "parts", release, rows=4)
    (folder / "s.toml").write_text('[check]\nreleased = "a.parquet"\nk = 2\n')
    beside = ("--trajectories", "t.parquet")
    against = ("check", "a.parquet", "-k", "2", *beside, "--against", "parts")
    looks = [("check", "parts", "-k", "2", *beside), ("evaluate", "t.parquet", "parts"), against]
    parts = [shards / "part-00000.parquet"]
    return [
        Seed(folder, "s.toml", [("run", "s.toml")]),
        Seed(folder, "a.ledger", [("ledger", "show", "a.ledger"), again]),
        Seed(folder, "a.report.json", [against]),
        *(
            Seed(folder, str(path.relative_to(folder)), [*looks, ("map", "t.parquet", "parts")])
            for path in (*parts, report_path(shards))
        ),
    ]


def case(some: Sequence[Seed], seed: int, number: int, root: Path) -> Case:
    """Make a case: always the same of a seed and a number."""
    chance = random.Random(f"{seed} {number}")
    chosen = chance.choice(some)
    folder = root / f"case-{seed}-{number}"
    shutil.copytree(chosen.folder, folder)
    words = list(chance.choice(chosen.commands))
    place = chance.randrange(1, len(words))
    if chance.random() < 0.1:
        name, equals, _ = words[place].rpartition("=")
        words[place] = name + equals + chance.choice(TEXTS)
        return Case(number, folder, words, words[place])
    broken = folder / chosen.breaks
    break_file(broken, chance)
    if chosen.breaks in words and chance.random() < 0.1:
        odd = chance.choice(("\udcff", "\x1b[31m", "é ", "'")) + broken.name
        broken.rename(broken.with_name(odd))
        words = [odd if word == chosen.breaks else word for word in words]
    return Case(number, folder, words, chosen.breaks)


def run(words: Sequence[str]) -> tuple[int, str]:
    """Run a command in this process; its exit code, and what it says beside results."""
    told = io.StringIO()
    results = io.TextIOWrapper(io.BytesIO(), "utf-8")  # as strict as a terminal
    sys.argv = ["trajanon", *words]
    with (
        contextlib.redirect_stdout(results),
        contextlib.redirect_stderr(told),
        mock.patch("platformdirs.user_cache_path", return_value=Path("cache")),
        mock.patch("time.sleep"),
    ):
        try:
            main()
        except SystemExit as ended:
            return int(ended.code or 0), told.getvalue()


def finding(words: Sequence[str]) -> str | None:
    """Run a command; say what it did that none should, and where."""
    code, told = run(words)
    raw = [line for line in told.splitlines() if not line.startswith("trajanon: ")]
    if not raw and code in ((0, 1, 2) if words[0] in ("check", "evaluate", "run") else (0, 2)):
        return None
    frames = re.findall(r'/((?:trajanon|extract|maps)/[\w/]+\.py", line \d+)', told)
    return f"{frames[-1] if frames else code}: {raw[-1][:150] if raw else ''}"
