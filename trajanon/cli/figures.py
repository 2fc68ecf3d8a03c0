"""trajanon figures."""

from pathlib import Path

import trajanon
from trajanon.cli.options import ANONYMIZED, BOTH, TRAJECTORIES, options
from trajanon.cli.wording import say, tell
from trajanon.errors import BadInput


@options(
    files=("The CSV of trajanon benchmark; or trajectories and release.", BOTH),
    group=("Number of the group of a release to draw in detail.", "that of median displacement"),
    out="Folder for the figures and their captions.",
)
def figures(
    files: list[Path] | None = None, *, group: int | None = None, out: Path = Path("figures")
) -> None:
    """Draw figures for a paper, each as SVG and PNG.

    Of a benchmark: loss by method and k, against path length, and against seconds. Of a release:
    loss by stage, group sizes, and one group in detail.
    """
    from trajanon.files.report import read_report, report_path
    from trajanon.maps.figures import file_names, of_benchmark, of_release, save

    read = files or [TRAJECTORIES, ANONYMIZED]
    left_out: list[str] = []
    of_two = len(read) == 2
    if of_two:
        originals, release = trajanon.read_trajectories(read[0]), trajanon.read_release(read[1])
        pictures = of_release(originals, release, read_report(read[1]), group=group)
        read = [*read, report_path(read[1])]
    elif len(read) > 2 or read[0].suffix.lower() != ".csv":
        msg = "figures takes the CSV of trajanon benchmark, or two files, trajectories and release"
        raise BadInput(msg)
    elif group is not None:
        msg = f"--group {group} goes with a release: name trajectories and release"
        raise BadInput(msg)
    else:
        pictures, left_out = of_benchmark(read[0])
    save(pictures, out, inputs=read)
    for sentence in left_out:
        say(f"left out: {sentence}")
    tell(f"Wrote {len(file_names(pictures))} files to {out}:")
    for picture in pictures:
        tell(f"  {picture.name}.svg, .png")
    if of_two:
        tell("The group shows originals: it is for you alone.")
