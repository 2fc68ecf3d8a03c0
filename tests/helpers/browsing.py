"""Maps opened in a real browser, and small ones to open.

Pictures are judged by counting pixels, in the browser itself.
"""

import base64
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import folium
import numpy as np
import pytest
from playwright.sync_api import Frame, Page
from reports import UNMOVED

from trajanon.common.search_and_release_options import TimesName
from trajanon.files.rounding_order_and_keys_of_lines import line_keys
from trajanon.grouping.group_means import group_means
from trajanon.maps import compare, html
from trajanon.release.report import digest_of
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.tracks import STEPS, TrackPoints, Tracks
from trajanon.trajectories.trajectories import OSM_ATTRIBUTION, ReleasedTrajectories, Trajectories

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ,  # there it fails: nobody reads skips
    reason="no program chromium is on the PATH to look at pages with",
)

DESKTOP, PHONE = (1280, 800), (390, 844)
TILE = base64.b64decode(  # a white pixel
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAsTjMZgAAAABJRU5ErkJggg=="
)

LABELS = np.array([0, 1, 0, 2, 1, 0, 2, 2, 1, 2, 0])  # sizes 4, 3, 4

# How many pixels of a picture are no shade of grey: the lines.
COLOURED = """async (picture) => {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(0, 0, image.width, image.height);
  let coloured = 0;
  for (let at = 0; at < data.length; at += 4) {
    const [red, green, blue] = [data[at], data[at + 1], data[at + 2]];
    if (Math.max(red, green, blue) - Math.min(red, green, blue) > 25) coloured += 1;
  }
  return coloured;
}"""
PLAIN = ".leaflet-control { visibility: hidden } * { transition: none !important }"


def until(page: Page | Frame, expression: str) -> None:
    """Wait for it. Playwright's own waiting asks the page to evaluate text, which ours forbid."""
    for _ in range(400):
        if page.evaluate(expression):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"not so in 20 seconds: {expression}")


@dataclass
class Opened:
    """A page in the browser, and what went on while it was open."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def js(self, expression: str) -> Any:
        return self.page.evaluate(expression)

    def lines(self, name: str) -> int:
        """How many lines a layer has; nothing is drawn if it is off."""
        return int(
            self.js(
                f"""(trajanon.shown.get("{name}")?.getLayers() ?? []).reduce(
                (sum, one) => sum + (Array.isArray(one.getLatLngs()[0])
                  ? one.getLatLngs().length : 1), 0)"""
            )
        )

    def toggle(self, name: str) -> None:
        self.page.click(f"input[name={name}]")

    def coloured(self) -> int:
        """Coloured pixels of the maps."""
        self.js("trajanon.drawn()")
        shot = self.page.locator("main").screenshot(style=PLAIN, animations="disabled")
        picture = base64.b64encode(shot).decode()
        return int(self.page.evaluate(COLOURED, picture))

    def place(self, place: Iterable[float], side: int = 0) -> tuple[float, float]:
        """Where a place is, in pixels of the window."""
        lat, lon = map(float, place)
        x, y = self.js(
            f"""(() => {{ const map = trajanon.maps[{side}];
            const at = map.latLngToContainerPoint([{lat}, {lon}]);
            const box = map.getContainer().getBoundingClientRect();
            return [box.x + at.x, box.y + at.y]; }})()"""
        )
        return x, y

    def hover(self, place: Iterable[float], side: int = 0) -> None:
        self.page.mouse.move(*self.place(place, side))
        self.js("() => new Promise((done) => requestAnimationFrame(done))")

    def lit(self) -> list[list[float]]:
        """Widths of the lines that stand out, for each map."""
        widths: list[list[float]] = self.js(
            """trajanon.lit.map(({ layer }) => layer.getLayers()
            .filter(({ options }) => options.color !== "#fff")
            .flatMap((one) => (Array.isArray(one.getLatLngs()[0])
              ? one.getLatLngs() : [0]).map(() => one.options.weight)))"""
        )
        return widths


Open = Callable[..., Opened]


def trajectories() -> Trajectories:
    """Eleven, along three streets well apart, each street a group."""
    rng = np.random.default_rng(0)
    along = np.linspace(0, 0.03, 30)
    streets = np.stack(
        [np.stack([np.full(30, lat), -3.70 + along], axis=-1) for lat in (40.40, 40.41, 40.42)]
    )
    own = rng.normal(0, 0.0008, (len(LABELS), 1, 2))
    return Trajectories((streets[LABELS] + own).round(7))


def means(points: np.ndarray[Any, Any], labels: Any) -> np.ndarray[Any, Any]:
    labels = np.asarray(labels)
    found = [points[labels == group].mean(axis=0) for group in range(max(labels) + 1)]
    return np.round(np.array(found), 7)


def report(
    labels: Any = LABELS, points: np.ndarray[Any, Any] | None = None, **changes: Any
) -> dict[str, Any]:
    labels = np.asarray(labels, dtype=np.int64)
    points = trajectories().points[: len(labels)] if points is None else points
    return (
        UNMOVED
        | {
            "line_keys": line_keys(means(points, labels)).tolist(),
            "averaged": digest_of(points, labels),
            "n": len(labels),
            "k": 3,
            "counted": "subjects",
            "labels": np.asarray(labels).tolist(),
            "chains": None,
            "persons": {"people": 0, "people_below": 0},
            "information_loss": 12.3456,
            "stages": [
                {"name": "path", "information_loss": None},
                {"name": "MHM", "information_loss": 15.3},
                {"name": "descent", "information_loss": 12.3456},
            ],
            "displacement": {"mean": 126.4, "median": 86.2, "p95": 300.0, "max": 410.0},
            "notice": "For the holder of the data, not for publication.",
            "attribution": OSM_ATTRIBUTION,
        }
        | changes
    )


def released() -> ReleasedTrajectories:
    """The lines of the eleven, in any order."""
    shuffled = np.random.default_rng(1).permutation(LABELS)
    lines = means(trajectories().points, LABELS)[shuffled]
    return ReleasedTrajectories(lines, provenance={"attribution": OSM_ATTRIBUTION})


def compared(**changes: Any) -> str:
    """The holder's page of them, with a report that says something else."""
    return html(compare(trajectories(), released(), report() | changes))


def timed(times: TimesName = "of-day") -> tuple[Trajectories, ReleasedTrajectories, dict[str, Any]]:
    """These as trips of a Monday, the last street's of the Tuesday; their release, its report.

    They depart, in Madrid, at 7:50, 8:10, 8:20 and 8:40; 8:30, 9:00 and 9:30; 17:00 and 18:00.
    """
    minutes = np.array([470, 510, 490, 2460, 540, 500, 2460, 2520, 570, 2520, 520])
    departure = 1_717_365_600 + 60.0 * minutes[:, None]  # from midnight before the Monday on
    original = replace(
        trajectories(), times=departure + np.linspace(0, 14 * 60, 30), provenance={"trips": True}
    )
    clock = Clock(times, "Europe/Madrid", 300)
    assert original.times is not None
    seconds = clock.rounded(group_means(clock.seconds(original.times), LABELS))
    release = ReleasedTrajectories(
        means(original.points, LABELS)[LABELS],
        times=seconds[LABELS],
        provenance={"times": clock.sentence},
    )
    off = {"mean": 1_320.0, "median": 1_200.0, "p95": 1_800.0, "max": 1_800.0}
    account: dict[str, Any] = {
        "times": times,
        "timezone": "Europe/Madrid",
        "step": 300,
        "minute_worth": 3.0,
    }
    account |= {"departure_error": off, "duration_error": off | {"mean": 72.0, "median": 60.0}}
    _, first = np.unique(LABELS, return_index=True)
    one = release.take(first)
    keys = {
        "line_keys": line_keys(one.points, one.times).tolist(),
        "averaged": digest_of(original.points, LABELS, original.times),
    }
    return original, release, report(unit="trip", times=account, **keys)


def without_times(
    release: ReleasedTrajectories, told: dict[str, Any]
) -> tuple[ReleasedTrajectories, dict[str, Any]]:
    """The same release without times."""
    return ReleasedTrajectories(release.points), report() | {"unit": told["unit"]}


def held(page: str) -> dict[str, Any]:
    """What a page holds for its scripts, by name."""
    found = re.findall(
        r'<script type="application/json" id="trajanon-([\w-]+)">(.*?)</script>', page
    )
    return {name: json.loads(text) for name, text in found}


def about(page: str) -> dict[str, Any]:
    """What is said of the release."""
    said: dict[str, Any] = held(page)["page"]
    return said


def layer(page: str, name: str) -> Any:
    """A layer of the release."""
    return held(page)[name]


def places(steps: list[int]) -> list[list[int]]:
    """Add the steps of a line up: lat and lon of its points in millionths."""
    found: list[list[int]] = np.cumsum(np.reshape(steps, (-1, 2)), axis=0).tolist()
    return found


def drawn(original: Trajectories | None = None, **options: Any) -> folium.Map:
    original = trajectories() if original is None else original
    given = options.pop("report", None) or report(points=original.points)
    release = ReleasedTrajectories(means(original.points, given["labels"])[given["labels"]])
    return compare(original, release, given, **({"tiles": None} | options))


def slid() -> folium.Map:
    """Trajectories each on a run of its own, which they slid on by ten steps."""
    points = 30
    run = STEPS * (points - 1) + 21
    rng = np.random.default_rng(0)
    along = np.linspace(0, 0.03, run)
    middle = rng.normal(0, 0.004, len(LABELS))
    runs = np.stack([np.stack([np.full(run, 40.4 + off), -3.7 + along], axis=-1) for off in middle])
    tracks = Tracks(
        TrackPoints.of(runs.reshape(-1, 2)),
        np.arange(len(LABELS) + 1) * run,
        np.arange(len(LABELS)),
        np.zeros(len(LABELS), np.int64),
    )
    before = Trajectories(tracks.windows(points), tracks=tracks)
    starts = np.full(len(LABELS), 10)
    after = before.slid(starts)
    given = report(points=after.points, alignment={"starts": starts.tolist()})
    release = ReleasedTrajectories(means(after.points, LABELS)[LABELS])
    return compare(before, release, given, tiles=None)


def many(n: int) -> folium.Map:
    """Of n trajectories, four a group, about a city."""
    rng = np.random.default_rng(0)
    labels = np.arange(n) // 4
    streets = np.array([40.4, -3.7]) + rng.normal(0, 0.03, (n // 4, 1, 2))
    streets = streets + np.cumsum(rng.normal(0, 0.0008, (n // 4, 30, 2)), axis=1)
    points = (streets[labels] + rng.normal(0, 0.0005, (n, 30, 2))).round(7)
    mean = points.reshape(-1, 4, 30, 2).mean(axis=1).round(7)
    given = report(labels, points, k=4)
    return compare(Trajectories(points), ReleasedTrajectories(mean[labels]), given, tiles=None)
