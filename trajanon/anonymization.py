"""Anonymisation: trajectories -> a release and its report, on one page."""

import random
from dataclasses import asdict
from typing import Any

import numpy as np

from trajanon.align.account import account, as_cut
from trajanon.align.alignment import align as slide_to_groups
from trajanon.arrays import Floats
from trajanon.errors import BadInput, TooFewSubjects
from trajanon.files.release_lines import DIGITS, check_digits, line_numbers, unknown_attribution
from trajanon.microaggregation import microaggregate
from trajanon.partition import Partition, subjects_per_group
from trajanon.privacy.wide_groups import wide_groups
from trajanon.progress import Progress, silent
from trajanon.releases import Counted, Release, versions
from trajanon.settings import EFFORTS, Settings
from trajanon.subjects import Merged, nameless, recordings
from trajanon.suppression import Grouped, Suppression, costly, regrouped, without_tight_groups
from trajanon.suppression import account as account_of
from trajanon.trajectories import OSM_ATTRIBUTION, Trajectories
from trajanon.utility import moved_to, summary
from trajanon.utility.displacements import from_runs

COUNTS = ("subjects", "records")


def anonymize(
    trajectories: Trajectories,
    k: int,
    *,
    count: str = "subjects",
    align: bool = True,
    suppress: float = 0.0,
    min_radius: float = 0.0,
    digits: int = DIGITS,
    progress: Progress = silent,
    **options: Any,
) -> Release:
    """Replace each trajectory by the centroid of a group of at least k.

    Parameters
    ----------
    trajectories
        As `trajanon.extract` makes them.
    k
        Least number of different subjects behind each released trajectory; of records if nothing is
        known of subjects.
    count
        ``subjects``, or ``records`` to count trajectories although several may be of one subject;
        the report then says so in its first line.
    align
        Whether trajectories that know their tracks slide on these towards their groups. Losses and
        displacements are then those of the trajectories as slid, and the report also tells what
        they were before.
    suppress
        Share of the trajectories to leave out at most: those without which least is lost. The
        others are then grouped anew, and the report tells the loss with and without. If the others
        do not lose less by it, nothing is left out. After Ctrl-C they are left out of the groups
        there are.
    min_radius
        Metres: groups are left out whose members all stay within so far of the released line, which
        then is as good as any of them.
    digits
        Decimals of a degree in the release, 4 (11 m) to 7 (1 cm). Each one more makes it easier to
        tell who is in a group, for somebody who holds all other tracks. Displacements are measured
        to the lines as written.
    progress, options
        As in `trajanon.microaggregate`: ``options`` from ``method`` to ``seed``. The seed repeats
        the groups and centroids; the order of the release comes from the operating system and
        never repeats.

    Returns
    -------
    Release
        Each of its trajectories occurs at least k times.

    Raises
    ------
    BadInput
        If an option is not known, the trajectories lie on both sides of the antimeridian, or
        nothing is left.
    TooFewRecords
        If there are fewer than k trajectories.
    TooFewSubjects
        If they come from fewer than k subjects, and subjects are counted.
    """
    if count not in COUNTS:
        msg = f"count {count!r} is not known; choose from {', '.join(COUNTS)}"
        raise BadInput(msg)
    if not isinstance(align, bool):
        msg = f"align must be True or False (got {align!r})"
        raise BadInput(msg)
    settings = Settings(**options)
    check_digits(digits)
    _refuse_antimeridian(trajectories.points)
    if align and trajectories.tracks is not None:
        _refuse_antimeridian(trajectories.tracks.points)
    _refuse_unknown_attribution(trajectories.attribution)
    suppression = Suppression(suppress, min_radius)
    suppression.check()
    counts_subjects = count == "subjects" and trajectories.subject is not None

    def grouped(some: Trajectories) -> tuple[Grouped, Grouped]:
        return _grouped(some, k, counts_subjects, align, digits, settings, progress)

    cut, aligned = grouped(trajectories)
    before, declined = None, 0
    left_out = np.zeros(len(trajectories), dtype=np.bool_)
    if suppress > 0.0:
        left_out = costly(aligned, suppress, k, counts_subjects=counts_subjects)
    if left_out.any():
        found = regrouped((cut, aligned), left_out, k, grouped, counts_subjects=counts_subjects)
        if found is None:
            declined, left_out[:] = int(left_out.sum()), False
        else:
            before, (cut, aligned) = aligned, found
    alignment = account(cut, aligned)
    left, tight = aligned, np.zeros(len(trajectories), dtype=np.bool_)
    if min_radius > 0.0:
        left, tight[~left_out] = without_tight_groups(aligned, min_radius)
    tracks = left.trajectories.tracks
    if alignment is not None and tracks is not None:
        points = trajectories.points[~(left_out | tight)]
        alignment["as_cut"] = as_cut(points, left.released, left.partition.labels)
        alignment["starts"] = tracks.start.tolist()
    suppressed = account_of(suppression, left_out, tight, before, declined)
    skipped = align and trajectories.tracks is not None and cut.partition.stopped
    order = left.partition.labels.tolist()
    random.SystemRandom().shuffle(order)
    return Release(
        Trajectories(
            points=left.released[order], provenance={"attribution": trajectories.attribution}
        ),
        _report(left, k, counts_subjects, alignment, suppressed, skipped=skipped),
    )


def _grouped(
    trajectories: Trajectories,
    k: int,
    counts_subjects: bool,
    align: bool,
    digits: int,
    settings: Settings,
    progress: Progress,
) -> tuple[Grouped, Grouped]:
    """Group trajectories as they were cut, and as they slid, if they may."""
    try:
        partition = microaggregate(
            trajectories.records,
            k,
            subjects=trajectories.subject if counts_subjects else None,
            progress=progress,
            **asdict(settings),
        )
    except TooFewSubjects as error:
        msg = f"{error}, or count trajectories with --count records"
        raise TooFewSubjects(msg) from error
    cut = Grouped(trajectories, partition, digits)
    if not align or partition.stopped:
        return cut, cut
    slid = _align(trajectories, partition, k, counts_subjects, settings, progress)
    return cut, Grouped(*slid, digits)


def _align(
    trajectories: Trajectories,
    partition: Partition,
    k: int,
    counts_subjects: bool,
    settings: Settings,
    progress: Progress,
) -> tuple[Trajectories, Partition]:
    """Slide trajectories to their groups, with the options of the search for these."""
    annealed = settings.refine == "anneal"
    return slide_to_groups(
        trajectories,
        partition,
        k,
        subjects=trajectories.subject if counts_subjects else None,
        regroup=settings.refine != "none",
        moves_per_record=EFFORTS[settings.effort].moves_per_record * annealed,
        seed=settings.seed,
        progress=progress,
    )


def _refuse_unknown_attribution(attribution: str | None) -> None:
    if attribution is not None and (unknown := unknown_attribution(attribution)):
        msg = (
            f"the trajectories carry {unknown[0]}, and a release holds no text but "
            f"{OSM_ATTRIBUTION!r}: extract them again without it"
        )
        raise BadInput(msg)


def _refuse_antimeridian(points: Floats) -> None:
    longitude = points[..., 1]
    if longitude.size and np.ptp(longitude) > 180.0:
        msg = (
            "the trajectories span more than 180 degrees of longitude, which cannot be "
            "averaged across the antimeridian: anonymise smaller areas on their own"
        )
        raise BadInput(msg)


def _report(
    grouped: Grouped,
    k: int,
    counts_subjects: bool,
    alignment: dict[str, Any] | None,
    suppressed: dict[str, Any] | None,
    *,
    skipped: bool,
) -> dict[str, Any]:
    trajectories, partition, digits = grouped
    released, tracks = grouped.released, trajectories.tracks
    moved = moved_to(trajectories.points, released, partition.labels)
    line = line_numbers(released)
    together = [np.flatnonzero(line == one) for one in np.flatnonzero(np.bincount(line) > 1)]
    sizes = partition.sizes
    subjects = trajectories.subject
    per_group = None if subjects is None else subjects_per_group(partition.labels, subjects)
    counted = Counted(
        k=k,
        by_subjects=counts_subjects,
        known=per_group is not None,
        groups=len(sizes),
        few=0 if per_group is None else int((per_group < k).sum()),
        nameless=nameless(trajectories.provenance),
        read=recordings(trajectories.provenance),
    )
    return {
        "notice": counted.notice,
        "n": len(trajectories),
        "k": k,
        "counted": counted.word,
        "digits": digits,
        "groups": len(sizes),
        "lines": int(line.max()) + 1,
        "information_loss": partition.information_loss,
        "stages": [stage.account for stage in partition.stages],
        "stopped": partition.stopped,
        "displacement": summary(moved),
        "from_runs": (
            None if tracks is None else summary(from_runs(tracks, released, partition.labels))
        ),
        "alignment": alignment,
        "alignment_skipped": skipped,
        "suppressed": suppressed,
        "subject_names_merged": Merged.told_by(trajectories.provenance)._asdict(),
        "wide": wide_groups(
            trajectories.points, partition.labels, k, subjects, counts_subjects=counts_subjects
        ),
        "attribution": trajectories.attribution,
        "versions": versions(),
        "sizes": sizes.tolist(),
        "subjects_per_group": None if per_group is None else per_group.tolist(),
        "labels": partition.labels.tolist(),
        "groups_of_equal_lines": [groups.tolist() for groups in together],
    }
