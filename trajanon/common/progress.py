"""Messages of running work: progress and warnings."""

import logging
from collections import defaultdict
from typing import Protocol

from trajanon.common.errors import printable
from trajanon.common.number_text import number_of


class Progress(Protocol):
    """Called now and then by anything that may take over a second."""

    def __call__(self, task: str, done: float, total: float | None, note: str = "") -> None:
        """Report how far a task is."""


def silent(task: str, done: float, total: float | None, note: str = "") -> None:
    """Do nothing: the default of every function that takes a progress."""


_SHOWN_OF_A_KIND = 10


class Notices:
    """Warnings of things of many kinds, of each thing once."""

    def __init__(self, *, shows_all: bool = False) -> None:
        self._shows_all = shows_all
        self._seen: dict[str, set[str]] = defaultdict(set)  # things of each kind
        # How many of each kind are not shown, and the last one.
        self._hidden: dict[str, tuple[int, logging.Logger, str]] = {}

    def warn(self, logger: logging.Logger, kind: str, message: str, about: str = "") -> None:
        """Warn of a thing of a kind, once; with a kind alone, of the kind once."""
        seen = self._seen[kind]
        if about in seen:
            return
        seen.add(about)

        message = printable(message)  # names of files may be such that no log could be written
        if self._shows_all or len(seen) <= _SHOWN_OF_A_KIND:
            logger.warning("%s", message, extra={"kind": kind, "about": about})
        else:
            self._hidden[kind] = len(seen) - _SHOWN_OF_A_KIND, logger, message

    def tell_others(self) -> None:
        """Warn of how many were not shown."""
        for number, logger, message in self._hidden.values():
            warnings = number_of(number, "more warning")
            logger.warning("%s like this one: %s", warnings, message)
        self._hidden.clear()
