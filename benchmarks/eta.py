"""Arrival times of a router, with speeds of a release: how far off for people who are not in it.

Run ``python benchmarks/eta.py CABS.parquet REGION.osm.pbf``. Half of the cabs are released with
hours; trips of the other half are routed through five of their points by OSRM, with its own speeds,
with the release's and with those of the first half's originals. OSRM's package needs Python 3.12 or
newer and is installed into an environment of its own, in build/osrm.
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
from trajanon.common.arrays import Floats, Ints
from trajanon.extract import extract, roads_to_follow
from trajanon.release.snapping import RoadsToFollow
from trajanon.street_counts.router_speeds import osrm_text, router_speeds
from trajanon.street_counts.streets import ReleasedLines
from trajanon.trajectories.trajectories import Trajectories

ENVIRONMENT = Path("build/osrm")
PACKAGE = "osrm-bindings==26.10.0"
PYTHONS = ("python3.14", "python3.13", "python3.12")
KEY = hashlib.blake2b(b"a benchmark", digest_size=32).digest()  # no holder's
VIA = [0, 7, 15, 22, 29]  # the points of a trip that its route passes
EACH = 5  # trips, of which one is routed
SHORTEST = 60.0  # seconds of a trip that is routed
ROUTES = """
import json, sys, osrm
router = osrm.OSRM(sys.argv[1])
for line in sys.stdin:
    try:
        places = [tuple(place) for place in json.loads(line)]
        found = router.Route(osrm.RouteParameters(coordinates=places))
        print(found["routes"][0]["duration"], flush=True)
    except RuntimeError:
        print("nan", flush=True)
"""


def environment() -> Path:
    """Return the Python of OSRM's environment, which is made once."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        newer = next(filter(None, map(shutil.which, PYTHONS)), None)
        if newer is None:
            sys.exit(
                f"OSRM's package needs one of {', '.join(PYTHONS)}: install one, and try again"
            )
        subprocess.run([newer, "-m", "venv", ENVIRONMENT], check=True)
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

    def _run(self, *words: object) -> None:
        command = [self.python, "-m", "osrm", *map(str, words)]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder)

    def seconds(self, places: Floats, speeds: str | None) -> Floats:
        """Return how long routes take through places, latitude and longitude, (n, v, 2)."""
        options = []
        if speeds is not None:
            (self.folder / "speeds.csv").write_text(speeds, "utf-8")
            options = ["--segment-speed-file", self.folder / "speeds.csv"]
        self._run("contract", self.graph, *options)

        lines = [json.dumps(place[:, ::-1].tolist()) + "\n" for place in places]
        seconds = list[float]()
        while len(seconds) < len(lines):
            routed = subprocess.run(
                [self.python, "-c", ROUTES, self.graph],
                check=False,
                capture_output=True,
                input="".join(lines[len(seconds) :]),
                text=True,
            )
            seconds += [float(word) for word in routed.stdout.split()]
            if routed.returncode:  # OSRM may end on a trip, which then has no route
                seconds.append(np.nan)
        return np.array(seconds)


def halves(trips: Trajectories) -> Ints:
    """Return the half, 0 or 1, in which each trip's person is."""
    assert trips.subject is not None
    half = {
        number: hashlib.blake2b(str(number).encode()).digest()[0] % 2
        for number in np.unique(trips.subject).tolist()
    }
    return np.array([half[number] for number in trips.subject.tolist()])


def show(name: str, predicted: Floats, real: Floats) -> None:
    """Print how far off arrival times are."""
    known = np.isfinite(predicted)
    ratio = predicted[known] / real[known]
    off = np.abs(ratio - 1.0)
    print(
        f"{name:32} {known.sum():6} trips   off by {100 * np.median(off):5.1f} % in the median"
        f"   predicted to real {np.median(ratio):.2f}"
    )


def measure(cabs: Path, pbf: Path) -> None:
    """Compare arrival times."""
    roads = roads_to_follow(pbf, "car")
    lat, lon = roads.network.lat, roads.network.lon
    trips = extract(cabs, (lon.min(), lat.min(), lon.max(), lat.max()))
    assert trips.true_ends is not None
    trips = trips.take(np.flatnonzero(trips.true_ends.all(axis=1)))
    half = halves(trips)
    known = trips.take(np.flatnonzero(half == 0))
    held_out = trips.take(np.flatnonzero(half == 1))
    assert held_out.times is not None
    real = held_out.times[:, -1] - held_out.times[:, 0]
    routed = np.flatnonzero(real >= SHORTEST)[::EACH]
    places = held_out.points[routed][:, VIA]
    real = real[routed]

    with TemporaryDirectory() as folder:
        router = Router(pbf, Path(folder))
        show("OSRM's own speeds", router.seconds(places, None), real)

        originals = ReleasedLines(known.points, np.ones(len(known), np.int64), known.times)
        show_speeds("originals of the first half", originals, roads, router, places, real)
        for k in (4, 10):
            release = trajanon.anonymize(known, k, times="of-day", key=KEY)
            lines = ReleasedLines.of(release.trajectories, k)
            show_speeds(f"release, k = {k}", lines, roads, router, places, real)


def show_speeds(
    name: str,
    lines: ReleasedLines,
    roads: RoadsToFollow,
    router: Router,
    places: Floats,
    real: Floats,
) -> None:
    """Print how far off arrival times are with the speeds of lines."""
    (speeds,) = router_speeds(lines, roads)
    show(name, router.seconds(places, osrm_text(speeds)), real)


if __name__ == "__main__":
    measure(Path(sys.argv[1]), Path(sys.argv[2]))
