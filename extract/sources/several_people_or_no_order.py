"""Recordings that one person cannot have made, and recordings with points in no order."""

from collections.abc import Sequence

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.extract.trace import Trace
from trajanon.trajectories.geodesy import DEGREE

_FAR_APART = 1_000.0  # metres
_TOO_FAST = 400.0  # metres a second

# A clock or a receiver errs now and then. It is "again and again" beyond both of these.
_TIMES_BY_ERROR = 2
_SHARE_BY_ERROR = 0.05

_FEWEST_POINTS = 8  # different ones; the order of fewer cannot be judged
_SHARE_OF_RANDOM = 0.6  # of the length in a random order: points in their order stay below it
_RANDOM_ORDERS = 3


def count_leaps(trace: Trace) -> int:
    """Count the hops that are too far and too fast; 0 if they may be errors of one receiver."""
    in_time = np.argsort(trace.time, kind="stable")
    time = trace.time[in_time]
    hops = _hop_lengths(trace.lat[in_time], trace.lon[in_time])

    leaps = int(((hops > _FAR_APART) & (hops > _TOO_FAST * np.diff(time))).sum())
    return leaps if _again_and_again(leaps, len(hops)) else 0


def recordings_of_several_people(traces: Sequence[Trace]) -> list[Trace]:
    """List the recordings with points of one time far apart, again and again."""
    if not traces:
        return []

    # Most recordings have no time twice. This is seen in all of them at once, which is fast.
    number = np.repeat(np.arange(len(traces)), [len(trace) for trace in traces])
    time = np.concatenate([trace.time for trace in traces])
    is_same_trace = number[1:] == number[:-1]
    if not (time[1:] >= time[:-1])[is_same_trace].all():
        time = time[np.lexsort((time, number))]

    has_equal_time = is_same_trace & (time[1:] == time[:-1])
    with_equal_times = np.unique(number[1:][has_equal_time]).tolist()
    return [traces[i] for i in with_equal_times if _is_of_several_people(traces[i])]


def _is_of_several_people(trace: Trace) -> bool:
    """Return whether points of the same time repeatedly lie far apart."""
    known = np.isfinite(trace.time + trace.lat + trace.lon)
    in_time = np.argsort(trace.time[known], kind="stable")
    lat = trace.lat[known][in_time]
    lon = trace.lon[known][in_time]
    time = trace.time[known][in_time]

    # The points of one time are a moment: where each begins, and how many points it has.
    begins = np.flatnonzero(np.append(True, np.diff(time) > 0.0)[: len(time)])
    size = np.diff(begins, append=len(time))
    if len(begins) < 2 or not (size > 1).any():
        return False

    middle_lat = np.add.reduceat(lat, begins) / size
    middle_lon = np.add.reduceat(lon, begins) / size
    north = np.maximum.reduceat(lat, begins) - np.minimum.reduceat(lat, begins)
    east = np.maximum.reduceat(lon, begins) - np.minimum.reduceat(lon, begins)
    spread = DEGREE * np.hypot(north, east * np.cos(np.radians(middle_lat)))

    # What one person drives while the clock stands still is not much longer than the hop to the
    # next moment, or from the last one.
    hops = _hop_lengths(middle_lat, middle_lon)
    longer_hop = np.maximum(np.append(hops, 0.0), np.append(0.0, hops))

    is_apart = (size > 1) & (spread > _FAR_APART) & (spread > 2.0 * longer_hop)
    return _again_and_again(int(is_apart.sum()), len(begins))


def are_in_no_order(traces: Sequence[Trace]) -> bool:
    """Return whether most untimed recordings are about as long as in a random order."""
    random = np.random.default_rng(0)
    is_in_no_order = list[bool]()
    for trace in traces:
        if len(trace) < _FEWEST_POINTS or trace.is_timed:
            continue

        known = np.isfinite(trace.lat + trace.lon)
        lat = trace.lat[known]
        lon = trace.lon[known]
        if len(np.unique(lat + 1j * lon)) < _FEWEST_POINTS:
            continue

        orders: list[Ints] = [random.permutation(len(lat)) for _ in range(_RANDOM_ORDERS)]
        random_length = np.mean([_hop_lengths(lat[order], lon[order]).sum() for order in orders])
        length = _hop_lengths(lat, lon).sum()
        is_in_no_order.append(bool(length > _SHARE_OF_RANDOM * random_length))
    return 2 * sum(is_in_no_order) > len(is_in_no_order)


def _again_and_again(times: int, chances: int) -> bool:
    return times > max(_TIMES_BY_ERROR, _SHARE_BY_ERROR * chances)


def _hop_lengths(lat: Floats, lon: Floats) -> Floats:
    """Measure the hops from point to point in metres, as on a plane."""
    return DEGREE * np.hypot(np.diff(lat), np.diff(lon) * np.cos(np.radians(lat[:-1])))
