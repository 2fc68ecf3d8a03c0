"""The figure of the cost and protection of each k."""

import csv
import io

import numpy as np
import pytest
from pictures import nothing_overlaps, points

from trajanon.common.errors import BadInput
from trajanon.evaluation.choice_of_k import curve
from trajanon.evaluation.evidence import NOTICE
from trajanon.maps.figures import Picture, which_k
from trajanon.trajectories.trajectories import Trajectories

KEY = bytes(range(32))


@pytest.fixture(scope="module")
def ways() -> Trajectories:
    rng = np.random.default_rng(5)
    ends = rng.normal((40.4, -3.7), 0.01, (40, 2, 1, 2))
    share = np.linspace(0.0, 1.0, 5)[:, None]
    return Trajectories(ends[:, 0] * (1 - share) + ends[:, 1] * share, np.arange(40) % 16)


@pytest.fixture(scope="module")
def picture(ways: Trajectories) -> Picture:
    return which_k(ways, (2, 4), effort="fast")


def test_the_picture_says_what_the_curve_says(ways: Trajectories, picture: Picture) -> None:
    assert curve(ways, (2, 4), {"effort": "fast", "key": KEY}).words in picture.caption
    assert picture.numbers is not None
    assert picture.numbers.splitlines()[0] == "k,moved,chance,attack,baseline"
    with pytest.raises(BadInput, match="too few for any k of 20, 30"):
        which_k(ways, (20, 30))


def test_each_k_is_a_point_over_one_out_of_k(picture: Picture) -> None:
    assert picture.numbers is not None
    rows = list(csv.DictReader(io.StringIO(picture.numbers)))
    assert [(row["k"], float(row["baseline"])) for row in rows] == [("2", 0.5), ("4", 0.25)]
    (ax,) = picture.figure.axes
    attack, baseline = ax.lines
    for line, column in ((attack, "chance"), (baseline, "baseline")):
        moved, shares = points(line)
        assert moved == pytest.approx([float(row["moved"]) for row in rows], rel=1e-3)
        assert shares == pytest.approx([float(row[column]) for row in rows], rel=1e-3)
    assert [text.get_text() for text in ax.texts] == ["k = 2", "k = 4"]


def test_the_picture_is_for_the_holder_and_says_so(picture: Picture) -> None:
    assert picture.notice == NOTICE
    assert picture.caption.startswith(NOTICE)
    assert picture.figure.get_suptitle() == NOTICE
    nothing_overlaps(picture)
