"""Commands run as people type them, and what they answer."""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True)
class Answer:
    code: int | str
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one line by which a command refuses; exit code 2 and nothing else."""
        assert self.code == 2, self
        assert self.out == "", self
        assert self.err.startswith("trajanon: "), self
        assert self.err.count("\n") == 1, self
        assert len(self.err) < 700, self
        return self.err


Run = Callable[..., Answer]


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Writing more fails as on a full disk."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
