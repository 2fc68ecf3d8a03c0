"""What adversaries are shown of a release."""

from dataclasses import replace

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.files.report import Report, clock_in, key_in
from trajanon.loss import group_means
from trajanon.partition import dense
from trajanon.perturbation import correlation, displacement_root, group_parts, group_spread
from trajanon.privacy.attack import Published
from trajanon.privacy.cascade import Cascade, cascade
from trajanon.privacy.originals import Matched
from trajanon.privacy.rebuilding import Noise, Rebuilding, Ways, rebuilding
from trajanon.settings import ReleaseSettings
from trajanon.timing import Timing
from trajanon.tracks import Tracks
from trajanon.trajectories import Trajectories

MOST = 20_000
"""Trajectories among which somebody looks for members of groups who tries very much."""

_ROUNDED = 0.3  # metres, the standard deviation of what is rounded to 5 decimals


def timing_in(report: Report) -> Timing | None:
    """How the report says that times were released."""
    clock, told = clock_in(report), report.get("times")
    if clock is None or told is None:
        return None
    return Timing(clock, ReleaseSettings(minute_worth=told["minute_worth"]).minute_worth)


def published(
    originals: Trajectories, found: Matched, k: int, subjects: Ints | None, timing: Timing | None
) -> Published:
    """The release beside what was averaged."""
    seen = Published(
        originals.points,
        found.lines,
        found.labels,
        k,
        subjects,
        unit=originals.unit,
        own_row=found.own_row,
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
) -> tuple[Cascade | None, Rebuilding | None]:
    """Let somebody verify whole groups, and rebuild a member on the map of other people's tracks.

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
        alike, root_of = np.eye(m), _rounding
    else:
        alike, root_of = correlation(m), displacement_root
    verified = cascade(seen, alike, root_of, seed=seed)
    means = group_means(seen.points.reshape(len(seen.points), -1), seen.labels)
    spread = group_spread(seen.points, means.reshape(seen.lines.shape), seen.labels)
    noise = Noise(root_of(spread, group_parts(seen.labels, seen.subjects)), alike)
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
