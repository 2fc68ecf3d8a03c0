"""Arrival times of a router, with speeds of a release: how far off for people who are not in it.

Run ``python benchmarks/eta.py CABS.parquet REGION.osm.pbf [PICTURE.png]``. Half of the cabs are
released with hours; trips of the other half are routed by OSRM through five of their points, in the
direction in which they went there: with its own speeds, with the release's and with those of the
first half's originals, of the whole day and of the four hours in which they depart. OSRM's package
needs Python 3.12 or newer and is installed into an environment of its own, in build/osrm.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import trajanon
from trajanon.common.arrays import Floats
from trajanon.extract import extract, roads_to_follow
from trajanon.street_counts.day_parts import ALL_DAY, day_parts, parts_of
from trajanon.street_counts.released_lines import ReleasedLines
from trajanon.street_counts.router_speeds import router_speeds
from trajanon.trajectories.trajectories import Trajectories

ENVIRONMENT = Path("build/osrm")
PACKAGE = "osrm-bindings==26.10.0"
PYTHONS = ("python3.14", "python3.13", "python3.12")
KEY = hashlib.blake2b(b"a benchmark", digest_size=32).digest()  # no holder's
VIA = np.array([0, 7, 15, 22, 29])  # the points of a trip that its route passes
TURNED = 60  # degrees that the route may be off the trip's direction there
CHOSEN_ON = 5  # of so many trips the first: on it was chosen how speeds are computed
HOURS = "0-4,4-8,8-12,12-16,16-20,20-24"
LEAST_SECONDS = 60.0, 300.0  # seconds of trips that are judged, at least
ROUTES = """
import json, sys, osrm
router = osrm.OSRM(algorithm="MLD", storage_config=sys.argv[1], use_shared_memory=False)
for line in sys.stdin:
    places, bearings = json.loads(line)
    places, bearings = ([tuple(pair) for pair in pairs] for pairs in (places, bearings))
    try:
        found = router.Route(osrm.RouteParameters(coordinates=places, bearings=bearings))
        print(found["routes"][0]["duration"], flush=True)
    except RuntimeError:
        print("nan", flush=True)
"""


def environment() -> Path:
    """Return the Python of OSRM's environment, which is made once."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        # pyenv has names of Pythons that are not installed: these fail.
        made = (
            subprocess.run([newer, "-m", "venv", ENVIRONMENT], check=False).returncode == 0
            for newer in filter(shutil.which, PYTHONS)
        )
        if not any(made):
            sys.exit(f"OSRM's package needs one of {', '.join(PYTHONS)}: install one, try again")
        subprocess.run([python, "-m", "pip", "install", "--quiet", PACKAGE], check=True)
    return python.absolute()


class Router:
    """OSRM with the roads of a file."""

    def __init__(self, roads: Path, folder: Path) -> None:
        """Read the roads for cars."""
        self.python = environment()
        self.folder = folder
        self.graph = folder / "roads.osrm"
        package = next(ENVIRONMENT.glob("lib/*/site-packages/osrm"))
        profile = package.absolute() / "share" / "profiles" / "car.lua"
        shutil.copy(roads, folder / "roads.osm.pbf")
        self._run("extract", "-p", profile, folder / "roads.osm.pbf")
        self._run("partition", self.graph)

    def _run(self, *words: object) -> None:
        command = [self.python, "-m", "osrm", *map(str, words)]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder)

    def seconds(self, ways: list[str], speeds: str | None) -> Floats:
        """Return how long routes take, (n,); NaN where there is none."""
        options = []
        if speeds is not None:
            (self.folder / "speeds.csv").write_text(speeds, "utf-8")
            options = ["--segment-speed-file", self.folder / "speeds.csv"]
        self._run("customize", self.graph, *options)

        seconds = list[float]()
        while len(seconds) < len(ways):
            routed = subprocess.run(
                [self.python, "-c", ROUTES, self.graph],
                check=False,
                capture_output=True,
                input="".join(ways[len(seconds) :]),
                text=True,
            )
            seconds += [float(word) for word in routed.stdout.split()]
            if routed.returncode:  # OSRM may end on a trip, which then has no route
                seconds.append(np.nan)
        return np.array(seconds)


def half_of(person: int) -> int:
    """Return the half, 0 or 1, in which a person is."""
    return hashlib.blake2b(str(person).encode()).digest()[0] % 2


def ways_of(points: Floats) -> list[str]:
    """Write where trips pass, (n, m, 2), and in which direction, as `ROUTES` reads it."""
    before = points[:, np.maximum(VIA - 1, 0)]
    after = points[:, np.minimum(VIA + 1, points.shape[1] - 1)]
    north, east = np.moveaxis(after - before, -1, 0)
    heading = np.degrees(np.arctan2(east * np.cos(np.radians(before[..., 0])), north))
    return [
        json.dumps([place[:, ::-1].tolist(), [[degrees, TURNED] for degrees in of_trip]]) + "\n"
        for place, of_trip in zip(points[:, VIA], (heading.astype(int) % 360).tolist(), strict=True)
    ]


def ratios(predicted: Floats, real: Floats, least: float) -> Floats:
    """Return predicted to real seconds of trips that have a route and take so long at least."""
    judged = np.isfinite(predicted) & (real >= least)
    return np.asarray(predicted[judged] / real[judged])


def show(name: str, predicted: Floats, real: Floats) -> None:
    """Print how far off arrival times are."""
    words = []
    for least in LEAST_SECONDS:
        ratio = ratios(predicted, real, least)
        off = 100.0 * np.median(np.abs(ratio - 1.0))
        words.append(f"{len(ratio):5} of {least:3g} s: {off:4.1f} % ({np.median(ratio):.2f})")
    print(f"{name:28}", *words, sep="   ")


def draw(predictions: dict[str, Floats], real: Floats, picture: Path) -> None:
    """Draw which share of trips arrives within which error."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for name, predicted in predictions.items():
        off = 100.0 * np.abs(ratios(predicted, real, LEAST_SECONDS[-1]) - 1.0)
        axes.ecdf(off, label=name)

    axes.set(xlim=(0.0, 60.0), xlabel="arrival time is off by at most (%)", ylabel="share of trips")
    axes.axhline(0.5, color="#999999", linewidth=0.8, linestyle=":")
    axes.legend(loc="lower right", frameon=False)
    figure.savefig(picture, dpi=80)


def measure(cabs: Path, pbf: Path, picture: Path | None = None) -> None:
    """Compare arrival times."""
    roads = roads_to_follow(pbf, "car")
    lat, lon = roads.network.lat, roads.network.lon
    trips = extract(cabs, (lon.min(), lat.min(), lon.max(), lat.max()))
    assert trips.true_ends is not None
    trips = trips.take(np.flatnonzero(trips.true_ends.all(axis=1)))
    assert trips.subject is not None
    assert trips.times is not None
    half = np.array([half_of(person) for person in trips.subject.tolist()])
    takes = np.ptp(trips.times, axis=1)
    long_enough = np.flatnonzero((half == 1) & (takes >= min(LEAST_SECONDS)))
    rows = long_enough[np.arange(len(long_enough)) % CHOSEN_ON > 0]
    real = takes[rows]
    times = trips.times[rows]
    ways = ways_of(trips.points[rows])

    with TemporaryDirectory() as folder:
        router = Router(pbf, Path(folder))
        predictions = {"OSRM's own": router.seconds(ways, None)}
        for name, lines in lines_by_name(trips.take(np.flatnonzero(half == 0))).items():
            assert lines.clock is not None
            departures = lines.clock.seconds(times)[:, 0]
            for when, parts in (("", ALL_DAY), (" by hours", day_parts(HOURS))):
                speeds = router_speeds(lines, roads, parts)
                part = parts_of(departures, lines.clock, parts)
                predicted = np.full(len(ways), np.nan)
                for number in np.unique(part):
                    in_part = np.flatnonzero(part == number)
                    text = speeds.osrm_text(number)
                    predicted[in_part] = router.seconds([ways[trip] for trip in in_part], text)
                predictions[name + when] = predicted

    print("Off by, in the median of trips of at least ... seconds (predicted to real):")
    for name, predicted in predictions.items():
        show(name, predicted, real)
    if picture is not None:
        drawn = ("OSRM's own", *(f"{name} by hours" for name in ("originals", "k = 4", "k = 10")))
        draw({name: predictions[name] for name in drawn}, real, picture)


def lines_by_name(known: Trajectories) -> dict[str, ReleasedLines]:
    """Release trips of which speeds are made, with two k; and count the originals alike."""
    lines = dict[str, ReleasedLines]()
    for k in (4, 10):
        release = trajanon.anonymize(known, k, times="of-day", key=KEY)
        lines[f"k = {k}"] = ReleasedLines.of(release.trajectories, k)

    clock = lines["k = 4"].clock
    assert known.times is not None
    assert clock is not None
    one_each = np.ones(len(known), np.int64)
    return {
        "originals": ReleasedLines(known.points, one_each, clock.seconds(known.times), clock)
    } | lines


if __name__ == "__main__":
    measure(*map(Path, sys.argv[1:]))
