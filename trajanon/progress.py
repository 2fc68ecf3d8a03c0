"""How long work tells how far it is, without knowing who listens."""

from typing import Protocol


class Progress(Protocol):
    """Called now and then by anything that may take over a second."""

    def __call__(self, task: str, done: float, total: float | None, note: str = "") -> None:
        """Say how far a task is.

        Parameters
        ----------
        task
            What is being done, in the user's words; names the bar.
        done
            How much is done, in any unit.
        total
            How much there is in all, in the same unit; None if unknown.
        note
            What has been reached so far.
        """


def silent(task: str, done: float, total: float | None, note: str = "") -> None:
    """Tell nobody: the default of every function that takes a progress."""
