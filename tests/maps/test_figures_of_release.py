"""Figures of a release, and figures as files."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import timed
from commands import Run, mode
from matplotlib.image import imread
from matplotlib.patches import StepPatch
from pictures import extent, nothing_overlaps, points

from trajanon.anonymization import anonymize_trajectories
from trajanon.errors import BadInput
from trajanon.files.release_formats import read_release
from trajanon.files.report import read_report
from trajanon.files.trajectory_files import read_trajectories, write_trajectories
from trajanon.maps.figures import Picture, of_release, save
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement

DEGREE = 111_194.9  # metres of a degree, on a sphere; right to half a percent


@pytest.fixture(scope="module")
def originals() -> Trajectories:
    rng = np.random.default_rng(0)
    start = np.array([40.4, -3.7]) + rng.normal(0, 0.01, (23, 1, 2))
    return Trajectories(start + np.cumsum(rng.normal(0, 0.001, (23, 30, 2)), axis=1))


@pytest.fixture(scope="module")
def release(originals: Trajectories) -> tuple[Trajectories, dict[str, Any]]:
    made = anonymize_trajectories(originals, 3, method="mdav", refine="none", as_published=True)
    return made.trajectories, made.report


@pytest.fixture
def pictures(
    originals: Trajectories, release: tuple[Trajectories, dict[str, Any]]
) -> dict[str, Picture]:
    return {picture.name: picture for picture in of_release(originals, *release)}


def test_stages_are_those_of_the_report(
    originals: Trajectories, release: tuple[Trajectories, dict[str, Any]]
) -> None:
    report = release[1] | {
        "stages": [
            {"name": "path", "information_loss": None, "seconds": 1.0},
            {"name": "MHM", "information_loss": 4.0, "seconds": 1.0},
            {"name": "annealing", "information_loss": 2.5, "seconds": 1.0},
        ]
    }
    stages = of_release(originals, release[0], report)[0]
    (ax,) = stages.figure.axes
    assert [extent(bar)[0] for bar in ax.patches] == [4.0, 2.5]
    assert [text.get_text() for text in ax.get_yticklabels()] == ["MHM", "annealing"]
    assert [text.get_text() for text in ax.texts] == ["4 %", "2.5 %"]
    assert "23 trajectories" in stages.caption
    assert "slid" not in stages.caption


def test_sizes_are_those_of_the_groups(
    pictures: dict[str, Picture], release: tuple[Trajectories, dict[str, Any]]
) -> None:
    labels = release[1]["labels"]
    each = [labels.count(group) for group in set(labels)]
    (ax,) = pictures["sizes"].figure.axes
    told = {
        int(tick.get_text()): extent(bar)[1]
        for tick, bar in zip(ax.get_xticklabels(), ax.patches, strict=True)
    }
    assert told == {size: each.count(size) for size in set(each)}


def test_a_group_is_drawn_in_metres(
    originals: Trajectories, release: tuple[Trajectories, dict[str, Any]]
) -> None:
    labels = np.array(release[1]["labels"])
    picture = of_release(originals, *release, group=2)[2]
    (ax,) = picture.figure.axes
    *members, centroid = [np.column_stack(points(line)) for line in ax.lines]
    of_group = originals.points[labels == 2]
    assert len(members) == len(of_group)
    north, east = np.moveaxis(of_group - of_group.mean(axis=(0, 1)), -1, 0)
    naive = DEGREE * np.stack([east * np.cos(np.radians(40.4)), north], axis=-1)
    middle = np.mean(members, axis=(0, 1))
    assert np.array(members) - middle == pytest.approx(naive, rel=0.01, abs=2.0)
    assert centroid == pytest.approx(np.mean(members, axis=0), abs=5.6)
    assert ax.get_aspect() == 1.0
    assert f"its {len(members)} members" in picture.caption


def test_the_group_is_that_of_median_displacement(
    originals: Trajectories,
    release: tuple[Trajectories, dict[str, Any]],
    pictures: dict[str, Picture],
) -> None:
    labels = np.array(release[1]["labels"])
    moved = []
    for group in range(labels.max() + 1):
        members = originals.points[labels == group]
        line = members.mean(axis=0).round(7)
        moved.append(float(displacement(members, line).mean()))
    chosen = sorted(range(len(moved)), key=moved.__getitem__)[(len(moved) - 1) // 2]
    caption = pictures["group"].caption
    assert f"Group {chosen} of {len(moved)}, that of median displacement" in caption
    assert f"mean displacement {moved[chosen]:,.0f} m" in caption


def test_windows_are_drawn_where_they_were_averaged(madrid: Trajectories) -> None:
    made = anonymize_trajectories(madrid.take(np.arange(40)), 4, seed=0, effort="fast")
    assert made.report["alignment"] is not None
    stages, _, group = of_release(madrid.take(np.arange(40)), made.trajectories, made.report)
    assert "After alignment the originals are other pieces" in stages.caption
    assert "as slid" not in group.caption
    for picture in (stages, group):
        nothing_overlaps(picture)


def test_who_shows_originals_says_so_and_nothing_overlaps(pictures: dict[str, Picture]) -> None:
    assert list(pictures) == ["stages", "sizes", "group"]
    for name, picture in pictures.items():
        nothing_overlaps(picture)
        said = picture.caption.startswith("For the holder of the data, not for public")
        (ax,) = picture.figure.axes
        above = ax.get_title() == "shows originals: for the holder of the data"
        assert said == above == (name == "group")


@pytest.mark.parametrize("group", [-1, 7])
def test_a_group_that_is_none_is_refused(
    originals: Trajectories, release: tuple[Trajectories, dict[str, Any]], group: int
) -> None:
    with pytest.raises(BadInput, match=rf"no group {group}: choose one from 0 to 6"):
        of_release(originals, *release, group=group)


def test_strangers_are_refused(
    originals: Trajectories, release: tuple[Trajectories, dict[str, Any]]
) -> None:
    other = Trajectories(originals.points + 0.5)
    with pytest.raises(BadInput, match="do not belong together"):
        of_release(other, *release)


def test_departures_are_drawn_of_a_release_with_times(tmp_path: Path) -> None:
    for times, hours in (("of-day", 24), ("of-week", 168), ("date", 24)):
        pictures = {picture.name: picture for picture in of_release(*timed(times))}
        assert list(pictures) == ["stages", "sizes", "departures", "group"]
        picture = pictures["departures"]
        (ax,) = picture.figure.axes
        originals, released = (
            np.asarray(one.get_data()[0]) for one in ax.patches if isinstance(one, StepPatch)
        )
        assert len(originals) == len(released) == hours
        assert (originals[8], originals[7], released[8]) == (4, 1, 4)
        assert (originals.sum(), released.sum()) == (11, 11)
        assert picture.private
        assert picture.caption.startswith("For the holder of the data, not for publication")
        assert "off by 22 min on average, 20 min in the median" in picture.caption
        nothing_overlaps(picture)
    save([picture], tmp_path)
    assert mode(tmp_path / "departures.svg") == 0o600


def test_the_group_tells_its_times_and_all_speak_of_trips() -> None:
    stages, sizes, _, group = of_release(*timed(), group=1)
    assert "released with its times (09:00, 15 min) once for each" in group.caption
    assert stages.caption.startswith("Loss of places and departures after each stage: 11 trips")
    assert stages.figure.axes[0].get_xlabel() == "loss of places and departures (%)"
    assert "of 11 trips" in sizes.caption
    assert sizes.figure.axes[0].get_xlabel() == "trips in a group"
    for picture in (stages, sizes, group):
        assert "trajector" not in picture.caption
    nothing_overlaps(group)


# Files


def test_equal_figures_are_equal_files_without_a_date_that_ask_for_nothing(
    originals: Trajectories, release: tuple[Trajectories, dict[str, Any]], tmp_path: Path
) -> None:
    for name in ("one", "two"):
        save(of_release(originals, *release), tmp_path / name)
    first = sorted((tmp_path / "one").iterdir())
    assert len(first) == 7
    for path in first:
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
    for name in ("stages", "sizes", "group"):
        text = (tmp_path / "one" / f"{name}.svg").read_text(encoding="utf-8")
        ET.fromstring(text)
        assert "dc:date" not in text
        assert re.search(r"20\d\d-\d\d-\d\d", text) is None
        assert "<text" not in text  # letters are outlines
        assert re.findall(r'href="(?!#)([^"]*)"', text) == []
        assert b"Matplotlib" not in (tmp_path / "one" / f"{name}.png").read_bytes()
        pixels = imread(tmp_path / "one" / f"{name}.png")
        assert pixels.shape[1] == 3.5 * 300  # the width of a column
        assert float(pixels[..., :3].std()) > 0.02  # not blank


def test_a_caption_is_text_whatever_it_says(pictures: dict[str, Picture], tmp_path: Path) -> None:
    stages = pictures["stages"]
    assert stages._repr_png_().startswith(b"\x89PNG")  # in a notebook
    save([Picture("a", stages.figure, "of <script> & $x$")], tmp_path)
    text = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "<script>" not in text
    said = [element.text for element in ET.fromstring(text).iter()]
    assert "of <script> & $x$" in said


def test_nothing_that_is_read_is_written_over(pictures: dict[str, Picture], tmp_path: Path) -> None:
    read = tmp_path / "captions.md"
    read.write_text("mine", encoding="utf-8")
    with pytest.raises(BadInput, match="is read as input"):
        save(list(pictures.values()), tmp_path, inputs=[read])
    assert [path.name for path in tmp_path.iterdir()] == ["captions.md"]
    assert read.read_text(encoding="utf-8") == "mine"


def test_the_command_draws_a_release(run: Run, originals: Trajectories, tmp_path: Path) -> None:
    write_trajectories(tmp_path / "trajectories.parquet", originals)
    anonymized = ("anonymize", "-k", 3, "--method", "mdav", "--refine", "none")
    assert run(*anonymized).code == 0
    answer = run("figures", "--group", 0)
    assert answer.code == 0, answer
    assert "it is for you alone" in answer.out
    found = {path.name for path in (tmp_path / "figures").iterdir()}
    names = ("stages", "sizes", "group")
    files = {f"{name}{suffix}" for name in names for suffix in (".svg", ".png")}
    assert found == {*files, "captions.md"}
    for name in ("group.svg", "group.png", "captions.md"):
        assert mode(tmp_path / "figures" / name) == 0o600
    (tmp_path / "new").touch()
    assert mode(tmp_path / "figures" / "sizes.svg") == mode(tmp_path / "new")
    released = Path("anonymized.parquet")
    by_hand = of_release(
        read_trajectories(Path("trajectories.parquet")),
        read_release(released),
        read_report(released),
        group=0,
    )
    captions = (tmp_path / "figures" / "captions.md").read_text(encoding="utf-8")
    assert all(picture.caption in captions for picture in by_hand)
    assert "there is no group 99" in run("figures", "--group", "99").sentence
