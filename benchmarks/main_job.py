"""Measure what the README promises of speed: each figure as a user would feel it.

    python benchmarks/main_job.py ../shared/realdata

Every line is the wall time of a whole command, start-up included, the best of three. The kernels
are compiled before the clock starts, but for the line that says otherwise.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import trajanon

BOX = "--bbox=-122.52,37.70,-122.35,37.84"


def seconds(command: list[str], folder: Path, **environment: str) -> float:
    """Run a command of trajanon in a folder; its wall time."""
    start = perf_counter()
    subprocess.run(
        [sys.executable, "-m", "trajanon", *command],
        cwd=folder,
        env={**os.environ, **environment},
        check=True,
        capture_output=True,
    )
    return perf_counter() - start


def best(command: list[str], folder: Path) -> float:
    """The best of three runs."""
    return min(seconds(command, folder) for _ in range(3))


def thousand(folder: Path) -> Path:
    """Write the first 1,000 of the cabs' trajectories to a file of their own."""
    cabs = trajanon.read_trajectories(folder / "cabs.parquet")
    assert cabs.subject is not None
    assert cabs.trace is not None
    path = folder / "thousand.parquet"
    trajanon.write_trajectories(
        path, trajanon.Trajectories(cabs.points[:1000], cabs.subject[:1000], cabs.trace[:1000])
    )
    return path


def main() -> None:
    """Run all measurements and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("realdata", type=Path)
    data = parser.parse_args().realdata.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cabs = ["extract", "--source", str(data / "sf_cabs/cabs_dataset_20080608.parquet")]
        cabs += [BOX, "--spacing", "100", "--max-gap", "1000", "--out", "cabs.parquet"]
        pages = ["extract", "--source", str(data / "osm_trackpoints_san_francisco")]
        pages += ["--spacing", "50", "--out", "pages.parquet"]
        rows = [
            ("trajanon --help", 0.3, best(["--help"], folder)),
            ("extract, SF cabs, 240,280 points", 10, best(cabs, folder)),
            ("extract, 36 OSM pages, 180,000 points", 6, best(pages, folder)),
        ]
        small = ["anonymize", str(thousand(folder)), "-k", "4", "--out", "small.csv"]
        fresh = str(folder / "kernels")
        rows += [
            (
                "anonymize 1,000, kernels compiled for the first time",
                25,
                seconds(small, folder, NUMBA_CACHE_DIR=fresh),
            ),
            ("anonymize 1,000, k = 4", 3, best(small, folder)),
        ]
        whole = ["anonymize", "cabs.parquet", "-k", "4", "--out", "cabs.csv"]
        rows.append(("anonymize 9,183, k = 4", None, best(whole, folder)))
        rows.append(("check 9,183", None, best(["check", "cabs.csv", "-k", "4"], folder)))
    print(f"load {os.getloadavg()[0]:.2f} on {os.cpu_count()} cores")
    for what, allowed, took in rows:
        limit = "" if allowed is None else f"(limit {allowed:g} s)"
        print(f"{what:55} {took:7.2f} s  {limit}")


if __name__ == "__main__":
    main()
