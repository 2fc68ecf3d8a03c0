"""Groups of windows whose line shows where their recordings begin or end slide away from there."""

import numpy as np

from trajanon.common.arrays import Ints
from trajanon.grouping.different_ends import Ends
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

    # Windows of one run share the room between them, as both may slide.
    points = trajectories.points.shape[1]
    start = tracks.start
    first, last = start_ranges(lay_out(tracks, points), start, np.random.default_rng(0))
    members = members_of_groups(labels)
    steps = np.zeros_like(start)

    for group in lacking:
        rows = members[group]
        group_ends = ends.take(rows)
        end_places = (tracks.first[tracks.run] + start)[rows, None] + [0, STEPS * (points - 1)]
        back = (first - start)[rows]
        ahead = (last - start)[rows]
        for step in sorted(range(back.min(), ahead.max() + 1), key=abs):
            own_steps = np.clip(step, back, ahead)
            moved = tracks.points[end_places + own_steps[:, None]].reshape(-1, 2)
            window_ends = in_space(moved).reshape(-1, 2, 3)
            if not group_ends._replace(window_ends=window_ends).lacks_place(np.arange(len(rows))):
                steps[rows] = own_steps
                break
    return trajectories.slid(tracks.along + steps)
