"""trajanon clean."""

from pathlib import Path

import trajanon
from trajanon.cli.options import options
from trajanon.cli.wording import tell


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
