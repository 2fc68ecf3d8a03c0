"""Evaluation: originals, release and report -> the evidence, on one page."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cache, partial
from typing import Any

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.evaluation.adversaries import patient, published, timing_in
from trajanon.evaluation.curve import curve as curve_of
from trajanon.evaluation.curve import options_in
from trajanon.evaluation.evidence import MDAV, NOTHING, RELEASE, Evaluation, Price
from trajanon.evaluation.holdout import drawn, hold_out
from trajanon.files.report import checked, key_in, promise_in, released_of
from trajanon.loss import group_means, loss_to
from trajanon.microaggregation import microaggregate
from trajanon.partition import Partition, broken_promises, check_k, dense, regrouped
from trajanon.privacy.attack import Attack, Published
from trajanon.privacy.chains import chains
from trajanon.privacy.companions import companions
from trajanon.privacy.findings import Findings
from trajanon.privacy.inference import diversity, inferred
from trajanon.privacy.linkage import attacks
from trajanon.privacy.originals import Matched, matched
from trajanon.progress import Progress, silent
from trajanon.released_lines import TrajectoryGroups
from trajanon.releases import Release, with_report
from trajanon.subjects import nameless
from trajanon.timing import Timing, seen_by
from trajanon.trajectories import Trajectories
from trajanon.utility.displacements import length_change
from trajanon.utility.times import Seconds
from trajanon.utility.usefulness import ROAD, ToRoad, share_on_roads, usefulness

_METHODS: dict[str, dict[str, Any]] = {
    MDAV: {"method": "mdav", "refine": "none"},
    "path, cut and descent": {"effort": "fast"},
}
"""Methods that measure what counting subjects costs; MDAV is also compared with the release."""

Grouped = Callable[[str, bool], Partition]
"""Groups of k by a method, either of records or of subjects."""


def evaluate(
    trajectories: Trajectories,
    release: Release | Trajectories,
    report: Mapping[str, Any] | None = None,
    *,
    file: str | None = None,
    findings: Findings | None = None,
    to_road: ToRoad | None = None,
    seed: int = 0,
    curve: Sequence[int] = (),
    holdout: bool = False,
    in_all: Sequence[Attack] = (),
    progress: Progress = silent,
) -> Evaluation:
    """Measure what a release protects, and what it costs.

    Everything is measured against what was averaged: the trajectories in the file, or where windows
    slid on their tracks, the pieces to which they slid. Where times were released, other groups are
    also made with the departure as one column more, and adversaries also know hours.

    Parameters
    ----------
    trajectories
        The originals.
    release
        What `trajanon.anonymize` gave; or what was released, in any order.
    report
        The holder's report, if the release comes without.
    file
        Name of the released file, for the page and the datasheet.
    findings
        What `trajanon.check` found in the released file, for the verdict.
    to_road
        Gives metres to the nearest road, called with latitudes, longitudes and a limit, as
        ``trajanon.extract.roads(pbf).distance``.
    seed
        Repeats the random boxes, which groups are tried, and which subjects are held out.
    curve
        Each k to anonymize with anew, as the report tells, to set metres beside the chance of the
        best attack.
    holdout
        Whether to anonymize half of the subjects anew, as the report tells, and to measure what
        that tells of them beside the other half.
    in_all
        Attacks on all releases of a ledger, as `trajanon.evaluation.series.attacks_in_all` runs
        them, to stand beside those on this one.
    progress
        Told what is being done.

    Raises
    ------
    BadInput
        If the three do not belong together, a k of the curve is below 2, or there are too few
        subjects to hold out half of them.

    Examples
    --------
    Two people go along each of two roads. An adversary knows both ends of a target's trajectory.
    Among the originals he finds it; in the release two rows are equally near, and he has to guess:

    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> trajectories = trajanon.Trajectories(points, subject=np.arange(4))
    >>> release = trajanon.anonymize(trajectories, k=2)
    >>> evidence = trajanon.evaluate(trajectories, release)
    >>> for attack in evidence.attacks:
    ...     if attack.name == "both ends, nearest":
    ...         print(attack.against, attack.expected)
    release 0.5
    originals 1.0
    """
    release, report = with_report(release, report)
    for each in curve:
        check_k(each)
    told = checked(report)
    k, counted = promise_in(told)
    step = partial(progress, "Evaluating")
    step(0, 5)
    in_file = released_of(trajectories, told)
    if holdout:
        drawn(in_file, k)  # refuses too few before anything is measured
    found = matched(in_file, release, told)
    kept = found.slid
    subjects = None if kept.subject is None else dense(kept.subject)
    people = None if subjects is None else int(subjects.max()) + 1
    timing = timing_in(told)
    seen = published(kept, found, k, subjects, timing)
    records, weights = seen_by(kept, timing)

    @cache
    def grouped(method: str, by_subjects: bool) -> Partition:
        of = subjects if by_subjects else None
        return microaggregate(records, k, subjects=of, weights=weights, **_METHODS[method])

    step(1, 5, "attacks")
    tried = [*attacks(seen), *in_all, *attacks(seen.originals)]
    spacing = _spacing(kept)
    held = companions(seen, kept.tracks, spacing=spacing, seed=seed)
    verified, rebuilt = patient(seen, kept.tracks, told, spacing=spacing, seed=seed)
    chained = chains(seen, kept.tracks)
    step(2, 5, "diversity")
    diverse = diversity(seen)
    step(3, 5, "MDAV")
    ways = {RELEASE: seen}
    if k <= (people if people is not None and counted == "subjects" else len(kept)):
        mdav = grouped(MDAV, counted == "subjects")
        ways[MDAV] = _in_groups(seen, kept, mdav, key_in(told), timing)
    ways[NOTHING] = seen.originals
    step(4, 5, "utility")
    ends = kept.true_ends
    useful = partial(usefulness, tracks=kept.tracks, true_ends=ends, to_road=to_road, seed=seed)
    return Evaluation(
        file=file,
        date=date.today(),
        area=area_of(release.points),
        unit=kept.unit,
        spacing=spacing,
        k=k,
        counted=counted,
        trajectories=len(kept),
        points=kept.points.shape[1],
        subjects=people,
        left_out=len(trajectories) - len(kept),
        nameless=nameless(kept.provenance),
        sizes=seen.sizes,
        rows=seen.rows,
        violations={
            "records": int((seen.sizes < k).sum()),
            "subjects": None if subjects is None else broken_promises(found.labels, subjects, k),
        },
        problems=None if findings is None else findings.problems,
        clock=None if timing is None else timing.clock,
        loss={name: loss_to(way.points, way.lines, way.labels) for name, way in ways.items()},
        usefulness={
            name: useful(way.points, way.lines[way.labels], seconds=_seconds(way, timing))
            for name, way in ways.items()
        },
        length_kept=_length_kept(found),
        price=None if subjects is None else _price(grouped, k, subjects),
        attacks=_by_name(tried),
        companions=held,
        cascade=verified,
        rebuilding=rebuilt,
        chained=chained,
        inferred=inferred(seen),
        curve=curve_of(in_file, curve, progress=progress, **options_in(told)) if curve else None,
        holdout=hold_out(in_file, told, seed=seed, progress=progress) if holdout else None,
        diversity=diverse,
        roads_before=None if to_road is None else share_on_roads(kept.points, to_road, ROAD),
        report=told,
    )


def _in_groups(
    seen: Published,
    kept: Trajectories,
    partition: Partition,
    key: bytes | None,
    timing: Timing | None,
) -> Published:
    """Publish the same trajectories in other groups."""
    of_places = regrouped(partition, kept.records, partition.labels)
    groups = TrajectoryGroups(kept, of_places, key, timing)
    return replace(
        seen,
        lines=groups.released,
        labels=partition.labels,
        line_times=groups.released_times,
        own_row=None,
    )


def _seconds(way: Published, timing: Timing | None) -> Seconds | None:
    """When the originals and their lines are at their points; None where no times are published."""
    if timing is None or way.times is None or way.line_times is None:
        return None
    return Seconds(way.times, way.line_times[way.labels], timing.clock)


def _price(grouped: Grouped, k: int, subjects: Ints) -> list[Price]:
    prices = []
    for method in _METHODS if k <= subjects.max() + 1 else ():
        of_records, of_subjects = (grouped(method, by_subjects) for by_subjects in (False, True))
        few = broken_promises(of_records.labels, subjects, k)
        losses = of_records.information_loss, of_subjects.information_loss
        prices.append(Price(method, *losses, few, len(of_records.sizes)))
    return prices


def _by_name(tried: Sequence[Attack]) -> list[Attack]:
    """Sort attacks: each on the release, then on the originals."""
    order = list(dict.fromkeys(one.name for one in tried))
    return sorted(tried, key=lambda one: order.index(one.name))


def _length_kept(found: Matched) -> float:
    means = group_means(found.slid.records, found.labels)[found.labels]
    lines = means.reshape(found.slid.points.shape)
    return 1.0 + float(length_change(found.slid.points, lines).mean())


def area_of(points: Floats) -> tuple[float, float, float, float]:
    """West, south, east and north of points, rounded outward."""
    places = points.reshape(-1, 2)
    south, west = (np.floor(places.min(axis=0) * 100.0) / 100.0).tolist()
    north, east = (np.ceil(places.max(axis=0) * 100.0) / 100.0).tolist()
    return west, south, east, north


def _spacing(trajectories: Trajectories) -> float | None:
    """Metres between points, where the file tells and says a number."""
    told = trajectories.provenance.get("spacing")
    if isinstance(told, bool) or not isinstance(told, int | float):
        return None
    return float(told) if 0.0 < told < np.inf else None
