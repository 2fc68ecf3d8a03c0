"""The papers' tables, measured again: on small made-up data, beside made-up tables."""

import json
import math
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import Run
from real_data import REFERENCE

from trajanon.common.progress import Progress
from trajanon.files.trajectory_files import write_trajectories
from trajanon.grouping.microaggregation import microaggregate
from trajanon.tables.papers import datasets
from trajanon.tables.papers import tables_measured_again as tables
from trajanon.tables.papers.datasets import Dataset
from trajanon.tables.papers.published_values import Measurement, beside, read_published
from trajanon.tables.papers.tables_measured_again import TABLES, benchmark
from trajanon.trajectories.trajectories import Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")


# One cell of each table, with numbers that nobody published.
PUBLISHED = {
    "hm2micro.csv": [
        "dataset,method,k,statistic,value,source",
        "Census,MDAV,3,il,50,Table A",
        "Census,Concorde-MHM,4,avg,25,Table A",
        "Census,all TSP heuristics,3,pearson,0.5,Table A",
    ],
    "compression.csv": [
        "dataset,method,k,statistic,value,source",
        "Census,C3-C-MHM,5,il,40,Table B",
        "Census,C3-C-MHM,,path_length,100,Table B",
        "Census,C-MHM,,seconds,9,Table B",
    ],
    "rcs.csv": [
        "dataset,method,k,shuffle_probability,max_events,statistic,value,source",
        "Census,MDAV-RCS,5,10/1000,20,avg,30,Table C",
    ],
    "mftsp.csv": [
        "dataset,method,k,statistic,value,source",
        "Census,MF-TSP(2-Opt),3,il,20,Table D",
    ],
    "decomposition.csv": [
        "dataset,method,k,step3_used,step,s,statistic,value,source",
        "Census,decomposition,3,no,7,2,il,10,Table E",
    ],
}


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small "Census", and published tables beside it."""
    folder = tmp_path / "datasets"
    folder.mkdir()
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(44, 3)) ** 3, columns=["a", "b", "c"])
    frame.to_csv(folder / "census.csv", index=False)
    squares = float(((frame - frame.mean()) ** 2).to_numpy().sum())
    monkeypatch.setitem(datasets.FINGERPRINTS, "Census", (44, 3, squares))
    (tmp_path / "published").mkdir()
    for name, lines in PUBLISHED.items():
        text = "\n".join(lines) + "\n"
        (tmp_path / "published" / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def _few_random_records(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "GROWING", (30, 40))


def trajectories(n: int) -> Trajectories:
    points = np.random.default_rng(1).uniform(0.0, 1.0, (n, 4, 2))
    return Trajectories(points=points, provenance={})


EXPECTED = {
    "hm2": ("Concorde-MHM", 4, "avg", 25.0),
    "compression": ("C3-C-MHM", 5, "il", 40.0),
    "rcs": ("MDAV-RCS", 5, "avg", 30.0),
    "mf-tsp": ("MF-TSP(2-Opt)", 3, "il", 20.0),
    "decomposition": ("decomposition", 3, "il", 10.0),
    "timing": ("C-MHM", None, "seconds", 9.0),
}


@pytest.mark.parametrize("table", TABLES)
def test_every_table_is_measured_beside_the_published_one(data: Path, table: str) -> None:
    measured = [m for batch in benchmark([table], data, repeats=2) for m in batch]
    assert {m.table for m in measured} == {table}
    for m in measured:
        assert math.isfinite(m.ours), m
        assert m.ours > 0.0 or m.statistic in ("pearson", "sigma", "gamma"), m
    method, k, statistic, published = EXPECTED[table]
    # Some cells are measured by several rules; the first is the one that the paper has.
    compared, *_ = [
        m
        for m in measured
        if (m.method, m.k, m.statistic) == (method, k, statistic) and m.published is not None
    ]
    assert compared.published == published
    assert compared.difference == pytest.approx(100 * (compared.ours / published - 1))
    places = [(m.method, m.by, m.setting, m.k, m.statistic) for m in measured]
    assert len(set(places)) == len(places)


def test_rows_come_while_a_table_is_measured(data: Path) -> None:
    """A long table keeps what it has."""
    of_steps = islice(benchmark(["decomposition"], data, repeats=1), 4)
    assert [(batch[0].setting[:6], batch[0].k) for batch in of_steps] == [
        (f"step {step}", 3) for step in (2, 3, 5, 7)
    ]
    of_paths = [batch[0].method for batch in islice(benchmark(["mf-tsp"], data), 8 + 1 + 2 * 4)]
    assert of_paths == ["MDAV"] * 4 + ["V-MDAV"] * 4 + ["MF-TSP(2-Opt)"] * (1 + 2 * 4)


def test_published_numbers_stand_beside_the_very_data_alone(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the name of a file counts, nor its place."""

    def numbers(of: Path) -> set[tuple[str, bool]]:
        measured = chain.from_iterable(benchmark(["rcs"], of, repeats=1))
        return {(m.dataset, m.published is not None) for m in measured if m.k == 5}

    frame = pd.read_csv(data / "census.csv")
    frame.to_csv(data / "mine.csv", index=False)
    assert ("Census", True) in numbers(data / "mine.csv")
    for other in (frame * 1.001, frame.iloc[:-1], frame[["a", "b"]]):
        other.to_csv(data / "mine.csv", index=False)
        assert numbers(data / "mine.csv") == {("mine", False)}
    monkeypatch.setitem(datasets.FINGERPRINTS, "Census", (44, 3, 1.0))
    assert numbers(data) == {("Census", False)}


def test_equal_losses_have_no_correlation(tmp_path: Path) -> None:
    pd.DataFrame({"a": [5.0] * 24, "b": 6.0}).to_csv(tmp_path / "mine.csv", index=False)
    found = [m for batch in benchmark(["hm2"], tmp_path / "mine.csv", repeats=2) for m in batch]
    assert {m.ours for m in found if m.statistic == "il"} == {0.0}
    assert not any(m.statistic == "pearson" for m in found)


def test_what_is_measured_is_what_the_methods_lose(data: Path) -> None:
    measured = {
        (m.method, m.k, m.statistic): m.ours
        for found in benchmark(["hm2"], data, repeats=3)
        for m in found
    }
    X = pd.read_csv(data / "census.csv").to_numpy()
    for k in (3, 6):
        mdav = microaggregate(X, k, method="mdav", refine="none")
        assert measured["MDAV", k, "il"] == mdav.information_loss
        losses = [
            microaggregate(X, k, refine="none", seed=seed).information_loss for seed in range(3)
        ]
        assert measured["Concorde-MHM", k, "avg"] == pytest.approx(np.mean(losses))
        assert measured["Concorde-MHM", k, "min"] == min(losses)
        assert measured["Concorde-MHM", k, "max"] == max(losses)
        of_lk = [
            microaggregate(X, k, heuristic="mdav-lk", refine="none", seed=seed) for seed in range(3)
        ]
        lost = [partition.information_loss for partition in of_lk]
        assert measured["MDAV-LK-MHM", k, "avg"] == pytest.approx(np.mean(lost))
        assert measured["MDAV-LK-MHM", k, "max"] == max(lost)
        grown = microaggregate(X, k, method="v-mdav", refine="none").stages[0]
        assert measured["V-MDAV", k, "gamma"] == grown.chosen["gamma"]
    rows = {
        (m.method, m.by, m.k, m.statistic): m.ours
        for found in benchmark(["compression"], data, repeats=1)
        for m in found
    }
    compressed = microaggregate(X, 4, compression=3, refine="none")
    assert rows["C3-C-MHM", "or-opt", 4, "il"] == compressed.information_loss


def test_trajectories_have_the_tables_that_can_be_compared(tmp_path: Path) -> None:
    write_trajectories(tmp_path / "city.parquet", trajectories(40))
    measured = [m for found in benchmark(["all"], tmp_path, repeats=1) for m in found]
    assert {(m.table, m.dataset) for m in measured} == {
        ("hm2", "city"),
        ("compression", "city"),
        ("rcs", "city"),
    }
    assert all(m.published is None for m in measured)


# The command


def test_the_command_writes_a_table_and_a_page(run: Run, data: Path) -> None:
    answer = run("benchmark", "--table", "hm2", "--data", data, "--repeats", "2")
    assert answer.code == 0, answer
    assert "Wrote" in answer.out
    written = pd.read_csv("benchmark.csv")
    assert {"method", "k", "ours", "published", "difference_percent"} <= set(written)
    compared = written[written["published"].notna()]
    assert len(compared) == 3
    assert "### hm2: Census" in Path("benchmark.md").read_text(encoding="utf-8")
    answer = run("benchmark", "--table", "rcs", "--data", data, "--repeats", "1", "--json")
    assert {m["table"] for m in json.loads(answer.out)["measurements"]} == {"rcs"}


def test_what_was_measured_before_an_end_is_kept(
    run: Run, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(dataset: Dataset, repeats: int, progress: Progress) -> Iterator[list[Measurement]]:
        del repeats, progress
        yield [Measurement("one", dataset.name, "A", "a", "", 3, "il", 1.0, 1)]
        raise KeyboardInterrupt

    monkeypatch.setattr(tables, "TABLES", {"one": stopped})
    answer = run("benchmark", "--table", "all", "--data", data)
    assert answer.code == 130
    assert pd.read_csv("benchmark.csv")["table"].tolist() == ["one"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--table", "4.2", "--json"], "table '4.2' is not known; choose from hm2"),
        (["--table", "hm2", "--repeats", "0"], "repeats must be a whole number from 1"),
        (["--table", "hm2", "--data", "nowhere"], "nowhere is not a folder"),
        (["--table", "hm2", "--data", "."], ". has no data sets; name a folder"),
        (["--table", "hm2", "--out", "out.txt"], "out.txt must end in .csv"),
        (
            ["--table", "hm2"],
            "EIA of the R package sdcMicro, or with trajectories (.parquet), or a",
        ),
    ],
)
def test_the_command_refuses_in_one_sentence(
    run: Run, data: Path, arguments: list[str], says: str
) -> None:
    if "--data" not in arguments and len(arguments) > 2:
        arguments = [*arguments, "--data", str(data)]
    before = sorted(data.parent.rglob("*"))
    assert says in run("benchmark", *arguments).sentence
    assert sorted(data.parent.rglob("*")) == before


@pytest.mark.parametrize(
    ("out", "kept"),
    [
        ("datasets/census.csv", "datasets/census.csv"),
        ("published/rcs.csv", "published/rcs.csv"),
        ("datasets/notes.csv", "datasets/notes.md"),  # the page would stand there
    ],
)
def test_nothing_that_is_read_is_written_over(run: Run, data: Path, out: str, kept: str) -> None:
    (data / "notes.md").write_text("mine", encoding="utf-8")
    before = (data.parent / kept).read_bytes()
    answer = run(
        *("benchmark", "--table", "rcs", "--repeats", "1", "--data", data),
        *("--out", data.parent / out),
    )
    assert Path(kept).name in answer.sentence
    assert (data.parent / kept).read_bytes() == before


def test_a_set_too_small_for_the_tables_is_refused(run: Run, data: Path) -> None:
    table = data / "census.csv"
    table.write_text("\n".join(table.read_text().splitlines()[:16]), encoding="utf-8")
    answer = run("benchmark", "--table", "hm2", "--data", data, "--repeats", "1")
    assert "census.csv has 15 records, and the tables need 20" in answer.sentence


@pytest.mark.parametrize("name", ["census.csv", "../published/rcs.csv"])
def test_damaged_files_are_named(run: Run, data: Path, name: str) -> None:
    (data / name).write_text("dataset,k\nCensus,many\n", encoding="utf-8")
    answer = run("benchmark", "--table", "rcs", "--data", data)
    assert Path(name).name in answer.sentence


# The reference material


@pytest.mark.parametrize("table", ["hm2", "compression", "rcs"])
def test_no_published_number_is_overlooked(table: str) -> None:
    """Each loss, path length and correlation finds its place."""
    if not REFERENCE.exists():
        pytest.skip(f"the reference data are not beside the checkout: {REFERENCE}")
    published = read_published(REFERENCE / "published")
    rng = np.random.default_rng(0)
    for name in ("Census", "Tarragona", "EIA"):
        dataset = Dataset(name, rng.normal(size=(40, 2)))
        batches = TABLES[table](dataset, 2, lambda *_: None)
        ours = beside(chain.from_iterable(batches), published)
        met = {m.place[2:] for m in ours}
        wanted = {
            place[2:]
            for place in published
            if place[:2] == (table, name)
            if place[-1] in ("il", "avg", "path_length", "pearson")
        }
        assert wanted <= met, wanted - met
