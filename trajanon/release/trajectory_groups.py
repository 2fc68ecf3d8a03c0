"""Groups of trajectories, and the lines and times that are released of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints, Metres
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.files.release_contents import rounded
from trajanon.grouping.k_promise import member_weights
from trajanon.grouping.loss import group_means, loss_to
from trajanon.grouping.partition import Partition
from trajanon.release.perturbation import (
    GroupWidths,
    PublicWidths,
    group_widths,
    perturbed,
    perturbed_times,
    widths_of_times,
)
from trajanon.release.plan import Plan
from trajanon.release.report import Mended
from trajanon.release.snapping import Snapped
from trajanon.trajectories.days import staying, trips_of_days
from trajanon.trajectories.distances import moved_to, until_rest
from trajanon.trajectories.times import time_errors
from trajanon.trajectories.trajectories import Trajectories


@dataclass(frozen=True, eq=False)
class TrajectoryGroups:
    """Trajectories and their groups, and the lines that are released of these."""

    trajectories: Trajectories
    partition: Partition  # its loss and its lines are of places alone
    plan: Plan  # by its key lines are moved; without one they are plain means
    left_out: Bools  # of all that were to be grouped, those that are not in a group
    mended: Mended | None = None
    release_widths: PublicWidths | None = None  # of a shard: those of all shards

    @cached_property
    def weights(self) -> Floats:
        """Return what each trajectory counts in the mean of people of its group, (n,)."""
        return member_weights(self.partition.labels, self.trajectories.subject)

    @property
    def seconds(self) -> Floats | None:
        """Count the times of trajectories as they are released, (n, m); None if they are not."""
        timing = self.plan.timing
        return None if timing is None else timing.seconds(self.trajectories)

    @cached_property
    def means(self) -> Floats:
        """Average each group, (g, m, 2): each person counts once; without a key each trip."""
        trips = self.trajectories
        # In the papers, whose lines have no key, each record counts once.
        weights = None if self.plan.key is None else self.weights
        means = group_means(trips.records, self.partition.labels, weights)
        return means.reshape(-1, *trips.points.shape[1:])

    @cached_property
    def group_widths(self) -> GroupWidths:
        """Measure how far the members of each group are from their means."""
        labels = self.partition.labels
        places = group_widths(self.trajectories.points, self.means, labels, self.weights)
        seconds = self.seconds
        if seconds is None:
            return GroupWidths(places)
        return GroupWidths(places, *widths_of_times(seconds, labels, self.weights))

    @cached_property
    def widths(self) -> PublicWidths | None:
        """Return the public widths by which lines are moved; None of plain means."""
        if self.plan.key is None:
            return None
        return self.release_widths or PublicWidths.of(self.group_widths)

    @cached_property
    def written(self) -> Floats:
        """Compute the line of each group as it is written without roads to follow, (g, m, 2)."""
        trips = self.trajectories
        labels = self.partition.labels
        key = self.plan.key
        _refuse_antimeridian(trips.points[..., 1], labels)

        if key is None or self.widths is None:
            lines = rounded(self.means)
        else:
            width = self.widths.places
            lines = perturbed(trips.points, self.means, labels, key, width, trips.subject)

        if trips.unit != "day":
            return lines
        # The movement would turn the stay at the end of a day into a walk.
        first = np.unique(labels, return_index=True)[1]
        return staying(lines, trips_of_days(trips.take(first)), trips.origin.trips_of_day)

    @cached_property
    def laid(self) -> Snapped | None:
        """Lay the written lines on roads; None if none are followed."""
        roads = self.plan.roads
        return None if roads is None else roads.lay(self.written)

    @property
    def released(self) -> Floats:
        """Return the line of each group as it is released, (g, m, 2)."""
        return self.written if self.laid is None else self.laid.lines

    @property
    def on_roads(self) -> Bools | None:
        """Mark the lines that were laid on roads, (g,); None if none are followed."""
        return None if self.laid is None else self.laid.on_roads

    @property
    def labels_of_all(self) -> Ints:
        """Return the group of each trajectory that was to be grouped, (n,); -1 if left out."""
        labels = np.full(len(self.left_out), -1)
        labels[~self.left_out] = self.partition.labels
        return labels

    @property
    def starts_of_all(self) -> Ints | None:
        """Return where windows are on their tracks, (n,), 0 if left out; None without tracks."""
        tracks = self.trajectories.tracks
        if tracks is None:
            return None
        starts = np.zeros(len(self.left_out), dtype=np.int64)
        starts[~self.left_out] = tracks.along
        return starts

    def slid_windows(self, before: Trajectories) -> int:
        """Count the windows that are not where they were before they were grouped."""
        tracks = self.trajectories.tracks
        if before.tracks is None or tracks is None:
            return 0
        return int((tracks.along != before.tracks.along[~self.left_out]).sum())

    @property
    def information_loss(self) -> float:
        """Compute IL of places in percent: of the released lines; without a key, of plain means."""
        if self.plan.key is None:
            return self.partition.information_loss
        return loss_to(self.trajectories.points, self.released, self.partition.labels)

    @cached_property
    def released_times(self) -> Floats | None:
        """Compute the times of each group as they are written, (g, m); None if not released."""
        timing = self.plan.timing
        seconds = self.seconds
        if timing is None or seconds is None:
            return None

        trips = self.trajectories
        labels = self.partition.labels
        key = self.plan.key
        if key is None or self.widths is None:
            return timing.clock.rounded(group_means(seconds, labels))
        return perturbed_times(
            trips.points, seconds, labels, timing.clock, key, self.widths, trips.subject
        )

    @property
    def late(self) -> dict[str, Floats]:
        """Compute the seconds by which released departures and durations are off, (n,)."""
        times = self.released_times
        seconds = self.seconds
        if seconds is None or times is None:
            return {}
        ends = [0, -1]
        departed, took = time_errors(seconds[:, ends], times[:, ends][self.partition.labels])
        return {"departure_error": departed, "duration_error": took}

    def moved(self, measure: Callable[[Floats, Floats], Floats | Metres]) -> Metres:
        """Measure metres between trajectories and their lines; of days until they rest."""
        points = self.trajectories.points
        moved = moved_to(points, self.released, self.partition.labels, measure)
        return moved[until_rest(points)] if self.trajectories.unit == "day" else moved


def _refuse_antimeridian(longitude: Floats, labels: Ints) -> None:
    """Refuse groups of which members lie on both sides of it: their mean is far from them."""
    groups = int(labels.max(initial=-1)) + 1
    east = np.full(groups, -np.inf)
    west = np.full(groups, np.inf)
    np.maximum.at(east, labels, longitude.max(axis=1))
    np.minimum.at(west, labels, longitude.min(axis=1))

    across = int((east - west > 180.0).sum())
    if across:
        counted = number_of(across, "group spans", "groups span")
        raise BadInput(
            f"{counted} more than 180 degrees of longitude, as on both sides of the antimeridian, "
            "and would have no mean: extract each side with an `area` of its own, or lower `k`"
        )
