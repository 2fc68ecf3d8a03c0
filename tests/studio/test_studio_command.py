"""trajanon studio: what it needs to begin."""

import sys
from pathlib import Path

import pytest
from commands import Run


def test_the_studio_says_what_it_needs(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert f"there is no {tmp_path / 'none'}" in run("studio", str(tmp_path / "none")).sentence
    monkeypatch.setitem(sys.modules, "nicegui", None)
    assert "pip install 'trajanon[studio]'" in run("studio").sentence
