"""Evaluation: originals, release and report -> the evidence, on one page."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import partial
from typing import Any

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.evaluation.evidence import AS_SLID, MDAV, NOTHING, NOTICE, RELEASE, SLID, Evidence
from trajanon.evaluation.pages import datasheet, page
from trajanon.evaluation.price import price
from trajanon.evaluation.verdict import verdict
from trajanon.files.report import checked, promise_in, released_of
from trajanon.loss import group_means, loss_to
from trajanon.microaggregation import microaggregate
from trajanon.partition import broken_promises, dense
from trajanon.privacy.attack import Attack
from trajanon.privacy.diversity import diversity
from trajanon.privacy.findings import Findings
from trajanon.privacy.originals import Matched, matched
from trajanon.privacy.published import Published
from trajanon.privacy.source_order import by_line, find_source_order
from trajanon.privacy.suite import attacks
from trajanon.progress import Progress, silent
from trajanon.releases import Release, with_report
from trajanon.subjects import nameless
from trajanon.trajectories import Trajectories
from trajanon.utility.shape import length_change
from trajanon.utility.usefulness import ROAD, ToRoad, share_on_roads, usefulness


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation(Evidence):
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
        Their numbers; ``subjects`` is None if nothing is known of them.
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
            "price": None if self.price is None else [asdict(paid) for paid in self.price],
            "attacks": [attack.account for attack in self.attacks],
            "diversity": self.diversity.account,
            "diversity_as_slid": self.diversity_as_slid.account,
            "length_kept": self.length_kept,
            "utility": {name: asdict(one) for name, one in self.usefulness.items()},
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
    step = partial(progress, "Evaluating")
    step(0, 5)
    kept = released_of(trajectories, told)
    found = matched(kept, release.points, told)
    subjects = None if kept.subject is None else dense(kept.subject)
    as_cut = Published(kept.points, found.lines, found.labels, k, subjects)
    as_slid = None if found.slid is kept else replace(as_cut, points=found.slid.points)
    step(1, 5, "attacks")
    attacked = _attacks(as_cut, as_slid)
    step(2, 5, "diversity")
    diverse = diversity(as_cut)
    diverse_as_slid = diverse if as_slid is None else diversity(as_slid)
    step(3, 5, "MDAV")
    mdav = _by_mdav(kept.records, k, subjects if counted == "subjects" else None)
    ways = _ways(as_cut, as_slid, mdav)
    step(4, 5, "utility")
    few = None if subjects is None else broken_promises(found.labels, subjects, k)
    problems = None
    if findings is not None:
        rows = by_line(release.points, found.lines, found.labels)
        problems = [*findings.problems, *find_source_order(*rows)]
    return Evaluation(
        file=file,
        date=date.today(),
        area=_area(release.points),
        spacing=_spacing(kept),
        k=k,
        counted=counted,
        trajectories=len(kept),
        points=kept.points.shape[1],
        subjects=None if subjects is None else int(subjects.max()) + 1,
        left_out=len(trajectories) - len(kept),
        nameless=nameless(kept.provenance),
        sizes=as_cut.sizes,
        violations={"records": int((as_cut.sizes < k).sum()), "subjects": few},
        problems=problems,
        loss={
            name: loss_to(*(each.reshape(len(each), -1) for each in pair))
            for name, pair in ways.items()
        },
        usefulness={
            name: usefulness(*pair, tracks=kept.tracks, to_road=to_road, seed=seed)
            for name, pair in ways.items()
        },
        length_kept=_length_kept(found),
        price=None if subjects is None else price(kept.records, k, subjects),
        attacks=attacked,
        diversity=diverse,
        diversity_as_slid=diverse_as_slid,
        roads_before=None if to_road is None else share_on_roads(kept.points, to_road, ROAD),
        report=told,
    )


def _attacks(as_cut: Published, as_slid: Published | None) -> list[Attack]:
    """Run all attacks: on the release, there also from windows as slid, and on the originals."""
    done = attacks(as_cut)
    order = [one.name for one in done]
    if as_slid is not None:
        done += [
            replace(one, name=one.name + SLID, knows=f"{one.knows}, as windows slid")
            for one in attacks(as_slid)
        ]
    done += attacks(as_cut.originals)
    return sorted(done, key=lambda one: order.index(one.name.removesuffix(SLID)))


def _by_mdav(records: Floats, k: int, subjects: Ints | None) -> Floats | None:
    """What MDAV would release for each original; None where no k can be grouped."""
    different = len(records) if subjects is None else int(subjects.max()) + 1
    if different < k:
        return None
    return microaggregate(records, k, method="mdav", refine="none", subjects=subjects).aggregated


def _ways(
    as_cut: Published, as_slid: Published | None, mdav: Floats | None
) -> dict[str, tuple[Floats, Floats]]:
    """Originals and what stands for them, for each way to publish."""
    original, released = as_cut.points, as_cut.lines[as_cut.labels]
    ways = {RELEASE: (original, released)}
    if as_slid is not None:
        ways[AS_SLID] = (as_slid.points, released)
    if mdav is not None:
        ways[MDAV] = (original, mdav.reshape(original.shape))
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
