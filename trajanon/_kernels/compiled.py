"""How kernels are compiled by numba, kept between runs, and how that is announced.

A kernel that Python calls (an outer one) is compiled for the types of its arguments at the first
call, and kept in a file. A kernel that kernels call (an inner one) is compiled into each of them.
numba has no types, hence `Any`.
"""

import atexit
import sys
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from hashlib import sha256
from pathlib import Path
from subprocess import DEVNULL, Popen
from typing import Any

from trajanon._kernels import compilation_listeners

_OPTIONS: dict[str, Any] = {
    "nogil": True,  # threads run kernels at the same time
    "error_model": "numpy",  # a division by zero is infinite, and no error
    "fastmath": {"reassoc", "contract"},  # sums may be reordered; infinite and NaN stay exact
    "no_cfunc_wrapper": True,  # nothing calls kernels from C
    "_nrt": True,  # whether it may make arrays; without this, it is as in the kernel that calls it
}


OVERRIDDEN = ("_optimize_final_module", "_finalize_final_module", "get_pointer_to_function")
"""Methods of numba's code that do nothing for inner kernels."""


class Kernel:
    """A function compiled on first use: as an outer kernel, as an inner one, or as both."""

    can_be_kept = True  # whether this installation can keep compiled kernels between runs

    def __init__(self, function: Callable[..., object], **options: bool) -> None:
        update_wrapper(self, function)
        self._function = function
        self._options = _OPTIONS | options
        self._compiler: Popen[bytes] | None = None  # a process that compiles this kernel

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self._called(*arguments, **named)

    def __reduce__(self) -> str:
        return self._function.__qualname__  # pickled by its name: a worker has its own

    @cached_property
    def _called(self) -> Any:
        """The outer kernel, after a process that compiles it has ended."""
        if self._compiler is not None:
            self._compiler.wait()
        return self._outer

    @property
    def is_kept(self) -> bool:
        """Return whether an earlier run kept this kernel, compiled for any types."""
        folder = Path(self._outer.stats.cache_path or ".")
        python = f"py{sys.version_info.major}{sys.version_info.minor}"
        return any(folder.glob(f"*.{self._function.__qualname__}-*.{python}.*.nbc"))

    @cached_property
    def _outer(self) -> Any:
        """The kernel as Python calls it, and as numba keeps it if this installation can."""
        from numba import njit

        _announce_compilations()
        try:
            compiled = njit(cache=True, **self._options)(self._function)
        except RuntimeError:  # neither the package's folder nor a home can be written
            Kernel.can_be_kept = False
            return njit(**self._options)(self._function)
        forget_older(compiled.stats.cache_path)
        return compiled

    @cached_property
    def _inner(self) -> Any:
        """The kernel as kernels call it: without what Python needs, which takes a fifth longer."""
        from numba import njit

        options = self._options | {"pipeline_class": _inner_compiler()}
        return njit(no_cpython_wrapper=True, **options)(self._function)

    @property
    def _numba_type_(self) -> Any:
        """Tell numba what a kernel is that another one calls."""
        return self._inner._numba_type_


def compile_beside(module: str, *kernels: Kernel) -> None:
    """Run a module that compiles kernels, in a process beside, if they are not kept.

    Whoever calls one of them waits for that process, and compiles itself what that failed to keep.
    """
    begun = any(kernel._compiler is not None for kernel in kernels)
    if begun or all(kernel.is_kept for kernel in kernels) or not Kernel.can_be_kept:
        return

    # With -P nothing of the folder where the user works is imported.
    command = [sys.executable, "-P", "-m", module]
    try:
        process = Popen(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    except OSError:
        return  # each kernel is compiled when it is called

    atexit.register(process.wait)
    atexit.register(process.terminate)  # which comes first
    for kernel in kernels:
        kernel._compiler = process


kernel = Kernel
"""Makes a kernel of a function, with more options of numba's. Bare numbers in calls are types of
their own, so they are constants of numpy's types. Arrays are assigned number by number: numba
compiles its messages about shapes for seconds."""


def bare(function: Callable[..., object]) -> Kernel:
    """Make a kernel that makes no arrays: counting references to arrays takes a fifth longer."""
    return kernel(function, _nrt=False)


def inlined(function: Callable[..., object]) -> Kernel:
    """Make a kernel that is inlined into its callers, as passing groups takes longer than that."""
    return kernel(function, _nrt=False, forceinline=True)


@cache
def _inner_compiler() -> Any:
    """Return numba's compiler for inner kernels, without the steps that are done twice.

    numba optimises each function, and makes it machine code, before it is linked into those that
    call it, where both are done again. Only that of the outer kernel runs: to leave the other steps
    out saves a third of the time.
    """
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler

    # They are not public: where numba renames one, kernels are compiled as they are by default.
    if not all(hasattr(JITCodeLibrary, name) for name in OVERRIDDEN):
        return Compiler

    class InnerCode(JITCodeLibrary):
        def _optimize_final_module(self) -> None:
            """Leave it to the kernel that this is linked into."""

        def _finalize_final_module(self) -> None:
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            """Finish the code, of which nothing can be called by itself."""
            self._ensure_finalized()
            return 0

        @property
        def codegen(self) -> Any:
            return self

        def set_env(self, name: str, env: object) -> None:
            """Set nothing: kernels hold no objects of Python."""

    class InnerCompiler(Compiler):
        def define_pipelines(self) -> Any:
            state = self.state
            state.library = InnerCode(state.targetctx.codegen(), state.func_id.func_qualname)
            return super().define_pipelines()

    return InnerCompiler


@cache
def forget_older(folder: str) -> None:
    """Remove kept kernels that were compiled from other sources than these.

    numba compares the source of a kernel, but not those of the kernels that it calls.
    """
    sources = sha256()
    for file in sorted(Path(__file__).parent.glob("*.py")):
        sources.update(file.read_bytes())
    stamp = Path(folder, "sources.sha256")
    try:
        if stamp.exists() and stamp.read_bytes() == sources.hexdigest().encode():
            return
        for kept in stamp.parent.glob("*.nb[ci]"):
            kept.unlink(missing_ok=True)
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(sources.hexdigest())
    except OSError:
        return  # a folder that cannot be written holds no kernels that this installation kept


@cache
def _announce_compilations() -> None:
    """Report to listeners which kernel is compiled, and when none is any more."""
    from numba.core import event

    depth = 0

    def announce(name: str) -> None:
        for listener in compilation_listeners:
            listener(name, Kernel.can_be_kept)

    class Announcer(event.Listener):
        def on_start(self, started: event.Event) -> None:
            nonlocal depth
            depth += 1
            announce(started.data["dispatcher"].__name__)

        def on_end(self, _: event.Event) -> None:
            nonlocal depth
            depth -= 1
            if depth == 0:
                announce("")

    event.register("numba:compile", Announcer())
