"""Plans: what may be asked of a release, and which ends of trips it keeps apart."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ledgers import trips_of as marked_trips
from madrid_walks import walks_in_madrid
from shards import shards_of, walks, write_parts
from trips_on_days import trips_of

import trajanon
from trajanon.common.arrays import Bools, Floats
from trajanon.common.errors import BadInput
from trajanon.trajectories.trajectories import Trajectories

pytestmark = pytest.mark.usefixtures("few_moves")


@pytest.mark.parametrize("key", [b"", bytes(15), bytes(65), "0123456789abcdef"])
def test_a_key_of_another_length_is_refused(key: bytes) -> None:
    with pytest.raises(BadInput, match="`key` must have 16 to 64 bytes"):
        trajanon.anonymize(walks_in_madrid(), 4, key=key)


def test_places_at_the_ends_of_windows_are_not_promised(tmp_path: Path) -> None:
    lines = marked_trips(np.arange(60), walks(60))
    with pytest.raises(BadInput, match="`distinct_ends=3` is for whole trips and days"):
        trajanon.anonymize(lines, 3, distinct_ends=3)
    write_parts(tmp_path / "lines", lines, 20)
    with shards_of(30), pytest.raises(BadInput, match="is for whole trips and days"):
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
    nothing = {"groups": 0, "left": 0}
    report = trajanon.anonymize(trips, 2, public_places=Everywhere()).report
    assert report["mended"]["one_place"] == nothing
    cut = replace(trips, true_ends=np.array([[False, True]] * 6))  # they begin elsewhere
    assert trajanon.anonymize(cut, 2).report["mended"]["one_place"] == nothing


def test_public_places_are_nothing_to_windows() -> None:
    """They were passed over in silence."""
    lines = replace(trips_of(8, 2, 3, 1), provenance={})
    with pytest.raises(BadInput, match="`public_places` is for whole trips and days"):
        trajanon.anonymize(lines, 2, public_places=Everywhere())
