"""The squared distance of records to the mean of their group: it is asked for after each step."""

import numpy as np

from trajanon._kernels.compiled import kernel


@kernel
def measure_squares_to_means(records, members, begin, squares):
    """Fill in ``squares``, (n,), of the members of some groups.

    ``members`` are the rows of ``records``, (n, p), group by group; each group begins at a place of
    ``begin``, (groups + 1,), and ends where the next one begins.
    """
    mean = np.empty(records.shape[1])
    for group in range(len(begin) - 1):
        # All is measured from the first member: sums far from zero lose precision.
        first = members[begin[group]]
        size = begin[group + 1] - begin[group]

        for column in range(len(mean)):
            mean[column] = 0.0
        for place in range(begin[group] + 1, begin[group + 1]):
            record = members[place]
            for column in range(len(mean)):
                mean[column] += records[record, column] - records[first, column]
        for column in range(len(mean)):
            mean[column] /= size

        for place in range(begin[group], begin[group + 1]):
            record = members[place]
            square = 0.0
            for column in range(len(mean)):
                from_mean = records[record, column] - records[first, column] - mean[column]
                square += from_mean * from_mean
            squares[record] = square
