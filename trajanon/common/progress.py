"""Messages of running work: progress and warnings."""

from collections import defaultdict
from typing import Protocol

from trajanon.common.errors import TrajanonWarning, warn
from trajanon.common.number_text import number_of


class Progress(Protocol):
    """What a ``progress`` is: called now and then by anything that may take over a second.

    Examples
    --------
    Bars of rich, one for each task:

    >>> import trajanon
    >>> from rich.progress import Progress as Bars
    >>> bars, tasks = Bars(disable=True), {}
    >>> def show(task: str, done: float, total: float | None, note: str = "") -> None:
    ...     if task not in tasks:
    ...         tasks[task] = bars.add_task(task)
    ...     bars.update(tasks[task], completed=done, total=total)
    >>> records = [[0.0], [1.0], [10.0], [11.0]]
    >>> with bars:
    ...     partition = trajanon.microaggregate(records, k=2, progress=show)
    >>> "Annealing" in tasks
    True
    """

    def __call__(self, task: str, done: float, total: float | None, note: str = "") -> None:
        """Report how far a task is.

        Parameters
        ----------
        task
            Its name; with another name another task begins.
        done, total
            How much is done, and of how much in all; None if that is not known.
        note
            What to show beside, such as the loss so far.
        """


def silent(task: str, done: float, total: float | None, note: str = "") -> None:
    """Do nothing: the default of every function that takes a progress."""


_SHOWN_OF_A_KIND = 10  # warnings, of so many files or columns


class Notices:
    """Warnings of many kinds: of each file or column once, and not of too many of one kind."""

    def __init__(self, *, shows_all: bool = False) -> None:
        """Begin without warnings; they are all shown, or the first ones of each kind."""
        self._shows_all = shows_all
        self._warned_about: dict[str, set[str]] = defaultdict(set)  # files or columns, by kind
        # How many of each kind are not shown, and the last one.
        self._hidden: dict[str, tuple[int, TrajanonWarning]] = {}

    def warn(self, warning: TrajanonWarning) -> None:
        """Warn of a file or column, once; of a kind that is about neither, once."""
        warned_about = self._warned_about[warning.kind]
        if warning.about in warned_about:
            return
        warned_about.add(warning.about)

        if self._shows_all or len(warned_about) <= _SHOWN_OF_A_KIND:
            warn(warning)
        else:
            self._hidden[warning.kind] = (len(warned_about) - _SHOWN_OF_A_KIND, warning)

    def warn_of_hidden(self) -> None:
        """Warn of how many of each kind were not shown."""
        for count, last in self._hidden.values():
            message = f"{number_of(count, 'more warning')} like this one: {last}"
            warn(type(last)(message, last.kind))
        self._hidden.clear()
