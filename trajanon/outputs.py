"""Outputs are written beside their place and renamed: whole or not at all."""

import logging
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from trajanon.errors import BadInput, FileProblem, TrajanonError

_LOG = logging.getLogger(__name__)


@contextmanager
def replacing(
    *outputs: Path, inputs: Iterable[Path] = ()
) -> Iterator[tuple[Path, ...]]:
    """Give a file to write in for each output; move all into place at the end.

    Enter it before the long work: what cannot be written is found out first. If the
    block is left by any exception, Ctrl-C among them, the outputs are as they were.

    Parameters
    ----------
    outputs
        Where the results shall stand. What is there is replaced; a link stays, and
        what it leads to is replaced.
    inputs
        Files that are read; none of them may be an output.

    Yields
    ------
    tuple[Path, ...]
        Empty files in the same folders, with the outputs' suffixes.

    Raises
    ------
    BadInput
        If an output is also an input.
    FileProblem
        If an output cannot be written.
    """
    inputs = tuple(inputs)
    for output in outputs:
        _refuse_input(output, inputs)
    with ExitStack() as stack:
        drafts = tuple(stack.enter_context(_draft(output)) for output in outputs)
        try:
            yield drafts
        except TrajanonError:
            raise
        except OSError as error:  # such as a full disk, which names no file
            named = outputs if error.filename is None else ()
            for draft, output in zip(drafts, outputs, strict=True):
                if error.filename is not None and draft == Path(error.filename):
                    named = (output,)
            if not named:
                raise
            raise _cannot_write(named[0], error.strerror or str(error)) from error
        _move_all(drafts, outputs)


@contextmanager
def replacing_folder(
    output: Path, ours: Callable[[str], bool], inputs: Iterable[Path] = ()
) -> Iterator[Path]:
    """Give a folder to write in; move it into place at the end.

    If the block is left by any exception, the output is as it was.

    Parameters
    ----------
    output
        Where the folder shall stand. What is there is replaced, if it is a folder with
        nothing in it but files of ours. What somebody puts there meanwhile stays; or,
        where it could be taken for ours, nothing is replaced.
    ours
        Tells these by their names.
    inputs
        Files that are read; none of them may be in the output.

    Yields
    ------
    Path
        An empty folder beside the output.

    Raises
    ------
    BadInput
        If an input is in the output.
    FileProblem
        If the output cannot be written.
    """
    place = Path(os.path.realpath(output))
    for path in inputs:
        real = Path(os.path.realpath(path))
        if any(_is_same(place, folder) for folder in (real, *real.parents)):
            msg = f"{output} is read as input; write to another folder with --out"
            raise BadInput(msg)
    if place.exists() and not place.is_dir():
        raise _cannot_write(output, "it is no folder")
    if place.is_dir():
        for name in sorted(path.name for path in place.iterdir()):
            if not ours(name):
                raise _cannot_write(output, f"there is {name} in it, not ours")
    if not place.parent.is_dir():
        raise _cannot_write(output, f"there is no folder {place.parent}")
    there = _states(place)
    draft, before = _hidden(place), _hidden(place)
    try:
        draft.mkdir()
        yield draft
        try:
            if place.exists():
                place.replace(before)
                _refuse_others(output, ours, there, _states(before))
            draft.replace(place)
        except BaseException:
            if before.exists() and not place.exists():
                before.replace(place)
            raise
    except TrajanonError:
        raise
    except OSError as error:
        named = error.filename
        if isinstance(named, str) and not any(
            Path(named).is_relative_to(folder) for folder in (draft, before, place)
        ):
            raise  # it is of something else, and says of what
        raise _cannot_write(output, error.strerror or str(error)) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if place.exists() and before.exists():
            with suppress(OSError):
                _clear(before, there, place)


def _states(folder: Path) -> dict[str, tuple[int, int, int]]:
    """What tells each file in a folder from what would be there if written anew."""
    found = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        with suppress(FileNotFoundError):  # it went while one looked
            state = path.lstat()
            found[path.name] = (state.st_size, state.st_mtime_ns, state.st_ino)
    return found


def _refuse_others(
    output: Path,
    ours: Callable[[str], bool],
    there: Mapping[str, tuple[int, int, int]],
    now: Mapping[str, tuple[int, int, int]],
) -> None:
    """Refuse to replace what somebody else wrote meanwhile, as another run would."""
    for name in sorted(now):
        if ours(name) and now[name] != there.get(name):
            reason = f"somebody else wrote {name} in it during the run"
            raise _cannot_write(output, reason)


def _clear(before: Path, there: Mapping[str, Any], place: Path) -> None:
    """Remove what stood in a folder; what came since goes into the new one."""
    for path in sorted(before.iterdir()):
        if path.name in there:
            path.unlink()
        else:
            path.replace(place / path.name)
            msg = "%s was put into %s during the run: it stays"
            _LOG.warning(msg, path.name, place)
    before.rmdir()


def check_outputs(*outputs: Path, inputs: Iterable[Path] = ()) -> None:
    """Find out before long work what `replacing` would refuse after it.

    Raises
    ------
    BadInput
        If an output is also an input.
    FileProblem
        If an output cannot be written.
    """
    inputs = tuple(inputs)
    with ExitStack() as stack:
        for output in outputs:
            _refuse_input(output, inputs)
            stack.enter_context(_draft(output))


def _move_all(drafts: Sequence[Path], outputs: Sequence[Path]) -> None:
    """Rename all drafts, or none: a release with an old report is worse than none."""
    moves = [
        (draft, Path(os.path.realpath(output)), output)
        for draft, output in zip(drafts, outputs, strict=True)
    ]
    for draft, _, output in moves:
        if not draft.is_file():
            raise _cannot_write(output, "its draft was removed")
        _refuse_other_than_file(output)
    with ExitStack() as undo:
        for draft, place, output in moves:
            try:
                if output is not outputs[-1]:
                    undo.enter_context(_put_aside(place))
                draft.replace(place)
            except OSError as error:
                raise _cannot_write(output, error.strerror) from error


@contextmanager
def _put_aside(place: Path) -> Iterator[None]:
    """Keep what stood in a place until all is well; else put it back."""
    before = _hidden(place)
    existed = place.exists()
    try:
        if existed:
            place.replace(before)
        yield
    except BaseException:
        if before.exists():
            before.replace(place)
        elif not existed:
            place.unlink(missing_ok=True)
        raise
    before.unlink(missing_ok=True)


def _hidden(place: Path) -> Path:
    """A name in the same folder that nobody has."""
    return place.with_name(f".{place.stem}-{secrets.token_hex(4)}{place.suffix}")


def _cannot_write(output: Path, reason: str | None) -> FileProblem:
    return FileProblem(f"cannot write {output}: {reason}; write elsewhere with --out")


def _refuse_input(output: Path, inputs: Iterable[Path]) -> None:
    for path in inputs:
        if _is_same(output, path):
            msg = f"{output} is read as input; write to another file with --out"
            raise BadInput(msg)


def _is_same(one: Path, two: Path) -> bool:
    try:
        return one.samefile(two)
    except OSError:  # one of the two is not there
        return False


def _refuse_other_than_file(output: Path) -> None:
    if output.is_dir():
        raise _cannot_write(output, "it is a folder")
    if output.exists() and not output.is_file():
        raise _cannot_write(output, "it is a device or a pipe, not a file")


@contextmanager
def _draft(output: Path) -> Iterator[Path]:
    """Make an empty file beside the output, hidden, under a name nobody has."""
    place = Path(os.path.realpath(output))
    draft = _hidden(place)
    try:
        _make(draft, output, place)
        yield draft
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def _make(draft: Path, output: Path, place: Path) -> None:
    try:
        _refuse_other_than_file(output)
        if not place.parent.is_dir():
            raise _cannot_write(output, f"there is no folder {place.parent}")
        draft.touch(exist_ok=False)
    except FileProblem:
        raise
    except OSError as error:
        raise _cannot_write(output, error.strerror) from error
