"""The commands that mend or look into files: trajanon ledger and clean."""

from pathlib import Path

import trajanon
from trajanon.cli.messages import show_json, tell
from trajanon.cli.options import options
from trajanon.errors import BadInput
from trajanon.number_text import number_of

_ACTIONS = ("show", "verify", "forget")


@options(
    action="show what was released; verify that it is still there, and mend what a killed run "
    "left; or forget a release that was never published: its trajectories count as new again.",
    ledger="The file that anonymize was given with --ledger.",
    release="Number of the release to forget.",
)
def ledger(action: str, ledger: Path, release: int | None = None, *, as_json: bool = False) -> None:
    """Look into the ledger of your releases, or mend it: show, verify or forget."""
    from trajanon.privacy.ledger import opened

    if action not in _ACTIONS:
        raise BadInput(f"trajanon ledger takes show, verify or forget (got {action!r})")
    if (action == "forget") != (release is not None):
        wants = "the number of a release, which show tells" if release is None else "no number"
        raise BadInput(f"trajanon ledger {action} {ledger} takes {wants}")
    with opened(ledger) as book:
        if release is not None:
            note = book.forget(release).told
            tell(
                f"Release {release}, {note['release']}, is forgotten: its {note['n']:,} "
                "trajectories count as new. If anybody has it, they will be in two releases."
            )
            return
        found = [(entry, "") for entry in book.entries]
        if action == "verify":
            found = book.verify()
    killed = f"its run was killed, see: trajanon ledger verify {ledger}"
    said = [state or killed * (not entry.told["settled"]) for entry, state in found]
    if as_json:
        pairs = zip(found, said, strict=True)
        releases = [{"number": one.number, **one.told, "state": state} for (one, _), state in pairs]
        show_json({"releases": releases})
        return
    for (entry, _), state in zip(found, said, strict=True):
        note = entry.told
        released = number_of(note["n"], "trajectory", "trajectories")
        what = f"{released}, k = {note['k']} {note['counted']}"
        tell(
            f"{entry.number}: {note['release']}, {note['when']}, {what}{': ' * bool(state)}{state}"
        )
    if not found:
        tell(f"Nothing is released in {ledger}")


@options(folder="Folder with your outputs; folders inside it are not searched.")
def clean(folder: Path = Path()) -> None:
    """Remove drafts that killed runs left; they hold originals."""
    removed, kept = trajanon.clean(folder)
    for left in removed:
        tell(f"Removed {left}")
    for left, why in kept.items():
        tell(f"Kept {left}: {why}")
    if not removed and not kept:
        tell(f"Nothing to remove in {folder}")
