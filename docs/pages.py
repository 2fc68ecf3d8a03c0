"""What the docs site needs beyond its pages: two pages made, and links that leave."""

import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

import griffe
import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

REPOSITORY = "https://github.com/trajanon/trajanon/blob/main/"
NOTEBOOK = Path(__file__).with_name("tutorial.ipynb")

WIDTH = 80  # letters, as many as a page has room for


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is written elsewhere: the tutorial, and the help of the commands."""
    for name, content in (
        ("tutorial.md", tutorial()),
        ("reference/commands.md", commands()),
    ):
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Lead links out of docs/ to the repository."""
    if page.file.src_uri.startswith("reference/"):
        return markdown
    return re.sub(r"\]\(\.\./", f"]({REPOSITORY}", markdown)


def tutorial() -> str:
    """Write the notebook's cells as a page."""
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    parts = []
    for cell in cells:
        text = "".join(cell["source"])
        code = cell["cell_type"] == "code"
        parts.append(f"```python\n{text}\n```" if code else text)
    first, *rest = parts
    download = "As a notebook to run: [tutorial.ipynb](tutorial.ipynb)."
    return "\n\n".join([first, download, *rest]) + "\n"


def commands() -> str:
    """Write what each command says of itself with --help."""
    # These commands, not installed ones; mkdocs forgets what hooks add when loaded.
    sys.path.insert(0, str(NOTEBOOK.resolve().parents[1]))
    from trajanon.cli.app import app

    group = typer.main.get_group(app)
    parts = ["# Commands", "As `trajanon COMMAND --help` says it."]
    with typer.Context(group, info_name="trajanon") as above:
        for name in group.list_commands(above):
            command = group.commands[name]
            context = typer.Context(
                command, parent=above, info_name=name, terminal_width=WIDTH
            )
            help_text = command.get_help(context)
            parts += [f"## trajanon {name}", f"```text\n{help_text}\n```"]
    return "\n\n".join(parts) + "\n"


class Called(griffe.Extension):
    """Shows `extract`, which is made of a class, as the function that it is."""

    def on_package(self, *, pkg: griffe.Module, **_: Any) -> None:
        """Give it the parameters of the class, and what its docstring says."""
        from trajanon.extract import extract

        module = pkg["extract.extraction"]
        made = module["Extraction.__init__"]
        module.set_member(
            "extract",
            griffe.Function(
                "extract",
                parameters=griffe.Parameters(*list(made.parameters)[1:]),
                returns="Trajectories",
                docstring=griffe.Docstring(inspect.getdoc(extract) or ""),
            ),
        )
