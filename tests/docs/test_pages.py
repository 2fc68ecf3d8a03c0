"""Python on the pages: what the README and the docs tell readers to write, runs."""

import re
import shlex
from itertools import islice
from pathlib import Path
from typing import Any

import geopandas
import numpy as np
import pandas as pd
import pytest
import typer

import trajanon
from trajanon.__main__ import app
from trajanon.cli.messages import usage_error
from trajanon.data import sample
from trajanon.extract import traces

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
CODE = {
    page.name: code
    for page in PAGES
    if (
        code := "".join(re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S))
    )
}


COMMANDS = sorted(
    {
        " ".join(found.split())
        for page in PAGES
        for pattern in (r"(?m)^ {4,}(trajanon .*)$", r"`(trajanon [a-z][^`]*)`")
        for found in re.findall(pattern, page.read_text("utf-8"))
    }
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(page: str, **names: Any) -> dict[str, Any]:
    exec(CODE[page], names)
    return names


def test_these_pages_have_python() -> None:
    assert set(CODE) == {"README.md", "maps.md", "python.md", "tables.md"}


def test_commands_on_the_pages_are_understood() -> None:
    """Their options are there, with values of the right kind; a mere mention may lack some."""
    group = typer.main.get_group(app)
    refused = {}
    for line in COMMANDS:
        words = shlex.split(line, comments=True)[1:]
        try:
            name, command, rest = group.resolve_command(typer.Context(group), words)
            assert command is not None
            command.make_context(name, rest)
        except Exception as error:
            if not usage_error(error).startswith("Missing"):
                refused[line] = repr(error)
    assert len(COMMANDS) > 60
    assert refused == {}


def test_what_the_pages_measured_can_be_measured_again() -> None:
    named = {
        script
        for page in [*PAGES, ROOT / "CONTRIBUTING.md"]
        for script in re.findall(r"benchmarks/\w+\.py", page.read_text("utf-8"))
    }
    helpers = {f"benchmarks/{name}.py" for name in ("corridors", "measures", "synthesiser")}
    assert named | helpers == {f"benchmarks/{path.name}" for path in ROOT.glob("benchmarks/*.py")}


@pytest.mark.usefixtures("few_moves")
def test_the_readme_runs_and_maps_draw_what_it_made(folder: Path) -> None:
    (folder / "tracks").mkdir()
    for number in range(4):  # a third of the sample
        page = f"page{number:03d}.gpx.gz"
        (folder / "tracks" / page).symlink_to(sample() / page)
    frame = pd.DataFrame(
        [
            {"driver": d, "trip": f"{d}a", "when": 1_700_000_000 + 20 * i, "lat": 41 + d / 1000}
            | {"lon": 2 + i / 1000}
            for d in range(4)
            for i in range(40)
        ]
    )
    made = run("README.md", table=np.arange(24.0).reshape(8, 3), frame=frame)
    assert (folder / "anonymized.parquet").exists()
    assert made["partition"].sizes.min() >= 3
    run("maps.md", trajectories=made["trajectories"], release=made["release"])
    assert (folder / "public.html").stat().st_size > 10_000


@pytest.mark.filterwarnings("ignore:The inplace keyword", "ignore:Missing optional dependencies")
@pytest.mark.usefixtures("few_moves")  # the warnings are those of movingpandas
def test_frames_become_a_release_and_a_release_frames(folder: Path) -> None:
    fixes = pd.concat(
        pd.DataFrame({"trip": one.name, "driver": one.subject, "when": one.time}).assign(
            lat=one.lat, lon=one.lon
        )
        for one in islice(traces(str(sample())), 100)
        if not np.isnan(one.time).any()
    )
    fixes["when"] = pd.to_datetime(fixes["when"], unit="s", utc=True)
    fixes.to_parquet("fixes.parquet")
    places = geopandas.points_from_xy(fixes.pop("lon"), fixes.pop("lat"), crs="EPSG:4326")
    geopandas.GeoDataFrame(fixes, geometry=places).to_file("fixes.gpkg")
    for who in ("ada", "bob"):
        (folder / "people").mkdir(exist_ok=True)
        for ride in range(2):
            track = "".join(
                f'<trkpt lat="{47.1 + ride + at / 100}" lon="{9.5 + (who == "ada")}"/>'
                for at in range(3)
            )
            gpx = f'<gpx version="1.1"><trk><trkseg>{track}</trkseg></trk></gpx>'
            (folder / "people" / f"{who}_{ride}.gpx").write_text(gpx, "utf-8")
    made = run("python.md")
    people = trajanon.read_trajectories("trajectories.parquet").subject
    assert people is not None
    assert people.tolist() == [0, 0, 1, 1]
    assert len(made["trajectories"]) > 50
    assert min(len(made["released"]), len(made["lines"])) > 50


def test_tables_are_microaggregated(folder: Path) -> None:
    columns = {
        "income": np.arange(8) * 1_000.0,
        "age": np.arange(8) + 30,
        "region": list("NNNNSSSS"),
    }
    pd.DataFrame(columns).to_csv("survey.csv", index=False)
    pd.DataFrame({"income": [1.0] * 3, "age": [30] * 3}).to_csv("published.csv", index=False)
    assert set(run("tables.md", trajanon=trajanon)["result"].table) == {"income", "age"}
