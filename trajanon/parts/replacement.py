"""Replacing a release in parts: whole, or not at all."""

import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from trajanon.drafts import BEFORE, UNFINISHED, remove_abandoned
from trajanon.errors import BadInput, FileProblem
from trajanon.files.trajectories import is_part
from trajanon.folder import Folder, exchanged
from trajanon.parts.release import DRAFT
from trajanon.parts.scratch import Scratch

_LOG = logging.getLogger(__name__)

REPORT = "report.json"
"""The report while the run is not done, within its folder."""


def report_of(out: str) -> str:
    """The path of the report of a release in parts."""
    return f"{out.rstrip('/')}.parts.report.json"


def refuse_places(source: Folder, out: Folder) -> None:
    """Refuse, before the long work, to overwrite anything but a release."""
    refuse_inputs(out, [source])
    if not source.exists:
        msg = f"there is no {source}; make it with: trajanon extract --partition 100000"
        raise FileProblem(msg)
    left = Folder(out.url + UNFINISHED)
    here, place = left.local, out.local
    if left.exists and (here is None or place is None or remove_abandoned(here, place)):
        msg = (
            f"{left} belongs to a run that is still at work, or was killed: wait for it, or "
            "remove the folder"
        )
        raise FileProblem(msg)
    for name in out.names() if out.exists else ():
        if not is_part(name):
            msg = f"{out} holds {name}, which is no part of a release: write to another folder"
            raise FileProblem(msg)


def refuse_inputs(out: Folder, inputs: Iterable[Folder]) -> None:
    """Refuse an output that is one of the inputs, or has one in it."""
    if any(map(out.holds, inputs)):
        msg = f"{out} is read as input; write to another folder"
        raise BadInput(msg)


@contextmanager
def replacing_release(out: Folder, report: str) -> Iterator[Scratch]:
    """Give a folder to work in; at the end, move the release and its report out of it."""
    scratch = Scratch(out.url + UNFINISHED)
    before, told = scratch / BEFORE, scratch / REPORT
    there = out.states() if out.exists else {}
    with scratch.at_work():  # of two runs that begin at once, one is refused
        try:
            yield scratch
            with exchanged(out, scratch / DRAFT, before, there, is_part):
                if told.local is not None:
                    told.local.chmod(0o600)
                told.move(Folder(report))
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
