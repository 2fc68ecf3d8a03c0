"""Replacing a release in parts: whole, or not at all."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trajanon.drafts import BEFORE, remove_abandoned
from trajanon.errors import BadInput, FileProblem
from trajanon.files.partition import is_part
from trajanon.parts.folder import Folder
from trajanon.parts.release_parts import DRAFT
from trajanon.parts.scratch import Scratch

_LOG = logging.getLogger(__name__)

_FOREIGN = "%s was put into %s during the run: it stays, and is no part of the release"


def report_of(out: str) -> str:
    """The path of the report of a release in parts."""
    return f"{out.rstrip('/')}.parts.report.json"


def refuse_places(source: Folder, out: Folder) -> None:
    """Refuse, before the long work, to overwrite anything but a release."""
    if source.same_as(out) or out.holds(source):
        raise read_as_input(out)
    if not source.exists:
        msg = f"there is no {source}; make it with: trajanon extract --partition 100000"
        raise FileProblem(msg)
    left = out.beside
    here = left.local
    if left.exists and (here is None or remove_abandoned(here, Path(out.url))):
        msg = (
            f"{left} belongs to a run that is still at work, or was killed: wait for it, or "
            "remove the folder"
        )
        raise FileProblem(msg)
    if out.exists:
        others = [name for name in out.names() if not is_part(name)]
        if others:
            msg = f"{out} holds {others[0]}, which is no part of a release: write to another folder"
            raise FileProblem(msg)


def read_as_input(out: Folder) -> BadInput:
    """Say that an output would overwrite an input."""
    return BadInput(f"{out} is read as input; write to another folder")


@contextmanager
def replacing_release(out: Folder, report: str) -> Iterator[Scratch]:
    """Give a folder to work in; at the end, move the release and its report out of it.

    Only what was in the output when the run began is replaced. A file that somebody else put there
    meanwhile stays; if it is named as a part, nothing is replaced.
    """
    scratch = Scratch(out.beside.url)
    there = out.states() if out.exists else {}
    with scratch.at_work():  # of two runs that begin at once, one is refused
        before = scratch / BEFORE
        try:
            yield scratch
            for name in _replace(out, report, scratch, there):
                (before / name).move(out / name)
                _LOG.warning(_FOREIGN, name, out)
        except BaseException:
            _clear(scratch, before)
            raise
        scratch.remove()


def _clear(scratch: Scratch, before: Folder) -> None:
    """Remove the folder of a failed run; warn if that fails, or is interrupted."""
    try:
        if before.exists:  # it could not be moved back, and is the only copy
            _LOG.warning("%s is the release that was there: move it back", before)
        else:
            scratch.remove()
    except (FileProblem, KeyboardInterrupt):
        msg = "%s could not be removed, and holds original coordinates: remove it"
        _LOG.warning(msg, scratch)


def _replace(out: Folder, report: str, scratch: Scratch, there: dict[str, str]) -> list[str]:
    """Move a release and its report into place, or leave everything as it was.

    Returns the names of files that somebody put there during the run, which are in ``before``.
    """
    before = scratch / BEFORE
    now = out.states() if out.exists else None
    foreign: list[str] = []
    try:
        if now is not None:
            _refuse_foreign_parts(out, [n for n in now if now[n] != there.get(n)])
            out.move(before)
            foreign = [name for name in before.names() if name not in there or not is_part(name)]
            _refuse_foreign_parts(out, foreign)
        (scratch / DRAFT).move(out)
        scratch.move_file("report.json", report)
    except BaseException:
        if now is None:
            out.remove()
        elif before.exists and set(before.names()) >= set(now):
            out.remove()
            before.move(out)
        else:  # it was being moved file by file, and is still whole in its place
            before.remove()
        raise
    return foreign


def _refuse_foreign_parts(out: Folder, names: list[str]) -> None:
    """Refuse to replace, or to release, parts that somebody else wrote."""
    for name in filter(is_part, names):
        msg = (
            f"somebody else wrote {out}/{name} during the run, and nothing there was "
            "replaced: write to another folder"
        )
        raise FileProblem(msg)
