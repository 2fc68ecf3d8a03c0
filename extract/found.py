"""Trajectories that were found so far, on disk where they are many, until all are known."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np

from trajanon.errors import NoTrajectories
from trajanon.extract.cutting import Cutter
from trajanon.files.trajectories import read_trajectories, write_parts
from trajanon.trajectories import Trajectories, joined_trajectories

HELD = 4_000
"""Trajectories held in memory before they are written to disk."""


class Found:
    """Takes trajectories as they are cut; gives, part by part, those that are chosen."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._written: list[Path] = []
        self._parts: list[Trajectories] = []  # those in memory
        self._numbers = [np.empty((2, 0), np.int64)]  # subject and trace of each trajectory

    def add(self, part: Trajectories) -> None:
        """Take what a batch of recordings gave."""
        if not len(part):
            return
        self._parts.append(part)
        self._numbers.append(np.array((part.subject, part.trace), np.int64))
        if sum(map(len, self._parts)) >= HELD:
            path = self._folder / f"{len(self._written)}.parquet"
            write_parts(path, [joined_trajectories(self._parts)], {})
            self._written.append(path)
            self._parts.clear()

    def chosen(self, cutter: Cutter) -> Iterator[Trajectories]:
        """Choose among all windows, once all recordings are known, and give those taken."""
        subject, trace = np.concatenate(self._numbers, axis=1)
        if not len(subject):
            raise NoTrajectories(cutter.why_nothing())
        taken, person = cutter.choose(subject, trace)

        def parts() -> Iterator[Trajectories]:
            begin = 0
            for part in chain(map(read_trajectories, self._written), self._parts):
                rows = np.arange(begin, begin + len(part))
                begin += len(part)
                some = taken[rows]
                if some.any():
                    mine = rows[some]  # the parts as read count from 0 each
                    own = replace(part.take(some), subject=person[mine], trace=trace[mine])
                    yield cutter.timed(own, len(subject))

        return parts()
