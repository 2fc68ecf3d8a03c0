"""Trips of the Mobility Data Specification (MDS), as answers of its /trips hold them -> traces."""

import io
import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from trajanon.extract.sources.geo.moving_points import Moving, places, traces_of_moving
from trajanon.extract.sources.json_members import members
from trajanon.extract.sources.streams import Reading
from trajanon.extract.trace import Trace

logger = logging.getLogger(__name__)

UNREAD = "trips that could not be read"
WITHOUT_ROUTE = "trips without a route"

_TRIPS = re.compile(rb'\s*\{.*"trips"\s*:\s*\[', re.DOTALL)
_LEAST = 1e11  # milliseconds since 1970 are more, from March 1973 on; seconds are fewer


def looks_like(name: str, head: bytes) -> bool:
    """Tell whether a file is JSON with a list of trips; its name says nothing."""
    return _TRIPS.match(head.removeprefix(b"\xef\xbb\xbf")) is not None


def read(path: Path, label: str, how: Reading) -> Iterator[Trace]:
    """Read a file: a trip with a route is a trace; its subject is the vehicle.

    Trips of MDS 2.0 have no routes: their points are in /telemetry.
    """
    wanted = replace(how, columns={"subject": "device_id", **how.columns})
    with how.unpacked(path) as stream:
        trips = _trips(stream, str(path), how)
        yield from traces_of_moving(trips, str(path), label, wanted)


def _trips(stream: io.BufferedReader, what: str, how: Reading) -> Iterator[Moving | str]:
    for name, trip in members(stream, {"data", "trips"}, what):
        if name != "trips":
            continue  # the version, and links to other pages
        found = _trip(trip)
        if found == WITHOUT_ROUTE:
            msg = (
                f"{what} has trips without a route, which are left out: MDS 2.0 gives their points "
                "in /telemetry; write those as a table with the columns trip_id, device_id, "
                "timestamp, lat and lng"
            )
            how.warn(logger, WITHOUT_ROUTE, msg)
        elif isinstance(found, Moving):
            found = _in_seconds(found, what, how)
        yield found


def _trip(trip: Any) -> Moving | str:
    """Read a trip: the fixes of its route, and the other members as columns."""
    if not isinstance(trip, Mapping):
        return UNREAD
    if trip.get("route") is None:
        return WITHOUT_ROUTE
    try:
        fixes = trip["route"]["features"]
        xy = places([fix["geometry"]["coordinates"] for fix in fixes])
        times = np.array([fix["properties"]["timestamp"] for fix in fixes], dtype=np.float64)
    except (TypeError, ValueError, LookupError, OverflowError):
        return UNREAD
    if len(times) < 2:
        return WITHOUT_ROUTE
    if xy is None or times.ndim > 1:
        return UNREAD
    columns = {name: value for name, value in trip.items() if name != "route"}
    vehicle = trip.get("device_id") or trip.get("vehicle_id")
    return Moving([xy], {**columns, "device_id": vehicle, "timestamp": times})


def _in_seconds(trip: Moving, what: str, how: Reading) -> Moving:
    times = trip.columns["timestamp"]
    known = times[np.isfinite(times)]
    if len(known) == 0 or np.median(known) >= _LEAST:
        times = times / 1e3
    else:
        msg = f"{what} has timestamps in seconds, where MDS has milliseconds; they are read as such"
        how.warn(logger, "timestamps in seconds", msg)
    return trip._replace(columns={**trip.columns, "timestamp": times.tolist()})
