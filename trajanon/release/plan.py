"""What was asked of a release beside k: its settings and secret, checked at the door."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, SupportsIndex

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.errors import BadInput
from trajanon.common.number_text import UnitName
from trajanon.common.search_and_release_options import (
    AnonymizeKeywords,
    ReleaseSettings,
    Settings,
    release_and_search_settings,
)
from trajanon.grouping.different_ends import Ends
from trajanon.grouping.k_promise import check_k
from trajanon.release.holder_key import check_key, holders_key, search_seed
from trajanon.release.matched_to_roads import RoadsToFollow
from trajanon.trajectories.distances import lengths
from trajanon.trajectories.geodesy import in_space
from trajanon.trajectories.release_timing import Timing
from trajanon.trajectories.trajectories import Trajectories


class Surroundings(Protocol):
    """Public places and what lies near them, such as `trajanon.extract.hidden` reads."""

    def contains(self, lat: Floats, lon: Floats) -> Bools:
        """Mark the points, in degrees, that lie near such a place, (n,)."""


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What was asked of a release, and by what its trajectories are compared."""

    release: ReleaseSettings
    search: Settings
    key: bytes | None = None  # the holder's secret, on which groups and lines depend
    key_file: Path | None = None  # where the key is; made with a first release
    roads: RoadsToFollow | None = None  # on which released lines lie
    public_places: Surroundings | None = None

    # What is found in the trajectories, or in all shards of them.
    timing: Timing | None = None  # how times are released; None if they are not
    spread: Floats | None = None  # standard deviation of each coordinate in all shards, (2 m,)

    @classmethod
    def of(
        cls,
        options: AnonymizeKeywords,
        key: bytes | Path | None = None,
        roads: RoadsToFollow | None = None,
        public_places: Surroundings | None = None,
    ) -> "Plan":
        """Check what was asked for; the key may follow later."""
        release, search = release_and_search_settings(options)

        if release.as_published and roads is not None:
            raise BadInput("`as_published` moves nothing: leave out `roads`")
        if key is not None and release.as_published:
            raise BadInput("`as_published` has no secret: leave out `key`")

        plan = cls(release, search, roads=roads, public_places=public_places)
        if isinstance(key, Path):
            return replace(plan, key_file=key)
        if key is not None:
            check_key(key)
        return replace(plan, key=key)

    def checked_k(self, k: SupportsIndex) -> int:
        """Return k as a number; refuse one that is no promise, or below the places at each end."""
        number = check_k(k)
        if self.release.distinct_ends > number:
            raise BadInput(
                f"`distinct_ends` must be at most k, {number} (got {self.release.distinct_ends})"
            )
        return number

    def refuse_ends_of(self, unit: UnitName, *, has_tracks: bool) -> None:
        """Refuse what is asked of ends where nobody says where recordings begin and end."""
        asked = None if self.public_places is None else "`public_places`"
        if self.release.distinct_ends > ReleaseSettings.distinct_ends:
            asked = f"`distinct_ends={self.release.distinct_ends}`"
        if asked is not None and unit == "trajectory" and not has_tracks:
            raise BadInput(
                f"{asked} needs whole trips, days, or windows with their tracks: make them with "
                "trajanon extract, or leave it out"
            )

    def with_key(self, key: bytes | None = None) -> "Plan":
        """Use this key, the plan's own, or the holder's, which is made if there is none.

        As published has none.
        """
        if self.release.as_published:
            return self
        return replace(self, key=key or self.key or holders_key(self.key_file))

    def ends_of(self, trajectories: Trajectories) -> Ends | None:
        """Return the starts and ends that a group must not have in one place.

        Of windows these are the ends of their runs. None where nothing is asked of ends, or where
        nobody says where runs end.
        """
        distinct = self.release.distinct_ends
        if distinct < 2 or self.release.as_published:
            return None

        ends = trajectories.points[:, [0, -1]]  # (n, 2, 2), degrees
        are_true = trajectories.ends_are_true
        window_ends = None
        if trajectories.unit == "trajectory":
            if trajectories.tracks is None:
                return None
            window_ends = in_space(ends.reshape(-1, 2)).reshape(-1, 2, 3)
            ends, are_true = trajectories.tracks.ends_of_runs

        # Nothing is asked of an end at the border of the area, or in a public place.
        is_exempt = ~are_true
        if self.public_places is not None:
            is_public = self.public_places.contains(*ends.reshape(-1, 2).T)
            is_exempt = is_exempt | is_public.reshape(is_exempt.shape)

        places = in_space(ends.reshape(-1, 2)).reshape(*is_exempt.shape, 3)
        places[is_exempt] = np.nan  # which `Ends` takes for a place like no other
        metres = lengths(trajectories.points)
        middles = in_space(trajectories.points.mean(axis=1))
        reach = float(np.median(metres))
        return Ends(places, distinct, middles, metres, reach, window_ends)

    def ends_for_search(self, trajectories: Trajectories) -> Ends | None:
        """Return what the search sees of ends: nothing of windows, which slide after it."""
        return None if trajectories.unit == "trajectory" else self.ends_of(trajectories)

    @property
    def secret_search(self) -> Settings:
        """Return the options of the search, with a seed that nobody else knows."""
        if self.key is None:
            return self.search
        return replace(self.search, seed=search_seed(self.key, self.search.seed))

    def counted(self, subjects: Ints | None) -> Ints | None:
        """Return the subjects that k counts; None where it counts records."""
        return None if self.release.as_published else subjects
