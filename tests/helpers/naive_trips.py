"""Whole trips and their points, found one after another, obviously right."""

from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
from tracks import GEOD, distance

from trajanon.common.arrays import Floats
from trajanon.extract.earth.area import Box
from trajanon.extract.options_and_defaults import Rules
from trajanon.extract.trace import Trace


class Trip(NamedTuple):
    """A trip of a recording, and why it is left out; "" if it is not."""

    fixes: list[int]  # numbers of its fixes; of one that leaves the box, of its longest part inside
    why: str
    true_ends: list[bool]  # whether it begins and ends where the recording of the trip does


def places_of(recorded: Trace) -> Floats:
    return np.stack([recorded.lat, recorded.lon], axis=1)


def trips(recorded: Trace, rules: Rules, box: Box | None = None) -> list[Trip]:
    """The trips of a recording whose fixes are in order, at different times and places."""
    time = recorded.time
    piece: list[int] = []
    found: list[list[int]] = []
    strays = strays_of(recorded, rules)
    for fix in range(len(recorded)):
        if fix in strays:
            continue
        if piece and time[fix] - time[piece[-1]] > rules.longest_pause:
            found += without_stays(recorded, piece, min(300.0, rules.longest_pause))
            piece = []
        piece.append(fix)
    found += without_stays(recorded, piece, min(300.0, rules.longest_pause))
    return [in_box(recorded, fixes, rules, box) for fixes in found if len(fixes) > 1]


def in_box(recorded: Trace, fixes: list[int], rules: Rules, box: Box | None) -> Trip:
    at = places_of(recorded)
    parts: list[list[int]] = [[]]
    for fix in fixes:
        lat, lon = at[fix]
        if box is None or (box.west <= lon <= box.east and box.south <= lat <= box.north):
            parts[-1].append(fix)
        else:
            parts.append([])
    longest = max(
        parts,
        key=lambda part: (len(part) > 0, sum(distance(at[i], at[j]) for i, j in pairwise(part))),
    )
    if len(longest) < 2:
        return Trip([], "trips outside the area", [])
    ends = [longest[0] == fixes[0], longest[-1] == fixes[-1]]
    return Trip(longest, why_not(recorded, longest, rules), ends)


def strays_of(recorded: Trace, rules: Rules) -> set[int]:
    """Fixes that were too far for the speed, there and back, while past them all is well."""
    at, time = places_of(recorded), recorded.time

    def too_fast(i: int, j: int) -> bool:
        metres = distance(at[i], at[j])
        highest = rules.max_speed
        return highest is not None and metres > 50.0 and metres / (time[j] - time[i]) > highest

    off = {
        i
        for i in range(1, len(recorded) - 1)
        if too_fast(i - 1, i) and too_fast(i, i + 1) and not too_fast(i - 1, i + 1)
    }
    return {i for i in off if i - 1 not in off and i + 1 not in off}


def without_stays(recorded: Trace, piece: list[int], seconds: float) -> list[list[int]]:
    """Each stay ends a trip where it begins, and begins one where it ends."""
    at, time = places_of(recorded), recorded.time
    stays = set[int]()
    for fix in piece:
        later = [
            next((other for other in piece if time[other] >= time[fix] + share * seconds), None)
            for share in (0.5, 1.0)
        ]
        if all(one is not None and distance(at[fix], at[one]) <= 100.0 for one in later):
            assert later[1] is not None
            stays.update(range(fix, later[1] + 1))
    found: list[list[int]] = [[]]
    for fix in piece:
        is_last = fix in stays and fix - 1 in stays and fix - 1 in piece
        goes_on = fix in stays and fix + 1 in stays and fix + 1 in piece
        if is_last and goes_on:
            continue
        if is_last:
            found.append([])
        found[-1].append(fix)
    return found


def why_not(recorded: Trace, fixes: list[int], rules: Rules) -> str:
    at, time = places_of(recorded), recorded.time
    hops = [(distance(at[i], at[j]), time[j] - time[i]) for i, j in pairwise(fixes)]
    if any(metres > rules.longest_hop for metres, _ in hops):
        return "trips with a gap"
    highest = rules.max_speed or np.inf
    if any(metres > 50.0 and metres / seconds > highest for metres, seconds in hops):
        return "trips with a gap"
    return "trips too short" if sum(metres for metres, _ in hops) < rules.length else ""


def equal_shares(recorded: Trace, fixes: list[int], m: int) -> tuple[Floats, Floats]:
    """Places (m, 2) and times (m,) at equal shares of a way from fix to fix."""
    at, time = places_of(recorded)[fixes], recorded.time[fixes]
    hops = [distance(one, other) for one, other in pairwise(at)]
    total = sum(hops)
    along = list(along_way(at, time, hops, [total * share / (m - 1) for share in range(m)]))
    return np.array([place for place, _ in along]), np.array([second for _, second in along])


def along_way(
    at: Floats, time: Floats, hops: list[float], metres: list[float]
) -> Iterator[tuple[Floats, float]]:
    """The place and the time at each distance from the beginning of a way."""
    walked = [0.0, *accumulate(hops)]
    for far in metres:
        hop = next((n for n, end in enumerate(walked[1:]) if far <= end), len(hops) - 1)
        rest = min(far - walked[hop], hops[hop])
        here, there = at[hop], at[hop + 1]
        azimuth = GEOD.inv(here[1], here[0], there[1], there[0])[0]
        lon, lat, _ = GEOD.fwd(here[1], here[0], azimuth, rest)
        second = time[hop] + rest / hops[hop] * (time[hop + 1] - time[hop])
        yield np.array([lat, lon]), second
