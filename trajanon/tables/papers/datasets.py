"""The data sets that the papers' tables are measured on: theirs, a user's table, trajectories."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from math import isclose
from pathlib import Path
from typing import Unpack

import numpy as np
import pandas as pd

from trajanon.common.arrays import Floats, Ints
from trajanon.common.effort_of_the_search import EFFORTS
from trajanon.common.errors import BadInput, FileProblem, LeftOutWarning, warn
from trajanon.common.json_toml_and_regular_files import regular
from trajanon.common.number_text import number_of
from trajanon.common.parameters_of_single_methods import (
    MicroaggregateKeywords,
    MicroaggregateSettings,
)
from trajanon.common.progress import Progress, silent
from trajanon.common.search_and_release_options import settings_from
from trajanon.files.trajectory_files import read_trajectories
from trajanon.grouping.loss import information_loss, sse
from trajanon.grouping.problem import Problem
from trajanon.grouping.standardised_records import standardise
from trajanon.tables.table_columns import ALL, AveragesUnclear, Roles, read_table_columns

PAPERS = ("Census", "Tarragona", "EIA")
"""Data sets of the papers that were published; others are trajectories."""

NEEDED = (
    "a folder with census.csv, tarragona.csv or eia.csv, which are CASCrefmicrodata, Tarragona and "
    "EIA of the R package sdcMicro, or with trajectories (.parquet)"
)
"""What is measured, and where it is had: no package may ship all of it."""

COLUMN_SETS: Mapping[str, list[str]] = {
    "eia:papers": [
        "UTILITYID",
        *("RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES"),
        *("OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES"),
    ]
}
"""Columns that the papers used, where these are not all: the published losses show which.

Keys are what ``--columns`` takes in place of names. Of EIA's 15 columns two are of text, and YEAR
and MONTH were not used.
"""

FINGERPRINTS: dict[str, tuple[int, int, float]] = {
    "Census": (1_080, 13, 1.422758326330596e13),
    "Tarragona": (834, 13, 1.5404116337062395e15),
    "EIA": (4_092, 11, 8.060998975924544e15),
}
"""Records, columns and total sum of squares, as they are in the file, of the published sets.

The trajectory sets of the thesis were never published, so no file can be known to be one of them.
"""

_MOST_TRAJECTORIES = 1_000  # as many as the papers' sets had

_RECORDS_TO_COMPILE = 60  # with which a kernel is compiled before it is timed

_FEWEST_RECORDS = 20  # two groups of the largest k of a table


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table of numbers under its published name."""

    name: str  # as in the papers; of trajectories, the name of their file
    records: Floats  # standardised, shape (n, p)
    own: bool = False  # whether it is a table that the user named
    published: bool = False  # whether published numbers are of this very table

    def measured_by(self, names: Sequence[str]) -> bool:
        """Return whether a table measures this: one of its data sets, or the user's."""
        return self.own or self.name in names

    @property
    def few(self) -> "Dataset":
        """Select some of the records, for a run that only compiles."""
        return Dataset(self.name, self.records[:_RECORDS_TO_COMPILE])

    def problem(
        self, k: int, *, progress: Progress = silent, **options: Unpack[MicroaggregateKeywords]
    ) -> Problem:
        """Make the problem of a run: as in the papers, each record is its own subject."""
        settings = settings_from(options, MicroaggregateSettings)
        return Problem(
            records=self.records,
            k=k,
            subjects=np.arange(len(self.records)),
            random=np.random.default_rng(settings.seed),
            settings=settings,
            budget=EFFORTS["balanced"],
            progress=progress,
        )

    def loss(self, labels: Ints) -> float:
        """Compute the information loss of groups, percent."""
        return information_loss(sse(self.records, labels), float((self.records**2).sum()))


def find_datasets(folder: Path) -> list[Callable[[], Dataset]]:
    """Find the data sets in a folder, or take a table; each is read when it is called."""
    if folder.is_file():
        return [cache(partial(_of_user, folder))]  # read once, for its warnings
    if not folder.is_dir():
        raise FileProblem(
            f"{folder} is not a folder; name {NEEDED}, or a table of yours, as `data`"
        )

    papers = {name: folder / f"{name.lower()}.csv" for name in PAPERS}
    datasets: list[Callable[[], Dataset]] = [
        partial(_of_a_paper, name, file) for name, file in papers.items() if file.exists()
    ]
    datasets += [partial(_trajectories, file) for file in sorted(folder.glob("*.parquet"))]
    if not datasets:
        raise BadInput(f"{folder} has no data sets; name {NEEDED}, as `data`")
    return datasets


def _of_a_paper(name: str, table: Path) -> Dataset:
    """Read a data set of the papers from CSV; it may be another table of that name."""
    regular(table)
    try:
        frame = pd.read_csv(table, usecols=COLUMN_SETS.get(f"{name.lower()}:papers"))
        numbers = frame.to_numpy(dtype=np.float64)
        records = standardise(numbers)
    except (OSError, ValueError) as error:
        raise FileProblem(f"cannot read {table} as the {name} data set: {error}") from error
    return replace(_dataset_of(name, records, table), published=known_as(numbers) == name)


def known_as(numbers: Floats) -> str | None:
    """Name the published data set that holds these numbers."""
    squares = float(((numbers - numbers.mean(axis=0)) ** 2).sum())
    for name, (n, columns, total) in FINGERPRINTS.items():
        if numbers.shape == (n, columns) and isclose(squares, total, rel_tol=1e-9):
            return name
    return None


def _of_user(file: Path) -> Dataset:
    """Read a table that is not of the papers: without columns whose averages mean nothing."""
    # All columns first: it may be a published set under any name.
    table = read_table_columns(file, Roles(columns=ALL), missing="drop")
    name = known_as(table.records)
    if name is None:
        try:
            table = read_table_columns(file, missing="drop")
        except AveragesUnclear as unclear:
            # Where no column is left, all are taken.
            if averageable := unclear.proposal["columns"]:
                sentence = f"{unclear.problem}: they are left out"
                warn(LeftOutWarning(sentence, "doubtful columns", str(file)))
                table = read_table_columns(file, Roles(columns=averageable), missing="drop")

    for notice in table.notices:
        warn(notice)
    dataset = _dataset_of(name or file.stem, standardise(table.records), file)
    return replace(dataset, own=True, published=name is not None)


def _trajectories(file: Path) -> Dataset:
    """Read trajectories; of more than a thousand, a random thousand, in the order of the file."""
    records = read_trajectories(file).records
    chosen = np.sort(np.random.default_rng(0).permutation(len(records))[:_MOST_TRAJECTORIES])
    return _dataset_of(file.stem, standardise(records[chosen]), file)


def _dataset_of(name: str, records: Floats, file: Path) -> Dataset:
    """Make a data set of standardised records; refuse too few for two groups."""
    if len(records) < _FEWEST_RECORDS:
        raise BadInput(
            f"{file} has {number_of(len(records), 'record')}, and the tables need "
            f"{_FEWEST_RECORDS} or more; take it out of the folder, or name another one as `data`"
        )
    return Dataset(name, records)
