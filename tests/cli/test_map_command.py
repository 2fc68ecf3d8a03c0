"""trajanon map: its views, with and without tiles."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from commands import Run


def page(path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    found = re.search(r'id="trajanon-page">(.*?)</script>', text)
    assert found is not None
    said: dict[str, Any] = json.loads(found[1])
    return said


@pytest.mark.parametrize("view", ["overlay", "side-by-side"])
def test_a_view_is_that_of_the_page(run: Run, here: Path, view: str) -> None:
    assert run("map", "--view", view).code == 0
    assert page(here / "map.html")["view"] == view


def test_an_offline_map_is_one_without_tiles(run: Run, here: Path) -> None:
    assert run("map").code == 0
    assert "tile.openstreetmap.org" in (here / "map.html").read_text("utf-8")
    for arguments in (["--offline"], ["--tiles", "none"], ["--offline", "--tiles", "None"]):
        assert run("map", *arguments).code == 0
        text = (here / "map.html").read_text("utf-8")
        assert "tile.openstreetmap.org" not in text
        assert "default-src 'none'" in text
