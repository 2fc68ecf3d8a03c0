"""trajanon benchmark and figures: tables of one's own, and what they refuse."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import Run

from trajanon.grouping.microaggregation import microaggregate


@pytest.mark.usefixtures("few_moves")
def test_a_table_of_ones_own_is_measured(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(24, 2)), columns=["a", "b"])
    mine = pd.concat([frame, pd.DataFrame({"a": [1.0]})]).assign(pweight=1.0, town="A")
    mine.to_csv(tmp_path / "mine.csv", index=False)
    answer = run("benchmark", "--table", "hm2", "--data", "mine.csv", "--repeats", 1)
    assert answer.code == 0
    assert "averages may mean nothing: pweight (like a survey weight): they are left" in answer.err
    assert "dropped: values are missing in 1 of the 25 rows of mine.csv" in answer.err
    assert "### hm2: mine" in answer.out
    written = pd.read_csv("benchmark.csv")
    assert written["published"].isna().all()
    il = written[written["statistic"].isin(["il", "avg"]) & (written["k"] == 3)]
    losses = il.set_index("method")["ours"]
    assert {"MDAV", "V-MDAV", "Concorde-MHM", "HM2 and annealing"} <= set(losses.index)
    assert losses["HM2 and annealing"] == losses.min()
    best = microaggregate(frame.to_numpy(), 3).information_loss
    assert losses["HM2 and annealing"] == pytest.approx(best)


def write_benchmark(path: Path) -> None:
    """Write five runs of one method, as trajanon benchmark does."""
    runs = [f"hm2,A,NPN-MHM,npn,seed {run},3,run_il,{run}.5" for run in range(5)]
    path.write_text("\n".join(["table,dataset,method,by,setting,k,statistic,ours", *runs]), "utf-8")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["b.csv", "b.csv"], "figures takes the CSV of trajanon benchmark, or which-k"),
        (["none.csv"], "cannot read none.csv"),
        (["b.csv", "--out", "b.csv"], "cannot make the folder b.csv"),
        (["which-k"], "trajectories.parquet"),
    ],
)
def test_figures_refuses_in_one_sentence(
    run: Run, tmp_path: Path, arguments: list[str], says: str
) -> None:
    write_benchmark(tmp_path / "b.csv")
    assert says in run("figures", *arguments).sentence
    assert not Path("figures").exists()


def test_without_matplotlib_it_is_said_what_to_install(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    write_benchmark(tmp_path / "b.csv")
    assert run("figures", "b.csv").sentence == (
        "trajanon: figures are drawn by matplotlib; run pip install 'trajanon[figures]'\n"
    )
    assert not Path("figures").exists()
