"""Trajectories: the one shape of data that extraction makes and the method takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trajanon.errors import BadInput

OSM_ATTRIBUTION = (
    "© OpenStreetMap contributors, ODbL 1.0, https://www.openstreetmap.org/copyright"
)


@dataclass(frozen=True, slots=True, eq=False)
class Trajectories:
    """Trajectories of equally many points, and whose they are.

    Attributes
    ----------
    points
        Latitude and longitude in degrees, WGS 84, shape (n, m, 2).
    subject
        A number for whoever made each trajectory, shape (n,); None if nothing is
        known of subjects, as in a release.
    trace
        A number for the recording each trajectory was cut from, shape (n,); None
        where subjects are None.
    provenance
        How the trajectories came about, ready for JSON: box, spacing, points, source,
        attribution, counts of what was dropped. Empty where not known.

    Raises
    ------
    BadInput
        If a shape is wrong, or a coordinate is not finite or not on Earth.
    """

    points: NDArray[np.float64]
    subject: NDArray[np.int64] | None = None
    trace: NDArray[np.int64] | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.points.ndim != 3 or self.points.shape[2] != 2:
            msg = (
                "points must have shape (trajectories, points, 2) as lat, lon; "
                f"got {self.points.shape}"
            )
            raise BadInput(msg)
        for name in ("subject", "trace"):
            numbers = getattr(self, name)
            if numbers is not None and numbers.shape != (len(self),):
                msg = (
                    f"{name} must have one number for each of the {len(self)} "
                    f"trajectories; got shape {numbers.shape}"
                )
                raise BadInput(msg)
        on_earth = np.abs(self.points) <= (90.0, 180.0)  # False for NaN too
        if not on_earth.all():
            worst = int(np.argwhere(~on_earth)[0, 0])
            msg = (
                f"trajectory {worst} has a point that is not on Earth; latitudes lie "
                "in -90..90, longitudes in -180..180 (are the two swapped?)"
            )
            raise BadInput(msg)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def records(self) -> NDArray[np.float64]:
        """The records (n, 2 m): lat1, lon1, ..., latm, lonm of each trajectory."""
        return self.points.reshape(len(self), -1)

    @property
    def attribution(self) -> str | None:
        """The line that must be shown with these data, if there is one."""
        attribution = self.provenance.get("attribution")
        return None if attribution is None else str(attribution)
