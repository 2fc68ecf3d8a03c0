"""trajanon demo."""

from pathlib import Path
from typing import Annotated

import typer

from trajanon.cli.anonymize import anonymize
from trajanon.cli.check import check
from trajanon.cli.extract import extract
from trajanon.cli.map import draw
from trajanon.cli.options import ANONYMIZED, MAP, TRAJECTORIES
from trajanon.cli.wording import tell


def demo(
    folder: Annotated[Path, typer.Argument(help="Where the results go.")] = Path("trajanon-demo"),
) -> None:
    """Run the whole chain on the bundled synthetic sample, without network."""
    from trajanon.data import sample
    from trajanon.outputs import making

    with making(folder):
        _run(sample(), folder)


def _run(sample: Path, folder: Path) -> None:
    trajectories, released = folder / TRAJECTORIES, folder / ANONYMIZED
    tell("1. trajanon extract --bbox madrid --source (the bundled sample)")
    extract(source=[str(sample)], bbox=["madrid"], out=trajectories)
    tell()
    tell("2. trajanon anonymize -k 4")
    anonymize(str(trajectories), k=4, out=str(released))
    tell()
    tell("3. trajanon check -k 4")
    check(released, k=4)
    tell()
    tell("4. trajanon map")
    draw([trajectories, released], out=folder / MAP)
