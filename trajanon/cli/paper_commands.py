"""The commands for papers: trajanon benchmark and figures."""

from importlib.util import find_spec
from pathlib import Path

import trajanon
from trajanon.cli.messages import say, show_json, tell
from trajanon.cli.options import TRAJECTORIES, options
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of


@options()
def benchmark(
    *,
    table: list[str],
    data: Path | None = None,
    repeats: int = 50,
    out: Path = Path("benchmark.csv"),
    as_json: bool = False,
) -> None:
    """Repeat the papers' tables on this machine."""
    from dataclasses import asdict

    from trajanon.cli.progress_bars import bars
    from trajanon.common.atomic_output import check_outputs, replacing
    from trajanon.grouping.methods.hm2_and_compression import CONCORDE_CITIES
    from trajanon.grouping.paths.external_solvers import concorde_command
    from trajanon.tables.papers.datasets import NEEDED
    from trajanon.tables.papers.published_values import Measurement, markdown, write_csv
    from trajanon.tables.papers.tables_measured_again import benchmark as measured_tables
    from trajanon.tables.papers.tables_measured_again import published_folder

    if out.suffix.lower() != ".csv":
        raise BadInput(f"the measurements are written as CSV: {out} must end in .csv")
    if data is None:
        raise BadInput(f"`data` is missing; name {NEEDED}, or a table of yours")

    page = out.with_suffix(".md")
    inputs = [data, *data.glob("*"), *published_folder(data).glob("*")]
    check_outputs(out, page, inputs=inputs)

    measurements: list[Measurement] = []
    with bars() as progress:
        for batch in measured_tables(table, data, repeats=repeats, progress=progress):
            if not measurements:
                say(
                    f"Concorde is run for the paths named after it, up to {CONCORDE_CITIES:,} "
                    f"cities"
                    if concorde_command()
                    else "Concorde is not installed: or-opt stands in for it"
                )
            measurements += batch

            # Both files are written after every batch, so a run that is stopped loses little.
            with replacing(out, page, inputs=inputs, public=[out, page]) as drafts:
                csv_draft, page_draft = drafts
                write_csv(csv_draft, measurements)
                page_draft.write_text(markdown(measurements), encoding="utf-8")

    if as_json:
        show_json({"measurements": list(map(asdict, measurements))})
        return

    # The page of a user's own table is printed, too: it has no published figures to compare.
    if data.is_file():
        for line in page.read_text(encoding="utf-8").splitlines():
            tell(line)
    tell(f"Wrote {number_of(len(measurements), 'measurement')} to {out}, and a page to {page}.")


@options()
def figures(files: list[Path], *, out: Path = Path("figures")) -> None:
    """Draw figures for a paper, each as SVG and PNG.

    From a benchmark: loss by method and k, against path length, and against seconds. From which-k:
    metres moved and the chance of the best attack, for k = 2 to 20; trajectories are anonymized for
    each k.
    """
    if find_spec("matplotlib") is None:
        raise BadInput("figures are drawn by matplotlib; run pip install 'trajanon[figures]'")
    from trajanon.cli.progress_bars import bars
    from trajanon.maps.figures import of_benchmark, save, which_k

    is_which_k = files[0] == Path("which-k")
    if len(files) > (2 if is_which_k else 1):
        raise BadInput("figures takes the CSV of trajanon benchmark, or which-k and trajectories")

    reasons_left_out = list[str]()
    if is_which_k:
        inputs = files[1:] or [TRAJECTORIES]
        with bars() as progress:
            pictures = [which_k(trajanon.read_trajectories(inputs[0]), progress=progress)]
    else:
        inputs = files
        pictures, reasons_left_out = of_benchmark(inputs[0])

    written_files = save(pictures, out, inputs=inputs)
    for reason in reasons_left_out:
        say(f"left out: {reason}")
    tell(f"Wrote {len(written_files)} files to {out}:")
    for picture in pictures:
        csv_suffix = "" if picture.numbers is None else ", .csv"
        notice = f". {picture.notice}" if picture.notice else ""
        tell(f"  {picture.name}.svg, .png{csv_suffix}{notice}")
