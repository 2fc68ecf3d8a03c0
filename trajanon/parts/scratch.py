"""The folder of a run that is not done: nothing stays in it that comes too late."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO

from trajanon.drafts import holding
from trajanon.errors import FileProblem
from trajanon.parts.folder import Folder

_AT_WORK = "at-work"


class Scratch(Folder):
    """Where a run keeps rows between two tasks.

    A worker may be busy yet when a run is stopped, and write then. On a disk it cannot: the folder
    is gone.
    """

    __slots__ = ()

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Make and lock it, readable by its owner only; refuse one that exists."""
        self.make_for_oneself()
        with ExitStack() as held:
            try:
                if self.local is not None:
                    held.enter_context(holding(self.local))
                with Folder.writing(self, _AT_WORK):
                    pass
            except BaseException:  # such as a full disk; the next run would be refused
                Folder.remove(self)
                raise
            yield

    @contextmanager
    def writing(self, name: str) -> Iterator[IO[bytes]]:
        """Write a file as `Folder.writing` does."""
        with Folder.writing(self, name) as file:
            yield file
        if not (self / _AT_WORK).exists:
            self.remove_file(name)
            msg = f"{self} is of a run that has ended"
            raise FileProblem(msg)

    def remove(self) -> None:
        """End the run, and remove all that is in the folder."""
        self.remove_file(_AT_WORK)
        Folder.remove(self)
