"""trajanon clean."""

from pathlib import Path
from typing import Annotated

import typer

from trajanon.cli.wording import tell


def clean(
    folder: Annotated[
        Path, typer.Argument(help="Folder with your outputs; folders inside it are not searched.")
    ] = Path(),
    unfinished: Annotated[
        bool,
        typer.Option(
            "--unfinished", help="Also remove extractions that extract --resume could continue."
        ),
    ] = False,
) -> None:
    """Remove drafts that killed runs left; they hold originals."""
    from trajanon.drafts import clean as clean_folder

    removed, kept = clean_folder(folder, unfinished=unfinished)
    for left in removed:
        tell(f"Removed {left}")
    for left, why in kept.items():
        tell(f"Kept {left}: {why}")
    if not removed and not kept:
        tell(f"Nothing to remove in {folder}")
