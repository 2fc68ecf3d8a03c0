"""Compare what two versions of trajanon compute: the same groups, the same released bytes.

    python benchmarks/unchanged.py ../shared before.json      with the old version
    python benchmarks/unchanged.py ../shared after.json       with the new one
    diff before.json after.json

Only the public interface is used, so that one script serves both. The order of a release is chance:
its lines are sorted. Names of sections after the file compute these alone.
"""

import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from measures import command_line, run_command

import trajanon
from trajanon.data import sample

BOX = ["--bbox=-122.52,37.70,-122.35,37.84", "--spacing", "100", "--max-gap", "1000"]
METHODS = ("hm2", "mdav", "v-mdav", "md", "cbfs", "mf-tsp", "decomposition")
PATHS = (
    *("or-opt", "two-opt", "nearest-neighbor", "repetitive-nn", "nearest-insertion"),
    *("farthest-insertion", "cheapest-insertion", "arbitrary-insertion", "mdav-lk", "npn"),
    *("md", "mdav", "cbfs"),
)
SECTIONS = ("census", "tarragona", "eia", "sample", "cabs", "osm", "parts")
CHANCE = {"seconds", "versions", "key", "trajectories_path", "release_path", "path", "created"}


def digest(value: Any) -> str:
    """A short name for the bytes of an array or a text."""
    data = value.encode() if isinstance(value, str) else np.ascontiguousarray(value).tobytes()
    return hashlib.sha256(data).hexdigest()[:16]


def table(name: str, shared: Path) -> Iterator[tuple[str, str]]:
    """Groups of a table of numbers: by each method, path, refinement, and with subjects."""
    read = pd.read_csv(shared / f"reference/datasets/{name}.csv").select_dtypes("number")
    records = read.dropna().to_numpy(dtype=np.float64)
    records = records if name != "eia" else records[::3]
    asked: list[dict[str, Any]] = [{"method": method, "refine": "none"} for method in METHODS]
    asked += [{"heuristic": path, "refine": "none"} for path in PATHS]
    asked += [{"refine": refine} for refine in ("anneal", "descent", "swap", "rcs")]
    asked += [{"compression": 3}, {"compression": 3, "expansion": "row"}, {"effort": "fast"}]
    few = np.arange(len(records)) // 2
    asked += [{"subjects": few}, {"subjects": few, "method": "mf-tsp", "refine": "none"}]
    for options in asked:
        found = trajanon.microaggregate(records, 4, seed=7, **options)
        words = " ".join(f"{key}={value}" for key, value in options.items() if value is not few)
        words += " subjects" * ("subjects" in options)
        yield words, f"{digest(found.labels)} {found.sse!r} {found.path_length!r}"
    found = trajanon.microaggregate(records[:400], 6, effort="best", seed=1)
    yield "effort=best", digest(found.labels)
    bound = trajanon.lower_bound(records[:200], 3)
    yield "bound", f"{bound.sse:.9e} {bound.certified}"


def trajanon_says(folder: Path, *words: str) -> str:
    """What a command prints as JSON, without what is chance or time."""
    run = run_command(list(words), folder)
    said = json.dumps(steady(json.loads(run.stdout)), sort_keys=True) if run.stdout else ""
    return digest(re.sub(r"\d+ ms|\d+\.\d s", "", said).replace(str(folder), ""))


def steady(value: Any) -> Any:
    """Leave out of a report what no seed repeats."""
    if isinstance(value, dict):
        return {key: steady(inner) for key, inner in value.items() if key not in CHANCE}
    if isinstance(value, list):
        return [steady(inner) for inner in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value


def rows_in(files: Iterable[Path]) -> str:
    """A digest of all released trajectories of some files, in an order of their own."""
    lines = np.concatenate([trajanon.read_release(file).points for file in files])
    lines = lines.reshape(len(lines), -1)
    return digest(lines[np.lexsort(lines.T)])


def chain(folder: Path, extract: list[str], *asked: list[str]) -> Iterator[tuple[str, str]]:
    """Extract, then anonymise, check and evaluate: files and what is said."""
    yield "extract", trajanon_says(folder, "extract", *extract, "--json")
    given = trajanon.read_trajectories(folder / "trajectories.parquet")
    yield "trajectories", digest(given.points)
    for number, options in enumerate(asked):
        words = " ".join(options)
        out = f"out{number}.parquet"
        command = ["anonymize", "-k", "4", "--out", out, "--json", *options]
        yield f"anonymize {words}", trajanon_says(folder, *command)
        report = json.loads((folder / f"out{number}.report.json").read_text(encoding="utf-8"))
        yield f"labels {words}", digest(np.array(report["labels"]))
        yield f"report {words}", digest(json.dumps(steady(report), sort_keys=True))
        yield f"released {words}", rows_in([folder / out])
        yield f"check {words}", trajanon_says(folder, "check", out, "-k", "4", "--json")
    csv = ["anonymize", "-k", "5", "--no-align", "--out", "out.csv", *asked[0]]
    trajanon_says(folder, *csv, "--json")
    rows = sorted((folder / "out.csv").read_text(encoding="utf-8").splitlines())
    numbers = sorted(re.sub(r"^[^,]*,", "", row) for row in rows)
    yield "csv", digest("\n".join(numbers))
    evaluate = ["evaluate", "trajectories.parquet", "out0.parquet", "--json"]
    yield "evaluate", trajanon_says(folder, *evaluate)


def parts(folder: Path, cabs: str) -> Iterator[tuple[str, str]]:
    """The same for a folder of parts."""
    said = ["extract", cabs, *BOX, "--partition", "2000", "--out", "many", "--json"]
    yield "extract", trajanon_says(folder, *said)
    for options in (["--count", "records"], ["--memory", "1GB"]):
        out = "-".join(options).strip("-")
        trajanon_says(folder, "anonymize", "many", "-k", "4", "--out", out, "--json", *options)
        yield f"released {out}", rows_in((folder / out).glob("*.parquet"))
        reports = sorted(folder.glob(f"{out}*.json"))
        kept = [steady(json.loads(file.read_text(encoding="utf-8"))) for file in reports]
        yield f"report {out}", digest(json.dumps(kept, sort_keys=True))
        yield f"check {out}", trajanon_says(folder, "check", out, "-k", "4", "--json")


def section(name: str, shared: Path, folder: Path) -> Iterator[tuple[str, str]]:
    """Everything of one section."""
    cabs = str(shared / "realdata/sf_cabs/cabs_dataset_20080608.parquet")
    if name == "sample":
        pages = sorted(str(page) for page in sample().iterdir())
        asked = ("", "--no-align", "--suppress 2% --min-radius 30")
        asked += ("--count records --digits 6", "--method mdav --refine none")
        return chain(folder, [*pages, "--spacing", "50"], *map(str.split, asked))
    if name == "cabs":
        return chain(folder, [cabs, *BOX], [])
    if name == "osm":
        pages = [str(shared / "realdata/osm_trackpoints_san_francisco")]
        return chain(
            folder, [*pages, *["--spacing", "50", "--limit", "600"]], ["--count", "records"]
        )
    return parts(folder, cabs) if name == "parts" else table(name, shared)


def unchanged(
    shared: Path, out: Path, sections: Annotated[list[str] | None, typer.Argument()] = None
) -> None:
    """Compute the sections asked for and write what they gave."""
    found = {}
    for name in sections or SECTIONS:
        with tempfile.TemporaryDirectory() as folder:
            for what, value in section(name, shared.resolve(), Path(folder)):
                found[f"{name}: {what}"] = value
                out.write_text(json.dumps(found, indent=1) + os.linesep, encoding="utf-8")
                print(f"{name}: {what}: {value}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    command_line(__doc__, unchanged)
