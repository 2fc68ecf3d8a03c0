"""Measured numbers beside published ones, and the page that shows both."""

from pathlib import Path

import numpy as np
import pytest

from trajanon.common.errors import FileProblem
from trajanon.tables.papers.published_values import (
    Measurement,
    beside,
    markdown,
    read_published,
    spread,
    weighted_correlation,
    write_csv,
)


def test_each_heuristic_weighs_the_same_in_the_correlation() -> None:
    """Though one has a single run, which repeated would change nothing."""
    rng = np.random.default_rng(0)
    lengths, losses = rng.normal(size=(2, 6))
    one = weighted_correlation([lengths[:5], lengths[5:]], [losses[:5], losses[5:]])
    often = [np.append(values[:5], np.repeat(values[5], 5)) for values in (lengths, losses)]
    assert one == pytest.approx(np.corrcoef(often[0], often[1])[0, 1])


def test_the_page_shows_ours_and_theirs() -> None:
    row = Measurement("hm2", "Census", "MDAV", "mdav", "", 3, "il", 5.5, 1, 5.0, "T")
    other = Measurement("hm2", "Census", "MDAV", "mdav", "", None, "seconds", 0.25, 1)
    page = markdown([row, other])
    assert "### hm2: Census" in page
    assert "| method | by | runs | k = 3 | seconds |" in page
    assert "| MDAV | mdav | 1 | 5.5 (5, +10.0 %) | 0.25 |" in page


def test_the_first_paper_that_prints_a_number_stands(tmp_path: Path) -> None:
    (tmp_path / "compression.csv").write_text(
        "dataset,method,k,statistic,value,source\n"
        "Census,C-MHM,,seconds,9,Table B\nCensus,C-MHM,,seconds,7,Table C\n"
    )
    published = read_published(tmp_path)
    place = ("Census", "C-MHM", "", None, "seconds")
    assert published == {
        ("compression", *place): (9.0, "Table B"),
        ("timing", *place): (9.0, "Table B"),  # which is measured anew
    }
    (ours, other) = beside(
        [
            Measurement("timing", "Census", "C-MHM", "or-opt", "", None, "seconds", 4.5),
            Measurement("timing", "Census", "C-MHM", "or-opt", "", 3, "seconds", 4.5),
        ],
        published,
    )
    assert (ours.published, ours.source, ours.difference) == (9.0, "Table B", -50.0)
    assert (other.published, other.source, other.difference) == (None, "", None)


@pytest.mark.parametrize("k", ["three", "3.5"])
def test_a_damaged_published_table_is_named(tmp_path: Path, k: str) -> None:
    (tmp_path / "rcs.csv").write_text(
        "dataset,method,k,shuffle_probability,max_events,statistic,value,source\n"
        f"Census,MDAV-RCS,{k},0.1,20,avg,30,T\n"
    )
    with pytest.raises(FileProblem, match=r"cannot read the published table .*rcs\.csv"):
        read_published(tmp_path)


def test_a_published_0_has_no_difference() -> None:
    row = Measurement("hm2", "x", "MDAV", "mdav", "", 3, "il", 5.5, published=0.0)
    assert row.difference is None
    assert "| 5.5 (0) |" in markdown([row])


def test_one_run_has_no_spread() -> None:
    assert spread([2.5]) == {"avg": 2.5}
    several = spread([1.0, 2.0, 6.0])
    assert several == {"avg": 3.0, "sigma": pytest.approx(7.0**0.5), "min": 1.0, "max": 6.0}


def test_numbers_of_several_k_stand_in_one_row(tmp_path: Path) -> None:
    measured = [
        Measurement("rcs", "x", "RCS", "mdav", "probability 1, events 2", k, "avg", loss, runs)
        for k, loss, runs in ((3, 5.0, 1), (4, 6.25, 9))
    ]
    page = markdown(measured)
    assert "| method | by | setting | runs | k = 3 | k = 4 |" in page
    assert "| RCS | mdav | probability 1, events 2 | 9 | 5 | 6.25 |" in page
    write_csv(tmp_path / "x.csv", measured)
    assert (tmp_path / "x.csv").read_text().count("\n") == 3
