"""Kernels of the usual search and of evaluation, compiled on all cores before they are needed."""

import atexit
import gc
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from threading import Event

import numpy as np

from trajanon._kernels.compiled import Kernel
from trajanon._kernels.far_records import farthest_left
from trajanon._kernels.group_moves import creation_pass, group_pass
from trajanon._kernels.groups import refresh_centroids
from trajanon._kernels.known_points import attack_targets
from trajanon._kernels.random_moves import make_random_moves
from trajanon._kernels.record_moves import record_pass
from trajanon._kernels.slide_moves import slide_pass
from trajanon._kernels.tour_moves import shorten
from trajanon._kernels.window_records import find_meetings
from trajanon.align.alignment import WindowLog, search_windows, window_field
from trajanon.align.sliding import anneal_windows, work_in_blocks
from trajanon.align.windows import Aligned, build_windows
from trajanon.privacy.attack import Published
from trajanon.privacy.known_points import known_in_both_orders
from trajanon.privacy.rebuilding import Noise, Ways, rebuilding
from trajanon.problem import Problem, whole_problem
from trajanon.search.annealing import anneal_block, build_field
from trajanon.search.descent import build_descent
from trajanon.search.distance_methods import mdav
from trajanon.search.hm2 import hm2
from trajanon.settings import Settings
from trajanon.tracks import STEPS, TrackPoints, Tracks
from trajanon.utility.displacements import closeness, from_runs
from trajanon.workers import cores

_N, _K, _POINTS = 12, 2, 3  # records, in groups of 2, and the points of a window: any will do
_LABELS = np.arange(_N) // _K
_HEATS = np.array([0.7, 0.1])


def _problem() -> Problem:
    random = np.random.default_rng(0)
    return whole_problem(random.normal(size=(_N, 2)), np.arange(_N), _K, Settings(), random)


def _tracks() -> Tracks:
    """A run for each window, on which it may slide."""
    size = STEPS * _POINTS
    places = np.random.default_rng(0).normal(size=(_N * size, 2))
    return Tracks(
        TrackPoints.of(places),
        np.arange(_N + 1) * size,
        np.arange(_N),
        np.zeros(_N, dtype=np.int64),
    )


def _sliding_at_random() -> None:
    problem, windows = _problem(), build_windows(_tracks(), _POINTS)
    aligned = Aligned(_tracks().start, _LABELS)
    axes, field = window_field(problem, windows, aligned, False)
    work = partial(anneal_windows, field, axes, 1, _HEATS)
    work_in_blocks(problem, windows, aligned, axes, work)


def _sliding() -> None:
    windows = build_windows(_tracks(), _POINTS)
    log = WindowLog(windows, Aligned(_tracks().start, _LABELS))
    search_windows(_problem(), log, regroup=False)
    from_runs(_tracks(), np.zeros((_N, _POINTS, 2)), _LABELS)


def _annealing() -> None:
    field = build_field(_problem(), _LABELS)
    anneal_block(field, 1, _HEATS, _LABELS, np.arange(_N), np.uint64(1), Event())


def _descent(*passes: Callable[..., int]) -> None:
    near = np.zeros((_N, 1), dtype=np.int64)
    descent = build_descent(_problem().records, _LABELS, np.arange(_N), _K, near)
    for look in passes:
        look(descent, _K, 0, 0, 0)
    refresh_centroids(descent.groups)


def _published() -> Published:
    points = np.random.default_rng(0).normal(size=(_N, _POINTS, 2))
    return Published(points, points[::_K], _LABELS, _K)


def _measures() -> None:
    mdav(_problem())
    closeness(_published().points, _published().points)


def _attacks() -> None:
    published = _published()
    known_in_both_orders(published)
    noise = Noise(np.tile(np.eye(2), (len(published.lines), _POINTS, 1, 1)), np.eye(_POINTS))
    rebuilding(published, noise, Ways.of(published.points, published.owners))


_SHARES: tuple[tuple[Kernel, Callable[[], object]], ...] = (
    (find_meetings, _sliding_at_random),
    (slide_pass, _sliding),
    (make_random_moves, _annealing),
    (group_pass, partial(_descent, creation_pass, group_pass)),
    (record_pass, partial(_descent, record_pass)),
    (shorten, lambda: hm2(_problem())),
    (farthest_left, _measures),
    (attack_targets, _attacks),
)
"""What compiles kernels, and one of them."""

_NEEDED = {"sliding": range(6), "search": range(2, 6), "evaluation": range(6, 8)}
"""The shares that something needs; those that it asks for last come first."""


def compile_some(*numbers: int) -> None:
    """Compile some shares, as seldom looking for garbage as a command does."""
    gc.set_threshold(100_000)
    for number in numbers:
        _SHARES[number][1]()


@cache
def compile_ahead(what: str) -> bool:
    """Let processes on the other cores compile what something needs; whether there are any.

    This one goes on; it waits for a kernel that another one compiles, and compiles what none has
    begun. They end with it. Where nothing can be kept, or nobody can wait, there are none. Asked
    again, it tells the same.
    """
    missing = [number for number in _NEEDED[what] if _SHARES[number][0].missing]
    count = min(cores(), len(missing)) - 1
    if count < 1:
        return False
    for first in range(count):
        numbers = ", ".join(map(str, missing[first::count]))
        task = f"from trajanon.compilation import compile_some; compile_some({numbers})"
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", task],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return first > 0
        atexit.register(process.wait)
        atexit.register(process.terminate)  # which is called first
    return True
