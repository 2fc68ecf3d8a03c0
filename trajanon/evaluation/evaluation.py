"""Evaluation: originals, release and report -> the evidence, on one page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.evaluation.datasheet import datasheet
from trajanon.evaluation.names import AS_SLID, MDAV, NOTHING, NOTICE, RELEASE, SLID
from trajanon.evaluation.page import page
from trajanon.evaluation.price import Price, price
from trajanon.evaluation.verdict import verdict
from trajanon.files.report import Report, checked, promise_in, released_of
from trajanon.loss import group_means, loss_to
from trajanon.microaggregation import microaggregate
from trajanon.partition import dense, subjects_per_group
from trajanon.privacy.attack import Attack
from trajanon.privacy.diversity import Diversity, diversity
from trajanon.privacy.findings import Findings
from trajanon.privacy.originals import Matched, matched
from trajanon.privacy.source_order import by_line, told_by_source_order
from trajanon.privacy.suite import attacks, attacks_on_release
from trajanon.progress import Progress, silent
from trajanon.releases import Release, too_few, with_report
from trajanon.subjects import nameless
from trajanon.trajectories import Trajectories
from trajanon.utility.shape import length_change
from trajanon.utility.usefulness import ROAD, ToRoad, Usefulness, share_on_roads, usefulness


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What a release protects, and what it costs.

    Attributes
    ----------
    file
        Name of the released file; None if it is not known.
    date
        The day of the evaluation.
    area
        West, south, east and north of the released lines, in degrees, rounded outward to
        hundredths.
    spacing
        Metres between the points of a trajectory; None if they are not known.
    k
        The promise, and what it ``counted``: subjects, or records.
    trajectories, points, subjects
        How many there are; ``subjects`` is None if nothing is known of them.
    left_out
        Trajectories of the file that the release leaves out; nothing here is of them.
    nameless
        Recordings that name no subject, and count as one each.
    sizes
        Trajectories in each group, shape (g,).
    violations
        Groups of fewer than k ``records``, and of fewer than k ``subjects`` (None if nothing is
        known of them).
    problems
        What the checker found in the released file, a sentence each; None if no file was looked at.
    loss
        IL in percent of each way to publish, by its name.
    usefulness
        What each way to publish leaves, by its name: this release, also measured on the windows as
        slid if they were; MDAV of the same k and subjects, where there are enough; no protection.
    length_kept
        Mean share of its length that a trajectory keeps in the mean of its group, before the
        rounding, whose steps make short lines longer.
    price
        What counting subjects costs; None where nothing is known of them.
    attacks
        In the order in which to show them.
    diversity
        What the members of the groups have in common: in the file, and as they slid; the same, if
        none did.
    roads_before
        Share of the originals' points on roads; None where no roads are given.
    report
        The holder's report of the release.
    """

    file: str | None
    date: date
    area: tuple[float, float, float, float]
    spacing: float | None
    k: int
    counted: str
    trajectories: int
    points: int
    subjects: int | None
    left_out: int
    nameless: int
    sizes: Ints
    violations: Mapping[str, int | None]
    problems: Sequence[str] | None
    loss: Mapping[str, float]
    usefulness: Mapping[str, Usefulness]
    length_kept: float
    price: Sequence[Price] | None
    attacks: Sequence[Attack]
    diversity: Diversity
    diversity_as_slid: Diversity
    roads_before: float | None
    report: Report

    @property
    def holds(self) -> bool:
        """Whether k stand behind each line, and nothing else is in the file.

        k different subjects, if anything is known of them: also where the report promises records
        alone.
        """
        few = self.violations["subjects"]
        if few is None and self.counted == "records":
            few = self.violations["records"]
        return not self.problems and few == 0

    @property
    def too_few(self) -> str:
        """Say how many groups are too small; empty if none is."""
        records, people = self.violations["records"], self.violations["subjects"]
        return too_few(self.k, len(self.sizes), records=records, people=people)

    @property
    def aligned(self) -> bool:
        """Whether windows slid before they were averaged."""
        return AS_SLID in self.usefulness

    @property
    def verdict(self) -> list[tuple[str, str]]:
        """The verdict: sentences, each with ``good``, ``caution`` or ``bad``."""
        return verdict(self)

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON: nothing of single trajectories, subjects or groups."""
        return {
            "notice": NOTICE,
            "file": self.file,
            "date": self.date.isoformat(),
            "area": list(self.area),
            "spacing": self.spacing,
            "holds": self.holds,
            "verdict": [sentence for _, sentence in self.verdict],
            "k": self.k,
            "counted": self.counted,
            "trajectories": self.trajectories,
            "points": self.points,
            "subjects": self.subjects,
            "left_out": self.left_out,
            "nameless": self.nameless,
            "groups": len(self.sizes),
            "sizes": {
                "min": int(self.sizes.min()),
                "median": float(np.median(self.sizes)),
                "max": int(self.sizes.max()),
            },
            "violations": dict(self.violations),
            "problems": None if self.problems is None else list(self.problems),
            "information_loss": dict(self.loss),
            "price": (None if self.price is None else [paid.account for paid in self.price]),
            "attacks": [attack.account for attack in self.attacks],
            "diversity": self.diversity.account,
            "diversity_as_slid": self.diversity_as_slid.account,
            "length_kept": self.length_kept,
            "utility": {name: one.account for name, one in self.usefulness.items()},
            "roads_before": self.roads_before,
            "attribution": self.report.get("attribution"),
        }

    @property
    def html(self) -> str:
        """A page for the holder, whose first line says so; it asks for no network."""
        return page(self)

    @property
    def datasheet(self) -> str:
        """A page of Markdown to be published beside the release."""
        return datasheet(self)


def evaluate(
    trajectories: Trajectories,
    release: Release | Trajectories,
    report: Mapping[str, Any] | None = None,
    *,
    file: str | None = None,
    findings: Findings | None = None,
    to_road: ToRoad | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Evaluation:
    """Measure what a release protects, and what it costs.

    Everything is measured against the trajectories as they stand in the file. Where they slid on
    their tracks before they were averaged, everything is also measured against the windows as slid:
    these are what the released lines tell of.

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
        Repeats the random boxes.
    progress
        Told what is being done.

    Raises
    ------
    BadInput
        If the three do not belong together.
    """
    release, report = with_report(release, report)
    told = checked(report)
    k, counted = promise_in(told)
    task, steps = "Evaluating", 5
    progress(task, 0, steps)
    all_of_them = len(trajectories)
    trajectories = released_of(trajectories, told)
    found = matched(trajectories, release.points, told)
    labels, subjects = found.labels, None
    if trajectories.subject is not None:
        subjects = dense(trajectories.subject)
    original = trajectories.points
    progress(task, 1, steps, "attacks")
    attacked = _attacks(trajectories, found, k, subjects)
    progress(task, 2, steps, "diversity")
    diverse = diverse_as_slid = diversity(original, found.lines, labels)
    if found.slid is not trajectories:
        diverse_as_slid = diversity(found.slid.points, found.lines, labels)
    progress(task, 3, steps, "MDAV")
    by_subject = subjects if counted == "subjects" else None
    ways = _ways(trajectories, found, _by_mdav(trajectories, k, by_subject))
    progress(task, 4, steps, "utility")
    sizes = np.bincount(labels)
    return Evaluation(
        file=file,
        date=date.today(),
        area=_area(release.points),
        spacing=_spacing(trajectories),
        k=k,
        counted=counted,
        trajectories=len(trajectories),
        points=original.shape[1],
        subjects=None if subjects is None else int(subjects.max()) + 1,
        left_out=all_of_them - len(trajectories),
        nameless=nameless(trajectories.provenance),
        sizes=sizes,
        violations={
            "records": int((sizes < k).sum()),
            "subjects": (
                None if subjects is None else int((subjects_per_group(labels, subjects) < k).sum())
            ),
        },
        problems=(
            None
            if findings is None
            else [
                *findings.problems,
                *told_by_source_order(*by_line(release.points, found.lines, labels)),
            ]
        ),
        loss={
            name: loss_to(*(each.reshape(len(each), -1) for each in pair))
            for name, pair in ways.items()
        },
        usefulness={
            name: usefulness(*pair, tracks=trajectories.tracks, to_road=to_road, seed=seed)
            for name, pair in ways.items()
        },
        length_kept=_length_kept(found),
        price=None if subjects is None else price(trajectories.records, k, subjects),
        attacks=attacked,
        diversity=diverse,
        diversity_as_slid=diverse_as_slid,
        roads_before=(None if to_road is None else share_on_roads(original, to_road, ROAD)),
        report=told,
    )


def _attacks(
    trajectories: Trajectories, found: Matched, k: int, subjects: Ints | None
) -> list[Attack]:
    """Run all attacks; where windows slid, those on the release also from these."""
    groups = (found.lines, found.labels, k)
    done = attacks(trajectories.points, *groups, subjects=subjects)
    if found.slid is trajectories:
        return done
    from_slid = {
        one.name: replace(one, name=one.name + SLID, knows=f"{one.knows}, as windows slid")
        for one in attacks_on_release(found.slid.points, *groups, subjects=subjects)
    }
    shown = []
    for one in done:
        shown.append(one)
        if one.against == "release":
            shown.append(from_slid[one.name])
    return shown


def _by_mdav(trajectories: Trajectories, k: int, subjects: Ints | None) -> Floats | None:
    """What MDAV would release for each original; None where no k can be grouped."""
    different = len(trajectories) if subjects is None else int(subjects.max()) + 1
    if different < k:
        return None
    partition = microaggregate(
        trajectories.records, k, method="mdav", refine="none", subjects=subjects
    )
    return partition.aggregated.reshape(trajectories.points.shape)


def _ways(
    trajectories: Trajectories, found: Matched, mdav: Floats | None
) -> dict[str, tuple[Floats, Floats]]:
    """Originals and what stands for them, for each way to publish."""
    original, released = trajectories.points, found.lines[found.labels]
    ways = {RELEASE: (original, released)}
    if found.slid is not trajectories:
        ways[AS_SLID] = (found.slid.points, released)
    if mdav is not None:
        ways[MDAV] = (original, mdav)
    return {**ways, NOTHING: (original, original)}


def _length_kept(found: Matched) -> float:
    means = group_means(found.slid.records, found.labels)[found.labels]
    lines = means.reshape(found.slid.points.shape)
    return 1.0 + float(length_change(found.slid.points, lines).mean())


def _area(points: Floats) -> tuple[float, float, float, float]:
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
