"""Other programs as commands that read and write Parquet files of points; k = 4.

    cd benchmarks && python -m venv peers && cd peers
    bin/pip install anonypyx tqdm haversine more_itertools psutil pytz geopandas pyarrow
    git clone https://github.com/MobiDataLab/mdl-anonymizer
    git clone https://github.com/sdcTools/sdcMicro
    git clone https://github.com/uqwhua/TrjPrivacy
    javac -d glove -cp TrjPrivacy/libs/* $(find TrjPrivacy/src -name "*.java")
    bin/python ../peers.py {anonypyx,mdl} TRIPS OUT
    python ../peers.py {sdcmicro,glove} TRIPS OUT

Each function takes records, (n, 2 m), the latitude and longitude of m points in turn, in degrees,
and returns the group of each, (n,). It runs in an empty folder. Of sdcMicro, R's package, the C++
of its MDAV is compiled as it is.
"""

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import MagicMock

import numpy as np
import pandas as pd

K = 4
KILOMETRES_OF_DEGREE = 111.3  # of latitude
PEERS = Path(__file__).absolute().parent / "peers"


def anonypyx(records):
    """Group by MDAV-generic."""
    from anonypyx import Anonymiser

    frame = pd.DataFrame(records)
    frame.columns = frame.columns.astype(str)
    program = Anonymiser(frame, k=K, algorithm="MDAV-generic")
    labels = np.empty(len(records), dtype=np.int64)
    for group, rows in enumerate(program.algorithm.partition(program.parameters)):
        labels[rows] = group
    return labels


def mdl(records):
    """Group by MDAV with the distance of Martínez et al. (2021)."""
    sys.path.append(str(PEERS / "mdl-anonymizer"))
    # The program imports these, and does not need them here.
    sys.modules |= dict.fromkeys(("skmob", "skmob.utils", "skmob.utils.constants"), MagicMock())
    from mdl_anonymizer.clustering.MDAV.SimpleMDAV import SimpleMDAV
    from mdl_anonymizer.distances.trajectory.Martinez2021.Distance import Distance
    from mdl_anonymizer.entities.Dataset import Dataset
    from mdl_anonymizer.entities.TimestampedLocation import TimestampedLocation
    from mdl_anonymizer.entities.Trajectory import Trajectory

    trips = Dataset()
    for number, line in enumerate(records.reshape(len(records), -1, 2)):
        trip = Trajectory(number, number)  # also the number of its user
        # A point's number is its time, which counts nothing by a lambda of 0.
        trip.locations = [TimestampedLocation(at, lon, lat) for at, (lat, lon) in enumerate(line)]
        trips.add_trajectory(trip)
    program = SimpleMDAV(trips, Distance(trips, p_lambda=0.0))
    program.run(K)
    return np.array([program.mdav_dataset.assigned_to[number] for number in range(len(records))])


def sdcmicro(records):
    """Group by sdcMicro's MDAV, which gives means alone."""
    from beside_sdcmicro import compiled, of_sdcmicro

    program = compiled(PEERS / "sdcMicro/src", Path.cwd())
    means, _ = of_sdcmicro(program, records, K)
    return np.unique(means, axis=0, return_inverse=True)[1].ravel()


def glove(records):
    """Group by GLOVE, which counts kilometres and minutes."""
    lines = (records.reshape(len(records), -1, 2) - records[0, :2]) * KILOMETRES_OF_DEGREE
    lines[..., 1] *= np.cos(np.radians(records[0, 0]))
    n, m = lines.shape[:2]
    trip = np.repeat(np.arange(n), m)
    minute = np.tile(np.arange(m), n)
    rows = np.column_stack([trip, trip, 60 * minute, lines[..., ::-1].reshape(-1, 2)])
    header = "trip,user,time,lon,lat"
    np.savetxt("trips.csv", rows, "%d,%d,%d,%.7f,%.7f", header=header)
    # Its reader for T-Drive takes such a file.
    settings = {"dataset": "T-Drive", "variant": "trips", "dataInput": "./", "dataOutput": "./"}
    settings |= {"outputResults": "true", "privacyModel": "glove", "k-anonymity": K}
    # Settings of other methods, which the program asks for.
    unused = ("l-diversity", "t-closeness", "exposure_ratio", "radius", "min_length")
    settings |= dict.fromkeys((*unused, "num_mixzones"), 1)
    folder = Path("src/resources")
    folder.mkdir(parents=True)
    text = "\n".join(f"{name} = {value}" for name, value in settings.items())
    (folder / "config.properties").write_text(text)
    classes = PEERS / "glove"
    subprocess.run(["java", "-cp", classes, "models.Main"], check=True, capture_output=True)

    # Trips that are in no group of its result stay alone.
    labels = np.arange(n)
    for row in Path(f"Glove/trips_{K}.csv").read_text().splitlines()[1:]:
        # Its number, its group, seven measures, and the trips in it.
        _, group, _, _, _, _, _, _, _, *members = map(float, row.split(","))
        labels[[int(member) for member in members]] = n + group
    return labels


if __name__ == "__main__":
    name, source, out = sys.argv[1:]
    table = pd.read_parquet(source)
    records = table[["lat", "lon"]].to_numpy().reshape(table["id"].nunique(), -1)
    started_in = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        programs = {"anonypyx": anonypyx, "mdl": mdl, "sdcmicro": sdcmicro, "glove": glove}
        labels = programs[name](records)
        os.chdir(started_in)
    means = pd.DataFrame(records).groupby(np.asarray(labels)).transform("mean").to_numpy()
    table[["lat", "lon"]] = means.reshape(-1, 2)
    table[["id", "lat", "lon"]].to_parquet(out, index=False)
