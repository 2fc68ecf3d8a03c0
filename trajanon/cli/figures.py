"""trajanon figures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trajanon.cli.options import ANONYMIZED, TRAJECTORIES
from trajanon.cli.wording import say, tell
from trajanon.errors import BadInput

if TYPE_CHECKING:
    from trajanon.maps.figures import Picture

FIGURES = Path("figures")


def figures(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            help="The CSV of trajanon benchmark; or trajectories and release.",
            show_default=f"{TRAJECTORIES} {ANONYMIZED}",
        ),
    ] = None,
    group: Annotated[
        int | None,
        typer.Option(
            help="Number of the group of a release to draw in detail.",
            show_default="that of median displacement",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the figures and their captions.")] = FIGURES,
) -> None:
    """Draw figures for a paper, each as SVG and PNG.

    Of a benchmark: loss by method and k, against path length, and against seconds. Of a release:
    loss by stage, group sizes, and one group in detail.
    """
    from trajanon.maps.figures import file_names, of_benchmark, save

    given = files or [TRAJECTORIES, ANONYMIZED]
    left_out: list[str] = []
    if len(given) == 2:
        pictures, read = _of_release(given[0], given[1], group)
    elif len(given) > 2 or given[0].suffix.lower() != ".csv":
        msg = (
            "figures takes the CSV that trajanon benchmark wrote, or two files, "
            "trajectories and release"
        )
        raise BadInput(msg)
    elif group is not None:
        msg = f"--group {group} goes with a release: name trajectories and release"
        raise BadInput(msg)
    else:
        pictures, left_out = of_benchmark(given[0])
        read = given
    save(pictures, out, inputs=read)
    for sentence in left_out:
        say(f"left out: {sentence}")
    tell(f"Wrote {len(file_names(pictures))} files to {out}:")
    for picture in pictures:
        tell(f"  {picture.name}.svg, .png")
    if len(given) == 2:
        tell("The group shows originals: it is for you alone.")


def _of_release(
    trajectories: Path, release: Path, group: int | None
) -> tuple[list["Picture"], list[Path]]:
    from trajanon.files.release import read_release
    from trajanon.files.report import read_report, report_path
    from trajanon.files.trajectories import read_trajectories
    from trajanon.maps.figures import of_release

    pictures = of_release(
        read_trajectories(trajectories), read_release(release), read_report(release), group=group
    )
    return pictures, [trajectories, release, report_path(release)]
