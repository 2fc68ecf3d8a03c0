"""trajanon studio: a local page that does all this without typing."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import typer

from trajanon.cli.options import options
from trajanon.common.errors import BadInput


@options()
def studio(
    context: typer.Context, files: list[Path] | None = None, *, browser: bool = True
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
