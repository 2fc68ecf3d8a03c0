"""Plans: what may be asked of a release, and which ends of trips it keeps apart."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ledgers import trips_of as marked_trips
from madrid_walks import walks_in_madrid
from shards import shards_of, walks, write_parts
from tracks_laid_out import tracks_of
from trips_on_days import KEY, trips_of
from windows_from_homes import windows_from_homes

import trajanon
from trajanon.common.arrays import Bools, Floats
from trajanon.common.errors import BadInput
from trajanon.release.plan import Plan
from trajanon.trajectories.trajectories import Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")


@pytest.mark.parametrize("key", [b"", bytes(15), bytes(65), "0123456789abcdef"])
def test_a_key_of_another_length_is_refused(key: bytes) -> None:
    with pytest.raises(BadInput, match="`key` must have 16 to 64 bytes"):
        trajanon.anonymize(walks_in_madrid(), 4, key=key)


def test_places_at_the_ends_of_lines_of_unknown_kind_are_not_promised(tmp_path: Path) -> None:
    lines = marked_trips(np.arange(60), walks(60))
    with pytest.raises(BadInput, match="`distinct_ends=3` needs whole trips, days, or windows"):
        trajanon.anonymize(lines, 3, distinct_ends=3)
    write_parts(tmp_path / "lines", lines, 20)
    with shards_of(30), pytest.raises(BadInput, match="needs whole trips, days, or windows"):
        trajanon.anonymize_parts(str(tmp_path / "lines"), str(tmp_path / "out"), 3, distinct_ends=3)


class Everywhere:
    """A station as large as the Earth."""

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        return np.ones(len(lat), dtype=np.bool_)


def test_where_everybody_may_be_ends_need_no_other_places() -> None:
    points = np.array([40.0, 2.0]) + np.zeros((6, 3, 2))
    points[:, 1:] += np.random.default_rng(0).normal(0.0, 0.1, (6, 2, 2))
    trips = Trajectories(points, subject=np.arange(6), provenance={"trips": True})
    assert trajanon.anonymize(trips, 2).report["mended"]["one_place"]["left"] > 0
    nothing = {"groups": 0, "left": 0, "unknown": 0}
    report = trajanon.anonymize(trips, 2, public_places=Everywhere()).report
    assert report["mended"]["one_place"] == nothing
    cut = replace(trips, true_ends=np.array([[False, True]] * 6))  # they begin elsewhere
    assert trajanon.anonymize(cut, 2).report["mended"]["one_place"] == nothing


def test_public_places_are_nothing_to_lines_of_unknown_kind() -> None:
    """They were passed over in silence."""
    lines = replace(trips_of(8, 2, 3, 1), provenance={})
    with pytest.raises(BadInput, match="`public_places` needs whole trips, days, or windows"):
        trajanon.anonymize(lines, 2, public_places=Everywhere())


@pytest.mark.parametrize(
    ("options", "given", "said"),
    [
        ({"as_published": True}, {"roads": object()}, "`as_published` moves nothing"),
        ({"as_published": True}, {"key": KEY}, "`as_published` has no secret"),
        ({"as_published": True}, {"key": Path("a.key")}, "`as_published` has no secret"),
        ({}, {"key": KEY[:15]}, "`key` must have 16 to 64 bytes"),
    ],
)
def test_what_does_not_go_together_is_no_plan(
    options: Any, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadInput, match=said):
        Plan.of(options, **given)


def test_a_key_is_that_passed_that_of_the_plan_or_that_of_its_file(tmp_path: Path) -> None:
    other = KEY[::-1]
    of_file = Plan.of({}, tmp_path / "own.key")
    assert of_file.key_file is not None
    assert not of_file.key_file.exists()  # made when it is needed
    made = of_file.with_key().key
    assert made == of_file.key_file.read_bytes()
    assert of_file.with_key().key == made
    assert Plan.of({}, KEY).with_key().key == KEY
    assert Plan.of({}, KEY).with_key(other).key == other
    assert Plan.of({"as_published": True}).with_key(other).key is None


def test_nobody_without_the_key_knows_the_seed_of_the_search() -> None:
    plan = Plan.of({"seed": 7}, KEY)
    assert plan.secret_search == Plan.of({"seed": 7}, KEY).secret_search
    seeds = {plan.secret_search.seed, Plan.of({"seed": 8}, KEY).secret_search.seed}
    seeds.add(Plan.of({"seed": 7}, KEY[::-1]).secret_search.seed)
    assert len(seeds | {7, 8}) == 5
    assert Plan.of({"seed": 7, "as_published": True}).secret_search.seed == 7


def test_k_is_at_least_the_places_at_each_end() -> None:
    assert Plan.of({"distinct_ends": 4}).checked_k(np.int64(4)) == 4
    with pytest.raises(BadInput, match=r"`distinct_ends` must be at most k, 3 \(got 4\)"):
        Plan.of({"distinct_ends": 4}).checked_k(3)
    with pytest.raises(BadInput, match="k must be at least 2"):
        Plan.of({}).checked_k(1)


def test_ends_at_the_border_and_in_public_places_are_nobodys() -> None:
    class North:
        """A park that is all that lies north of 41 degrees."""

        def contains(self, lat: Floats, lon: Floats) -> Bools:
            return lat > 41.0

    points = np.array([[[40.0, 2.0], [40.5, 2.0], [42.0, 2.0]]] * 2)
    true_ends = np.array([[True, True], [False, True]])
    trips = Trajectories(points, provenance={"trips": True}, true_ends=true_ends)
    ends = Plan.of({}, public_places=North()).ends_of(trips)
    assert ends is not None
    assert np.isnan(ends.places).all(axis=2).tolist() == [[False, True], [True, True]]

    assert Plan.of({}).ends_of(replace(trips, provenance={})) is None
    assert Plan.of({"distinct_ends": 1}).ends_of(trips) is None
    assert Plan.of({"as_published": True}).ends_of(trips) is None


def test_ends_of_windows_are_those_of_their_runs_and_nothing_to_the_search() -> None:
    windows = windows_from_homes(1, 3, 10)
    tracks = replace(tracks_of(windows), true_ends=np.array([[True, True], [False, True]] * 2)[:3])
    windows = replace(windows, tracks=tracks)
    ends = Plan.of({}).ends_of(windows)
    assert ends is not None
    assert np.isnan(ends.places).all(axis=2).ravel().tolist() == [*[False] * 2, True, *[False] * 3]
    assert ends.window_ends is not None
    apart = np.linalg.norm(ends.places - ends.window_ends, axis=2)
    np.testing.assert_allclose(apart[::2], [[0.0, 250.0]] * 2, atol=5.0)
    assert Plan.of({}).ends_for_search(windows) is None
    public = Plan.of({}, public_places=Everywhere()).ends_of(windows)
    assert public is not None
    assert np.isnan(public.places).all()
