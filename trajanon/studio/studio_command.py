"""trajanon studio: a local page that does all this without typing."""

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from trajanon.common.errors import BadInput


def studio(
    context: typer.Context,
    files: Annotated[
        list[Path] | None, typer.Argument(help="Files or folders with tracks.")
    ] = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Open a local page that does all this without typing."""
    for file in files or []:
        if not file.exists():
            raise BadInput(f"there is no {file}")

    if find_spec("nicegui") is None:
        raise BadInput("the studio is a page of NiceGUI; run pip install 'trajanon[studio]'")

    from trajanon.studio.server_and_uploads import serve

    commands: dict[str, Any] = getattr(context.find_root().command, "commands", {})
    serve(files or [], commands, browser=browser)
