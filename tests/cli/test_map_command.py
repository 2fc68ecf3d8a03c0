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


def test_tiles_without_a_name_are_refused(run: Run, here: Path) -> None:
    """Such as of a variable that is not set: no server learns by accident where the data are."""
    assert "no street map is called ''" in run("map", "--tiles", "").sentence
    assert not (here / "map.html").exists()


def test_what_must_not_be_published_has_no_public_map(run: Run, here: Path) -> None:
    """Only the report knows that lines are so far off that they show nothing."""
    path = here / "anonymized.report.json"
    report = json.loads(path.read_text(encoding="utf-8"))
    report["displacement"]["mean"] = 10.0 * report["length"]["mean"]
    path.write_text(json.dumps(report), encoding="utf-8")
    refused = run("map", "--view", "public").sentence
    assert "must not be published" in refused
    assert not (here / "map.public.html").exists()

    path.unlink()
    assert run("map", "--view", "public").code == 0
