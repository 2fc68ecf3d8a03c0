"""The benchmark: tables over data sets, measured and put beside the papers."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from trajanon.benchmark.compression import compression
from trajanon.benchmark.datasets import Dataset, find_datasets
from trajanon.benchmark.decomposition import decomposition
from trajanon.benchmark.hm2 import hm2
from trajanon.benchmark.measurement import Measurement
from trajanon.benchmark.mf_tsp import mf_tsp
from trajanon.benchmark.published import beside, read_published
from trajanon.benchmark.rcs import rcs
from trajanon.benchmark.timing import timing
from trajanon.errors import BadInput
from trajanon.progress import Progress, silent

Table = Callable[[Dataset, int, Progress], Iterator[Measurement]]
"""(data set, repeats, progress) to what was measured; nothing for a data set that the
table does not have."""

TABLES: Mapping[str, Table] = {
    "hm2": hm2,
    "compression": compression,
    "rcs": rcs,
    "mf-tsp": mf_tsp,
    "decomposition": decomposition,
    "timing": timing,
}

ALL = "all"


def benchmark(
    tables: Sequence[str], data: Path, *, repeats: int = 50, progress: Progress = silent
) -> Iterator[list[Measurement]]:
    """Measure the papers' tables again."""
    unknown = [name for name in tables if name not in (*TABLES, ALL)]
    if unknown:
        msg = f"table {unknown[0]!r} is not known; choose from {', '.join(TABLES)}, all"
        raise BadInput(msg)
    if repeats < 1:
        msg = f"repeats must be a whole number from 1 (got {repeats})"
        raise BadInput(msg)
    chosen = TABLES if ALL in tables else {name: TABLES[name] for name in tables}
    datasets = find_datasets(data)
    published = read_published(data.parent / "published")
    any_measured = False
    for table in chosen.values():
        for read in datasets:
            measured = beside(table(read(), repeats, progress), published)
            if measured:
                any_measured = True
                yield measured
    if not any_measured:
        msg = (
            f"{', '.join(chosen)} has nothing to measure in {data}: see "
            "trajanon benchmark --help for the data sets, or ask for --table hm2"
        )
        raise BadInput(msg)
