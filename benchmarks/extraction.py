"""Measure extraction: points a second of each step, and peak memory.

    python benchmarks/extraction.py speed   # readers, cutting
    python benchmarks/extraction.py memory  # of two large dumps
    python benchmarks/extraction.py map ../shared/realdata  # a country in a file

Files are generated in a temporary folder: drives of random walkers, a fix every second and some 12
m. Whole commands include their start; each figure is the best of three, but for memory, where the
peak of the one run counts.
"""

import argparse
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

from trajanon.extract import Extraction, Rules, Trace, boundary, hidden, roads, traces
from trajanon.extract.cutting import Cutter, batches

FIXES = 2_000
"""Of one drive."""


def drives(seed: int = 0) -> Iterator[Trace]:
    """Drives of subjects that make ten each, without end."""
    rng = np.random.default_rng(seed)
    number = 0
    while True:
        turns = np.cumsum(rng.normal(0, 0.02, FIXES)) + rng.uniform(0, 6.3)
        lat = 40.0 + rng.uniform(0, 0.5) + np.cumsum(np.cos(turns)) * 1e-4
        lon = -3.7 + rng.uniform(0, 0.5) + np.cumsum(np.sin(turns)) * 1e-4
        time = 1.5e9 + number * 1e4 + np.arange(FIXES)
        yield Trace(f"t{number}", f"s{number // 10}", lat, lon, time)
        number += 1


def gpx_text(trace: Trace, elevations: bool = False) -> bytes:
    """A GPX 1.0 document as the OSM project writes them."""
    times = np.datetime_as_string(trace.time.astype("datetime64[s]"))
    ele = "<ele>612.0</ele>" if elevations else ""
    points = "".join(
        f'<trkpt lat="{lat:.7f}" lon="{lon:.7f}">{ele}<time>{time}Z</time></trkpt>\n'
        for lat, lon, time in zip(trace.lat, trace.lon, times, strict=True)
    )
    head = '<?xml version="1.0"?><gpx version="1.0" creator="bench">'
    return f"{head}<trk><trkseg>\n{points}</trkseg></trk></gpx>".encode()


def table(points: int) -> pd.DataFrame:
    """Points as rows, a drive after another."""
    some = list(islice(drives(), points // FIXES))
    return pd.DataFrame(
        {
            "trip_id": np.repeat([one.name for one in some], FIXES),
            "user_id": np.repeat([one.subject for one in some], FIXES),
            "lat": np.concatenate([one.lat for one in some]),
            "lon": np.concatenate([one.lon for one in some]),
            "time": np.concatenate([one.time for one in some]).astype(np.int64),
        }
    )


def best(work: Callable[[], object]) -> float:
    """Seconds of the best of three."""
    took = []
    for _ in range(3):
        start = perf_counter()
        work()
        took.append(perf_counter() - start)
    return min(took)


def say(what: str, points: int, seconds: float) -> None:
    """Print a rate."""
    print(f"{what:58} {points / seconds:12,.0f} points/s")


def speed(folder: Path) -> None:
    """Points a second of the readers, of the cutting, and of both together."""
    million = list(islice(drives(), 500))
    for elevations in (False, True):
        name = "gpx with elevations" if elevations else "gpx"
        (folder / name).mkdir()
        for part in range(10):
            lines = b"".join(
                gpx_text(one, elevations)[len(b'<?xml version="1.0"?>') :]
                for one in million[part * 50 : part * 50 + 50]
            )
            tracks = lines.replace(b'</gpx><gpx version="1.0" creator="bench">', b"")
            (folder / name / f"{part}.gpx").write_bytes(tracks)
        for jobs in (1, 2):
            took = best(lambda n=name, j=jobs: list(traces(folder / n, jobs=j)))
            say(f"read {name}, jobs = {jobs}", 1_000_000, took)
    rows = table(5_000_000)
    rows.to_parquet(folder / "table.parquet", row_group_size=500_000)
    rows[:1_000_000].to_csv(folder / "table.csv", index=False)
    rows = rows.assign(time=pd.to_datetime(rows.time, unit="s").astype(str))
    rows.to_parquet(folder / "texts.parquet", row_group_size=500_000)
    for name, points in (("table.parquet", 5), ("texts.parquet", 5), ("table.csv", 1)):
        took = best(lambda n=name: list(traces(folder / n)))
        say(f"read {name}", points * 1_000_000, took)
    for tracks in (True, False):
        rules = Rules(spacing=100.0)

        def cutting(tracks: bool = tracks, rules: Rules = rules) -> None:
            cutter = Cutter(rules, tracks=tracks)
            for some in batches(million, rules):
                cutter.cut(some)

        say(f"cut, tracks = {tracks}", 1_000_000, best(cutting))
    out = folder / "out.parquet"
    took = best(lambda: Extraction(folder / "gpx", rules=Rules(spacing=100), jobs=2).write(out))
    say("gpx to trajectories.parquet, jobs = 2", 1_000_000, took)
    source = folder / "table.parquet"
    took = best(lambda: Extraction(source, rules=Rules(spacing=100)).write(out))
    say("table.parquet to trajectories.parquet", 5_000_000, took)


def dump(path: Path, points: int) -> None:
    """Write a tar.xz of GPX files, as the planet dump is."""
    with tarfile.open(path, "w:xz", preset=0) as archive:
        for trace in islice(drives(), points // FIXES):
            text = gpx_text(trace)
            number = int(trace.name[1:])
            name = f"trackable/000/{number // 1000:03d}/{number:09d}.gpx"
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))


def memory(folder: Path) -> None:
    """Peak memory and time of a whole command on dumps of two sizes."""
    code = (
        "import resource, sys\n"
        "from trajanon.cli.main import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    for points in (5_000_000, 20_000_000):
        path = folder / "dump.tar.xz"
        dump(path, points)
        start = perf_counter()
        run = subprocess.run(
            [sys.executable, "-c", code, "extract", path, "--spacing", "100"],
            cwd=folder,
            check=True,
            capture_output=True,
            text=True,
        )
        took = perf_counter() - start
        peak = int(run.stdout.splitlines()[-1]) / 1024
        size = path.stat().st_size / 2**20
        print(f"{points:,} points, {size:,.0f} MB tar.xz: {peak:,.0f} MB, {took:,.0f} s")


def osm(realdata: Path) -> None:
    """Seconds for what is looked up in the file of a country."""
    pbf = realdata / "osm_pbf/liechtenstein.osm.pbf"
    tags = "amenity=hospital,place_of_worship,school,social_facility"
    for what, work in (
        ("boundary by name", lambda: boundary(pbf, "Vaduz")),
        ("roads", lambda: roads(pbf)),
        ("zone around sensitive places", lambda: hidden(pbf, tags, 150.0)),
    ):
        print(f"{what:58} {best(work):12.2f} s")


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("speed", "memory", "map"))
    parser.add_argument("realdata", type=Path, nargs="?")
    asked = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    if asked.what == "map":
        osm(asked.realdata)
        return
    with tempfile.TemporaryDirectory() as name:
        (speed if asked.what == "speed" else memory)(Path(name))


if __name__ == "__main__":
    main()
