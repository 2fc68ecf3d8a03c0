"""Groups of windows, aligned, and what must hold of them."""

from collections import Counter
from typing import Any

import naive
import numpy as np
import pytest
from hypothesis import strategies as st
from naive_sliding import room, tracks_of

import trajanon
from trajanon.common.arrays import Floats, Ints, renumbered
from trajanon.common.effort_of_the_search import Effort
from trajanon.common.progress import Progress, silent
from trajanon.grouping.microaggregation import microaggregate
from trajanon.grouping.partition import Partition
from trajanon.grouping.problem import Problem
from trajanon.grouping.refinements.annealing import MOVES_PER_PASS
from trajanon.grouping.sliding.alignment import WindowLog, align, search_windows
from trajanon.grouping.sliding.possible_starts import Aligned, build_windows
from trajanon.trajectories.distances import displacement
from trajanon.trajectories.tracks import STEPS
from trajanon.trajectories.trajectories import Trajectories

seeds = st.integers(0, 10**6)
ROUNDING = 0.02  # metres: a release has seven decimals of a degree


def cut(trajectories: Trajectories, k: int, **options: Any) -> Partition:
    """Groups of windows as they were cut."""
    chosen = {"method": "mdav", "refine": "none"} | options
    return microaggregate(trajectories.records, k, subjects=trajectories.subject, **chosen)


def aligned(
    trajectories: Trajectories,
    partition: Partition,
    k: int,
    *,
    regroup: bool = True,
    moves: int = 4 * MOVES_PER_PASS,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[Trajectories, Partition]:
    return align(
        trajectories,
        partition,
        k,
        subjects=trajectories.subject,
        moves_per_record=moves if regroup else None,
        seed=seed,
        progress=progress,
    )


def searched(
    before: Trajectories,
    labels: Ints,
    k: int,
    *,
    moves: int = 0,
    seed: int = 0,
    regroup: bool = True,
) -> WindowLog:
    """What a search among windows alone finds."""
    windows = build_windows(tracks_of(before), before.points.shape[1])
    log = WindowLog(windows, Aligned(tracks_of(before).start, labels))
    whose = before.subject
    problem = Problem(
        records=np.empty((len(before), 0)),
        subjects=np.arange(len(before)) if whose is None else renumbered(whose),
        k=k,
        random=np.random.default_rng(seed),
        budget=Effort(moves_per_record=moves),
        log=log,
    )
    search_windows(problem, log, regroup=regroup)
    return log


def mean_metres(trajectories: Trajectories, partition: Partition) -> float:
    points = trajectories.points
    released = partition.aggregated.reshape(points.shape)
    return float(displacement(points, released).mean())


def lines(points: Floats) -> Counter[bytes]:
    return Counter(line.tobytes() for line in points)


def lie_well(before: Trajectories, after: Trajectories) -> bool:
    """Whether windows only slid: each on its run, in order, and apart as it must be."""
    tracks, slid = tracks_of(before), tracks_of(after)
    n, m, _ = before.points.shape
    assert after.points.shape == (n, m, 2)
    for name in ("points", "first", "run"):
        assert np.array_equal(getattr(slid, name), getattr(tracks, name))
    for name in ("subject", "trace", "provenance"):
        assert getattr(after, name) is getattr(before, name)
    for x, points in enumerate(after.points):
        a, b = tracks.first[tracks.run[x] :][:2]
        run = tracks.points[a:b]
        begin = int(slid.start[x])
        assert np.array_equal(points, run[begin : begin + STEPS * m - 3 : STEPS])
    return room(tracks, m, slid.start)


def same_but_for_order(one: trajanon.Release, other: trajanon.Release) -> bool:
    """Whether two releases and reports are equal, bit for bit, but for seconds."""
    reports = []
    for release in (one, other):
        report = dict(release.report)
        stages = [{**stage, "seconds": 0.0} for stage in report["stages"]]
        reports.append(report | {"stages": stages})
    assert reports[0] == reports[1]
    assert list(one.report) == list(other.report)
    points = [lines(release.trajectories.points) for release in (one, other)]
    assert points[0] == points[1]
    return True


def loses_what_it_says(trajectories: Trajectories, partition: Partition) -> bool:
    """Whether losses and centroids are those of these windows, from scratch."""
    records, labels = trajectories.records, partition.labels
    exact = naive.standardise(records)
    lost, total = naive.sse(exact, labels), float((exact**2).sum())
    assert partition.sse == pytest.approx(lost, rel=1e-8, abs=1e-8)
    assert partition.sst == pytest.approx(total, rel=1e-9)
    loss = 100 * lost / total if total else 0.0
    assert partition.information_loss == pytest.approx(loss, rel=1e-8, abs=1e-8)
    assert np.array_equal(labels, renumbered(labels))
    assert len(partition.centroids) == labels.max() + 1
    for group, centroid in enumerate(partition.centroids):
        members = records[labels == group]
        mean = members[0] + (members - members[0]).mean(axis=0)
        np.testing.assert_allclose(centroid, mean, rtol=1e-15)
    return True


def bits(found: tuple[Trajectories, Partition]) -> tuple[bytes, ...]:
    """All that a search gives, to the last bit."""
    after, partition = found
    parts = after.points, partition.labels, partition.centroids
    return *(part.tobytes() for part in parts), repr(partition.sse).encode()
