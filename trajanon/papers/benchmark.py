"""The benchmark: tables over data sets, measured and put beside the papers."""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from trajanon.errors import BadInput
from trajanon.papers.datasets import find_datasets
from trajanon.papers.measurement import Measurement, beside, read_published
from trajanon.papers.published_tables import TABLES
from trajanon.progress import Progress, silent

EVERY = "all"


def benchmark(
    tables: Sequence[str], data: Path, *, repeats: int = 50, progress: Progress = silent
) -> Iterator[list[Measurement]]:
    """Measure the papers' tables again."""
    unknown = [name for name in tables if name not in (*TABLES, EVERY)]
    if unknown:
        raise BadInput(f"table {unknown[0]!r} is not known; choose from {', '.join(TABLES)}, all")
    if repeats < 1:
        raise BadInput(f"repeats must be a whole number from 1 (got {repeats})")
    chosen = TABLES if EVERY in tables else {name: TABLES[name] for name in tables}
    datasets = find_datasets(data)
    published = read_published(data.parent / "published")
    nothing = True
    for table, read in product(chosen.values(), datasets):
        if measured := beside(table(read(), repeats, progress), published):
            nothing = False
            yield measured
    if nothing:
        raise BadInput(
            f"{', '.join(chosen)} has nothing to measure in {data}: see "
            "trajanon benchmark --help for the data sets, or ask for `table=hm2`"
        )
