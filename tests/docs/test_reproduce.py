"""The page about the papers, line by line: each command gives the loss that the page names."""

import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import Run
from real_data import REFERENCE
from toy import crowd

from trajanon.files.trajectory_files import write_trajectories
from trajanon.tables.papers import tables_measured_again

PAGE = Path(__file__).parents[2] / "docs" / "reproduce.md"
LINES = re.findall(r"(?m)^ {4,}trajanon (.*)$", PAGE.read_text(encoding="utf-8"))
SPREAD = 0.015  # of a loss, from seed to seed


def shortened(line: str) -> list[str]:
    """The words of a command, with less to do."""
    words = line.split()
    if "--repeats" in words:
        words[words.index("--repeats") + 1] = "1"
    if "all" in words and words[0] == "benchmark":
        words[words.index("all")] = "timing"  # each table has a test of its own
    if words[0] == "bound":
        words += ["--effort", "fast"]
    return words


@pytest.mark.usefixtures("few_moves")
@pytest.mark.skipif(not REFERENCE.exists(), reason=f"no reference data: {REFERENCE}")
def test_each_line_gives_what_the_page_says(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("matplotlib", reason="the page says that figures need it")
    monkeypatch.setattr(tables_measured_again, "GROWING", (30, 40))
    for name in ("census", "eia"):
        (tmp_path / f"{name}.csv").symlink_to(REFERENCE / "datasets" / f"{name}.csv")
    few = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["a", "b", "c"])
    (tmp_path / "datasets").mkdir()
    few.to_csv(tmp_path / "datasets" / "census.csv", index=False)
    few.to_csv(tmp_path / "mytable.csv", index=False)
    write_trajectories(tmp_path / "trajectories.parquet", crowd())

    compared = 0
    for line in LINES:
        command, _, comment = line.partition("#")
        if "lkh" in command and find_spec("elkai") is None:
            continue  # the page says how to install it
        answer = run(*shortened(command))
        assert answer.code == 0, (command, answer)
        if told := re.search(r"(\d[\d.]+) %", comment):
            words = "lose less than" if command.startswith("bound") else "Information loss after"
            found = re.findall(rf"{words}.*?: (\S+) %", answer.out)[-1]
            if command.startswith("bound"):  # a weak one, in seconds
                assert 0.0 < float(found) <= float(told[1])
            else:
                assert float(found) == pytest.approx(float(told[1]), rel=SPREAD), command
            compared += 1
    assert compared == 6
    assert (tmp_path / "figures" / "captions.md").exists()
