"""trajanon demo."""

from pathlib import Path

from trajanon.cli.anonymize import anonymize
from trajanon.cli.check import check
from trajanon.cli.extract import extract
from trajanon.cli.map import draw
from trajanon.cli.options import ANONYMIZED, MAP, TRAJECTORIES, options
from trajanon.cli.wording import compile_ahead, tell


@options(folder="Where the results go.")
def demo(folder: Path = Path("trajanon-demo")) -> None:
    """Run the whole chain on the bundled synthetic sample, without network."""
    from trajanon.data import sample
    from trajanon.outputs import making

    trajectories, released = folder / TRAJECTORIES, folder / ANONYMIZED
    compile_ahead()
    with making(folder):
        tell("1. trajanon extract (the bundled sample) --bbox madrid")
        extract([str(sample())], bbox=["madrid"], out=trajectories)
        tell()
        tell("2. trajanon anonymize -k 4")
        anonymize(str(trajectories), k=4, out=str(released))
        tell()
        tell("3. trajanon check -k 4")
        check(released, k=4)
        tell()
        tell("4. trajanon map")
        draw([trajectories, released], out=folder / MAP)
