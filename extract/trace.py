"""The trace: a piece of a recording, as every reader of sources yields it."""

from dataclasses import dataclass, replace

import numpy as np

from trajanon.common.arrays import Bools, Floats
from trajanon.common.number_text import number_of, shown


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """One unbroken piece of a recording, as read: nothing cleaned, nothing sorted.

    Attributes
    ----------
    name
        The source's own name of the recording. Pieces of one recording share it.
    subject
        Maker of the recording (account, person, vehicle), or None if the source does not say. If no
        recording has one, each counts as a person. If some have, all others count as one person's,
        unless ``nameless_differ`` of `cut` says otherwise. Spellings of one name are one subject.
    lat, lon
        Degrees, WGS 84, shape (points,); NaN where the source gave no number.
    time
        Seconds since 1970-01-01 UTC, shape (points,); NaN where there is none.
    spellings
        How the source writes the subject, if in several ways, or not as `subject` does.
    cut_off
        Whether the source broke off, so that the recording may go on.
    without_fix
        Seconds since 1970-01-01 UTC of rows that are left out, as the source says that they have no
        valid position.
    page
        The file of the saved page of the OSM API that this is a segment of, until pages are joined;
        empty of all other traces.

    Examples
    --------
    >>> import numpy as np
    >>> from trajanon.extract import Trace
    >>> lat, lon = np.array([41.0, 41.001]), np.array([2.0, 2.0])
    >>> trace = Trace("morning", "Ada", lat, lon, time=np.array([0.0, 60.0]))
    >>> len(trace), trace.subject
    (2, 'Ada')
    """

    name: str
    subject: str | None
    lat: Floats
    lon: Floats
    time: Floats
    spellings: tuple[str, ...] = ()
    cut_off: bool = False
    without_fix: tuple[float, ...] = ()
    page: str = ""

    def __len__(self) -> int:
        return len(self.lat)

    def take(self, which: Bools) -> "Trace":
        """Keep the marked points."""
        return replace(self, lat=self.lat[which], lon=self.lon[which], time=self.time[which])

    def __repr__(self) -> str:
        owner = "nobody known" if self.subject is None else repr(self.subject)
        return shown("Trace", [f"{self.name!r} of {owner}", number_of(len(self), "point")])

    @property
    def is_timed(self) -> bool:
        """Return whether any point has a time."""
        return bool(np.isfinite(self.time).any())

    @property
    def last_read(self) -> float:
        """Return the time of the last point before the source broke off; NaN if it did not.

        Infinity if it did, but the point has no time, or there is no point.
        """
        if not self.cut_off:
            return np.nan
        time = self.time[-1] if len(self) else np.nan
        return np.inf if np.isnan(time) else float(time)
