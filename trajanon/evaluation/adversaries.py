"""What adversaries are shown of a release, and of all releases that a ledger knows."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput, TrajanonError
from trajanon.files.release_formats import read_release
from trajanon.files.report import (
    Report,
    checked,
    clock_in,
    kept_in,
    key_in,
    promise_in,
    read_report,
    released_of,
)
from trajanon.files.trajectory_files import read_marks, read_trajectories
from trajanon.partition import dense
from trajanon.perturbation import correlation, displacement_root
from trajanon.privacy.attack import Attack, Published
from trajanon.privacy.chains import people_steps
from trajanon.privacy.ledger import Entry, opened
from trajanon.privacy.linkage import other_tracks
from trajanon.privacy.originals import Matched, matched
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


def attacks_in_all(ledger: str | os.PathLike[str], *, subjects_exact: bool = False) -> list[Attack]:
    """Let who knows half of a person's trajectories look for the others in all releases together.

    Parameters
    ----------
    ledger
        Knows the releases; their originals, and their reports, must be where they were.
    subjects_exact
        Whether names that differ only in upper and lower case are different subjects.

    Returns
    -------
    list of Attack
        One.

    Raises
    ------
    BadInput
        If nothing is released, lines have different numbers of points, or what a release was made
        of is not there any more.
    FileProblem
        If the ledger or a file cannot be read.
    """
    with opened(ledger) as book:
        entries = book.entries
    if not entries:
        raise BadInput(f"nothing is released in {ledger}: anonymize with --ledger {ledger} first")
    seen = [_seen(entry, subjects_exact=subjects_exact) for entry in entries]
    if len(sizes := {one.points.shape[1] for one in seen}) > 1:
        numbers = " and ".join(map(str, sorted(sizes)))
        raise BadInput(f"the releases of {ledger} have lines of {numbers} points: not alike")
    return [_tried(seen)]


def _seen(entry: Entry, *, subjects_exact: bool) -> Published:
    """What an adversary sees of a release; people have the same number in all."""
    release, originals = Path(entry.told["release"]), entry.told["originals"]
    try:
        report = checked(read_report(release))
        trajectories = read_trajectories(originals, subjects_exact=subjects_exact)
        kept = released_of(trajectories, report)
        person = read_marks(originals)[:, 0]
        person = person[kept_in(report, len(trajectories))]
        found = matched(kept, read_release(release), report)
    except TrajanonError as error:
        raise BadInput(f"release {entry.number}, {release}, cannot be attacked: {error}") from error
    k, _ = promise_in(report)
    return published(found.slid, found, k, person.view(np.int64), None)


def _tried(seen: Sequence[Published]) -> Attack:
    before = np.cumsum([0, *(len(one.lines) for one in seen)])
    own = [one.own_row if one.own_row is not None else one.labels >= 0 for one in seen]
    owners = np.concatenate([one.owners for one in seen])
    whole = Published(
        points=np.concatenate([one.points for one in seen]),
        lines=np.concatenate([one.lines for one in seen]),
        labels=np.concatenate([one.labels + n for one, n in zip(seen, before, strict=False)]),
        k=min(one.k for one in seen),
        subjects=np.unique(owners, return_inverse=True)[1],
        unit=seen[0].unit,
        own_row=np.concatenate(own),
    )
    found = other_tracks(whole)
    knows = f"{found.knows}, in all {len(seen)} releases together"
    return replace(found, name=f"{found.name} in all releases", knows=knows)
