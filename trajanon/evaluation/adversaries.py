"""What adversaries are shown of a release."""

from dataclasses import replace

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.files.report import Report, clock_in, key_in
from trajanon.partition import dense
from trajanon.perturbation import correlation, displacement_root
from trajanon.privacy.attack import Published
from trajanon.privacy.chains import people_steps
from trajanon.privacy.originals import Matched
from trajanon.privacy.rebuilding import Rebuilding, Ways, rebuilding
from trajanon.privacy.verification import Noise, Verified, verification
from trajanon.settings import ReleaseSettings
from trajanon.times import Timing
from trajanon.tracks import Tracks
from trajanon.trajectories import Trajectories

MOST = 20_000
"""Trajectories among which a determined adversary looks for members of groups."""

_ROUNDED = 0.3  # metres, the standard deviation of the error of 5 decimals


def timing_in(report: Report) -> Timing | None:
    """How the report says that times were released."""
    clock, times = clock_in(report), report.get("times")
    if clock is None or times is None:
        return None
    return Timing(clock, ReleaseSettings(minute_worth=times["minute_worth"]).minute_worth)


def published(
    originals: Trajectories, found: Matched, k: int, subjects: Ints | None, timing: Timing | None
) -> Published:
    """The release with the trajectories that were averaged."""
    seen = Published(
        originals.points,
        found.lines,
        found.labels,
        k,
        subjects,
        unit=originals.unit,
        own_row=found.own_row,
        steps=people_steps(originals, found.labels),
    )
    if timing is None:
        return seen
    seconds, cycle = timing.seconds(originals), timing.clock.round
    return replace(seen, times=seconds, line_times=found.times, cycle=cycle)


def patient(
    seen: Published,
    tracks: Tracks | None,
    report: Report,
    *,
    spacing: float | None = None,
    seed: int = 0,
) -> tuple[Verified | None, Rebuilding | None]:
    """Let an adversary verify whole groups, and rebuild a member on a map of other tracks.

    He knows how displacements are distributed, but not the key. Where nothing is known of subjects,
    trajectories of one run or recording are of one.
    """
    if seen.subjects is None and tracks is not None:
        seen = replace(seen, subjects=dense(tracks.recording_of))
    if len(seen.points) > MOST:
        near = _near(seen, seed)
        seen, tracks = _only(seen, near), None if tracks is None else tracks.take(near)
    m = seen.points.shape[1]
    if key_in(report) is None:
        noise = Noise(np.eye(m), _rounding)
    else:
        noise = Noise(correlation(m), displacement_root)
    verified = verification(seen, noise, seed=seed)
    ways = Ways.of(seen.points, seen.owners)
    if tracks is not None:
        ways = Ways(tracks.points[:], tracks.first, tracks.owners(seen.owners))
    return verified, rebuilding(seen, noise, ways, spacing=spacing, seed=seed)


def _rounding(spread: Floats, parts: Floats) -> Floats:
    """The root of the noise of plain means, which are rounded."""
    return np.broadcast_to(_ROUNDED * np.eye(2), spread.shape)


def _near(seen: Published, seed: int) -> Ints:
    """Take the trajectories on the lines nearest to one that is drawn, as many as may be tried."""
    middles = seen.lines.mean(axis=1)
    middle = middles[np.random.default_rng(seed).integers(len(middles))]
    away = (middles - middle) * [1.0, np.cos(np.radians(middle[0]))]
    order = np.argsort((away**2).sum(axis=1), kind="stable")
    lines = order[np.cumsum(seen.sizes[order]) <= MOST]
    return np.flatnonzero(np.isin(seen.labels, lines))


def _only(seen: Published, rows: Ints) -> Published:
    """Keep some trajectories, whole groups of them."""
    kept, labels = np.unique(seen.labels[rows], return_inverse=True)
    return Published(
        seen.points[rows],
        seen.lines[kept],
        labels,
        seen.k,
        None if seen.subjects is None else seen.subjects[rows],
        unit=seen.unit,
    )
