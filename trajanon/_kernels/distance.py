"""Euclidean distance, squared: the innermost loop of everything."""

from trajanon._kernels.compiled import kernel


@kernel
def squared_distance(a, b):
    total = 0.0
    for column in range(a.shape[0]):
        difference = a[column] - b[column]
        total += difference * difference
    return total
