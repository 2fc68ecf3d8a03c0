"""What commands ask of glibc, which keeps memory that is freed; elsewhere nothing happens."""

import ctypes
from contextlib import suppress


def share_a_heap() -> None:
    """Share one heap among threads: glibc gives each its own, which keeps up to 64 MB."""
    _ask("mallopt", -8, 1)  # M_ARENA_MAX of malloc.h


def return_free_memory() -> None:
    """Return free memory between pieces in use to the system, before large allocations."""
    _ask("malloc_trim", 0)


def _ask(function: str, *numbers: int) -> None:
    """Call a function of glibc with these numbers."""
    with suppress(AttributeError, OSError, TypeError):  # other systems have none
        getattr(ctypes.CDLL(None), function)(*numbers)
