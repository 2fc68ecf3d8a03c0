"""Groups of trajectories, and the lines and times that are released of them."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints, Metres
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of
from trajanon.files.rounding_order_and_keys_of_lines import rounded
from trajanon.grouping.group_means import group_means
from trajanon.grouping.k_promise import member_weights
from trajanon.grouping.loss import loss_to
from trajanon.grouping.partition import Partition
from trajanon.release.matched_to_roads import Snapped
from trajanon.release.perturbed_places_and_times import (
    GroupWidths,
    PublicWidths,
    group_widths,
    perturbed,
    perturbed_times,
    widths_of_times,
)
from trajanon.release.plan import Plan
from trajanon.release.report import Mended
from trajanon.trajectories.days_as_records import staying_after_last_trip, trips_of_days
from trajanon.trajectories.distances import distances_to_lines, until_rest
from trajanon.trajectories.release_timing import time_errors
from trajanon.trajectories.trajectories import Trajectories


@dataclass(frozen=True, eq=False)
class TrajectoryGroups:
    """Trajectories and their groups, and the lines that are released of these.

    Shapes: n trajectories of m points, in g groups.
    """

    trajectories: Trajectories  # those in a group
    partition: Partition  # its loss and its means are of places alone
    plan: Plan  # by its key lines are moved; without one they are plain means
    left_out: Bools  # of all trajectories that were to be grouped, those in no group
    mended: Mended | None = None  # groups that were changed; none are with `as_published`
    release_widths: PublicWidths | None = None  # of a shard: those of all shards

    @cached_property
    def weights(self) -> Floats:
        """Return how much each trajectory counts in the mean of its group, (n,)."""
        return member_weights(self.partition.labels, self.trajectories.subject)

    @property
    def seconds(self) -> Floats | None:
        """Return times by the clock of the release, (n, m); None if no times are released."""
        timing = self.plan.timing
        return None if timing is None else timing.seconds(self.trajectories)

    @cached_property
    def means(self) -> Floats:
        """Average each group, (g, m, 2), in degrees: each person counts once."""
        trajectories = self.trajectories
        # With `as_published` there is no key, and each record counts once.
        weights = None if self.plan.key is None else self.weights
        means = group_means(trajectories.records, self.partition.labels, weights)
        return means.reshape(-1, *trajectories.points.shape[1:])

    @cached_property
    def group_widths(self) -> GroupWidths:
        """Measure how far the members of each group are from their mean, in places and times."""
        labels = self.partition.labels
        places = group_widths(self.trajectories.points, self.means, labels, self.weights)
        seconds = self.seconds
        if seconds is None:
            return GroupWidths(places)
        departures, elapsed = widths_of_times(seconds, labels, self.weights)
        return GroupWidths(places, departures, elapsed)

    @cached_property
    def widths(self) -> PublicWidths | None:
        """Return the public widths by which lines are moved; None of plain means."""
        if self.plan.key is None:
            return None
        return self.release_widths or PublicWidths.of(self.group_widths)

    @cached_property
    def moved_lines(self) -> Floats:
        """Move the mean of each group by the key, and round it, (g, m, 2), in degrees."""
        trajectories = self.trajectories
        points = trajectories.points
        labels = self.partition.labels
        key = self.plan.key
        _refuse_antimeridian(points[..., 1], labels)

        if key is None or self.widths is None:
            lines = rounded(self.means)
        else:
            width = self.widths.places
            lines = perturbed(points, self.means, labels, key, width, trajectories.subject)

        if trajectories.unit != "day":
            return lines
        # The movement would turn the stay at the end of a day into a walk. All days of a group
        # have equally many trips, so its first member tells how many.
        first_members = np.unique(labels, return_index=True)[1]
        trips_of_group = trips_of_days(trajectories.take(first_members))
        most_trips = trajectories.origin.trips_of_day
        return staying_after_last_trip(lines, trips_of_group, most_trips)

    @cached_property
    def _snapped(self) -> Snapped | None:
        """Lay the moved lines on roads; None if none are followed."""
        roads = self.plan.roads
        return None if roads is None else roads.lay(self.moved_lines)

    @property
    def released_lines(self) -> Floats:
        """Return the line of each group as it is released, (g, m, 2), in degrees."""
        return self.moved_lines if self._snapped is None else self._snapped.lines

    @property
    def on_roads(self) -> Bools | None:
        """Mark the lines that were laid on roads, (g,); None if none are followed."""
        return None if self._snapped is None else self._snapped.on_roads

    @property
    def labels_of_all(self) -> Ints:
        """Return the group of each trajectory that was to be grouped; -1 if left out."""
        return self._of_all(self.partition.labels, -1)

    @property
    def starts_of_all(self) -> Ints | None:
        """Return where each window that was to be grouped is on its track; 0 if left out.

        None without tracks.
        """
        tracks = self.trajectories.tracks
        return None if tracks is None else self._of_all(tracks.along, 0)

    def _of_all(self, numbers: Ints, if_left_out: int) -> Ints:
        """Return numbers of those in a group as numbers of all that were to be grouped."""
        numbers_of_all = np.full(len(self.left_out), if_left_out)
        numbers_of_all[~self.left_out] = numbers
        return numbers_of_all

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
        return loss_to(self.trajectories.points, self.released_lines, self.partition.labels)

    @cached_property
    def released_times(self) -> Floats | None:
        """Compute the times of each line, (g, m), in seconds; None if none are released."""
        timing = self.plan.timing
        seconds = self.seconds
        if timing is None or seconds is None:
            return None

        points = self.trajectories.points
        subject = self.trajectories.subject
        labels = self.partition.labels
        key = self.plan.key
        if key is None or self.widths is None:
            return timing.clock.rounded(group_means(seconds, labels))
        return perturbed_times(points, seconds, labels, timing.clock, key, self.widths, subject)

    @property
    def errors_of_times(self) -> dict[str, Floats]:
        """Compute the seconds by which released departures and durations are off, (n,)."""
        times = self.released_times
        seconds = self.seconds
        if seconds is None or times is None:
            return {}
        ends = [0, -1]
        departures, durations = time_errors(seconds[:, ends], times[:, ends][self.partition.labels])
        return {"departure_error": departures, "duration_error": durations}

    def errors_of_places(self, measure: Callable[[Floats, Floats], Floats | Metres]) -> Metres:
        """Measure metres between points and their lines, until trajectories rest, (points,)."""
        points = self.trajectories.points
        metres = distances_to_lines(points, self.released_lines, self.partition.labels, measure)
        return np.asarray(metres[self._until_rest])

    @cached_property
    def _until_rest(self) -> Bools:
        """Mark the points that come before the stay at the end or begin it, (n, m)."""
        return until_rest(self.trajectories.points)


def _refuse_antimeridian(longitude: Floats, labels: Ints) -> None:
    """Refuse groups with members on both sides of it, whose mean would be far from all.

    ``longitude`` is (n, m), in degrees.
    """
    groups = int(labels.max(initial=-1)) + 1
    easternmost = np.full(groups, -np.inf)
    westernmost = np.full(groups, np.inf)
    np.maximum.at(easternmost, labels, longitude.max(axis=1))
    np.minimum.at(westernmost, labels, longitude.min(axis=1))

    groups_across = int((easternmost - westernmost > 180.0).sum())
    if groups_across:
        raise BadInput(
            f"{number_of(groups_across, 'group spans', 'groups span')} more than 180 degrees of "
            "longitude, as on both sides of the antimeridian, and would have no mean: extract each "
            "side with an `area` of its own, or lower `k`"
        )
