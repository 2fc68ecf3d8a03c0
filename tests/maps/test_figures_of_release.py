"""The figure of a group of a release, and figures as files."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import timed
from commands import Run, mode
from matplotlib.image import imread
from pictures import nothing_overlaps, points

from trajanon.anonymization import anonymize_trajectories
from trajanon.errors import BadInput
from trajanon.files.trajectory_files import write_trajectories
from trajanon.maps.figures import Picture, of_release, save
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement

DEGREE = 111_194.9  # metres of a degree, on a sphere; right to half a percent
Made = tuple[Trajectories, Trajectories, dict[str, Any]]


@pytest.fixture(scope="module")
def made() -> Made:
    """Trajectories, their release and its report."""
    rng = np.random.default_rng(0)
    start = np.array([40.4, -3.7]) + rng.normal(0, 0.01, (23, 1, 2))
    originals = Trajectories(start + np.cumsum(rng.normal(0, 0.001, (23, 30, 2)), axis=1))
    found = anonymize_trajectories(originals, 3, method="mdav", refine="none", as_published=True)
    return originals, found.trajectories, found.report


@pytest.fixture
def picture(made: Made) -> Picture:
    (picture,) = of_release(*made)
    return picture


def test_a_group_is_drawn_in_metres(made: Made) -> None:
    labels = np.array(made[2]["labels"])
    (picture,) = of_release(*made, group=2)
    (ax,) = picture.figure.axes
    *members, centroid = [np.column_stack(points(line)) for line in ax.lines]
    of_group = made[0].points[labels == 2]
    assert len(members) == len(of_group)
    north, east = np.moveaxis(of_group - of_group.mean(axis=(0, 1)), -1, 0)
    naive = DEGREE * np.stack([east * np.cos(np.radians(40.4)), north], axis=-1)
    middle = np.mean(members, axis=(0, 1))
    assert np.array(members) - middle == pytest.approx(naive, rel=0.01, abs=2.0)
    assert centroid == pytest.approx(np.mean(members, axis=0), abs=5.6)
    assert ax.get_aspect() == 1.0
    assert f"its {len(members)} members" in picture.caption


def test_the_group_is_that_of_median_displacement(made: Made, picture: Picture) -> None:
    labels = np.array(made[2]["labels"])
    moved = []
    for group in range(labels.max() + 1):
        members = made[0].points[labels == group]
        line = members.mean(axis=0).round(7)
        moved.append(float(displacement(members, line).mean()))
    chosen = sorted(range(len(moved)), key=moved.__getitem__)[(len(moved) - 1) // 2]
    assert f"Group {chosen} of {len(moved)}, that of median displacement" in picture.caption
    assert f"mean displacement {moved[chosen]:,.0f} m" in picture.caption


def test_what_shows_originals_says_so_and_nothing_overlaps(picture: Picture) -> None:
    assert picture.caption.startswith("For the holder of the data, not for publication")
    assert picture.figure.axes[0].get_title() == "shows originals: for the holder of the data"
    (of_times,) = of_release(*timed(), group=1)
    assert "released with its times (09:00, 15 min) once for each" in of_times.caption
    for one in (picture, of_times):
        nothing_overlaps(one)


@pytest.mark.parametrize("group", [-1, 7])
def test_a_group_that_is_none_is_refused(made: Made, group: int) -> None:
    with pytest.raises(BadInput, match=rf"no group {group}: choose one from 0 to 6"):
        of_release(*made, group=group)


def test_equal_figures_are_equal_files_without_a_date_that_ask_for_nothing(
    made: Made, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        save(of_release(*made), tmp_path / name)
    first = sorted((tmp_path / "one").iterdir())
    assert [path.name for path in first] == ["captions.md", "group.png", "group.svg"]
    for path in first:
        assert mode(path) == 0o600
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
    text = (tmp_path / "one" / "group.svg").read_text(encoding="utf-8")
    ET.fromstring(text)
    assert "dc:date" not in text
    assert re.search(r"20\d\d-\d\d-\d\d", text) is None
    assert "<text" not in text  # letters are outlines
    assert re.findall(r'href="(?!#)([^"]*)"', text) == []
    assert b"Matplotlib" not in (tmp_path / "one" / "group.png").read_bytes()
    pixels = imread(tmp_path / "one" / "group.png")
    assert pixels.shape[1] == 3.5 * 300  # the width of a column
    assert float(pixels[..., :3].std()) > 0.02  # not blank


def test_a_caption_is_text_whatever_it_says(picture: Picture, tmp_path: Path) -> None:
    assert picture._repr_png_().startswith(b"\x89PNG")  # in a notebook
    save([Picture("a", picture.figure, "of <script> & $x$")], tmp_path)
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "<script>" not in text
    said = [element.text for element in ET.fromstring(text).iter()]
    assert "of <script> & $x$" in said
    (tmp_path / "new").touch()
    assert mode(tmp_path / "a.svg") == mode(tmp_path / "new")


def test_nothing_that_is_read_is_written_over(picture: Picture, tmp_path: Path) -> None:
    read = tmp_path / "captions.md"
    read.write_text("mine", encoding="utf-8")
    with pytest.raises(BadInput, match="is read as input"):
        save([picture], tmp_path, inputs=[read])
    assert [path.name for path in tmp_path.iterdir()] == ["captions.md"]
    assert read.read_text(encoding="utf-8") == "mine"


def test_the_command_draws_a_group(run: Run, made: Made, tmp_path: Path) -> None:
    write_trajectories(tmp_path / "trajectories.parquet", made[0])
    anonymized = ("anonymize", "-k", 3, "--method", "mdav", "--refine", "none")
    assert run(*anonymized).code == 0
    answer = run("figures", "--group", 0)
    assert answer.code == 0, answer
    assert "it is for you alone" in answer.out
    found = {path.name for path in (tmp_path / "figures").iterdir()}
    assert found == {"group.svg", "group.png", "captions.md"}
    assert "Group 0 of" in (tmp_path / "figures" / "captions.md").read_text(encoding="utf-8")
    assert "there is no group 99" in run("figures", "--group", "99").sentence
