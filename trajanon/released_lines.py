"""Groups of trajectories, and the lines and times that are released of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trajanon.antimeridian import refuse_groups_across
from trajanon.arrays import Floats, Ints, Metres
from trajanon.files.release_lines import line_numbers, rounded
from trajanon.loss import group_means, loss_to
from trajanon.partition import Partition
from trajanon.perturbation import perturbed, perturbed_times
from trajanon.snapping import RoadsToFollow, Snapped
from trajanon.timing import Timing
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement, moved_to


@dataclass(frozen=True, eq=False)
class TrajectoryGroups:
    """Trajectories and their groups, and the lines that are released of these."""

    trajectories: Trajectories
    partition: Partition  # its loss and its lines are of places alone
    key: bytes | None  # the holder's secret, by which lines are perturbed; None: plain means
    timing: Timing | None = None  # of times that are released
    roads: RoadsToFollow | None = None  # on which released lines lie

    @cached_property
    def written(self) -> Floats:
        """The line of each group as it is written where no roads are followed, (g, m, 2)."""
        whole, labels = self.trajectories, self.partition.labels
        refuse_groups_across(whole.points, labels)
        means = self.partition.lines(whole.points)
        if self.key is None:
            return rounded(means)
        return perturbed(whole.points, means, labels, self.key, whole.subject)

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

    @property
    def information_loss(self) -> float:
        """IL in percent of the lines as written, but of plain means as computed; of places."""
        if self.key is None:
            return self.partition.information_loss
        return loss_to(self.trajectories.points, self.released, self.partition.labels)

    @cached_property
    def released_times(self) -> Floats | None:
        """The times of each group as they are written, (g, m); None if none are released."""
        if self.timing is None:
            return None
        whole, labels, clock = self.trajectories, self.partition.labels, self.timing.clock
        seconds = self.timing.seconds(whole)
        if self.key is None:
            return clock.rounded(group_means(seconds, labels))
        return perturbed_times(whole.points, seconds, labels, clock, self.key, whole.subject)

    @cached_property
    def line_numbers(self) -> Ints:
        """Number the lines of groups as they are written, (g,); equal ones alike."""
        return line_numbers(self.released, self.released_times)

    @property
    def moved(self) -> Metres:
        """Metres from each trajectory's points to those of its released line, (n, m)."""
        return moved_to(self.trajectories.points, self.released, self.partition.labels)
