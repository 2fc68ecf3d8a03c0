"""Originals, releases and methods of other programs, for the audit by trajanon evaluate."""

import shlex
import subprocess
from dataclasses import replace
from itertools import compress, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import trajanon
from trajanon.common.arrays import renumbered
from trajanon.common.errors import BadInput, TrajanonError
from trajanon.evaluation.recordings import Originals, Recordings
from trajanon.files.parquet_parts import NAMES_OF_PARQUET
from trajanon.files.release_contents import clock_of
from trajanon.files.release_formats import read_lines
from trajanon.trajectories.trajectories import Trajectories

POINTS = 30  # of originals that are no trajectories yet


def read_originals(path: Path, *, subjects_exact: bool = False) -> Originals:
    """Read trajectories that extract wrote, or else recordings of any format."""
    try:
        trips = trajanon.read_trajectories(path, subjects_exact=subjects_exact)
    except TrajanonError as error:
        try:
            recordings, subjects = read_recordings(path, POINTS)
        except TrajanonError:
            # Of what may be trajectories, it matters why they are none.
            if path.is_dir() or path.name.lower().endswith(NAMES_OF_PARQUET):
                raise error from None
            raise
        trips = Trajectories(
            recordings.points,
            subject=np.array(subjects, dtype=object) if any(subjects) else None,
            times=recordings.times,
            provenance={"trips": True},
        )
        return Originals(trips, recordings, [recordings.names])

    # Other programs name rows as they are numbered, or by the number of their recording.
    rows = Recordings.of(trips, None)
    names = [rows.names]
    if trips.trace is not None and len(np.unique(trips.trace)) == len(trips):
        names.append([str(number) for number in trips.trace])
    return Originals(trips, rows, names)


def read_any(path: Path, points: int) -> Recordings:
    """Read the rows of a release of any program: of trajanon as it is, of others as recordings.

    Recordings have so many ``points``, at equal shares of their ways.
    """
    if path.is_dir() or _is_ours(path):
        release = trajanon.read_release(path)
        if release.points.shape[1] == points:
            return Recordings.of(release, clock_of(release))
    try:
        return read_recordings(path, points)[0]
    except TrajanonError as error:
        try:
            trips = trajanon.read_trajectories(path)  # the originals, as if they were a release
        except TrajanonError:
            raise error from None
        return Recordings.of(trips, None)


def _is_ours(path: Path) -> bool:
    """Check whether a file counts rows or explains its times, as only our releases do."""
    try:
        lines = read_lines(path)
    except TrajanonError:
        return False
    return lines.counts is not None or lines.clock is not None


def read_recordings(path: Path, points: int) -> tuple[Recordings, list[str | None]]:
    """Read recordings of any format, at equal shares of their ways, and their subjects."""
    from trajanon.extract import traces
    from trajanon.extract.impossible_and_stray_points import drop_impossible
    from trajanon.extract.options_and_defaults import Rules
    from trajanon.extract.points import batch
    from trajanon.extract.resample_windows_and_trips import whole_trips

    pieces = list(traces(path))
    fixes = drop_impossible(batch(pieces))
    if not len(fixes):
        raise BadInput(f"{path} holds no line")

    # Pieces with one name and subject that follow one another are one recording. Those without a
    # fix are in none.
    names_and_subjects = [(pieces[i].name, pieces[i].subject) for i in np.unique(fixes.trace)]
    begins = [True] + [before != after for before, after in pairwise(names_and_subjects)]
    recording = (np.cumsum(begins) - 1)[renumbered(fixes.trace)]  # of each fix its number
    # The first fix of each recording, and then the number of all fixes.
    first = np.searchsorted(recording, np.arange(sum(begins) + 1))

    vertices = np.column_stack([fixes.lat, fixes.lon])
    if (np.diff(first) == points).all():  # rows made of trajectories keep their points
        places = vertices.reshape(-1, points, 2)
        times = fixes.time.reshape(-1, points)
    else:
        # Each last fix stands twice, so that a single one is a way, too.
        all_and_last = np.sort(np.append(np.arange(len(fixes)), first[1:] - 1))
        ways = replace(fixes, trace=recording, piece=recording)
        trips = whole_trips(ways.take(all_and_last), Rules(points=points, min_length=0.0))
        places = trips.points
        times = trips.times

    # A recording of which a time is not known has none.
    times = np.where(np.isfinite(times).all(axis=1, keepdims=True), times, np.nan)
    names, subjects = zip(*compress(names_and_subjects, begins), strict=True)
    recordings = Recordings(
        points=places,
        times=None if np.isnan(times).all() else times,
        names=[_own_name(name, path) for name in names],
        vertices=vertices,
        first=first,
    )
    return recordings, list(subjects)


def _own_name(name: str, path: Path) -> str:
    """Return what a file calls a recording, without the name of the file before it."""
    if path.is_dir():  # of many files, whose names are not known here
        return name.rpartition("#")[2]
    return name.removeprefix(f"{path.name}#")


def write_points(path: Path, trips: Trajectories) -> None:
    """Write trips for a method of strangers: a Parquet file with a row a point.

    Its columns are id, lat and lon and, where they are known, subject and time; ids are whole
    numbers from 0 on, by which rows of the release can be matched.
    """
    import pandas as pd

    table = trips.to_dataframe().rename(columns={"trajectory": "id"})
    table = table.drop(columns="trace", errors="ignore")
    if "time" in table:
        table["time"] = pd.to_datetime(table["time"], unit="s", utc=True)
    table.to_parquet(path, index=False)


def run_method(command: str, trips: Trajectories, out: Path) -> None:
    """Run a command that publishes trips: {in} is a file of their points, {out} what it writes."""
    with TemporaryDirectory() as folder:
        trips_path = Path(folder) / "trips.parquet"
        write_points(trips_path, trips)
        words = [
            word.replace("{in}", str(trips_path)).replace("{out}", str(out))
            for word in shlex.split(command)
        ]
        try:
            run = subprocess.run(
                words, capture_output=True, text=True, errors="replace", check=False
            )
        except OSError as error:
            raise BadInput(f"`method` {command!r} cannot be run: {error.strerror}") from error
        if run.returncode or not out.exists():
            last_line = (run.stderr.strip().splitlines() or ["it wrote no {out}"])[-1]
            raise BadInput(f"`method` {command!r} failed: {last_line}")


def check_method(command: str) -> None:
    """Refuse a command that does not name what it reads and what it writes, or cannot be split."""
    try:
        shlex.split(command)
    except ValueError as error:
        raise BadInput(f"`method` {command!r} is no command: {error}") from error
    if "{in}" not in command or "{out}" not in command:
        raise BadInput(
            '`method` is a command that publishes {in} as {out}, such as "python mdav.py {in} '
            f'{{out}}" (got {command!r})'
        )
