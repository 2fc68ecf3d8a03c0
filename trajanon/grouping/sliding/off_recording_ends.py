"""Groups of windows whose line shows where their recordings begin or end slide away from there."""

import numpy as np

from trajanon.common.arrays import Bools, Ints, renumbered
from trajanon.grouping.different_ends import Ends, are_distinct
from trajanon.grouping.group_means import members_of_groups
from trajanon.grouping.sliding.possible_starts import lay_out, start_ranges
from trajanon.trajectories.geodesy import in_space
from trajanon.trajectories.tracks import STEPS
from trajanon.trajectories.trajectories import Trajectories


def slid_off_ends(trajectories: Trajectories, labels: Ints, ends: Ends) -> Trajectories:
    """Slide the windows of each group that lacks a place, until its line shows no end.

    They slide together, by as few steps as are enough, so that they stay beside each other; those
    with less room by less. Groups without room stay where they are.
    """
    lacking = ends.groups_lacking_places(labels)
    tracks = trajectories.tracks
    if tracks is None or not lacking:
        return trajectories

    # The windows of these groups, which are numbered anew.
    members_of_all = members_of_groups(labels)
    members = [members_of_all[group] for group in lacking]
    rows = np.concatenate(members)
    group = np.repeat(np.arange(len(members)), [len(of_group) for of_group in members])
    ends = ends.take(rows)

    # Windows of one run share the room between them, as both may slide.
    points = trajectories.points.shape[1]
    start = tracks.start
    first, last = start_ranges(lay_out(tracks, points), start, np.random.default_rng(0))
    back = (first - start)[rows]
    ahead = (last - start)[rows]
    end_places = (tracks.first[tracks.run] + start)[rows, None] + [0, STEPS * (points - 1)]

    lies_in_one_place = _in_one_place(ends, group)
    steps = np.zeros_like(start)
    is_left = np.ones(len(members), dtype=np.bool_)
    for step in sorted(range(back.min(), ahead.max() + 1), key=abs):
        # Where no window of a group can slide so far, the group has been here before.
        may_slide = np.zeros_like(is_left)
        may_slide[group[(back <= step) & (step <= ahead)]] = True
        tried = np.flatnonzero((is_left & may_slide)[group])
        if len(tried) == 0:
            continue

        own_steps = np.clip(step, back[tried], ahead[tried])
        moved = tracks.points[end_places[tried] + own_steps[:, None]]
        window_ends = in_space(moved.reshape(-1, 2)).reshape(len(tried), 2, 3)
        tried_ends = ends.take(tried)._replace(window_ends=window_ends)
        tried_group = group[tried]
        places = tried_ends.shown_by(renumbered(tried_group)).places

        # An end that the line does not show is in another place than all others.
        hidden = np.zeros(lies_in_one_place.shape, dtype=np.int64)
        np.add.at(hidden, tried_group, np.isnan(places[:, :, 0]))
        has_places = ~lies_in_one_place | (hidden >= ends.distinct - 1)
        is_done = np.all(has_places[tried_group], axis=1)
        steps[rows[tried[is_done]]] = own_steps[is_done]
        is_left[tried_group[is_done]] = False
    return trajectories.slid(tracks.along + steps)


def _in_one_place(ends: Ends, group: Ints) -> Bools:
    """Mark the groups 0..g-1 that lack a place at an end if their line shows it, (g, e)."""
    return np.array(
        [
            [not are_distinct(of_members, ends.distinct) for of_members in places.swapaxes(0, 1)]
            for places in np.split(ends.places, np.flatnonzero(np.diff(group)) + 1)
        ]
    )
