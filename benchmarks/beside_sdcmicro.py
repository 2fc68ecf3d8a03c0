"""Measure MDAV beside that of sdcMicro, the R package, whose C++ is compiled as it is.

    git clone https://github.com/sdcTools/sdcMicro
    python benchmarks/beside_sdcmicro.py sdcMicro/src DATA

DATA is the folder of census.csv, tarragona.csv and eia.csv. docs/tables.md shows the table.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time
from typing import Unpack

import numpy as np
from measures import print_row

import trajanon
from trajanon.common.arrays import Floats
from trajanon.common.search_and_release_options import SearchKeywords
from trajanon.tables.papers.datasets import Dataset, find_datasets

HERE = Path(__file__).parent / "sdcmicro"
K = 3
_RUNS = 3  # of which the fastest counts


def compiled(source: Path, folder: Path) -> Path:
    """Compile sdcMicro's MDAV as a program that reads and writes matrices."""
    program = folder / "mdav"
    words = f"g++ -O2 -std=c++17 -w -I{HERE} -I{source} {HERE / 'main.cpp'} -o {program}"
    subprocess.run(words.split(), check=True)
    return program


def of_sdcmicro(program: Path, records: Floats, k: int = K) -> tuple[Floats, float]:
    """Microaggregate records, (n, p), as sdcMicro does: the means, (n, p), and the seconds.

    The program reads and writes matrices column by column, as R has them.
    """
    n, p = records.shape
    answer = subprocess.run(
        [program, str(n), str(p), str(k)],
        input=np.asfortranarray(records).tobytes(order="F"),
        capture_output=True,
        check=True,
    )
    return np.frombuffer(answer.stdout).reshape(p, n).T, float(answer.stderr)


def of_trajanon(records: Floats, **options: Unpack[SearchKeywords]) -> tuple[float, float]:
    """Return the loss of our groups, percent, and the seconds of a core."""
    since = process_time()
    partition = trajanon.microaggregate(records, K, **options)
    return partition.information_loss, process_time() - since


def compare(program: Path, dataset: Dataset) -> None:
    """Print a row of the table."""
    records = dataset.records
    runs = [of_sdcmicro(program, records) for _ in range(_RUNS)]
    means, _ = runs[0]
    # Records of the papers' tables are standardised, so their mean is 0.
    loss = 100.0 * ((records - means) ** 2).sum() / (records**2).sum()
    measured = [
        # All runs lose the same: the least pair is that of the fastest.
        (loss, min(seconds for _, seconds in runs)),
        min(of_trajanon(records, method="mdav", refine="none") for _ in range(_RUNS)),
        min(of_trajanon(records) for _ in range(_RUNS)),
    ]
    print_row(dataset.name, *(f"{loss:.4f} %, {seconds:.2f} s" for loss, seconds in measured))


def main(source: str, data: str) -> None:
    """Print the table."""
    print_row("", "sdcMicro", "MDAV", "default")
    with tempfile.TemporaryDirectory() as folder:
        program = compiled(Path(source).absolute(), Path(folder))
        for read in find_datasets(Path(data)):
            compare(program, read())


if __name__ == "__main__":
    main(*sys.argv[1:])
