"""Groups of trajectories, and the lines and times that are released of them."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trajanon.common.arrays import Floats, Metres
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.files.release_lines import rounded
from trajanon.grouping.loss import group_means, loss_to
from trajanon.grouping.partition import Partition, member_weights
from trajanon.release.perturbation import (
    GroupWidths,
    PublicWidths,
    group_widths,
    perturbed,
    perturbed_times,
    widths_of_times,
)
from trajanon.release.snapping import RoadsToFollow, Snapped
from trajanon.trajectories.days import staying, trips_of_days
from trajanon.trajectories.displacements import moved_to, until_rest
from trajanon.trajectories.times import Timing, time_errors
from trajanon.trajectories.trajectories import Trajectories


@dataclass(frozen=True, eq=False)
class TrajectoryGroups:
    """Trajectories and their groups, and the lines that are released of these."""

    trajectories: Trajectories
    partition: Partition  # its loss and its lines are of places alone
    key: bytes | None  # the holder's secret, by which lines are moved; None: plain means
    timing: Timing | None = None  # of times that are released
    roads: RoadsToFollow | None = None  # on which released lines lie
    release_widths: PublicWidths | None = None  # of a shard: those of all shards

    @cached_property
    def weights(self) -> Floats:
        """What each trajectory counts in the mean of people of its group, (n,)."""
        return member_weights(self.partition.labels, self.trajectories.subject)

    @cached_property
    def means(self) -> Floats:
        """The mean of each group, (g, m, 2): each person counts once; without a key each trip."""
        trips = self.trajectories
        weights = None if self.key is None else self.weights
        means = group_means(trips.records, self.partition.labels, weights)
        return means.reshape(-1, *trips.points.shape[1:])

    @cached_property
    def group_widths(self) -> GroupWidths:
        """How far the members of each group are from their means."""
        trips, labels = self.trajectories, self.partition.labels
        places = group_widths(trips.points, self.means, labels, self.weights)
        if self.timing is None:
            return GroupWidths(places)
        seconds = self.timing.seconds(trips)
        return GroupWidths(places, *widths_of_times(seconds, labels, self.weights))

    @cached_property
    def widths(self) -> PublicWidths | None:
        """The public widths by which lines are moved; None of plain means."""
        if self.key is None:
            return None
        return self.release_widths or PublicWidths.of(self.group_widths)

    @cached_property
    def written(self) -> Floats:
        """The line of each group as it is written where no roads are followed, (g, m, 2)."""
        whole, labels = self.trajectories, self.partition.labels
        longitude = whole.points[..., 1]
        most = np.full((2, int(labels.max(initial=-1)) + 1), -np.inf)
        np.maximum.at(most[0], labels, longitude.max(axis=1))
        np.maximum.at(most[1], labels, -longitude.min(axis=1))
        if across := int((most.sum(axis=0) > 180.0).sum()):  # their mean is far from them
            what = number_of(across, "group spans", "groups span")
            raise BadInput(
                f"{what} more than 180 degrees of longitude, as on both sides of the antimeridian, "
                "and would have no mean: extract each side with an `area` of its own, or lower `k`"
            )
        lines = self.means
        if self.key is None or self.widths is None:
            lines = rounded(lines)
        else:
            width = self.widths.places
            lines = perturbed(whole.points, lines, labels, self.key, width, whole.subject)
        if whole.unit != "day":
            return lines
        first = np.unique(labels, return_index=True)[1]
        return staying(lines, trips_of_days(whole.take(first)), whole.provenance["days"])

    @cached_property
    def laid(self) -> Snapped | None:
        """The same on roads; None if none are followed."""
        return None if self.roads is None else self.roads.lay(self.written)

    @property
    def released(self) -> Floats:
        """The line of each group as it is released, (g, m, 2)."""
        return self.written if self.laid is None else self.laid.lines

    @property
    def information_loss(self) -> float:
        """IL of places in percent: of the released lines; without a key, of means not rounded."""
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
        if self.key is None or self.widths is None:
            return clock.rounded(group_means(seconds, labels))
        return perturbed_times(
            whole.points, seconds, labels, clock, self.key, self.widths, whole.subject
        )

    @property
    def late(self) -> dict[str, Floats]:
        """Seconds by which released departures and durations are off, (n,)."""
        times = self.released_times
        if self.timing is None or times is None:
            return {}
        ends = [0, -1]
        seconds = self.timing.seconds(self.trajectories)[:, ends]
        departed, took = time_errors(seconds, times[:, ends][self.partition.labels])
        return {"departure_error": departed, "duration_error": took}

    @property
    def moved(self) -> Metres:
        """Metres from each trajectory's points to those of its line; of days up to the last."""
        points = self.trajectories.points
        moved = moved_to(points, self.released, self.partition.labels)
        return moved[until_rest(points)] if self.trajectories.unit == "day" else moved
