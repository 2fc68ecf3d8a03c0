"""trajanon ledger and clean: what was released before, and what killed runs left."""

from pathlib import Path
from typing import Literal

from trajanon.cli.messages import show_json, tell
from trajanon.cli.options import options
from trajanon.common.errors import BadInput
from trajanon.common.number_text import number_of


@options()
def ledger(
    action: Literal["show", "verify", "forget"],
    ledger: Path,
    release: int | None = None,
    *,
    as_json: bool = False,
) -> None:
    """Show, verify or repair the ledger of your releases."""
    from trajanon.release.ledger import opened

    if (action == "forget") != (release is not None):
        wants = "the number of a release, which show lists" if release is None else "no number"
        raise BadInput(f"trajanon ledger {action} {ledger} takes {wants}")
    with opened(ledger) as book:
        if release is not None:
            note = book.forget(release).note
            if as_json:
                show_json({"forgotten": {"number": release, **note}})
                return
            tell(
                f"Release {release}, {note['release']}, is forgotten: its {note['n']:,} "
                "trajectories count as new. Do not publish it: they would be in two releases."
            )
            return
        entries = book.verify() if action == "verify" else [(entry, "") for entry in book.entries]

    # A release that was entered before its file was in place, and never settled.
    if_killed = f"its run was killed: check with trajanon ledger verify {ledger}"
    states = [state or ("" if entry.note["settled"] else if_killed) for entry, state in entries]

    if as_json:
        releases = [
            {"number": entry.number, **entry.note, "state": state}
            for (entry, _), state in zip(entries, states, strict=True)
        ]
        show_json({"releases": releases})
        return

    for (entry, _), state in zip(entries, states, strict=True):
        note = entry.note
        released = number_of(note["n"], "trajectory", "trajectories")
        promise = f"{released}, k = {note['k']} {note['counted']}"
        ending = f": {state}" if state else ""
        tell(f"{entry.number}: {note['release']}, {note['when']}, {promise}{ending}")
    if not entries:
        tell(f"No release is in {ledger}")


@options()
def clean(folder: Path = Path()) -> None:
    """Remove temporary files that killed runs left.

    They hold originals.
    """
    from trajanon.common.atomic_output import remove_drafts
    from trajanon.shards.scratch_and_resume import remove_scratch

    # Why each stays; empty where it was removed.
    reasons_to_stay = remove_drafts(folder) | remove_scratch()
    for path, reason in reasons_to_stay.items():
        tell(f"Kept {path}: {reason}" if reason else f"Removed {path}")
    if not reasons_to_stay:
        tell(f"Nothing to remove in {folder}")
