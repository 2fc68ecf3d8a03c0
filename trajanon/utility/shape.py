"""How lengths, directions and courses of lines change."""

from threading import Event

import numpy as np

from trajanon._kernels.couplings import closest_couplings
from trajanon.arrays import Floats, Ints
from trajanon.utility.displacements import displacement, on_plane
from trajanon.workers import in_parts


def lengths(points: Floats) -> Floats:
    """Measure lines from point to point."""
    metres: Floats = displacement(points[:, :-1], points[:, 1:]).sum(axis=1)
    return metres


def length_change(original: Floats, released: Floats) -> Floats:
    """Measure by what share of its own length each line got longer."""
    before, after = lengths(original), lengths(released)
    still = before == 0.0
    change = (after - before) / np.where(still, 1.0, before)
    return np.where(still, (after > 0.0).astype(np.float64), change)


def turns(original: Floats, released: Floats) -> Floats:
    """Measure the angle between each hop of a line and the same hop as released."""
    one, other = (np.diff(line, axis=1) for line in on_plane(original, released))
    along = (one * other).sum(axis=-1)
    across = one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0]
    somewhere = one.any(axis=-1) & other.any(axis=-1)
    degrees: Floats = np.degrees(np.abs(np.arctan2(across, along))[somewhere])
    return degrees


def length_shift(original: Floats, released: Floats) -> float:
    """Measure how far the distribution of lengths moved."""
    before, after = np.sort(lengths(original)), np.sort(lengths(released))
    return float(np.abs(before - after).mean())


_AT_ONCE = 2_000  # pairs of a part: some hundredths of a second


def closeness(original: Floats, released: Floats) -> tuple[Floats, Floats]:
    """Measure discrete Fréchet and DTW distances of pairs of lines.

    Source: T. Eiter, H. Mannila, "Computing discrete Fréchet distance", TU Wien CD-TR 94/64 (1994);
    H. Sakoe, S. Chiba, "Dynamic programming algorithm optimization for spoken word recognition",
    IEEE Trans. ASSP 26 (1978), without a window.
    """
    ones, others = on_plane(original, released)
    frechet, warping = np.empty(len(ones)), np.empty(len(ones))

    def fill(rows: Ints, stop: Event) -> None:
        if len(rows) and not stop.is_set():
            part = slice(int(rows[0]), int(rows[-1]) + 1)
            closest_couplings(ones[part], others[part], frechet[part], warping[part])

    in_parts(fill, np.arange(len(ones)), _AT_ONCE)
    return frechet, warping / original.shape[1]
