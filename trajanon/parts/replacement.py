"""Where a release in parts may stand, and how it comes there: whole, or not at all."""

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

_STRANGE = "%s was put into %s during the run: it stays, and is not of the release"


def report_of(out: str) -> str:
    """Where the report of a release in parts stands."""
    return f"{out.rstrip('/')}.parts.report.json"


def refuse_places(source: Folder, out: Folder) -> None:
    """Refuse what would overwrite anything but a release, before long work."""
    if source.same_as(out) or out.holds(source):
        raise read_as_input(out)
    if not source.exists:
        msg = f"there is no {source}; make it with: trajanon extract --partition 100000"
        raise FileProblem(msg)
    left = out.beside
    here = left.local
    if left.exists and (here is None or remove_abandoned(here, Path(out.url))):
        msg = (
            f"{left} is of a run that is still at work, or was killed: wait for it, or "
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
def replacing(out: Folder, report: str) -> Iterator[Scratch]:
    """Give a folder to work in; in the end, move the release and its report from it.

    Only what stood in the output when the run began is replaced. What somebody put there meanwhile
    stays, or, where it could be taken for a part, nothing is replaced.
    """
    scratch = Scratch(out.beside.url)
    there = out.states() if out.exists else {}
    with scratch.at_work():  # of two runs that begin at once, one is refused
        before = scratch / BEFORE
        try:
            yield scratch
            for name in _replace(out, report, scratch, there):
                (before / name).move(out / name)
                _LOG.warning(_STRANGE, name, out)
        except BaseException:
            _clear(scratch, before)
            raise
        scratch.remove()


def _clear(scratch: Scratch, before: Folder) -> None:
    """Remove what a run leaves that ended badly; if that fails, or is cut, say so."""
    try:
        if before.exists:  # it could not be moved back, and nobody else has it
            _LOG.warning("%s is the release that was there: move it back", before)
        else:
            scratch.remove()
    except (FileProblem, KeyboardInterrupt):
        msg = "%s could not be removed, and holds original coordinates: remove it"
        _LOG.warning(msg, scratch)


def _replace(out: Folder, report: str, scratch: Scratch, there: dict[str, str]) -> list[str]:
    """Move a release and its report into place; or leave there what was there.

    Returns the names of what was put there since, and now stands with what was there.
    """
    before = scratch / BEFORE
    now = out.states() if out.exists else None
    strange: list[str] = []
    try:
        if now is not None:
            _refuse_strange_parts(out, [n for n in now if now[n] != there.get(n)])
            out.move(before)
            strange = [name for name in before.names() if name not in there or not is_part(name)]
            _refuse_strange_parts(out, strange)
        (scratch / DRAFT).move(out)
        scratch.move_file("report.json", report)
    except BaseException:
        if now is None:
            out.remove()
        elif before.exists and set(before.names()) >= set(now):
            out.remove()
            before.move(out)
        else:  # it was on its way, file by file, and is still whole where it was
            before.remove()
        raise
    return strange


def _refuse_strange_parts(out: Folder, names: list[str]) -> None:
    """Refuse to replace, or to release, parts that are of somebody else."""
    for name in filter(is_part, names):
        msg = (
            f"somebody else wrote {out}/{name} during the run, and nothing there was "
            "replaced: write to another folder"
        )
        raise FileProblem(msg)
