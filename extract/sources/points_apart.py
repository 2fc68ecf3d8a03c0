"""Points that one person cannot have made, and points in no order."""

from collections.abc import Sequence

import numpy as np

from trajanon.common.arrays import Floats, Ints
from trajanon.extract.trace import Trace
from trajanon.trajectories.geodesy import DEGREE

_FAR, _FAST = 1_000.0, 400.0  # metres, and metres a second
_AGAIN, _MANY = 2, 0.05  # more times than the first, and than this share of all

_FEW = 8  # points; with fewer the order cannot be determined
_AT_RANDOM = 0.6  # of the hops between points in any order: ordered points have shorter ones
_DRAWS = 3


def _metres(lat: Floats, lon: Floats) -> Floats:
    """Measure the hops from point to point, as on a plane."""
    return DEGREE * np.hypot(np.diff(lat), np.diff(lon) * np.cos(np.radians(lat[:-1])))


def _again_and_again(times: int, of: int) -> bool:
    return times > max(_AGAIN, _MANY * of)


def leaps_in(trace: Trace) -> int:
    """Count the leaps of a recording, if they are as many as of several people in it."""
    order = np.argsort(trace.time, kind="stable")
    lat, lon, time = trace.lat[order], trace.lon[order], trace.time[order]
    hops = _metres(lat, lon)
    leaps = int(((hops > _FAR) & (hops > _FAST * np.diff(time))).sum())
    return leaps if _again_and_again(leaps, len(hops)) else 0


def of_several(traces: Sequence[Trace]) -> list[Trace]:
    """List the recordings with points of one time far apart, again and again."""
    if not traces:
        return []
    number = np.repeat(np.arange(len(traces)), [len(trace) for trace in traces])
    time = np.concatenate([trace.time for trace in traces])
    goes_on = number[1:] == number[:-1]
    if not (time[1:] >= time[:-1])[goes_on].all():
        time = time[np.lexsort((time, number))]
    has_equal_time = goes_on & (time[1:] == time[:-1])
    with_equal_times = np.unique(number[1:][has_equal_time]).tolist()
    return [traces[i] for i in with_equal_times if _holds_several(traces[i])]


def _holds_several(trace: Trace) -> bool:
    """Return whether points of one time lie far apart, again and again, as of several people."""
    known = np.isfinite(trace.time + trace.lat + trace.lon)
    order = np.argsort(trace.time[known], kind="stable")
    lat, lon, time = (values[known][order] for values in (trace.lat, trace.lon, trace.time))
    begins = np.flatnonzero(np.append(True, np.diff(time) > 0.0)[: len(time)])
    size = np.diff(begins, append=len(time))
    if len(begins) < 2 or not (size > 1).any():
        return False
    middle = np.add.reduceat(lat, begins) / size, np.add.reduceat(lon, begins) / size
    high, low = (
        [far.reduceat(values, begins) for values in (lat, lon)] for far in (np.maximum, np.minimum)
    )
    east = (high[1] - low[1]) * np.cos(np.radians(middle[0]))
    spread = DEGREE * np.hypot(high[0] - low[0], east)
    # What somebody drives while the clock stands still is no longer than the hop to the next time.
    hops = _metres(*middle)
    near = np.maximum(np.append(hops, 0.0), np.append(0.0, hops))
    apart = (size > 1) & (spread > _FAR) & (spread > 2.0 * near)
    return _again_and_again(int(apart.sum()), len(begins))


def without_order(traces: Sequence[Trace]) -> bool:
    """Return whether most hops of untimed recordings are as long as those in a random order."""
    draw = np.random.default_rng(0)
    at_random = list[bool]()
    for trace in traces:
        if len(trace) < _FEW or trace.is_timed:
            continue
        known = np.isfinite(trace.lat + trace.lon)
        lat, lon = trace.lat[known], trace.lon[known]
        if len(np.unique(lat + 1j * lon)) < _FEW:
            continue

        orders: list[Ints] = [draw.permutation(len(lat)) for _ in range(_DRAWS)]
        random_way = np.mean([_metres(lat[order], lon[order]).sum() for order in orders])
        at_random.append(bool(_metres(lat, lon).sum() > _AT_RANDOM * random_way))
    return 2 * sum(at_random) > len(at_random)
