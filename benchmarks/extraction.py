"""Measure extraction: points a second of each step, and peak memory.

    python benchmarks/extraction.py speed   # readers, cutting
    python benchmarks/extraction.py memory  # of two large dumps

Files are generated in a temporary folder: drives of random walkers, a fix every second and some 12
m. Whole commands include their start; each figure is the best of three, but for memory, where the
peak of the one run counts.
"""

import io
import resource
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd
from measures import alone, best, command_line, peak_gb, run_command, say_machine, spent

from trajanon.extract import Extraction, Rules, Trace, traces
from trajanon.extract.cutting import Cutter

FIXES = 2_000  # of one drive
RULES = Rules(spacing=100.0, per_recording=None)

MILLION = 1_000_000


def drives(points: int) -> Iterator[Trace]:
    """Drives of subjects that make ten each."""
    rng = np.random.default_rng(0)
    for number in range(points // FIXES):
        turns = np.cumsum(rng.normal(0, 0.02, FIXES)) + rng.uniform(0, 6.3)
        lat = 40.0 + rng.uniform(0, 0.5) + np.cumsum(np.cos(turns)) * 1e-4
        lon = -3.7 + rng.uniform(0, 0.5) + np.cumsum(np.sin(turns)) * 1e-4
        time = 1.5e9 + number * 1e4 + np.arange(FIXES)
        yield Trace(f"t{number}", f"s{number // 10}", lat, lon, time)


def gpx_text(drives: Iterable[Trace], elevations: bool = False) -> bytes:
    """A GPX 1.0 document as the OSM project writes them."""
    tracks = []
    ele = "<ele>612.0</ele>" if elevations else ""
    for drive in drives:
        times = np.datetime_as_string(drive.time.astype("datetime64[s]"))
        points = "".join(
            f'<trkpt lat="{lat:.7f}" lon="{lon:.7f}">{ele}<time>{time}Z</time></trkpt>\n'
            for lat, lon, time in zip(drive.lat, drive.lon, times, strict=True)
        )
        tracks.append(f"<trk><trkseg>\n{points}</trkseg></trk>")
    head = '<?xml version="1.0"?><gpx version="1.0" creator="bench">'
    return f"{head}{''.join(tracks)}</gpx>".encode()


def table(points: int) -> pd.DataFrame:
    """Points as rows, a drive after another."""
    tables = [
        pd.DataFrame({"lat": one.lat, "lon": one.lon, "time": one.time.astype(np.int64)}).assign(
            trip_id=one.name, user_id=one.subject
        )
        for one in drives(points)
    ]
    return pd.concat(tables, ignore_index=True)


def write_files(folder: Path) -> None:
    """Write points in each format that is measured."""
    for name, elevations in (("gpx", False), ("gpx with elevations", True)):
        (folder / name).mkdir()
        some = drives(MILLION)
        for part in range(10):
            text = gpx_text(islice(some, 50), elevations)
            (folder / name / f"{part}.gpx").write_bytes(text)
    rows = table(5 * MILLION)
    rows.to_parquet(folder / "table.parquet", row_group_size=500_000)
    rows[:MILLION].to_csv(folder / "table.csv", index=False)
    rows = rows.assign(time=pd.to_datetime(rows.time, unit="s").astype(str))
    rows.to_parquet(folder / "texts.parquet", row_group_size=500_000)


def read(source: Path, jobs: int = 1) -> None:
    """Read all traces of a source."""
    list(traces(source, jobs=jobs))


def cut(some: list[Trace]) -> None:
    """Cut windows from traces."""
    cutter = Cutter(RULES)
    for batch in cutter.batches(iter(some)):
        cutter.cut(batch)


def speed() -> None:
    """Points a second of the readers, of the cutting, and of both together."""
    say_machine()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        whole = Extraction(folder / "table.parquet", rules=RULES)
        for what, millions, job, *given in (
            ("read gpx", 1, read, folder / "gpx"),
            ("read gpx with elevations", 1, read, folder / "gpx with elevations"),
            ("read gpx, two processes", 1, read, folder / "gpx", 2),
            ("read table.parquet", 5, read, folder / "table.parquet"),
            ("read texts.parquet", 5, read, folder / "texts.parquet"),
            ("read table.csv", 1, read, folder / "table.csv"),
            ("cut, with tracks", 1, cut, list(drives(MILLION))),
            ("table.parquet to trajectories.parquet", 5, whole.write, folder / "out.parquet"),
        ):
            print(f"{what:58} {millions * MILLION / best(job, *given):12,.0f} points/s", flush=True)


def dump(path: Path, points: int) -> None:
    """Write a tar.xz of GPX files, as the planet dump is."""
    with tarfile.open(path, "w:xz", preset=0) as archive:
        for number, drive in enumerate(drives(points)):
            text = gpx_text([drive])
            name = f"trackable/000/{number // 1000:03d}/{number:09d}.gpx"
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))


def of_dump(points: int) -> None:
    """Print the peak memory and time of a whole command on a dump."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "dump.tar.xz"
        dump(path, points)
        words = ["extract", str(path), "--windows", "--per-recording", "all", "--spacing", "100"]
        took = spent(run_command, words, path.parent).seconds
        size, peak = path.stat().st_size / 2**20, 1e3 * peak_gb(resource.RUSAGE_CHILDREN)
    print(f"{points:,} points, {size:,.0f} MB tar.xz: {peak:,.0f} MB, {took:,.0f} s")


def memory() -> None:
    """Peak memory and time of a whole command on dumps of two sizes."""
    say_machine()
    for points in (5 * MILLION, 20 * MILLION):
        alone(of_dump, points)


if __name__ == "__main__":
    command_line(__doc__, speed, memory)
