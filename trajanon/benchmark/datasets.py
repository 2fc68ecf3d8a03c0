"""The data sets of the papers, and trajectories, as tables of numbers."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from trajanon.errors import BadInput, FileProblem
from trajanon.files.trajectories import read_trajectories
from trajanon.inputs import regular
from trajanon.loss import standardise

PAPERS = ("Census", "Tarragona", "EIA")
"""Data sets of the papers that were published; others are trajectories."""

_LEFT_OUT = {"EIA": ["UTILNAME", "STATE", "YEAR", "MONTH"]}
"""Two of text, and two that the published losses show not to have been used."""

_MOST = 1_000  # trajectories, as many as the papers' sets had

_LEAST = 20  # records: two groups of the largest k of a table


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A table of numbers under its published name.

    Attributes
    ----------
    name
        As in the papers; of trajectories, the name of their file.
    records
        Standardised, shape (n, p).
    """

    name: str
    records: NDArray[np.float64]

    @property
    def subjects(self) -> NDArray[np.int64]:
        """Each record is its own subject, as in the papers."""
        return np.arange(len(self.records), dtype=np.int64)


def find_datasets(folder: Path) -> list[Callable[[], Dataset]]:
    """Find the data sets in a folder; each is read when it is called.

    Parameters
    ----------
    folder
        With census.csv, tarragona.csv or eia.csv, and with trajectories that
        `trajanon extract` wrote (.parquet); of more than 1,000 trajectories a random
        1,000 are taken, the same every time.

    Raises
    ------
    BadInput
        If the folder has none of them.
    FileProblem
        If it is no folder.
    """
    if not folder.is_dir():
        msg = (
            f"{folder} is no folder; name the one with census.csv, tarragona.csv and "
            "eia.csv, or with trajectories, by --data"
        )
        raise FileProblem(msg)
    found: list[Callable[[], Dataset]] = []
    for name in PAPERS:
        table = folder / f"{name.lower()}.csv"
        if table.exists():
            found.append(partial(_of_a_paper, name, table))
    found += [partial(_trajectories, file) for file in sorted(folder.glob("*.parquet"))]
    if not found:
        msg = (
            f"{folder} has neither census.csv, tarragona.csv or eia.csv nor "
            "trajectories (.parquet); name another folder by --data"
        )
        raise BadInput(msg)
    return found


def _of_a_paper(name: str, table: Path) -> Dataset:
    regular(table)
    try:
        frame = pd.read_csv(table).drop(columns=_LEFT_OUT.get(name, []))
        records = standardise(frame.to_numpy())
    except (OSError, ValueError, KeyError) as error:
        msg = f"cannot read {table} as the {name} data set: {error}"
        raise FileProblem(msg) from error
    return _large_enough(name, records, table)


def _trajectories(file: Path) -> Dataset:
    records = read_trajectories(file).records
    if len(records) > _MOST:
        chosen = np.random.default_rng(0).permutation(len(records))[:_MOST]
        records = records[np.sort(chosen)]
    return _large_enough(file.stem, standardise(records), file)


def _large_enough(name: str, records: NDArray[np.float64], file: Path) -> Dataset:
    if len(records) < _LEAST:
        msg = (
            f"{file} has {len(records)} records, and the tables need {_LEAST} or more; "
            "take it out of the folder, or name another one by --data"
        )
        raise BadInput(msg)
    return Dataset(name, records)
