"""trajanon benchmark."""

from pathlib import Path
from typing import TYPE_CHECKING

from trajanon.cli.options import options
from trajanon.cli.wording import show_json, tell
from trajanon.errors import BadInput
from trajanon.words import number_of

if TYPE_CHECKING:
    from trajanon.papers.measurements import Measurement


@options(
    table="hm2, compression, rcs, mf-tsp, decomposition, timing or all.",
    data="Needed: your own table (.csv or .parquet), or a folder with census.csv, tarragona.csv, "
    "eia.csv or trajectories (.parquet), and the published tables in ../published.",
    repeats="Number of runs of each method that uses chance.",
    out="CSV to write; a page (.md) is written beside it.",
)
def benchmark(
    *,
    table: list[str],
    data: Path | None = None,
    repeats: int = 50,
    out: Path = Path("benchmark.csv"),
    as_json: bool = False,
) -> None:
    """Measure the papers' tables again, on this machine."""
    from dataclasses import asdict

    from trajanon.cli.results import show_measurements
    from trajanon.cli.screen import bars
    from trajanon.outputs import check_outputs, replacing
    from trajanon.papers.datasets import NEEDED
    from trajanon.papers.measurements import markdown, write_csv
    from trajanon.papers.published_tables import benchmark as measure

    if out.suffix.lower() != ".csv":
        raise BadInput(f"the measurements are written as CSV: {out} must end in .csv")
    if data is None:
        raise BadInput(f"`data` is missing; name {NEEDED}, or a table of yours")
    page = out.with_suffix(".md")
    read = [data, *data.glob("*"), *data.parent.glob("published/*")]
    check_outputs(out, page, inputs=read)
    measured: list[Measurement] = []
    with bars() as progress:
        for found in measure(table, data, repeats=repeats, progress=progress):
            measured += found
            # Written anew after each table: an end in between loses only the last.
            with replacing(out, page, inputs=read, public=[out, page]) as drafts:
                write_csv(drafts[0], measured)
                drafts[1].write_text(markdown(measured), encoding="utf-8")
    if as_json:
        show_json({"measurements": [asdict(m) for m in measured]})
        return
    show_measurements(measured)
    if data.is_file():  # nothing published stands beside it
        for line in page.read_text(encoding="utf-8").splitlines():
            tell(line)
    tell(f"Wrote {number_of(len(measured), 'measurement')} to {out}, and a page to {page}.")
