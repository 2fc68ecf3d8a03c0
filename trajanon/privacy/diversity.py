"""What the members of a group have in common: where they begin, end and pass."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from trajanon.arrays import Bools, Floats, Ints
from trajanon.geodesy import metres_of_degrees
from trajanon.number_text import number_of
from trajanon.privacy.attack import Published
from trajanon.utility import displacement

CELL = 200.0  # metres: the side of a cell that is one place


@dataclass(frozen=True, eq=False)
class Diversity:
    """How much the members of each group differ.

    l-diversity asks for l different values of what is sensitive in each group: here the cell of a
    grid where a trajectory begins, and that where it ends.
    """

    cell: float  # side of a cell, metres
    tight: float  # radius up to which a group is an alarm, metres
    sizes: Ints  # members of each group, (g,)
    origins: Ints  # different cells of the members' first points, (g,)
    destinations: Ints  # the same of their last points, (g,)
    origins_entropy: Floats  # effective number of these cells, exp of the entropy, (g,)
    destinations_entropy: Floats  # the same of their last points, (g,)
    radius: Floats  # largest distance of a member's point from that of the line, metres, (g,)
    mean_radius: Floats  # mean of these distances, metres, (g,)

    @property
    def alarms(self) -> Ints:
        """Groups so tight that their line shows where each member went, (a,)."""
        return np.flatnonzero(self.radius <= self.tight)

    @property
    def words(self) -> str:
        """What came out, in a few sentences."""
        told = self.account
        return (
            f"In {told['one_origin']:,} of {number_of(told['groups'], 'group')} all members begin "
            f"in one cell of {self.cell:g} m, in {told['one_destination']:,} all end in one. In "
            f"{number_of(told['alarms'], 'group')} every member stays within {self.tight:g} m of "
            "the released line all along: that line is as good as the original."
        )

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON: nothing of single groups."""
        measures = ("origins", "destinations", "origins_entropy", "destinations_entropy")
        return {
            "cell": self.cell,
            "tight": self.tight,
            "groups": len(self.sizes),
            **{name: _spread(getattr(self, name)) for name in (*measures, "radius", "mean_radius")},
            "one_origin": int((self.origins == 1).sum()),
            "one_destination": int((self.destinations == 1).sum()),
            "alarms": len(self.alarms),
            "trajectories_in_alarms": int(self.sizes[self.alarms].sum()),
        }


def diversity(published: Published, *, cell: float = CELL, tight: float = 50.0) -> Diversity:
    """Measure how much the members of each group differ."""
    points, labels = published.points, published.labels
    (origins, origins_entropy), (destinations, destinations_entropy) = (
        _cells(points[:, end], labels, cell) for end in (0, -1)
    )
    radius, mean_radius = _radii(points, published.lines, labels)
    return Diversity(
        cell=float(cell),
        tight=float(tight),
        sizes=published.sizes,
        origins=origins,
        destinations=destinations,
        origins_entropy=origins_entropy,
        destinations_entropy=destinations_entropy,
        radius=radius,
        mean_radius=mean_radius,
    )


def ends_in_places(points: Floats, true_ends: Bools | None = None) -> Ints:
    """Number the cells where trajectories begin and end, (n, 2), as `diversity` has them.

    An end that is none, as at the border of an area, is a place of its own.
    """
    cells = np.concatenate([_cell_of(points[:, end], CELL) for end in (0, -1)])
    numbers = np.unique(cells, axis=0, return_inverse=True)[1].reshape(2, -1).T
    if true_ends is not None:
        numbers = np.where(true_ends, numbers, -1 - np.arange(numbers.size).reshape(-1, 2))
    return numbers


def _radii(points: Floats, released: Floats, labels: Ints) -> tuple[Floats, Floats]:
    """The largest and the mean distance of members' points to their line's, (g,)."""
    away = displacement(points, released[labels])
    largest = np.zeros(len(released))
    np.maximum.at(largest, labels, away.max(axis=1))
    mean = np.bincount(labels, away.mean(axis=1)) / np.bincount(labels)
    return largest, mean


def _cells(points: Floats, labels: Ints, cell: float) -> tuple[Ints, Floats]:
    """Cells of the points, (n, 2), of each group: how many, and effectively, (g,)."""
    triples = np.column_stack([labels, _cell_of(points, cell)])
    cells, members = np.unique(triples, axis=0, return_counts=True)
    group = cells[:, 0].astype(np.int64)
    share = members / np.bincount(labels)[group]
    entropy = np.bincount(group, -share * np.log(share))
    return np.bincount(group), np.exp(entropy)


def _cell_of(points: Floats, cell: float) -> Floats:
    """Find the cell that each point, (n, 2), lies in: its row and column."""
    height = cell / metres_of_degrees(np.array(45.0))[0]  # degrees
    row = np.floor(points[:, 0] / height)
    across = metres_of_degrees((row + 0.5) * height)[:, 1]
    column = np.floor(points[:, 1] * np.maximum(across, 0.0) / cell)
    return np.column_stack([row, column])


def _spread(values: Floats | Ints) -> dict[str, float]:
    least, median, most = np.quantile(values, (0.0, 0.5, 1.0)).tolist()
    return {"min": least, "mean": float(values.mean()), "median": median, "max": most}
