"""The table of measurements that the benchmark wrote."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from trajanon.arrays import Floats
from trajanon.errors import BadInput, FileProblem
from trajanon.inputs import regular

_TEXT = ("table", "dataset", "method", "by", "setting", "statistic")
_NUMBERS = ("k", "ours")


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """Measurements, as `trajanon benchmark` writes them."""

    rows: pd.DataFrame

    @property
    def datasets(self) -> list[str]:
        """In the order of the file."""
        return list(dict.fromkeys(self.rows["dataset"]))

    def of(self, table: str, dataset: str, *statistics: str) -> pd.DataFrame:
        """Rows of a table and a data set."""
        rows = self.rows
        return rows[
            (rows["table"] == table)
            & (rows["dataset"] == dataset)
            & rows["statistic"].isin(statistics)
        ]


def read_results(path: Path) -> Results:
    """Read the CSV that `trajanon benchmark` wrote."""
    way_out = "name the CSV that trajanon benchmark wrote"
    regular(path)
    try:
        rows = pd.read_csv(path, dtype=str, keep_default_na=False)
    except FileNotFoundError as error:
        msg = f"there is no {path}: {way_out}"
        raise FileProblem(msg) from error
    except OSError as error:
        msg = f"cannot read {path}: {error.strerror}; {way_out}"
        raise FileProblem(msg) from error
    except ValueError as error:  # pandas' own errors are ValueErrors
        msg = f"{path} is no table of measurements: {way_out}"
        raise BadInput(msg) from error
    missing = [name for name in (*_TEXT, *_NUMBERS) if name not in rows]
    if missing:
        msg = (
            f"{path} is no table of measurements, it lacks the columns "
            f"{', '.join(missing)}: {way_out}"
        )
        raise BadInput(msg)
    rows = rows[[*_TEXT, *_NUMBERS]]
    for name in _NUMBERS:
        rows[name] = _numbers(rows[name], name, path)
    if not np.isfinite(rows["ours"]).all():
        row = int(np.argmin(np.isfinite(rows["ours"]))) + 2
        msg = f"{path} has no number in the column ours of line {row}: measure again"
        raise BadInput(msg)
    # Concorde itself is not run: a figure shall not say it was.
    stands_in = rows["method"].str.startswith("Concorde") & (rows["by"] != "concorde")
    named = rows["method"] + " (" + rows["by"] + ")"
    return Results(rows.assign(label=rows["method"].mask(stands_in, named)))


def _numbers(column: "pd.Series[str]", name: str, path: Path) -> Floats:
    """Read numbers; NaN where there is none."""
    try:
        # As texts, for a whole number may be beyond all floats.
        written = column.where(column.str.strip() != "", "nan")
        numbers: Floats = written.to_numpy(np.float64)
    except ValueError as error:
        msg = f"{path} has no numbers in the column {name}: {error}; measure again"
        raise BadInput(msg) from error
    return numbers


def in_brackets(rows: pd.DataFrame) -> str:
    """Say in a caption what stands in brackets behind a method; empty where nothing."""
    if (rows["label"] == rows["method"]).all():
        return ""
    return " In brackets: the path that stands in for Concorde, which was not run."


def in_order(names: Sequence[str]) -> list[str]:
    """Take each name once, in the order of the file."""
    return list(dict.fromkeys(names))
