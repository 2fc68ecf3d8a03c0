"""Ctrl-C, and when it must wait."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread


@contextmanager
def ctrl_c_ignored() -> Iterator[None]:
    """Ignore Ctrl-C in this block, also in processes that begin in it."""
    if current_thread() is not main_thread():  # which alone gets it
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
