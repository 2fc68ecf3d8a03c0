"""All releases that a ledger knows, attacked as one."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from trajanon.errors import BadInput, TrajanonError
from trajanon.evaluation.adversaries import published
from trajanon.files.release import read_release
from trajanon.files.report import checked, kept_in, promise_in, read_report, released_of
from trajanon.files.trajectories import read_marks, read_trajectories
from trajanon.privacy.attack import Attack, Published
from trajanon.privacy.ledger import Entry, opened
from trajanon.privacy.linkage import other_tracks
from trajanon.privacy.originals import matched


def attacks_in_all(ledger: str | os.PathLike[str], *, subjects_exact: bool = False) -> list[Attack]:
    """Let who knows half of a person's trajectories look for the others in all releases together.

    Parameters
    ----------
    ledger
        Knows the releases; their originals, and their reports, must be where they were.
    subjects_exact
        Whether subjects whose names differ only in upper and lower case are different ones.

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
        told = " and ".join(map(str, sorted(sizes)))
        raise BadInput(f"the releases of {ledger} have lines of {told} points, and are not alike")
    return [_tried(seen)]


def _seen(entry: Entry, *, subjects_exact: bool) -> Published:
    """What an adversary sees of a release; people have the same number in all."""
    release, originals = Path(entry.told["release"]), entry.told["originals"]
    try:
        report = checked(read_report(release))
        trajectories = read_trajectories(originals, subjects_exact=subjects_exact)
        kept = released_of(trajectories, report)
        person = read_marks(originals, subjects_exact=subjects_exact)[:, 0]
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
