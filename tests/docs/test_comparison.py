"""The comparison: a stranger's line of methods.toml is run, attacked, used and written down."""

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from toy import commuters

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
COPY = 'python -c "import shutil, sys; shutil.copy(*sys.argv[1:])" {in} {out}'
METHODS = f"""
copy = '{COPY}'
broken = 'python -c "raise SystemExit(3)" {{in}} {{out}}'
[slow]
slow = '{COPY}'
"""


@pytest.fixture
def comparison(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(BENCHMARKS)
    yield import_module("compare")
    for name in ("compare", "measures"):
        sys.modules.pop(name, None)


def test_a_method_is_a_line(
    comparison: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Not at 0, 0: a point there is no place.
    trips = commuters()
    data = comparison.Data("Commuters", replace(trips, points=trips.points + 1.0))
    monkeypatch.setattr(comparison, "MOST_TRIPS_OF_SLOW", 6)
    monkeypatch.setattr(comparison, "DATA_SETS", {"commuters": lambda _: data})
    page = tmp_path / "page.md"
    page.write_text(f"before\n{comparison.BEGIN}old{comparison.END}after\n", encoding="utf-8")
    methods = tmp_path / "methods.toml"
    methods.write_text(METHODS, encoding="utf-8")

    comparison.compare(tmp_path, page, methods=methods)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text

    head, _, *rows = (line[1:-1].split("|") for line in text.splitlines() if line[:1] == "|")
    table = {row[0]: dict(zip(head, row, strict=True)) for row in rows}
    assert list(table) == ["originals", "noise", "copy", "broken", "slow, 6 drawn trips"]
    assert table["slow, 6 drawn trips"]["lengths"] == "0±0"
    assert (table["broken"]["whole trip"], table["broken"]["s"]) == ("–", "it wrote nothing")
    for title, cell in table["copy"].items():
        if title not in ("", "s"):
            assert cell == table["originals"][title], title
    # Two people go each way: whoever knows the whole of it picks the right one of them by chance.
    assert table["copy"]["whole trip"].startswith("50±")
    assert table["copy"]["OD 1 km"] == "0±0"
    figure = (tmp_path / "page-commuters.svg").read_text(encoding="utf-8")
    assert "3 copy" in figure


# A street turns a corner; a car may follow it from node 1 to node 3 only.
TOWN = """\
n1 x2.00 y41.00
n2 x2.01 y41.00
n3 x2.01 y41.01
w1 Thighway=residential,oneway=yes Nn1,n2,n3
"""


def test_shortest_ways_go_by_road_and_lines_without_one_stay(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    methods = import_module("methods")
    town = tmp_path / "town.opl"
    town.write_text(TOWN, encoding="utf-8")
    there = np.array([[41.0, 2.0], [41.01, 2.01]])
    ends = np.array([there, there[::-1]])
    straight = np.array([methods.along(way, 3) for way in ends])

    lines = straight.copy()
    methods._lay_on_roads(lines, ends, str(town))
    # Degrees of longitude are shorter, so the middle of the way lies behind the corner.
    assert lines[0, 1] == pytest.approx([41.00123, 2.01], abs=1e-5)
    assert lines[0, [0, 2]] == pytest.approx(there)
    assert np.array_equal(lines[1], straight[1])
