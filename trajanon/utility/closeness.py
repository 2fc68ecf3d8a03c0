"""How closely originals and released lines can be walked together."""

from threading import Event

import numpy as np

from trajanon._kernels.couplings import closest_couplings
from trajanon.arrays import Floats, Ints
from trajanon.utility.metres import on_plane
from trajanon.workers import in_parts

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
