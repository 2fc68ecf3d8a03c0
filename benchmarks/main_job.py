"""Measure what the README promises of speed: each figure as a user would feel it.

    python benchmarks/main_job.py ../shared/realdata

Every line is the wall time of a whole command, start-up included, the best of three. The kernels
are compiled before the clock starts, but for the line that says otherwise.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

from measures import best, command_line, first_rows, run_command, say_machine, spent

import trajanon

BOX = ["--bbox=-122.52,37.70,-122.35,37.84"]


def measure(realdata: Path) -> None:
    """Run all measurements and print a table."""
    data = realdata.resolve()
    cabs = ["extract", "--source", str(data / "sf_cabs/cabs_dataset_20080608.parquet"), *BOX]
    cabs += ["--spacing", "100", "--max-gap", "1000", "--out", "cabs.parquet"]
    pages = ["extract", "--source", str(data / "osm_trackpoints_san_francisco")]
    pages += ["--spacing", "50", "--out", "pages.parquet"]
    small = ["anonymize", "thousand.parquet", "-k", "4", "--out", "small.csv"]
    whole = ["anonymize", "cabs.parquet", "-k", "4", "--out", "cabs.csv"]
    fresh = "anonymize 1,000, kernels compiled for the first time"
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for what, allowed, words in (
            ("trajanon --help", 0.3, ["--help"]),
            ("extract, SF cabs, 240,280 points", 10, cabs),
            ("extract, 36 OSM pages, 180,000 points", 6, pages),
            (fresh, 25, small),
            ("anonymize 1,000, k = 4", 3, small),
            ("anonymize 9,183, k = 4", None, whole),
            ("check 9,183", None, ["check", "cabs.csv", "-k", "4"]),
        ):
            if what == fresh:
                some = first_rows(trajanon.read_trajectories(folder / "cabs.parquet"), 1_000)
                without_tracks = replace(some, tracks=None)
                trajanon.write_trajectories(folder / "thousand.parquet", without_tracks)
                fresh_cache = {"NUMBA_CACHE_DIR": str(folder / "kernels")}
                took = spent(run_command, words, folder, **fresh_cache).seconds
            else:
                took = best(run_command, words, folder)
            rows.append((what, took, "" if allowed is None else f"(limit {allowed:g} s)"))
    say_machine()
    for what, took, limit in rows:
        print(f"{what:55} {took:7.2f} s  {limit}")


if __name__ == "__main__":
    command_line(__doc__, measure)
