"""MDAV as a method: the baseline of every comparison."""

from trajanon.grouping import mdav as grouping
from trajanon.methods.task import Grouping, Task


def mdav(task: Task) -> Grouping:
    """Group by `trajanon.grouping.mdav`, without a path."""
    return Grouping(grouping.mdav(task.records, task.k, task.subjects, task.progress))
