"""Ctrl-C, ignored while it must wait."""

import signal
from threading import Thread

import pytest

from trajanon.common.ctrl_c import ctrl_c_ignored


def test_ctrl_c_is_ignored_in_the_block_alone() -> None:
    with ctrl_c_ignored(), ctrl_c_ignored():
        signal.raise_signal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_ctrl_c_is_heard_again_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), ctrl_c_ignored():
        raise ZeroDivisionError
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_threads_that_never_get_it_change_nothing() -> None:
    """Python lets only the main thread set who hears a signal."""
    handlers = []

    def work() -> None:
        with ctrl_c_ignored():
            handlers.append(signal.getsignal(signal.SIGINT))

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.default_int_handler]
