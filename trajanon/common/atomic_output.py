"""Outputs that are written beside their place and renamed: whole, or not at all."""

import os
import re
import secrets
import shutil
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import combinations, product
from pathlib import Path
from typing import IO, NamedTuple

from trajanon.common.ctrl_c import ctrl_c_ignored
from trajanon.common.errors import BadInput, FileProblem, TrajanonError, TrajanonWarning, warn
from trajanon.common.json_toml_and_regular_files import local_state

try:
    import fcntl
except ImportError:  # Windows: what a killed run leaves is removed by hand
    fcntl = None  # type: ignore[assignment]


LOCK = "trajanon.lock"  # by which a run holds a folder; it marks the folder as one of ours
BEFORE = "before"  # what stood in an output, until the new one is in place
_DRAFT = re.compile(r"\.(.+)\.\d+-[0-9a-f]{8}\.draft", re.DOTALL)


class Draft(NamedTuple):
    """An output that is being written, in a hidden folder beside its place."""

    path: Path  # where it is written
    before: Path  # where what stood in its place waits until it is replaced
    mode: int  # permissions that a new file gets there


@contextmanager
def drafting(place: Path) -> Iterator[Draft]:
    """Make a hidden folder beside an output for the block; remove those of killed runs."""
    with suppress(OSError):  # a folder may be writable but not readable
        for folder in place.parent.iterdir():
            draft_name = _DRAFT.fullmatch(folder.name)
            if draft_name and draft_name[1] == place.name:
                remove_abandoned(folder, place)

    token = f"{os.getpid()}-{secrets.token_hex(4)}"
    folder = place.with_name(f".{place.name}.{token}.draft")
    try:
        folder.mkdir(mode=0o700)
        with locked(folder) as lock_file:
            mode = os.fstat(lock_file.fileno()).st_mode & 0o666
            yield Draft(folder / place.name, folder / BEFORE, mode)
    finally:
        if not (folder / BEFORE).exists():  # else this is the only copy of what was there
            with ctrl_c_ignored():
                shutil.rmtree(folder, ignore_errors=True)


def locked(folder: Path) -> IO[str]:
    """Lock a new folder until the file that is returned is closed, where its disk has locks."""
    lock_file = (folder / "lock").open("w", encoding="utf-8")
    with suppress(OSError):
        lock(lock_file)
        # Renamed once it is locked, so that no other run takes this one for killed.
        (folder / "lock").rename(folder / LOCK)
    return lock_file


def lock(file: IO[str]) -> None:
    """Lock a file until it is closed; refused while another program holds it."""
    if fcntl is None:
        raise OSError
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def remove_abandoned(folder: Path, place: Path) -> str:
    """Put back or remove what a killed run left of an output; return why it stays, or ""."""
    before = folder / BEFORE
    try:
        with (folder / LOCK).open("r+", encoding="utf-8") as lock_file:
            lock(lock_file)  # fails while its run is at work
            if before.exists() and not place.exists():
                before.replace(place)
                message = f"{place} is put back: a run was killed meanwhile"
                warn(TrajanonWarning(message, "put back", str(place)))
            if before.exists():
                return f"{BEFORE} in it stood in {place.name}: move it, then remove it"
            shutil.rmtree(folder)
    except BlockingIOError:
        return "a run is at work in it"
    except OSError as error:
        return f"its run may be at work, and it cannot be removed ({error.strerror})"
    return ""


@contextmanager
def replacing(
    *outputs: Path, inputs: Iterable[Path] = (), public: Collection[Path] = ()
) -> Iterator[tuple[Path, ...]]:
    """Make a draft to write in for each output, before long work; move all into place, or none.

    Outputs are readable by their owner only, but for those that are ``public``. None may be one of
    the ``inputs``.
    """
    _refuse_inputs(outputs, inputs)
    with _drafts(outputs) as drafts:
        yield tuple(draft.path for draft in drafts)
        for draft, output in zip(drafts, outputs, strict=True):
            if not draft.path.is_file():
                raise _cannot_write(output, "its draft was removed")
            _permit(draft.path, draft.mode if output in public else 0o600)
            _refuse_other_than_file(output)

        _move_into_place(drafts, outputs)


def _move_into_place(drafts: Sequence[Draft], outputs: Sequence[Path]) -> None:
    """Move all drafts, or none: a release with an old report is worse than none.

    A draft that was removed stands for no output: what an earlier run wrote there goes. Ctrl-C
    waits, as it could only report a release that was not replaced.
    """
    with ctrl_c_ignored(), ExitStack() as undo:
        for draft, output in zip(drafts, outputs, strict=True):
            place = _place(output)
            # The last one needs no undoing, and a file replaces another at once.
            if output is not outputs[-1] or not draft.path.is_file():
                undo.enter_context(_put_aside(place, draft))
            if draft.path.exists():
                draft.path.replace(place)


@contextmanager
def _put_aside(place: Path, draft: Draft) -> Iterator[None]:
    """Move what stands in a place aside for the block, and put it back if the block fails."""
    existed = place.exists()
    try:
        if existed:
            place.replace(draft.before)
        yield
    except BaseException:
        is_moved = not draft.path.exists()
        if is_moved and place.is_dir():  # a folder replaces no other
            place.replace(draft.path)
        elif is_moved and not existed:
            place.unlink(missing_ok=True)

        # Whatever else stands in the place is somebody's, and stays.
        if draft.before.exists():
            draft.before.replace(place)
        raise

    with suppress(OSError):  # all outputs are in place: `trajanon clean` names what is left
        if draft.before.is_dir():
            shutil.rmtree(draft.before)
        else:
            draft.before.unlink(missing_ok=True)


def check_outputs(*outputs: Path, inputs: Iterable[Path] = ()) -> None:
    """Refuse before long work what `replacing` would refuse after it."""
    _refuse_inputs(outputs, inputs)
    with _drafts(outputs):
        pass


@contextmanager
def replacing_folder(
    folder: Path,
    ours: Callable[[str], bool],
    inputs: Iterable[Path] = (),
    files: Sequence[Path] = (),
    *,
    public: bool = False,
) -> Iterator[tuple[Path, ...]]:
    """Make drafts of a folder, and of files that belong to it; move all into place, or none.

    A folder that stands there is replaced if all names in it are ``ours``, and nobody else wrote in
    it meanwhile. No input may lie in it. Files are readable by their owner only. One whose draft
    the block removes is not there afterwards.
    """
    place = _place(folder)
    inputs = [*inputs]
    folders_of_inputs = [folder for path in inputs for folder in _place(path).parents]
    _refuse_inputs([place, *files], [*inputs, *folders_of_inputs])
    if place.exists() and not place.is_dir():
        raise _cannot_write(folder, "it is no folder")
    states_before = _states(place)
    for name in sorted(states_before):
        if not ours(name):
            raise _cannot_write(folder, f"there is {name} in it, not ours")

    with _drafts([folder, *files], folders=[folder]) as drafts:
        yield tuple(draft.path for draft in drafts)
        draft, _, mode = drafts[0]
        for path in draft.iterdir():
            _permit(path, mode if public else 0o600)
        if public:
            may_enter = (mode & 0o444) >> 2  # who may read
            _permit(draft, mode | may_enter)
        for file in files:
            _refuse_other_than_file(file)

        # What is in one of both only was written, added or removed; the first of it is named.
        for name, _ in sorted(_states(place).items() ^ states_before.items()):
            raise FileProblem(
                f"somebody else wrote or removed {folder}/{name} during the run, and nothing there "
                "was replaced: write to another folder"
            )
        _move_into_place(drafts, [folder, *files])


def _states(folder: Path) -> dict[str, str]:
    """Return the state of each file in a folder, if there is one."""
    paths = folder.iterdir() if folder.exists() else ()
    return {path.name: local_state(path) for path in paths}


def make_folder(folder: Path) -> None:
    """Make a folder and its parents."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileProblem(
            f"cannot make the folder {folder}: {error.strerror}; name another one"
        ) from error


@contextmanager
def _drafts(outputs: Sequence[Path], *, folders: Collection[Path] = ()) -> Iterator[list[Draft]]:
    """Make an empty draft for each output; a failure to write one is that output's problem."""
    drafts: list[Draft] = []
    with ExitStack() as stack:
        try:
            for output in outputs:
                place = _place(output)
                if output not in folders:
                    _refuse_other_than_file(output)
                if not place.parent.is_dir():
                    raise _cannot_write(output, f"there is no folder {place.parent}")

                draft = stack.enter_context(drafting(place))
                if output in folders:
                    draft.path.mkdir(mode=0o700)
                else:
                    draft.path.touch(mode=0o600, exist_ok=False)
                drafts.append(draft)
            yield drafts
        except TrajanonError:
            raise
        except OSError as error:  # such as a full disk, which names no file
            if len(drafts) < len(outputs):
                raise _cannot_write(outputs[len(drafts)], error.strerror) from error

            named = error.filename
            for output, draft in zip(outputs, drafts, strict=True):
                places = (draft.path.parent, _place(output))
                if not isinstance(named, str) or any(map(Path(named).is_relative_to, places)):
                    raise _cannot_write(output, error.strerror or str(error)) from error
            raise  # it is of another file, and names it


def make_secret_file(path: Path, write: Callable[[Path], object]) -> bool:
    """Make a file that only its owner can read; return False if another run made it meanwhile.

    A draft is written first, and linked to the name once it is complete.
    """
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.draft")
    try:
        draft.touch(mode=0o600, exist_ok=False)
        write(draft)
        with draft.open("r+b") as file:
            os.fsync(file.fileno())  # a name without its content would be no secret
        os.link(draft, path)
    except FileExistsError:
        return False
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return True


def _permit(path: Path, mode: int) -> None:
    """Set who may read a file, where its disk knows of that."""
    try:
        path.chmod(mode)
    except FileNotFoundError:
        pass  # moving it will say so
    except OSError as error:
        is_private = not mode & 0o077
        if is_private:
            message = f"others may read what is written: {error.strerror}"
            warn(TrajanonWarning(message, "readable", str(path)))


def _cannot_write(output: Path, reason: str | None) -> FileProblem:
    """Make the error of an output that cannot be written."""
    return FileProblem(f"cannot write {output}: {reason}; write elsewhere")


def _refuse_inputs(outputs: Sequence[Path], inputs: Iterable[Path]) -> None:
    """Refuse outputs that are written twice, or are read."""
    for output, second_output in combinations(outputs, 2):
        if _place(output) == _place(second_output):
            raise BadInput(f"{output} would be written twice; choose another name")
    for output, path in product(outputs, inputs):
        with suppress(OSError):  # one of the two is not there
            if output.samefile(path):
                raise BadInput(f"{output} is read as input; write elsewhere")


def _place(output: Path) -> Path:
    """Return where a path leads, through links."""
    return Path(os.path.realpath(output))


def _refuse_other_than_file(output: Path) -> None:
    """Refuse an output that would replace a folder, a device or a pipe."""
    if output.is_dir():
        raise _cannot_write(output, "it is a folder")
    if output.exists() and not output.is_file():
        raise _cannot_write(output, "it is a device or a pipe, not a file")


def remove_drafts(folder: Path) -> dict[Path, str]:
    """Remove what killed runs left in a folder; return why each stays, or ""."""
    if not folder.is_dir():
        raise FileProblem(f"there is no folder {folder}; name the one with your outputs")
    states: dict[Path, str] = {}
    for path in sorted(folder.iterdir()):
        if draft_name := _DRAFT.fullmatch(path.name):
            states[path] = remove_abandoned(path, folder / draft_name[1])
    return states
