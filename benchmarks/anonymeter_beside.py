"""Ask anonymeter the three questions that `trajanon evaluate --holdout` asks.

    python benchmarks/anonymeter_beside.py halves cabs.parquet halves.npz [slide]
    ANONYMETER/bin/python benchmarks/anonymeter_beside.py questions halves.npz

The first command, with trajanon, anonymizes half of the subjects (k = 4), and writes the originals
of both halves and the different released lines. The second needs anonymeter 1.1 alone, which has
an environment of its own. It sees the columns of a table: metres north and east of one place, of
each point. Linkability: the first and the second half of the columns, one neighbour. Inference: the
cell of 200 m of the last point, from the first two thirds. Singling out: predicates of 3 and of 6
columns. Printed are its rates, with 95 %.
"""

import sys
import warnings
from typing import Any

import numpy as np

K = 4
CELL = 200.0  # metres
DEGREE = 111_000.0  # metres
MOST = 2_000  # records attacked
PREDICATES = 300


def halves(trajectories: str, out: str, slide: str = "") -> None:
    """Anonymize one half, with windows that stay where they are unless they shall slide."""
    import trajanon
    from trajanon.evaluation.holdout import drawn

    read = trajanon.read_trajectories(trajectories)
    members, _ = drawn(read, K)
    lines = trajanon.anonymize(read.take(members), K, align=bool(slide)).trajectories.records
    np.savez(
        out,
        members=read.records[members],
        others=read.records[~members],
        lines=np.unique(lines, axis=0),
    )


def questions(file: str) -> None:
    """Evaluate the three risks."""
    from anonymeter import evaluators  # which has an environment of its own

    warnings.filterwarnings("ignore")
    read = np.load(file)
    tables = {
        name: _table(read[part], read["lines"][0, :2])
        for name, part in (("ori", "members"), ("syn", "lines"), ("control", "others"))
    }
    metres = {name: table.drop(columns="end") for name, table in tables.items()}
    columns = list(metres["ori"])
    half, known, n = len(columns) // 2, len(columns) // 6 * 4, min(MOST, len(read["others"]))
    linked = columns[:half], columns[half:]
    _tell(
        "linkability",
        evaluators.LinkabilityEvaluator(**metres, n_attacks=n, aux_cols=linked, n_neighbors=1),
    )
    inferred = {"aux_cols": columns[:known], "secret": "end", "regression": False}
    _tell("inference", evaluators.InferenceEvaluator(**tables, n_attacks=n, **inferred))
    for some in (3, 6):
        evaluator = evaluators.SinglingOutEvaluator(**metres, n_attacks=PREDICATES, n_cols=some)
        _tell(f"singling out, {some} columns", evaluator, mode="multivariate")


def _table(records: Any, origin: Any) -> Any:
    import pandas as pd

    scale = DEGREE * np.array([1.0, np.cos(np.radians(origin[0]))])
    metres = (records.reshape(len(records), -1, 2) - origin) * scale
    cells = np.floor(metres[:, -1] / CELL).astype(int)
    table = pd.DataFrame(metres.reshape(records.shape)).rename(columns=str)
    return table.assign(end=[f"{north},{east}" for north, east in cells])


def _tell(question: str, evaluator: Any, **how: Any) -> None:
    evaluator.evaluate(**how)
    found = evaluator.results(confidence_level=0.95)
    rates = found.attack_rate, found.control_rate, found.baseline_rate
    main, control, naive = (f"{100 * one.value:.1f} ± {100 * one.error:.1f}" for one in rates)
    risk = found.risk()
    low, high = (f"{100 * one:.1f}" for one in risk.ci)
    print(f"{question}: main {main}, control {control}, naive {naive} %; ", end="")
    print(f"risk {100 * risk.value:.1f} ({low} to {high}) %", flush=True)


if __name__ == "__main__":
    command, *given = sys.argv[1:]
    if command == "halves":
        halves(*given)
    else:
        questions(*given)
