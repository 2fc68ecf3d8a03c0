"""Outputs are written beside their place and renamed: whole or not at all."""

import json
import logging
import os
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from trajanon.drafts import Draft, drafting
from trajanon.errors import BadInput, FileProblem, TrajanonError
from trajanon.folder import Folder, exchanged

_LOG = logging.getLogger(__name__)


def json_report(account: Mapping[str, Any]) -> str:
    """Write a report as JSON; its first entry, the notice, stands in the first line."""
    return f"{{ {_written(account, 1)[1:].lstrip()}\n"


def _written(value: Any, depth: int) -> str:
    """Write entries below one another, and a list, which may be long, on one line."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    entries = (
        f"{depth * ' '}{json.dumps(key, ensure_ascii=False)}: {_written(one, depth + 1)}"
        for key, one in value.items()
    )
    return "{\n" + ",\n".join(entries) + "\n" + (depth - 1) * " " + "}"


@contextmanager
def replacing(
    *outputs: Path, inputs: Iterable[Path] = (), public: Collection[Path] = ()
) -> Iterator[tuple[Path, ...]]:
    """Give a file to write in for each output; move all into place at the end.

    Enter it before the long work: what cannot be written is found out first. If the block is left
    by any exception, Ctrl-C among them, the outputs are as they were.
    """
    _refuse_inputs(outputs, inputs)
    with _drafts(outputs) as drafts:
        yield tuple(draft.path for draft in drafts)
        for draft, output in zip(drafts, outputs, strict=True):
            if not draft.path.is_file():
                raise _cannot_write(output, "its draft was removed")
            _permit(draft.path, draft.mode if output in public else 0o600)
            _refuse_other_than_file(output)
        with ExitStack() as undo:  # all or none: a release with an old report is worse than none
            for draft, output in zip(drafts, outputs, strict=True):
                place = _place(output)
                if output is not outputs[-1]:
                    undo.enter_context(_put_aside(place, draft.before))
                draft.path.replace(place)


@contextmanager
def _put_aside(place: Path, before: Path) -> Iterator[None]:
    """Keep what stood in a place until all is well; else put it back."""
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


def check_outputs(*outputs: Path, inputs: Iterable[Path] = ()) -> None:
    """Find out before long work what `replacing` would refuse after it."""
    _refuse_inputs(outputs, inputs)
    with _drafts(outputs):
        pass


@contextmanager
def replacing_folder(
    output: Path, ours: Callable[[str], bool], inputs: Iterable[Path] = (), *, public: bool = False
) -> Iterator[Path]:
    """Give a folder to write in; move it into place at the end, for its owner only or public.

    If the block is left by any exception, the output is as it was. It may hold only names that
    are ``ours``; what somebody else puts there meanwhile stays, or, if it is ours by its name,
    nothing is replaced.
    """
    place = _place(output)
    _refuse_inputs([output], [above for path in inputs for above in (path, *_place(path).parents)])
    if place.exists() and not place.is_dir():
        raise _cannot_write(output, "it is no folder")
    there = Folder(place).states() if place.exists() else {}
    for name in sorted(there):
        if not ours(name):
            raise _cannot_write(output, f"there is {name} in it, not ours")
    with _drafts([output], folder=True) as ((draft, before, mode),):
        yield draft
        for path in draft.iterdir():
            _permit(path, mode if public else 0o600)
        if public:
            _permit(draft, mode | (mode & 0o444) >> 2)  # who may read may enter
        with exchanged(Folder(place), Folder(draft), Folder(before), there, ours):
            pass
        shutil.rmtree(before, ignore_errors=True)


@contextmanager
def making(folder: Path) -> Iterator[None]:
    """Make a folder and what it stands in; if the block fails, those that are empty go."""
    made: list[Path] = []
    try:
        try:
            made += (one for one in (folder, *folder.parents) if not one.exists())
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileProblem(
                f"cannot make the folder {folder}: {error.strerror}; name another one"
            ) from error
        yield
    except BaseException:
        with suppress(OSError):  # it is not empty, or was never made
            for one in made:
                one.rmdir()
        raise


@contextmanager
def _drafts(outputs: Sequence[Path], *, folder: bool = False) -> Iterator[list[Draft]]:
    """Make an empty draft for each output; a failure to write one is that output's problem."""
    drafts: list[Draft] = []
    with ExitStack() as stack:
        try:
            for output in outputs:
                place = _place(output)
                if not folder:
                    _refuse_other_than_file(output)
                if not place.parent.is_dir():
                    raise _cannot_write(output, f"there is no folder {place.parent}")
                draft = stack.enter_context(drafting(place))
                if folder:
                    draft.path.mkdir(mode=0o700)
                else:
                    draft.path.touch(mode=0o600, exist_ok=False)
                drafts.append(draft)
            yield drafts
        except TrajanonError:
            raise
        except OSError as error:  # such as a full disk, which names no file
            named = error.filename
            if len(drafts) < len(outputs):
                raise _cannot_write(outputs[len(drafts)], error.strerror) from error
            for output, draft in zip(outputs, drafts, strict=True):
                ours = (draft.path.parent, _place(output))
                if not isinstance(named, str) or any(map(Path(named).is_relative_to, ours)):
                    raise _cannot_write(output, error.strerror or str(error)) from error
            raise  # it is of something else, and says of what


def _permit(path: Path, mode: int) -> None:
    """Say who may read a file, where its disk knows of that."""
    try:
        path.chmod(mode)
    except FileNotFoundError:
        pass  # moving it will say so
    except OSError as error:
        if not mode & 0o077:
            _LOG.warning("others may read what is written: %s", error.strerror)


def _cannot_write(output: Path, reason: str | None) -> FileProblem:
    return FileProblem(f"cannot write {output}: {reason}; write elsewhere")


def _refuse_inputs(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    read = list(inputs)
    for output in outputs:
        for path in read:
            with suppress(OSError):  # one of the two is not there
                if output.samefile(path):
                    kind = "folder" if output.is_dir() else "file"
                    raise BadInput(f"{output} is read as input; write to another {kind}")


def _place(output: Path) -> Path:
    """Where a path leads, through links."""
    return Path(os.path.realpath(output))


def _refuse_other_than_file(output: Path) -> None:
    if output.is_dir():
        raise _cannot_write(output, "it is a folder")
    if output.exists() and not output.is_file():
        raise _cannot_write(output, "it is a device or a pipe, not a file")
