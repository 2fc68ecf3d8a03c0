"""The page for the holder, and the datasheet to be published beside a release."""

from itertools import groupby
from typing import Any

import numpy as np

from trajanon.arrays import Floats
from trajanon.evaluation.evidence import AS_SLID, NOTICE, RELEASE, SLID, Evidence
from trajanon.evaluation.templates import rendered
from trajanon.evaluation.verdict import verdict
from trajanon.files.report import digits_in
from trajanon.settings import METHOD_NAMES, REFINEMENT_NAMES
from trajanon.trajectories import OSM_ATTRIBUTION
from trajanon.utility.usefulness import DENSITY_CELL, FLOW_CELL, QUERIES, ROAD, SIDES
from trajanon.words import STAGES

_BINS = 30


def page(evidence: Evidence) -> str:
    """Write the page: whole in itself, and without network."""
    tried = (one for one in evidence.attacks if len(one.targets))
    # By name: on the release, from windows as slid, and on the originals.
    alike = groupby(tried, lambda one: one.name.removesuffix(SLID))
    return rendered(
        "page.html",
        notice=NOTICE,
        evaluation=evidence,
        verdict=verdict(evidence),
        median=float(np.median(evidence.sizes)),
        attacks=[(name, list(group)) for name, group in alike],
        histogram=_histogram,
        road=ROAD,
        flow_cell=FLOW_CELL,
        density_cell=DENSITY_CELL,
        queries=QUERIES,
        sides=SIDES,
    )


def datasheet(evidence: Evidence) -> str:
    """Write the datasheet.

    It holds nothing that a release may not: no names or files of the originals, no times, no places
    but the area of the released lines, and no number of a single trajectory.
    """
    # Words of the report that no step of trajanon has are not repeated.
    names = [stage["name"] for stage in evidence.report["stages"]]
    known = {*STAGES, *METHOD_NAMES, *REFINEMENT_NAMES}
    steps = dict.fromkeys(STAGES.get(name, name) for name in names if name in known)
    return rendered(
        "datasheet.md",
        evaluation=evidence,
        steps=list(steps) or ["microaggregation"],
        digits=digits_in(evidence.report),
        in_file=RELEASE,
        as_slid=AS_SLID,
        openstreetmap=OSM_ATTRIBUTION,
    )


def _histogram(values: Floats) -> dict[str, Any]:
    """How often values occur, up to their 99th percentile."""
    most = float(np.percentile(values, 99)) or 1.0
    counts, _ = np.histogram(np.minimum(values, most), bins=_BINS, range=(0, most))
    return {"counts": counts.tolist(), "most": most}
