"""Figures of a benchmark: what they draw, from numbers written by hand."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from commands import Run
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from pictures import nothing_overlaps, points

from trajanon.common.errors import BadInput
from trajanon.maps.figures import Picture, of_benchmark
from trajanon.maps.figures.benchmark_figures import measurements, read_results
from trajanon.tables.papers import tables_measured_again
from trajanon.tables.papers.published_values import write_csv
from trajanon.tables.papers.tables_measured_again import benchmark

NAMES = ["table", "dataset", "method", "by", "setting", "k", "statistic", "ours"]
Row = tuple[str, str, str, str, str, int | str, str, float | str]

NI, CONCORDE = "Nearest Insertion-MHM", "Concorde-MHM"
LOSSES = {3: [3.0, 1.0, 2.0, 10.0, 4.0], 4: [5.0, 6.0, 7.0, 8.0, 9.0]}
LENGTHS = [30.0, 10.0, 25.0, 80.0, 35.0]


def hm2(dataset: str = "A") -> list[Row]:
    """Two methods of several runs, one of a single run, one that is no TSP's."""
    rows: list[Row] = []
    for k, losses in LOSSES.items():
        rows.append(("hm2", dataset, "MDAV", "mdav", "", k, "il", 2.5 * k))
        rows.append(("hm2", dataset, NI, "nearest-insertion", "", k, "avg", 99.0))
        for method, by, more in (
            (NI, "nearest-insertion", 0.0),
            (CONCORDE, "or-opt", 0.5),
            ("NPN-MHM", "npn", 1.0),
        ):
            for seed, (loss, length) in enumerate(zip(losses, LENGTHS, strict=True)):
                start = ("hm2", dataset, method, by, f"seed {seed}", k)
                rows.append((*start, "run_il", loss + more))
                rows.append((*start, "run_path_length", length - more))
    return rows


def compression(dataset: str = "A") -> list[Row]:
    rows: list[Row] = []
    for method, by, seconds in (("C-MHM", "or-opt", 2.0), ("C2-C-MHM", "or-opt", 0.5)):
        start = ("compression", dataset, method, by, "")
        rows += [(*start, k, "il", k * (1 + seconds)) for k in (5, 3, 4)]
        rows += [(*start, "", "path_length", 7.0), (*start, "", "seconds", seconds)]
    return rows


def written(path: Path, rows: Sequence[Row]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([NAMES, *rows])
    return path


def drawn(path: Path, rows: Sequence[Row]) -> tuple[dict[str, Picture], list[str]]:
    pictures, left_out = of_benchmark(written(path / "b.csv", rows))
    return {picture.name: picture for picture in pictures}, left_out


def panels(picture: Picture) -> list[Axes]:
    return list(picture.figure.axes)


def test_boxes_are_those_of_the_runs(tmp_path: Path) -> None:
    pictures, _ = drawn(tmp_path, hm2())
    first, second = panels(pictures["boxes-a"])
    assert [ax.get_title() for ax in (first, second)] == ["k = 3", "k = 4"]
    assert not first.get_yticklabels()[0].get_parse_math()  # a dollar is a dollar
    methods = [label.get_text() for label in first.get_yticklabels()]
    assert methods == ["MDAV", NI, "Concorde-MHM (or-opt)", "NPN-MHM"]
    row = methods.index(NI) + 1
    lines = [points(line) for line in first.lines]
    # Of 1, 2, 3, 4 and 10 the quartiles are 2 and 4; 10 lies beyond 4 + 1.5 (4 - 2).
    here = [sorted(set(x)) for x, y in lines if y and row - 0.5 < min(y) <= max(y) < row + 0.5]
    whiskers, caps = [[1.0, 2.0], [4.0]], [[1.0], [4.0]]
    assert sorted(here) == sorted([*whiskers, *caps, [3.0], [10.0]])
    boxes = [
        np.asarray(patch.get_path().vertices)[:-1, 0].tolist()
        for patch in first.patches
        if isinstance(patch, PathPatch)
    ]
    extents = [(min(box), max(box)) for box in boxes]
    assert extents == [(7.5, 7.5), (2.0, 4.0), (2.5, 4.5), (3.0, 5.0)]
    # The first method is on top.
    bottom, top = first.get_ylim()
    assert bottom > top
    assert "5 runs" in pictures["boxes-a"].caption
    assert "stands in for Concorde, which was not run" in pictures["boxes-a"].caption


def test_path_lengths_are_those_of_tsp_heuristics(tmp_path: Path) -> None:
    pictures, _ = drawn(tmp_path, hm2())
    picture = pictures["path-length-a"]
    for ax, losses in zip(panels(picture), LOSSES.values(), strict=True):
        assert [points(line) for line in ax.lines] == [
            (LENGTHS, losses),
            ([x - 0.5 for x in LENGTHS], [y + 0.5 for y in losses]),
        ]
        x = [*LENGTHS, *(x - 0.5 for x in LENGTHS)]
        y = [*losses, *(loss + 0.5 for loss in losses)]
        assert f"r = {naive_pearson(x, y):.2f}" in ax.get_title()
    (legend,) = picture.figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == [NI, "Concorde-MHM (or-opt)"]
    assert "10 runs" in picture.caption


def naive_pearson(x: Sequence[float], y: Sequence[float]) -> float:
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    both = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    of_x = sum((a - mean_x) ** 2 for a in x)
    of_y = sum((b - mean_y) ** 2 for b in y)
    return float(both / (of_x * of_y) ** 0.5)


def test_losses_stand_over_the_seconds_of_their_path(tmp_path: Path) -> None:
    pictures, _ = drawn(tmp_path, compression())
    (ax,) = panels(pictures["seconds-a"])
    alone, compressed = ax.lines
    assert points(alone) == ([9.0, 12.0, 15.0], [2.0] * 3)  # k = 3, 4, 5
    assert points(compressed) == ([4.5, 6.0, 7.5], [0.5] * 3)
    assert compressed.get_color() != alone.get_color()
    (legend,) = pictures["seconds-a"].figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["C-MHM (or-opt)", "C2-C-MHM (or-opt)"]
    assert "Concorde, which was not run" in pictures["seconds-a"].caption
    assert ax.get_yscale() == "log"


def test_seconds_grow_with_the_records_of_each_distribution(tmp_path: Path) -> None:
    rows: list[Row] = [
        ("timing", "random", f"C-MHM, {name}", by, f"n = {n}", "", "seconds", n / seconds)
        for name, by, seconds in (("normal", "or-opt", 10.0), ("uniform", "concorde", 5.0))
        for n in (500, 100)
    ]
    rows.append(("timing", "A", "MDAV, k = 4", "mdav", "", "", "seconds", 1.0))
    pictures, left_out = drawn(tmp_path, rows)
    assert list(pictures) == ["growth-random"]
    assert not any(sentence.startswith("seconds against") for sentence in left_out)
    (ax,) = panels(pictures["growth-random"])
    assert [points(line) for line in ax.lines] == [
        ([100.0, 500.0], [10.0, 50.0]),
        ([100.0, 500.0], [20.0, 100.0]),
    ]
    (legend,) = pictures["growth-random"].figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["C-MHM, normal (or-opt)", "C-MHM, uniform"]


def test_what_has_no_numbers_is_left_out_and_named(tmp_path: Path) -> None:
    timing: Row = ("timing", "C", "MDAV", "mdav", "", "", "seconds", 1.0)
    old = [row for row in hm2("B") if not row[6].startswith("run_")]
    pictures, left_out = drawn(tmp_path, [*compression("A"), *old, timing])
    assert list(pictures) == ["seconds-a"]
    file = tmp_path / "b.csv"
    assert left_out == [
        f"boxes of IL: {file} has no table hm2 with single runs of A, B, C",
        f"IL against path length: {file} has no table hm2 with single runs of A, B, C",
        f"IL against seconds: {file} has no table compression of B, C",
        f"seconds against records: {file} has no table timing with random records",
    ]
    with pytest.raises(BadInput, match="nothing to draw: figures need trajanon bench"):
        drawn(tmp_path, [timing])


def test_runs_of_one_length_have_no_correlation(tmp_path: Path) -> None:
    rows = [(*row[:7], 1.0) if row[6] == "run_path_length" else row for row in hm2()]
    picture = drawn(tmp_path, rows)[0]["path-length-a"]
    assert [ax.get_title() for ax in panels(picture)] == ["k = 3", "k = 4"]


@pytest.mark.parametrize("ks", [[3], [3, 4, 5]])
def test_any_number_of_k_has_its_panels_and_nothing_overlaps(tmp_path: Path, ks: list[int]) -> None:
    name = "a dataset of $5"
    rows = [(*row[:5], k, *row[6:]) for k in ks for row in hm2(name) if row[5] == 3]
    pictures, _ = drawn(tmp_path, [*rows, *compression(name)])
    nothing_overlaps(pictures.pop("seconds-a-dataset-of-5"))
    assert len(pictures) == 2
    for picture in pictures.values():
        assert len(panels(picture)) == len(ks)
        nothing_overlaps(picture)


def test_the_benchmark_writes_what_figures_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "datasets"
    data.mkdir()
    X = np.random.default_rng(0).normal(size=(40, 3))
    pd.DataFrame(X).to_csv(data / "census.csv", index=False)
    monkeypatch.setattr(tables_measured_again, "GROWING", (30, 40))
    names = ["hm2", "compression", "timing"]
    measured = [m for found in benchmark(names, data, repeats=2) for m in found]
    write_csv(tmp_path / "b.csv", measured)
    results = read_results(tmp_path / "b.csv")
    for statistic, over_runs in (("run_il", "avg"), ("run_path_length", "path_length")):
        runs = measurements(results, "hm2", "Census", statistic)
        means = runs.groupby(["method", "k"])["ours"].mean()
        told = measurements(results, "hm2", "Census", over_runs).set_index(["method", "k"])["ours"]
        assert len(means) == len(told) == 13 * 4
        for place in told.index:
            assert means[place] == pytest.approx(told[place])
    pictures, left_out = of_benchmark(tmp_path / "b.csv")
    kinds = ("boxes", "path-length", "seconds")
    drawn_of = [f"{kind}-census" for kind in kinds]
    assert [p.name for p in pictures] == [*drawn_of, "growth-random"]
    assert left_out == []
    told = measurements(results, "hm2", "Census", "pearson").set_index("k")["ours"]
    for ax, k in zip(panels(pictures[1]), (3, 4, 5, 6), strict=True):
        assert ax.get_title() == f"k = {k}, r = {told[k]:.2f}"
    for picture in pictures:
        nothing_overlaps(picture)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is not a table of measurements"),
        ("a,b\n1,2\n", "is not a table of measurements (Usecols"),
        ("\x00\xff", "not a table of measurements"),
        (",".join(NAMES) + "\nhm2,A,M,m,,3,il,much\n", "is not a table of measurements (could"),
        (",".join(NAMES) + "\nhm2,A,M,m,,3,il,inf\n", "(no number in some row of the column ours)"),
        (",".join(NAMES) + "\n", "nothing to draw"),
    ],
)
def test_another_table_is_refused(run: Run, text: str, says: str) -> None:
    Path("b.csv").write_bytes(text.encode("latin-1"))
    assert says in run("figures", "b.csv").sentence
    assert not Path("figures").exists()


def test_the_command_draws_a_benchmark(run: Run, tmp_path: Path) -> None:
    written(tmp_path / "b.csv", [*hm2(), *compression("B")])
    answer = run("figures", "b.csv", "--out", "a/b")
    assert answer.code == 0, answer
    names = ["boxes-a", "path-length-a", "seconds-b"]
    files = [f"{name}{suffix}" for name in names for suffix in (".png", ".svg")]
    found = sorted(path.name for path in (tmp_path / "a" / "b").iterdir())
    assert found == sorted([*files, "captions.md"])
    assert answer.err.count("left out: ") == 4
    captions = (tmp_path / "a" / "b" / "captions.md").read_text(encoding="utf-8")
    assert [line for line in captions.splitlines() if line.startswith("## ")] == [
        f"## {name}" for name in names
    ]
