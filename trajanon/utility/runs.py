"""How far released lines are from the whole runs behind them."""

from threading import Event

import numpy as np

from trajanon._kernels.runs import nearest_on_runs
from trajanon.arrays import Floats, Ints
from trajanon.geodesy import radii
from trajanon.tracks import Tracks
from trajanon.workers import in_parts

_AT_ONCE = 2_000  # windows: some hundredths of a second


def from_runs(tracks: Tracks, lines: Floats, labels: Ints) -> Floats:
    """Measure how far each point of a window's line is from the window's run.

    From the nearest point of the run, wherever on it the window lies; runs are kept as points, a
    quarter of the spacing apart.
    """
    scale = np.radians(np.stack(radii(np.radians(lines[..., 0])), axis=-1))
    order = np.argsort(tracks.run, kind="stable")

    def measured(some: Ints, stop: Event) -> Floats:
        away = np.empty((len(some), lines.shape[1]))
        run, label = tracks.run[some], labels[some]
        nearest_on_runs(tracks.points, tracks.first, run, lines, label, scale, away)
        return away

    found = np.concatenate(in_parts(measured, order, _AT_ONCE))
    away = np.empty_like(found)
    away[order] = found
    return away
