"""Ctrl-C at a chosen step, for tests."""


class Interrupting:
    """Progress that ends in Ctrl-C when it is told of some tasks for the j-th time."""

    def __init__(self, j: int, tasks: set[str]) -> None:
        self.left, self.tasks = j, tasks

    def __call__(self, task: str, done: float, total: float | None, note: str = "") -> None:
        self.left -= task in self.tasks
        if self.left < 0:
            raise KeyboardInterrupt
