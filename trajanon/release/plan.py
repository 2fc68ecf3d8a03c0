"""What was asked of a release: its settings and secret, checked at the door."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from trajanon.common.arrays import Floats
from trajanon.common.errors import BadInput
from trajanon.common.settings import AnonymizeKeywords, ReleaseSettings, Settings, settings_of
from trajanon.release.holder_key import check_key, holders_key, search_seed
from trajanon.release.mending import Surroundings
from trajanon.release.snapping import RoadsToFollow
from trajanon.trajectories.times import Timing


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """What was asked of a release, whatever the data are."""

    release: ReleaseSettings
    search: Settings
    key: bytes | None = None  # the holder's secret: search and lines follow from it
    key_file: Path | None = None  # where it is; made with a first release
    roads: RoadsToFollow | None = None  # on which released lines lie
    public_places: Surroundings | None = None

    @classmethod
    def of(
        cls,
        k: int,
        options: AnonymizeKeywords,
        key: bytes | Path | None = None,
        roads: RoadsToFollow | None = None,
        public_places: Surroundings | None = None,
    ) -> "Plan":
        """Check what was asked for; the key may follow later."""
        release, search = settings_of(options)

        if release.as_published and roads is not None:
            raise BadInput("`as_published` moves nothing: leave out `roads`")
        if release.distinct_ends > k:
            most = f"`distinct_ends` must be at most k, {k}"
            raise BadInput(f"{most} (got {release.distinct_ends})")
        if key is not None and release.as_published:
            raise BadInput("`as_published` has no secret: leave out `key`")
        if isinstance(key, Path):
            return cls(release, search, None, key, roads, public_places)
        if key is not None:
            check_key(key)
        return cls(release, search, key, None, roads, public_places)

    def with_key(self, key: bytes | None = None) -> "Plan":
        """Use this key, or the holder's, which is made if there is none; as published has none."""
        if self.release.as_published:
            return self
        return replace(self, key=key or self.key or holders_key(self.key_file))

    @property
    def secret_search(self) -> Settings:
        """The options of the search, with a seed that nobody else knows."""
        if self.key is None:
            return self.search
        return replace(self.search, seed=search_seed(self.key, self.search.seed))


class Scales(NamedTuple):
    """What was found in a table, by which its places and times are compared."""

    timing: Timing | None = None  # of times that are released
    spread: Floats | None = None  # of each coordinate in all shards; None where there are none
