"""Rows on their way through the folder of an unfinished run."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from trajanon.arrays import Bools, Ints
from trajanon.parts.folder import Folder, Place


class Piece(NamedTuple):
    """Some rows of the table."""

    row: Ints  # their numbers in the table, (n,)
    mark: Ints  # a number of each: the shard it fell into, or its group, (n,)
    subject: Ints  # whose each is, (n,), as in `trajanon.parts.part_reader.Part`
    points: NDArray[np.floating]  # latitude and longitude, (n, m, 2)

    def take(self, which: Bools | Ints) -> "Piece":
        """Some of the rows."""
        return Piece(self.row[which], self.mark[which], self.subject[which], self.points[which])


def read_pieces(folder: Folder, places: Sequence[Place], rows: int) -> Piece:
    """Read pieces that together have so many rows, one after another, as one."""
    whole, begin = None, 0
    for place in places:
        piece = Piece(*folder.read_arrays(place, len(Piece._fields)))
        if whole is None:
            whole = Piece(*(np.empty((rows, *a.shape[1:]), a.dtype) for a in piece))
        for array, part in zip(whole, piece, strict=True):
            array[begin : begin + len(part)] = part
        begin += len(piece.row)
    assert whole is not None
    assert begin == rows
    return whole
