"""trajanon benchmark."""

from pathlib import Path
from typing import Annotated

import typer

from trajanon.cli.options import BENCHMARK, Json
from trajanon.cli.wording import announce_compilation, tell
from trajanon.errors import BadInput


def benchmark(
    table: Annotated[
        list[str], typer.Option(help="hm2, compression, rcs, mf-tsp, decomposition, timing or all.")
    ],
    data: Annotated[
        Path,
        typer.Option(
            help="Your own table (.csv or .parquet); or a folder with census.csv, tarragona.csv, "
            "eia.csv or trajectories (.parquet), and the published tables in ../published."
        ),
    ] = Path("../shared/reference/datasets"),
    repeats: Annotated[
        int, typer.Option(help="Number of runs of each method that uses chance.")
    ] = 50,
    out: Annotated[
        Path, typer.Option(help="CSV to write; a page (.md) is written beside it.")
    ] = BENCHMARK,
    as_json: Json = False,
) -> None:
    """Measure the papers' tables again, on this machine."""
    from dataclasses import asdict

    from trajanon.benchmark.benchmark import benchmark as measure
    from trajanon.benchmark.measurement import Measurement
    from trajanon.benchmark.writing import write_csv, write_markdown
    from trajanon.cli.results import show_measurements
    from trajanon.cli.screen import bars, show_json
    from trajanon.outputs import check_outputs, replacing

    if out.suffix.lower() != ".csv":
        msg = f"the measurements are written as CSV: {out} must end in .csv"
        raise BadInput(msg)
    page = out.with_suffix(".md")
    read = [data, *data.glob("*"), *data.parent.glob("published/*")]
    check_outputs(out, page, inputs=read)
    announce_compilation()
    measured: list[Measurement] = []
    with bars() as progress:
        for found in measure(table, data, repeats=repeats, progress=progress):
            measured += found
            # Written anew after each table: an end in between loses only the last.
            with replacing(out, page, inputs=read, public=[out, page]) as drafts:
                write_csv(drafts[0], measured)
                write_markdown(drafts[1], measured)
    if as_json:
        show_json({"measurements": [asdict(m) for m in measured]})
        return
    show_measurements(measured)
    if data.is_file():  # nothing published stands beside it
        for line in page.read_text(encoding="utf-8").splitlines():
            tell(line)
    tell(f"Wrote {len(measured):,} measurements to {out}, and a page to {page}.")
