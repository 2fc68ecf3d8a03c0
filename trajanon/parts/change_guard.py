"""Parts must stay as they are while a run reads them."""

from collections.abc import Iterator
from contextlib import contextmanager

from trajanon.errors import FileProblem
from trajanon.parts.folder import Folder
from trajanon.parts.part_reader import is_read


class Watch:
    """What was in a folder when a run began.

    Rows are read twice, and counted in between: were they others the second time, a group could be
    of fewer than it promises, or rows be missing.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._before = self._now()

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Read in this block."""
        try:
            yield
        except Exception as error:
            self._refuse_changes(error)
            raise
        self._refuse_changes(None)

    def _now(self) -> dict[str, str]:
        states = self._folder.states()
        return {name: state for name, state in states.items() if is_read(name)}

    def _refuse_changes(self, cause: Exception | None) -> None:
        now = self._now()
        for name in sorted(self._before.keys() | now.keys()):
            if now.get(name) != self._before.get(name):
                msg = (
                    f"{self._folder}/{name} was written or removed while it was read: "
                    "begin again once nobody writes there"
                )
                raise FileProblem(msg) from cause
