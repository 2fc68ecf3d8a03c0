"""What the docs site needs beyond its pages: pages made, and links that leave."""

import os
import re
import sys
from html import unescape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
import typer
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nbclient import NotebookClient

REPOSITORY = "https://github.com/trajanon/trajanon/blob/main/"
NOTEBOOK = Path(__file__).with_name("tutorial.ipynb")

WIDTH = 80  # letters, as many as a page has room for
FRAME = """\
<iframe src="{0}" title="The map" allow="fullscreen" loading="lazy"
 style="width: 100%; height: 32rem; border: 1px solid #ccc"></iframe>
<a href="{0}">The map alone</a>"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is made here: the tutorial with its results, and the commands' help."""
    made = {**tutorial(), "reference/commands.md": commands()}
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Lead links out of docs/ to the repository, and those to the notebook to its page."""
    if page.file.src_uri.startswith("reference/"):
        return markdown
    if page.file.src_uri != "tutorial.md":
        markdown = markdown.replace("](tutorial.ipynb)", "](tutorial.md)")
    return re.sub(r"\]\(\.\./", f"]({REPOSITORY}", markdown)


def tutorial() -> dict[str, str]:
    """Run the notebook: its cells and results as a page, and the files shown there."""
    parts: list[str] = []
    shown: dict[str, str] = {}
    for cell in executed().cells:
        code = cell.cell_type == "code"
        parts.append(f"```python\n{cell.source}\n```" if code else cell.source)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            if "text/markdown" in data:
                parts.append(data["text/markdown"])
            elif 'srcdoc="' in data.get("text/html", ""):  # folium's: a frame with the page in it
                name = f"tutorial-{len(shown)}.html"
                shown[name] = unescape(data["text/html"].split('srcdoc="')[1].split('"')[0])
                parts.append(FRAME.format(name))
            elif "text/html" in data:
                parts.append(data["text/html"])
            else:
                text = data.get("text/plain") or output.text
                parts.append(f"```text\n{text}\n```")
    first, *rest = parts
    download = "As a notebook to run: [tutorial.ipynb](tutorial.ipynb)."
    return {"tutorial.md": "\n\n".join([first, download, *rest]) + "\n", **shown}


def executed() -> nbformat.NotebookNode:
    """Run the notebook with this checkout, in a folder that is removed."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    paths = [str(NOTEBOOK.parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    with TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        client = NotebookClient(notebook, kernel_name="python3", resources=resources)
        kernel = client.create_kernel_manager()
        kernel.transport, kernel.ip = "ipc", f"{folder}/kernel"  # no port is opened
        return client.execute(env=environment)


def commands() -> str:
    """Write what each command says of itself with --help."""
    # These commands, not installed ones; mkdocs forgets what hooks add when loaded.
    sys.path.insert(0, str(NOTEBOOK.resolve().parents[1]))
    from trajanon.__main__ import app

    group = typer.main.get_group(app)
    parts = ["# Commands", "As `trajanon COMMAND --help` says it."]
    with typer.Context(group, info_name="trajanon") as above:
        for name in group.list_commands(above):
            command = group.commands[name]
            context = typer.Context(command, parent=above, info_name=name, terminal_width=WIDTH)
            help_text = command.get_help(context)
            parts += [f"## trajanon {name}", f"```text\n{help_text}\n```"]
    return "\n\n".join(parts) + "\n"
