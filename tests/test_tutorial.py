"""The tutorial: run from its first cell to its last."""

import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs" / "tutorial.ipynb"


def test_the_tutorial_is_stored_without_results() -> None:
    """So that no path of anybody's machine, and no stale number, is in it."""
    notebook = nbformat.read(TUTORIAL, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code
    assert all(cell.outputs == [] for cell in code)
    assert all(cell.execution_count is None for cell in code)


def test_the_tutorial_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    (tmp_path / "here").mkdir()
    notebook = nbformat.read(TUTORIAL, as_version=4)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=300,
        resources={"metadata": {"path": str(tmp_path / "here")}},
    )
    client.execute()
    shown = [
        output
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    ]
    # Nothing is printed beside the results: no warning is part of the way.
    said = [each.text for each in shown if each.output_type == "stream"]
    assert said == []
    pictures = [each.data for each in shown if "data" in each]
    assert sum("image/png" in data for data in pictures) == 2
    (page,) = [data["text/html"] for data in pictures if "text/html" in data]
    assert "originals and release" in page
    assert (tmp_path / "here" / "anonymized.report.json").exists()
