"""How long work tells how far it is, without knowing who listens."""

from typing import Protocol


class Progress(Protocol):
    """Called now and then by anything that may take over a second."""

    def __call__(self, task: str, done: float, total: float | None, note: str = "") -> None:
        """Say how far a task is."""


def silent(task: str, done: float, total: float | None, note: str = "") -> None:
    """Tell nobody: the default of every function that takes a progress."""
