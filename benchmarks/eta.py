"""Arrival times of a router, with speeds of a release: how far off for people who are not in it.

    python3.12 -m venv build/osrm
    build/osrm/bin/pip install osrm-bindings==26.10.0
    python benchmarks/eta.py CABS.parquet REGION.osm.pbf [PICTURE.png]

Half of the cabs are released with hours; trips of the other half are routed by OSRM through five of
their points, in the direction in which they went there. Speeds are OSRM's own, the release's, or
those of the first half's originals; the last two are those of the four hours of the day in which a
trip departs. Five halves are drawn: one may be lucky.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import trajanon
from trajanon.common.arrays import Floats
from trajanon.extract import extract, roads_to_follow
from trajanon.release.matched_to_roads import RoadsToFollow
from trajanon.street_counts.day_parts import day_parts, parts_of
from trajanon.street_counts.lines_to_count import ReleasedLines
from trajanon.street_counts.router_speeds import router_speeds
from trajanon.trajectories.trajectories import Trajectories

ENVIRONMENT = Path("build/osrm").absolute()
KEY = hashlib.blake2b(b"a benchmark", digest_size=32).digest()  # no holder's
KS = (4, 10)
DRAWS = range(1, 6)  # of halves; how speeds are computed was chosen on another one, 0
DAY_PARTS = day_parts("0-4,4-8,8-12,12-16,16-20,20-24")
LEAST_SECONDS = 300.0  # of trips that are judged

VIA = np.array([0, 7, 15, 22, 29])  # the points of a trip that its route passes
TURNED = 60  # degrees that the route may be off the trip's direction there

# A program for OSRM's Python. Each line of its input has the places and bearings of a trip, and of
# its output, after the first, the seconds.
ROUTES = """
import json, sys, osrm
router = osrm.OSRM(algorithm="MLD", storage_config=sys.argv[1], use_shared_memory=False)
print("ready", flush=True)
for line in sys.stdin:
    places, bearings = json.loads(line)
    places, bearings = ([tuple(pair) for pair in pairs] for pairs in (places, bearings))
    try:
        found = router.Route(osrm.RouteParameters(coordinates=places, bearings=bearings))
        print(found["routes"][0]["duration"], flush=True)
    except RuntimeError:
        print("nan", flush=True)
"""


def measure(cabs: Path, pbf: Path, picture: Path | None = None) -> None:
    """Print how far off arrival times are, with each kind of speeds; draw it, if asked to."""
    roads = roads_to_follow(pbf, "car")
    trips = trips_with_true_ends(cabs, roads)
    with TemporaryDirectory() as folder:
        router = Router(pbf, Path(folder))
        arrivals = pd.concat([arrivals_of(draw, trips, roads, router) for draw in DRAWS])

    arrivals["ratio"] = arrivals["predicted"] / arrivals["real"]
    arrivals["off"] = 100.0 * (arrivals["ratio"] - 1.0).abs()
    medians = arrivals.groupby(["speeds", "draw"], sort=False)[["off", "ratio"]].median()
    table = medians["off"].groupby("speeds", sort=False).agg(["mean", "std", "min", "max"])
    table["predicted to real"] = medians["ratio"].groupby("speeds").mean()
    trips_a_draw = len(arrivals) / len(medians)
    print(f"Off by (%), medians of {trips_a_draw:,.0f} trips, of {len(DRAWS)} draws of the halves:")
    print(table.round(2).to_string())
    if picture is not None:
        draw_errors(arrivals, picture)


def trips_with_true_ends(cabs: Path, roads: RoadsToFollow) -> Trajectories:
    """Return the trips that begin and end inside the box of the roads."""
    lat = roads.network.lat
    lon = roads.network.lon
    trips = extract(cabs, (lon.min(), lat.min(), lon.max(), lat.max()))
    return trips.take(trips.ends_are_true.all(axis=1))


def arrivals_of(
    draw: int, trips: Trajectories, roads: RoadsToFollow, router: "Router"
) -> pd.DataFrame:
    """Predict how long trips of one half of the cabs take, with speeds of the other half.

    Columns are ``draw``, ``speeds`` (whose), ``predicted`` and ``real`` in seconds.
    """
    assert trips.subject is not None
    assert trips.times is not None
    is_released = np.array([is_in_first_half(cab, draw) for cab in trips.subject.tolist()])
    durations = np.ptp(trips.times, axis=1)
    judged = np.flatnonzero(~is_released & (durations >= LEAST_SECONDS))
    requests = requests_of(trips.points[judged])

    predictions = {"OSRM's own": router.seconds(requests, None)}
    for name, lines in lines_by_name(trips.take(is_released)).items():
        assert lines.clock is not None
        departures = lines.clock.seconds(trips.times[judged])[:, 0]
        part = parts_of(departures, lines.clock, DAY_PARTS)
        speeds = router_speeds(lines, roads, DAY_PARTS)
        predicted = np.full(len(requests), np.nan)
        for number in np.unique(part):
            in_part = np.flatnonzero(part == number)
            requests_in_part = [requests[trip] for trip in in_part]
            predicted[in_part] = router.seconds(requests_in_part, speeds.osrm_text(number))
        predictions[name] = predicted

    wide = pd.DataFrame(predictions).assign(draw=draw, real=durations[judged])
    return wide.melt(["draw", "real"], var_name="speeds", value_name="predicted").dropna()


def is_in_first_half(cab: int, draw: int) -> bool:
    """Return whether a cab is in the half that is released: the same in every run, by a hash."""
    return hashlib.blake2b(f"{cab} {draw}".encode()).digest()[0] % 2 == 0


def lines_by_name(released: Trajectories) -> dict[str, ReleasedLines]:
    """Return the lines of which speeds are made: the originals', and those of a release by k."""
    lines = dict[str, ReleasedLines]()
    for k in KS:
        release = trajanon.anonymize(released, k, times="of-day", key=KEY)
        lines[f"k = {k}"] = ReleasedLines.distinct(release.trajectories, k)

    clock = lines[f"k = {KS[0]}"].clock
    assert released.times is not None
    assert clock is not None
    one_each = np.ones(len(released), np.int64)
    originals = ReleasedLines(released.points, one_each, clock.seconds(released.times), clock)
    return {"originals": originals, **lines}


def requests_of(points: Floats) -> list[str]:
    """Write where trips pass, (n, m, 2), and in which direction, as `ROUTES` reads it."""
    # The direction at a point is that from the point before to the next; at ends one is the end.
    before = points[:, np.maximum(VIA - 1, 0)]
    after = points[:, np.minimum(VIA + 1, points.shape[1] - 1)]
    north, east = np.moveaxis(after - before, -1, 0)
    heading = np.degrees(np.arctan2(east * np.cos(np.radians(before[..., 0])), north))
    bearings = np.stack([heading.astype(int) % 360, np.full(heading.shape, TURNED)], axis=-1)
    places = points[:, VIA, ::-1]
    trips = zip(places.tolist(), bearings.tolist(), strict=True)
    return [json.dumps(place_and_bearing) + "\n" for place_and_bearing in trips]


class Router:
    """OSRM with the roads of a file."""

    def __init__(self, roads: Path, folder: Path) -> None:
        """Read the roads for cars."""
        self.python = ENVIRONMENT / "bin" / "python"
        self.folder = folder
        self.graph = folder / "roads.osrm"
        self.without_speeds = folder / "without_speeds"
        package = next(ENVIRONMENT.glob("lib/*/site-packages/osrm"))
        profile = package / "share" / "profiles" / "car.lua"
        shutil.copy(roads, folder / "roads.osm.pbf")
        self._run("extract", "-p", profile, folder / "roads.osm.pbf")
        self._run("partition", self.graph)
        self.without_speeds.mkdir()
        for file in folder.glob("roads.osrm*"):
            shutil.copy(file, self.without_speeds)

    def _run(self, *words: object) -> None:
        """Run a command of OSRM's."""
        command = [self.python, "-m", "osrm", *map(str, words)]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder)

    def seconds(self, requests: list[str], speeds: str | None) -> Floats:
        """Return how long routes take, (n,); NaN where there is none."""
        # OSRM writes speeds into its files, where a street without a speed in the next file would
        # keep them.
        shutil.copytree(self.without_speeds, self.folder, dirs_exist_ok=True)
        options = []
        if speeds is not None:
            (self.folder / "speeds.csv").write_text(speeds, "utf-8")
            options = ["--segment-speed-file", self.folder / "speeds.csv"]
        self._run("customize", self.graph, *options)

        seconds = list[float]()
        while len(seconds) < len(requests):
            routed = subprocess.run(
                [self.python, "-c", ROUTES, self.graph],
                check=False,
                capture_output=True,
                input="".join(requests[len(seconds) :]),
                text=True,
            )
            if not routed.stdout:
                sys.exit(f"OSRM cannot start: {routed.stderr}")
            _, *words = routed.stdout.split()
            seconds += map(float, words)
            if routed.returncode:  # OSRM may end on a trip, which then has no route
                seconds.append(np.nan)
        return np.array(seconds)


def draw_errors(arrivals: pd.DataFrame, picture: Path) -> None:
    """Draw which share of trips arrives within which error."""
    import matplotlib.pyplot as plt
    from PIL import Image

    figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
    for speeds, off in arrivals.groupby("speeds", sort=False)["off"]:
        axes.ecdf(off, label=speeds)

    axes.set(xlim=(0.0, 60.0), xlabel="arrival time is off by at most (%)", ylabel="share of trips")
    axes.axhline(0.5, color="#999999", linewidth=0.8, linestyle=":")
    axes.legend(loc="lower right", frameon=False)
    figure.savefig(picture, dpi=80)
    Image.open(picture).quantize(16).save(picture, optimize=True)


if __name__ == "__main__":
    measure(*map(Path, sys.argv[1:]))
