"""Files that tasks read go once nobody needs them any more."""

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

from trajanon.parts.folder import Folder


class Needs(Protocol):
    """What a task is given."""

    @property
    def files(self) -> set[str]:
        """The files that it needs."""


class Uses:
    """Files that some tasks share.

    A task that is done again, as where a worker was lost, finds what it needs: it is not done
    before its result has come.
    """

    def __init__(self, folder: Folder, given: Sequence[Needs]) -> None:
        self._folder = folder
        self._left = Counter(name for one in given for name in one.files)

    def end(self, one: Needs) -> None:
        """Remove what nobody needs once this task is done."""
        for name in sorted(one.files):
            self._left[name] -= 1
            if not self._left[name]:
                self._folder.remove_file(name)
