"""The colours of the cost: each threshold from both sides, and a costly release."""

from dataclasses import replace

import numpy as np
import pytest
from toy import NORTH, toy

import trajanon
from trajanon.evaluation.cost import (
    AS_SLID,
    BESIDE_MDAV,
    CROWDED,
    ENDS_LOST,
    LENGTH_LOST,
    MDAV,
    OF_OWN_LENGTH,
    RELEASE,
    cost,
)
from trajanon.trajectories import Trajectories
from trajanon.utility.usefulness import OD_CELLS, Usefulness, usefulness

LEFT = replace(usefulness(toy().points, toy().points), length=1_000.0)
COLOURS = ("good", "caution", "bad")


def moved(metres: float, trips: float = 1.0) -> Usefulness:
    kept = dict.fromkeys(OD_CELLS, trips)
    return replace(LEFT, displacement={"mean": metres}, flow_similarity=kept)


@pytest.mark.parametrize("which", [0, 1])
def test_each_threshold_changes_the_colour(which: int) -> None:
    def lost(share: float, of: str) -> str:
        left, kept = {
            "moved": (moved(1_000.0 * share), 1.0),
            "length": (LEFT, 1.0 - share),
            "trips": (moved(0.0, 1.0 - share), 1.0),
        }[of]
        colours = [colour for colour, _ in cost({RELEASE: left}, kept)]
        place = ("moved", "length", "trips").index(of)
        assert colours == ["good"] * place + [colours[place]] + ["good"] * (2 - place)
        return colours[place]

    for of, limits in (("moved", OF_OWN_LENGTH), ("length", LENGTH_LOST), ("trips", ENDS_LOST)):
        assert lost(limits[which] - 1e-6, of) == COLOURS[which]
        assert lost(limits[which] + 1e-6, of) == COLOURS[which + 1]


@pytest.mark.parametrize(
    ("kept", "colour", "says"),
    [
        ((0.8, 0.9, 0.95, 0.99), "good", "use cells of 0.5 km: 80 % of the counts stay."),
        (
            (0.4, 0.75, 0.9, 0.95),
            "good",
            "use cells of 1 km: 75 % of the counts stay. With cells of 0.5 km, 40 % do.",
        ),
        (
            (0.1, 0.3, 0.749, 0.76),
            "caution",
            "use cells of 3 km: 76 % of the counts stay. With cells of 0.5 km, 10 % do.",
        ),
        ((0.1, 0.3, 0.5, 0.7), "bad", "even with cells of 3 km only 70 % of the counts stay."),
    ],
)
def test_the_cells_for_od_tables_of_trips_are_named(
    kept: tuple[float, ...], colour: str, says: str
) -> None:
    left = replace(LEFT, flow_similarity=dict(zip(OD_CELLS, kept, strict=True)))
    told, said = cost({RELEASE: left}, 1.0, "trip")[2]
    assert (told, says in said) == (colour, True)
    assert "MDAV: 90 %" in cost({RELEASE: left, MDAV: moved(0.0, 0.9)}, 1.0, "trip")[2][1]
    windows = "\n".join(said for _, said in cost({RELEASE: left}, 1.0))
    assert "OD" not in windows
    assert f"in which they begin and end stay to {100 * kept[0]:g} %" in windows


def test_a_release_that_moves_more_than_mdav_is_not_good() -> None:
    for metres, colour in ((0.999, "good"), (1.001, "caution")):
        ways = {RELEASE: moved(50.0 * BESIDE_MDAV * metres), MDAV: moved(50.0)}
        (told, said), *_ = cost(ways, 1.0)
        assert told == colour
        assert ("--effort best" in said) == (colour == "caution")


def test_both_faces_of_sliding_are_told_and_the_worse_is_no_secret() -> None:
    ways = {RELEASE: moved(90.0, 0.4), AS_SLID: moved(20.0, 0.8), MDAV: moved(50.0, 0.5)}
    told = cost(ways, 1.0)
    assert "20 m as slid, 90 m as cut" in told[0][1]
    assert "80 % as slid, 40 % as cut" in told[2][1]
    assert [colour for colour, _ in told] == ["good", "good", "good", "caution"]
    assert "--no-align" in told[3][1]
    for trips, more in ((0.5 / BESIDE_MDAV + 1e-6, 0), (0.5 / BESIDE_MDAV - 1e-6, 1)):
        near = ways | {RELEASE: moved(50.0, trips)}
        assert len(cost(near, 1.0)) == 3 + more


def test_windows_that_crowd_busy_streets_are_told() -> None:
    for busier, more in ((CROWDED - 1e-6, 0), (CROWDED + 1e-6, 1)):
        as_cut, slid = (replace(LEFT, busyness=one) for one in (1.0, busier))
        told = cost({RELEASE: as_cut, AS_SLID: slid}, 1.0)
        assert len(told) == 3 + more
        assert ("5 % busier than as cut" in told[-1][1]) == bool(more)
    assert len(cost({RELEASE: LEFT, AS_SLID: replace(LEFT)}, 1.0)) == 3


def test_lines_that_stand_still_have_a_colour() -> None:
    still = replace(LEFT, length=0.0)
    assert cost({RELEASE: still}, 1.0)[0][0] == "good"
    assert cost({RELEASE: replace(moved(1.0), length=0.0)}, 1.0)[0][0] == "bad"


def test_short_lines_that_go_anywhere_are_no_good_release() -> None:
    """Information loss hides it: the groups lie far apart, and the lines are short."""
    rng = np.random.default_rng(0)
    along = np.linspace(-72.5, 72.5, 30)[:, None]  # 5 m apart: 145 m
    turn = rng.uniform(0.0, 2.0 * np.pi, (40, 1, 1))
    way = along * np.concatenate([np.cos(turn), np.sin(turn)], axis=2)
    where = np.repeat(rng.uniform(0.0, 5_000.0, (10, 1, 2)), 4, axis=0)
    points = (where + rng.uniform(-80.0, 80.0, (40, 1, 2)) + way) / NORTH
    lines = Trajectories(points, subject=np.arange(40))
    release = trajanon.anonymize(lines, 4, effort="fast")
    assert release.report["information_loss"] < 0.5
    found = trajanon.evaluate(lines, release.trajectories, release.report)
    said = {sentence: colour for colour, sentence in found.verdict}
    moved_by, length = (
        next(one for one in said if one.startswith(beginning))
        for beginning in ("Points moved by", "The means of groups keep")
    )
    assert said[moved_by] == "bad"
    assert said[length] == "bad"
    assert found.length_kept < 1.0 - LENGTH_LOST[1]
    assert "--windows", "--spacing" in moved_by
    # Four decimals are longer than a hop: the file has longer lines than the means.
    assert found.usefulness[RELEASE].length_change > found.length_kept - 1.0 + 0.05
    assert "With the steps of the grid" in length
