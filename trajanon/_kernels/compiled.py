"""How kernels are compiled, kept, and how the first compilation is announced."""

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit
from numba.core import event


class _Cache:
    """Whether this installation can keep compiled kernels between runs."""

    kept = True


def kernel(function: Callable[..., Any], **more: bool) -> Callable[..., Any]:
    """Compile on first use; keep the result if any folder can be written.

    A bare number in a call is a type of its own, for which what is called would be compiled once
    more: such numbers are constants of numpy's types.
    """
    options = {"nogil": True, "error_model": "numpy", "fastmath": {"reassoc", "contract"}, **more}
    try:
        compiled = njit(cache=True, **options)(function)
    except RuntimeError:  # neither the package's folder nor a home can be written
        _Cache.kept = False
        return njit(**options)(function)
    forget_older(compiled.stats.cache_path)
    return compiled


def bare(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile what makes no arrays, without counting who holds those it is given.

    numba counts at every call and every row that is looked at, for all threads to see: of random
    moves that takes a fifth of the time.
    """
    return kernel(function, _nrt=False)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile it as a part of what calls it: to hand over groups takes longer than to use them."""
    return kernel(function, _nrt=False, forceinline=True)


@cache
def forget_older(folder: str) -> None:
    """Remove what was compiled from other sources than these.

    numba looks at the file of a kernel, but not at those of the kernels it calls: a mended one
    would live on in its callers.
    """
    sources = sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        sources.update(file.read_bytes())
    stamp = Path(folder, "sources.sha256")
    try:
        if stamp.exists() and stamp.read_bytes() == sources.hexdigest().encode():
            return
        for old in stamp.parent.glob("*.nb[ci]"):
            old.unlink(missing_ok=True)
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(sources.hexdigest())
    except OSError:
        return  # what cannot be written was not written by anybody here


def announce(first_compilation: Callable[[bool], None]) -> None:
    """Call back once, when the first kernel has to be compiled."""

    class Listener(event.Listener):
        told = False

        def on_start(self, _: event.Event) -> None:
            if not self.told:
                self.told = True
                first_compilation(_Cache.kept)

        def on_end(self, _: event.Event) -> None:
            pass

    event.register("numba:compile", Listener())
