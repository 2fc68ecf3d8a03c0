"""The table of measurements that the benchmark wrote."""

from pathlib import Path

import numpy as np
import pandas as pd

from trajanon.errors import BadInput, FileProblem
from trajanon.inputs import regular

_TEXT = ["table", "dataset", "method", "by", "setting", "statistic"]
_NUMBERS = ["k", "ours"]


def read_results(path: Path) -> pd.DataFrame:
    """Read the CSV that `trajanon benchmark` wrote, with a column more: the label of a method."""
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
    missing = ", ".join(name for name in _TEXT + _NUMBERS if name not in rows)
    if missing:
        msg = f"{path} is no table of measurements, it lacks the columns {missing}: {way_out}"
        raise BadInput(msg)
    rows = rows[_TEXT + _NUMBERS]
    for name in _NUMBERS:
        try:
            # As texts, for a whole number may be larger than all floats.
            rows[name] = rows[name].str.strip().replace("", "nan").to_numpy(np.float64)
        except ValueError as error:
            msg = f"{path} has no numbers in the column {name}: {error}; measure again"
            raise BadInput(msg) from error
    measured = np.isfinite(rows["ours"])
    if not measured.all():
        row = int(np.argmin(measured)) + 2
        msg = f"{path} has no number in the column ours of line {row}: measure again"
        raise BadInput(msg)
    # Concorde itself is not run: no figure may say that it was.
    stands_in = rows["method"].str.startswith("Concorde") & (rows["by"] != "concorde")
    named = rows["method"] + " (" + rows["by"] + ")"
    return rows.assign(label=rows["method"].mask(stands_in, named))


def measurements(results: pd.DataFrame, table: str, dataset: str, *statistics: str) -> pd.DataFrame:
    """Take the rows of a table and a data set."""
    of_table = (results["table"] == table) & (results["dataset"] == dataset)
    return results[of_table & results["statistic"].isin(statistics)]
