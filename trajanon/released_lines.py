"""Groups of trajectories, and the lines and times that are released of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trajanon.antimeridian import refuse_groups_across
from trajanon.arrays import Floats, Ints, Metres
from trajanon.files.release_lines import Grids, as_written, line_numbers
from trajanon.loss import loss_to
from trajanon.partition import Partition
from trajanon.rounding import grids_of, time_shifts
from trajanon.snapping import RoadsToFollow, Snapped
from trajanon.timing import Timing
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement, moved_to


@dataclass(frozen=True, eq=False)
class TrajectoryGroups:
    """Trajectories and their groups, and the lines that are released of these."""

    trajectories: Trajectories
    partition: Partition  # its loss and its lines are of places alone
    digits: int | None  # decimals of a degree that are released; None: on the grid of each group
    timing: Timing | None = None  # of times that are released
    roads: RoadsToFollow | None = None  # on which released lines lie

    @cached_property
    def grids(self) -> Grids | None:
        """How each group's line is moved and written; None if all have so many decimals."""
        if self.digits is not None:
            return None
        points, partition = self.trajectories.points, self.partition
        lines, subjects = partition.lines(points), self.trajectories.subject
        return grids_of(points, lines, partition.labels, subjects)

    @cached_property
    def written(self) -> Floats:
        """The mean of each group as it is written where no roads are followed, (g, m, 2)."""
        refuse_groups_across(self.trajectories.points, self.partition.labels)
        means = self.partition.lines(self.trajectories.points)
        return as_written(means, self.digits, self.grids)

    @cached_property
    def laid(self) -> Snapped | None:
        """The same on roads; None if none are followed."""
        return None if self.roads is None else self.roads.lay(self.written)

    @property
    def to_roads(self) -> Floats:
        """Metres by which the points of each line were moved to roads, on average, (g,)."""
        return np.asarray(displacement(self.written, self.released).mean(axis=1))

    @property
    def released(self) -> Floats:
        """The line of each group as it is released, (g, m, 2)."""
        return self.written if self.laid is None else self.laid.lines

    @cached_property
    def time_shifts(self) -> Floats | None:
        """Seconds by which the times of each group's line are moved, (g,); None if none are."""
        if self.timing is None or self.grids is None:
            return None
        whole, labels, clock = self.trajectories, self.partition.labels, self.timing.clock
        return time_shifts(whole.points, self.timing.seconds(whole), labels, clock, whole.subject)

    @property
    def information_loss(self) -> float:
        """IL in percent of the lines as written, but of plain means as computed; of places."""
        if self.digits is not None:
            return self.partition.information_loss
        return loss_to(self.trajectories.points, self.released, self.partition.labels)

    @property
    def released_times(self) -> Floats | None:
        """The mean times of each group as they are written, (g, m); None if none are released."""
        if self.timing is None:
            return None
        return self.timing.released(self.trajectories, self.partition.labels, self.time_shifts)

    @cached_property
    def line_numbers(self) -> Ints:
        """Number the lines of groups as they are written, (g,); equal ones alike."""
        return line_numbers(self.released, self.released_times)

    @property
    def moved(self) -> Metres:
        """Metres from each trajectory's points to those of its released line, (n, m)."""
        return moved_to(self.trajectories.points, self.released, self.partition.labels)
