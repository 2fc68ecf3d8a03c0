"""Compare what two versions compute of the sample: the same groups, the same released bytes.

    python benchmarks/unchanged.py before.json      with the old version
    python benchmarks/unchanged.py after.json       with the new one
    diff before.json after.json

Only the public interface is used, so that one script serves both. The order of a release is chance:
its lines are sorted.
"""

import hashlib
import json
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from measures import command_line, run_command

import trajanon
from trajanon.data import sample
from trajanon.settings import HEURISTIC_NAMES, METHOD_NAMES

PATHS = [name for name in HEURISTIC_NAMES if name not in ("concorde", "lkh")]
ASKED = (*("", "--effort fast"), *("--as-published", "--method mdav --refine none"))
CHANCE = {"seconds", "versions", "key", "trajectories_path", "release_path", "path", "created"}


def digest(value: Any) -> str:
    """A short name for the bytes of an array or a text."""
    data = value.encode() if isinstance(value, str) else np.ascontiguousarray(value).tobytes()
    return hashlib.sha256(data).hexdigest()[:16]


def searches(folder: Path) -> Iterator[tuple[str, str]]:
    """Groups of some of the records: by each method, path, refinement, and with subjects."""
    records = trajanon.read_trajectories(folder / "trajectories.parquet").records[:400]
    asked: list[dict[str, Any]] = [{"method": method, "refine": "none"} for method in METHOD_NAMES]
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
    found = trajanon.microaggregate(records, 6, effort="best", seed=1)
    yield "effort=best", digest(found.labels)
    bound = trajanon.lower_bound(records[:200], 3)
    yield "bound", f"{bound.sse:.9e} {bound.certified}"


def trajanon_says(folder: Path, *words: str) -> str:
    """What a command prints as JSON, without what is chance or time."""
    run = run_command(list(words), folder)
    said = json.dumps(steady(json.loads(run["out"])), sort_keys=True) if run["out"] else ""
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


def files(folder: Path) -> Iterator[tuple[str, str]]:
    """Extract, then anonymise, check and evaluate: files and what is said."""
    pages = sorted(str(page) for page in sample().iterdir())
    windows = ("--windows", "--per-recording", "all", "--spacing", "50")
    extract = ["extract", *pages, *windows, "--json"]
    yield "extract", trajanon_says(folder, *extract)
    given = trajanon.read_trajectories(folder / "trajectories.parquet")
    yield "trajectories", digest(given.points)
    for number, words in enumerate(ASKED):
        out = f"out{number}.parquet"
        command = ["anonymize", "-k", "4", "--out", out, "--json", *words.split()]
        yield f"anonymize {words}", trajanon_says(folder, *command)
        report = json.loads((folder / f"out{number}.report.json").read_text(encoding="utf-8"))
        yield f"report {words}", digest(json.dumps(steady(report), sort_keys=True))
        yield f"released {words}", rows_in([folder / out])
        yield f"check {words}", trajanon_says(folder, "check", out, "-k", "4", "--json")
    trajanon_says(folder, "anonymize", "-k", "5", "--out", "out.csv", "--json")
    rows = (folder / "out.csv").read_text(encoding="utf-8").splitlines()
    yield "csv", digest("\n".join(sorted(row.partition(",")[2] for row in rows)))
    evaluate = ["evaluate", "trajectories.parquet", "out0.parquet", "--json"]
    yield "evaluate", trajanon_says(folder, *evaluate)
    trajanon_says(folder, *extract, "--partition", "200", "--out", "many")
    for options in ("--as-published", "--memory 1GB"):
        out = options.strip("-").replace(" ", "-")
        command = ["anonymize", "many", "-k", "4", "--out", out, "--json", *options.split()]
        yield f"parts {out}", trajanon_says(folder, *command)
        yield f"parts released {out}", rows_in((folder / out).glob("*.parquet"))
        yield f"parts check {out}", trajanon_says(folder, "check", out, "-k", "4", "--json")


def unchanged(out: Path) -> None:
    """Compute everything and write what it gave."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for what, value in chain(files(Path(folder)), searches(Path(folder))):
            found[what] = value
            print(f"{what}: {value}", file=sys.stderr, flush=True)
    out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    command_line(__doc__, unchanged)
