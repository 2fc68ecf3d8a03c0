"""Trajectories -> collections of movingpandas."""

import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

from trajanon.errors import BadInput
from trajanon.files.release_lines import clock_of
from trajanon.times import instants
from trajanon.trajectories import Trajectories

OLDER_PANDAS = ("The inplace keyword", DeprecationWarning)
"""What newer versions of pandas warn of in the calls of movingpandas."""


def to_collection(trajectories: Trajectories) -> Any:
    """Make a TrajectoryCollection of movingpandas.

    Times are in UTC, without a zone, as movingpandas wants them. Where points have one time, each
    next one is a microsecond later, or movingpandas would drop it. Those of a release that count
    from a day or a week are of the week from Monday, 1 January 2001 on, in local time. Rounded
    times of a release go on from point to point, each less than half a step off, so that speeds are
    about those of the group.

    movingpandas knows no points without times. If one of the trajectories has none, each point of
    all of them gets one that only numbers it: the first of every trajectory is at 1970-01-01
    00:00:00, and each next one a second later. Speeds and durations that movingpandas makes of them
    mean nothing.

    Parameters
    ----------
    trajectories
        Of two points at least.

    Returns
    -------
    movingpandas.TrajectoryCollection
        In their order, in WGS 84 (EPSG:4326); the id of each, ``traj_id``, is its row; columns
        subject and trace where they are known, the subject being the moving object.

    Raises
    ------
    BadInput
        If movingpandas is not installed, or a trajectory is a single point.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> from trajanon.extract import to_collection
    >>> points = np.array([[[41.1, 1.2], [41.1, 1.3]]])
    >>> times = np.array([[0.0, 60.0]])
    >>> collection = to_collection(trajanon.Trajectories(points, times=times))
    >>> collection.trajectories[0].get_duration()
    datetime.timedelta(seconds=60)
    """
    from geopandas import GeoDataFrame, points_from_xy

    if find_spec("movingpandas") is None:
        raise BadInput(
            'movingpandas is not installed; install it with: pip install "trajanon[movingpandas]"'
        )
    n, m = trajectories.points.shape[:2]
    if m < 2:
        raise BadInput(f"movingpandas needs trajectories of two points at least, not of {m}")
    times = trajectories.times
    if times is None or np.isnan(times).any():
        dates = pd.to_datetime(np.tile(np.arange(m), n), unit="s")
    else:
        # In microseconds; those that would be the same rise by one.
        counted = instants(times, clock_of(trajectories)).astype(np.int64) - np.arange(m)
        rising = np.maximum.accumulate(counted, axis=-1) + np.arange(m)
        dates = pd.to_datetime(rising.ravel(), unit="us")
    rows = trajectories.to_dataframe().set_index(pd.DatetimeIndex(dates, name="t"))
    frame = GeoDataFrame(
        rows.drop(columns=["lat", "lon", "time"], errors="ignore"),
        geometry=points_from_xy(rows["lon"], rows["lat"]),
        crs="EPSG:4326",
    )
    frame = frame.rename(columns={"trajectory": "traj_id"})
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", *OLDER_PANDAS)
        # Of what its smoother needs, which is not used here.
        warnings.filterwarnings("ignore", "Missing optional dependencies", UserWarning)
        collection = import_module("movingpandas").TrajectoryCollection
        return collection(frame, traj_id_col="traj_id", obj_id_col="subject")
