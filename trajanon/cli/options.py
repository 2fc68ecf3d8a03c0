"""Options that several commands share, and the names files have by default."""

import csv
from pathlib import Path
from typing import Annotated

import typer

from trajanon.errors import BadInput

TRAJECTORIES = Path("trajectories.parquet")
ANONYMIZED = Path("anonymized.parquet")
PARTS, RELEASE = Path("trajectories"), Path("anonymized")
"""Folders of parts."""
MAP = Path("map.html")
MICROAGGREGATED = Path("microaggregated.csv")
BENCHMARK = Path("benchmark.csv")


Method = Annotated[str, typer.Option(help="hm2, mdav, v-mdav, md, cbfs, mf-tsp or decomposition.")]
Heuristic = Annotated[
    str,
    typer.Option(
        help="Path of hm2 and mf-tsp: or-opt, two-opt, nearest-neighbor, "
        "repetitive-nn, nearest-insertion, farthest-insertion, cheapest-insertion, "
        "arbitrary-insertion, mdav-lk, npn, md, mdav, cbfs, concorde or lkh."
    ),
]
Compression = Annotated[
    int, typer.Option(help="Records behind each point of hm2's path; 1 for none.")
]
Expansion = Annotated[
    str, typer.Option(help="How compressed records come back: by distance or row.")
]
Gamma = Annotated[
    float | None,
    typer.Option(help="How readily groups of v-mdav grow.", show_default="the best of several"),
]
Subsets = Annotated[
    int | None,
    typer.Option(help="Parts that decomposition solves.", show_default="of some 1,500 / k records"),
]
Refine = Annotated[str, typer.Option(help="anneal, descent, swap, rcs or none.")]
ShuffleProbability = Annotated[
    float, typer.Option(help="Of rcs: chance of a shuffle after each record.")
]
MaxEvents = Annotated[int, typer.Option(help="Of rcs: shuffles at most.")]
Effort = Annotated[
    str,
    typer.Option(
        help="fast (no annealing), balanced, or best (minutes; Ctrl-C takes the best so far)."
    ),
]
SubjectsExact = Annotated[
    bool,
    typer.Option(
        "--subjects-exact",
        help="Names that differ only in upper and lower case are different subjects.",
    ),
]
Missing = Annotated[
    str, typer.Option(help="Rows with missing values: refuse the table, or drop the rows.")
]
Seed = Annotated[int, typer.Option(help="Repeats the groups bit for bit.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def names_of(text: str) -> list[str]:
    """Read column names between commas; one that holds a comma stands in quotes."""
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        msg = f"cannot read {text!r} as column names between commas: {error}"
        raise BadInput(msg) from error
