"""An adversary who knows some trajectories of a subject, and looks for the others."""

import numpy as np
from scipy.stats import hypergeom

from trajanon.arrays import Floats, Ints
from trajanon.errors import BadInput
from trajanon.privacy.attack import Attack
from trajanon.privacy.linkage import nearest_lines, rows_linked
from trajanon.privacy.published import Published


def other_tracks(
    points: Floats, released: Floats, labels: Ints, k: int, subjects: Ints, *, share: float = 0.5
) -> Attack:
    """Look for a subject's other trajectories where those known lead.

    Of a subject with t trajectories the adversary knows some: ``share`` of t, rounded, but at least
    one and at most all but one.
    """
    published = Published.release(points, released, labels, k, subjects)
    if not 0.0 < share < 1.0:
        msg = f"share must lie above 0 and below 1 (got {share})"
        raise BadInput(msg)
    links = nearest_lines(published)
    rows, own = rows_linked(published, links)
    right = links.line == labels[links.original]
    home = np.bincount(links.original, right, len(points)) > 0
    size = np.bincount(links.original, right * published.sizes[links.line], len(points))
    _, subject, tracks = np.unique(subjects, return_inverse=True, return_counts=True)
    targets = np.flatnonzero(tracks[subject] > 1)
    place = np.column_stack([rows - home, own - home, tracks[subject]])[targets]
    # Most subjects are alike in this: each kind is worked out once.
    kinds, which = np.unique(place, axis=0, return_inverse=True)
    chances = np.array([_chances(a, b, t, share) for a, b, t in kinds.tolist()])
    mean, highest = chances.reshape(-1, 2)[which.ravel()].T
    told = np.column_stack([mean, (size / rows)[targets], highest])
    knows = f"{100.0 * share:.3g} % of the trajectories of the target's subject"
    return published.attack("other tracks", knows, told, targets)


def _chances(rows: int, own: int, tracks: int, share: float) -> tuple[float, float]:
    """The mean chance and the highest, for one trajectory he starts from."""
    if own == 0:
        return 0.0, 0.0
    besides = min(max(round(share * tracks), 1), tracks - 1) - 1
    # So many of the rows there are of trajectories that he knows, too.
    fewest = max(0, besides - (tracks - 1 - own))
    set_aside = np.arange(fewest, min(own, besides) + 1)
    chance = (own - set_aside) / np.maximum(rows - set_aside, 1)
    likely = hypergeom.pmf(set_aside, tracks - 1, own, besides)
    return float(likely @ chance), float(chance.max())
