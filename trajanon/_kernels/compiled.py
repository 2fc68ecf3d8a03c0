"""How kernels are compiled, kept, and how the first compilation is announced."""

from collections.abc import Callable
from typing import Any

from numba import njit
from numba.core import event


class _Cache:
    """Whether this installation can keep compiled kernels between runs."""

    kept = True


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first use; keep the result if any folder can be written.

    Sums may be reordered so that they run in vector registers: the same on every run
    of one machine, on one core or many.
    """
    options = {
        "nogil": True,
        "error_model": "numpy",
        "fastmath": {"reassoc", "contract"},
    }
    try:
        return njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor a home can be written
        _Cache.kept = False
        return njit(**options)(function)


def announce(first_compilation: Callable[[bool], None]) -> None:
    """Call back once, when the first kernel has to be compiled.

    Parameters
    ----------
    first_compilation
        Called with True if the compiled kernels will be kept for the next run.
    """

    class Listener(event.Listener):
        told = False

        def on_start(self, _: event.Event) -> None:
            if not self.told:
                self.told = True
                first_compilation(_Cache.kept)

        def on_end(self, _: event.Event) -> None:
            pass

    event.register("numba:compile", Listener())
