"""Slow twins of what is counted and averaged in tables."""

import numpy as np

from trajanon.common.arrays import Floats, Ints


def occurrences(cells: Floats, people: Ints) -> list[int]:
    """Count for each row, value by value, who has it in a row that fits."""
    counts = []
    for row in cells:
        fits = ((cells == row) | np.isnan(cells) | np.isnan(row)).all(axis=1)
        of_values = [
            len(set(people[fits & (cells[:, column] == value)]))
            for column, value in enumerate(row)
            if not np.isnan(value)
        ]
        counts.append(min(of_values, default=len(cells)))
    return counts


def present_means(
    records: Floats, labels: Ints, weights: Floats, subjects: Ints, k: int
) -> list[list[float]]:
    """Average each column of each group over the values there are, unless they are too few."""
    means = []
    for group in range(int(labels.max()) + 1):
        of_group = []
        for column in records.T:
            rows = np.flatnonzero((labels == group) & ~np.isnan(column))
            few = len(set(subjects[rows].tolist())) < k
            empty = few or not len(rows)
            of_group.append(
                np.nan if empty else float(np.average(column[rows], weights=weights[rows]))
            )
        means.append(of_group)
    return means
