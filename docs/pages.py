"""What the docs site needs beyond its pages: the tutorial as one, links that leave."""

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

REPOSITORY = "https://github.com/trajanon/trajanon/blob/main/"
NOTEBOOK = Path(__file__).with_name("tutorial.ipynb")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the tutorial, whose notebook is the only place where it is written."""
    files.append(File.generated(config, "tutorial.md", content=tutorial()))
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
