"""Anonymisation of data frames: their points or lines become trips, and these a release."""

import logging
from typing import TYPE_CHECKING, Any, Union

from trajanon.anonymization import anonymize_trajectories
from trajanon.common.errors import BadInput
from trajanon.common.progress import Progress, silent
from trajanon.common.settings import ReleaseSettings, Settings, takes_settings
from trajanon.release.leaving_out import Surroundings
from trajanon.release.release import Release
from trajanon.release.snapping import RoadsToFollow
from trajanon.trajectories.trajectories import Trajectories

if TYPE_CHECKING:
    from pandas import DataFrame

_LOG = logging.getLogger(__name__)

_OTHER_COLUMNS = (
    "For other columns or limits, give the Trajectories that trajanon.extract.cut makes of "
    "trajanon.extract.from_frame"
)


@takes_settings(ReleaseSettings, Settings)
def anonymize(
    trajectories: Union[Trajectories, "DataFrame"],
    k: int,
    *,
    subject: str | None = None,
    time: str | None = None,
    recording: str | None = None,
    roads: RoadsToFollow | None = None,
    public_places: Surroundings | None = None,
    key: bytes | None = None,
    progress: Progress = silent,
    **options: Any,
) -> Release:
    """Replace each trajectory by the centroid of a group of at least k.

    Parameters
    ----------
    trajectories
        As `trajanon.extract` makes them. Or a data frame: a GeoDataFrame of points or of lines, or
        a DataFrame of points with columns for latitude and longitude, in degrees. Of its points,
        each trip becomes a trajectory of 30 points at equal shares of its way; of lines, each line
        does.
    k
        Least number of different subjects behind each released trajectory; of records if nothing is
        known of subjects.
    subject
        Of a data frame: the column that says who made each point or line. None takes one of the
        usual names. Without such a column each recording counts as a person's own; beside names,
        all rows without one count as one person.
    time
        Of a data frame: the column of times; of lines, of a list of times for each. None takes one
        of the usual names, or a DatetimeIndex. Without times, points are in the order of their
        rows.
    recording
        Of a data frame: the column that names the recording of each row. None takes one of the
        usual names.
    roads
        Roads on which the released lines are laid, as `trajanon.extract.roads_to_follow` reads
        them. That is computed from the lines and public data alone.
    public_places
        Stations and other places where everybody may be known to be, and what lies near, as
        `trajanon.extract.hidden` reads them: of ends there, ``distinct_ends`` asks nothing.
    key
        The secret from which groups and lines follow, 16 to 64 bytes. None takes the holder's own,
        which is made once and kept in the user's data folder: the same trajectories then have the
        same lines.
    progress
        Called with the state of the work.
    options
        Whether all is done as in the papers; whether somebody is on one line, or on one for each
        whole day; how many places there are at each end; whether with times and with which rows,
        ``as_published`` to ``rows``: see `ReleaseSettings`. And those of the
        search, as in `trajanon.microaggregate`. With another seed the same key gives other groups.

    Returns
    -------
    Release
        Each of its lines has at least k rows, with the same times if it has any. Of a data frame,
        ``extraction`` in its report counts what was read and left out.

    Raises
    ------
    BadInput
        If an option is not known, a group spans the antimeridian, times are asked
        for and some have none, or nothing is left; if a data frame has no such column, no points or
        lines, or is not on Earth.
    TooFewRecords, TooFewSubjects
        If there are fewer than k trajectories, or subjects where these are counted.

    Examples
    --------
    Four people go east, two along each of two roads. As in the papers, each gets the mean of two:

    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> trajectories = trajanon.Trajectories(points, subject=np.arange(4))
    >>> release = trajanon.anonymize(trajectories, k=2, as_published=True)
    >>> release.report["labels"]
    [0, 0, 1, 1]
    >>> sorted(release.trajectories.points[:, 0, 0].tolist())
    [40.1, 40.1, 41.1, 41.1]

    The same of a data frame with two fixes of each, some hundred metres apart:

    >>> import pandas as pd
    >>> who, lat = ["Ada", "Bob", "Cem", "Eva"] * 2, [40.0, 40.001, 41.0, 41.001] * 2
    >>> fixes = pd.DataFrame({"who": who, "lat": lat, "lon": [2.00] * 4 + [2.01] * 4})
    >>> release = trajanon.anonymize(fixes, k=2, subject="who")
    >>> release.trajectories.points.shape
    (4, 30, 2)
    >>> release.report["extraction"]["recordings read"]
    4
    """
    roles = {"subject": subject, "time": time, "recording": recording}
    named = {role: name for role, name in roles.items() if name is not None}
    options |= {"roads": roads, "public_places": public_places, "key": key, "progress": progress}
    if isinstance(trajectories, Trajectories):
        for name in named:
            raise BadInput(f"`{name}` names a column of a data frame, and Trajectories have none")
        return anonymize_trajectories(trajectories, k, **options)

    for role, name in named.items():
        if not isinstance(name, str):
            kind = type(name).__name__
            raise BadInput(f"`{role}` must be the name of a column, a text (got a {kind})")
    if recording is not None:
        named["id"] = named.pop("recording")

    trips = _trips_of(trajectories, named)
    release = anonymize_trajectories(trips, k, **options)
    counts = trips.provenance["counts"]
    release.report["extraction"] = {what: count for what, count in counts.items() if count}
    return release


def _trips_of(frame: "DataFrame", columns: dict[str, str]) -> Trajectories:
    """Make a trajectory of each trip of points, or of each line; warn of those left out."""
    from trajanon.extract.cutting import cut
    from trajanon.extract.dropped import sentences
    from trajanon.extract.from_frames import from_frame, holds_lines
    from trajanon.extract.rules import Rules

    rules = Rules()
    if holds_lines(frame):
        rules = Rules(min_length=0, max_gap=None, max_pause=None, max_speed=None)
    try:
        trips = cut(from_frame(frame, columns=columns), rules)
    except BadInput as error:
        # As the parameters are called here.
        message = str(error).replace("`columns` id=", "`recording`=")
        for name in ("subject", "time"):
            message = message.replace(f"`columns` {name}=", f"`{name}`=")
        raise type(error)(f"{message}. {_OTHER_COLUMNS}") from error
    if notes := sentences(trips.provenance):
        _LOG.warning("%s", " ".join([*notes, f"{_OTHER_COLUMNS}."]))
    return trips
