"""Measure the attacks: how long each takes, and what it finds.

    python benchmarks/attacks.py known                     # made-up streets
    python benchmarks/attacks.py known cabs.parquet        # trajectories of your own
    python benchmarks/attacks.py tolerances cabs.parquet
    python benchmarks/attacks.py companions cabs.parquet
    python benchmarks/attacks.py steps cabs.parquet
    python benchmarks/attacks.py cells cabs.parquet

Without a file, 1,000 and 10,000 trajectories along made-up streets; with one, its first 1,000 and
all of it. Groups are of k = 4, different subjects where the file knows them, on the windows as cut.
Seconds are those of the clock and of the processor, all threads; kernels are compiled before.

For companions somebody holds all trajectories but one, as they were cut or, with --align, whole
tracks; trajanon.privacy.companions says what he does. Lines are written with plain decimals, and as
releases are; docs/privacy.md shows the result.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from corridors import POINTS, corridors
from measures import command_line, first_rows, load, peak_gb, row, spent

import trajanon
from trajanon.arrays import Floats, Ints
from trajanon.files.release_lines import as_written
from trajanon.files.report import checked
from trajanon.loss import group_means
from trajanon.partition import first_of_each
from trajanon.privacy.attack import Attack, Published
from trajanon.privacy.companions import companions as look_for_companions
from trajanon.privacy.diversity import diversity
from trajanon.privacy.known_points import Guesses, known_ends, known_points
from trajanon.privacy.linkage import nearest_record, other_tracks
from trajanon.privacy.originals import matched
from trajanon.privacy.suite import attacks
from trajanon.rounding import grids_of
from trajanon.trajectories import Trajectories
from trajanon.utility.displacements import metres_of_degrees
from trajanon.words import metres, percent

K = 4
SIZES = (1_000, 10_000)
TOLERANCES = (25.0, 50.0, 100.0, 200.0, 400.0, 800.0)


def timed(name: str, *job: Any, **options: Any) -> Any:
    """Do a job; print its name, its seconds and, of an attack, what it found."""
    found, seconds, cpu_seconds = spent(*job, **options)
    line = f"  {name:42} {seconds:8.2f} s {cpu_seconds:8.2f} s CPU"
    done = [found] if isinstance(found, Attack) else found if isinstance(found, Guesses) else []
    for one in done:
        shares = (one.expected, one.worst_case, one.line_found, one.exposed)
        print(line + "".join(f"  {100 * share:6.2f}" for share in shares), flush=True)
        line = f"  {name + ', nearest':66}"
    if not done:
        print(line, flush=True)
    return found


def released(name: str, table: Trajectories) -> Published:
    """Group trajectories, as cut, and compile the attacks."""
    print(f"\n{name}: {len(table)} trajectories, load {load():.1f}")
    print(f"  {'percent':>75}  expect   worst    line  exposed")
    points = np.zeros((2, POINTS, 2))
    known_points(Published(points, points, np.arange(2), K))  # compiles
    groups = trajanon.microaggregate(table.records, K, subjects=table.subject)
    lines = np.round(groups.lines(table.points), 7)
    own_row = None if table.subject is None else first_of_each(groups.labels, table.subject)
    return Published(table.points, lines, groups.labels, K, table.subject, own_row=own_row)


def known(file: Annotated[Path | None, typer.Argument()] = None) -> None:
    """Try each attack, on the release and on the originals."""
    if file is None:
        tables = [Trajectories(corridors(n).reshape(n, POINTS, 2)) for n in SIZES]
    else:
        whole = trajanon.read_trajectories(file)
        tables = [first_rows(whole, SIZES[0]), whole]
    for table in tables:
        release = released(str(file or "made-up streets"), table)
        both = (release, release.originals)
        timed("nearest record", nearest_record, release)
        for points in (2, 4):
            for order in (False, True):
                for seen in both:
                    words = f"{points} points{', in order' * order}, {seen.against}"
                    timed(words, known_points, seen, points, order=order)
        for seen in both:
            timed(f"both ends, {seen.against}", known_ends, seen)
        if release.subjects is not None:
            timed("other tracks", other_tracks, release)
        found = timed("diversity", diversity, release)
        for seen in both:
            timed(f"all on the {seen.against}", attacks, seen)
        print(f"  {found.words}\n  at most {1e3 * peak_gb():.0f} MB so far")


def tolerances(file: Path) -> None:
    """Try two known points, without order, within several tolerances."""
    release = released(str(file), trajanon.read_trajectories(file))
    for tolerance in TOLERANCES:
        timed(f"2 points, {tolerance:g} m", known_points, release, tolerance=tolerance)


def companions(
    file: Path, k: Annotated[int, typer.Option("-k")] = K, *, align: bool = False
) -> None:
    """Measure how often the other members of a group are found, and what is rebuilt with them."""
    trajectories = trajanon.read_trajectories(file)
    release = trajanon.anonymize(trajectories, k, align=align)
    found = matched(trajectories, release.trajectories, checked(release.report))
    points, labels = found.slid.points, found.labels
    means = group_means(found.slid.records, labels).reshape(found.lines.shape)
    off = ("off", "smoothed", "half way")
    row("written", "by distance", *off, "by hops", *off, "told", *off[1:], "the line")
    for written, lines in {
        "7 decimals": as_written(means, 7),
        "4 decimals": as_written(means, 4),
        "as releases are": found.lines,
    }.items():
        seen = Published(points, lines, labels, k, trajectories.subject)
        spacing = trajectories.provenance.get("spacing")
        slid = seen if align else None
        held = look_for_companions(seen, trajectories.tracks, slid, spacing=spacing)
        if held is None:
            print(f"no group has {k} trajectories of {k} subjects")
            return
        cells = [written]
        for way in (held.by_distance, held.by_spacing):
            rebuilt = "–––" if way.rebuilt is None else map(metres, way.rebuilt)
            cells += [percent(way.first), *rebuilt]
        row(*cells, *map(metres, (*held.told, held.line)))
    print(f"{held.groups} groups, the true ones among {held.near} in {percent(held.within)}")


def steps(file: Path, spacing: float = 100.0) -> None:
    """Measure how many steps of both members of a pair follow from the spacing, at k = 2.

    The step of a line is s = (u + v) / 2. With |u| = |v| = spacing, u and v are s and a vector at
    right angles to it, which makes them as long as the spacing. Counted are the steps of both
    members within 5 m of the spacing, and those of them told to 5 m.
    """
    trajectories = trajanon.read_trajectories(file)
    release = trajanon.anonymize(replace(trajectories, subject=None), 2, align=False)
    labels = np.array(release.report["labels"])
    of_two = np.flatnonzero(np.bincount(labels) == 2)
    members = np.argsort(labels, kind="stable")[np.isin(np.sort(labels), of_two)].reshape(-1, 2)
    plane = metres_of_degrees(trajectories.points[..., 0].mean())
    pairs = trajectories.points[members]
    true = np.diff(pairs * plane, axis=2)
    spaced = (np.abs(np.hypot(*np.moveaxis(true, -1, 0)) - spacing) < 5.0).all(axis=1)
    print(f"{len(pairs)} pairs, {spaced.mean():.0%} of the steps within 5 m of {spacing:g} m")
    means = pairs.mean(axis=1)
    own = grids_of(pairs.reshape(-1, *pairs.shape[2:]), means, np.repeat(np.arange(len(pairs)), 2))
    ways = {f"{digits} decimals": as_written(means, digits) for digits in (7, 5, 4)}
    for name, lines in (ways | {"as releases are": as_written(means, None, own)}).items():
        line = np.diff(lines * plane, axis=1)
        long = np.hypot(*np.moveaxis(line, -1, 0))
        aside = np.sqrt(np.maximum(spacing**2 - long**2, 0.0)) / np.maximum(long, 1e-9)
        across = np.stack([-line[..., 1], line[..., 0]], axis=-1) * aside[..., None]
        off = [
            np.hypot(*np.moveaxis(true - np.stack(guess, axis=1), -1, 0)).max(axis=1)
            for guess in ((line + across, line - across), (line - across, line + across))
        ]
        told = np.minimum(*off)[spaced] < 5.0
        print(f"{name}: both steps told to 5 m in {told.mean():.1%}")


def cells(
    file: Path, k: Annotated[int, typer.Option("-k")] = K, groups: int = 200, samples: int = 400
) -> None:
    """Estimate originals by where they must lie for no single move to pay (Hartigan).

    A member x of a group of s rows stays as long as s / (s - 1) |x - c|^2 is no more than
    r / (r + 1) |x - d|^2 for every other line d, of r rows. Groups of k may not lose a member, so
    that this holds for larger ones only; it is taken for all. Points are drawn in that cell by hit
    and run, within twice the mean distance of records from their lines. Printed is how far members
    are from their line, from the mean of their cell, and from the nearer of two points on the
    longest axis of it, which somebody would still have to choose between.
    """
    trajectories = trajanon.read_trajectories(file)
    release = trajanon.anonymize(replace(trajectories, subject=None), k, align=False)
    labels = np.array(release.report["labels"])
    plane = metres_of_degrees(trajectories.points[..., 0].mean())
    records = (trajectories.points * plane).reshape(len(labels), -1)
    records = records - records.mean(axis=0)
    sizes = np.bincount(labels)
    lines = np.array([records[labels == one].mean(axis=0) for one in range(len(sizes))])
    spread = np.sqrt(((records - lines[labels]) ** 2).sum(axis=1)).mean()
    random = np.random.default_rng(0)
    off = np.zeros((3, 0))
    for group in random.choice(len(sizes), min(groups, len(sizes)), replace=False):
        mean, size = lines[group], sizes[group]
        near = np.argsort(((lines - mean) ** 2).sum(axis=1))[1:60]
        drawn = _hit_and_run(lines[near], sizes[near], mean, size, spread, samples, random)
        centre = drawn.mean(axis=0)
        axis = np.linalg.svd(drawn - centre, full_matrices=False)[2][0]
        wide = np.abs((drawn - centre) @ axis).mean() * axis
        members = records[labels == group]
        apart = [members - mean, members - centre]
        ends = np.array([((members - mean - way) ** 2).sum(axis=1) for way in (wide, -wide)])
        two = np.where((ends[0] < ends[1])[:, None], members - mean - wide, members - mean + wide)
        each = [np.hypot(*way.reshape(size, -1, 2).T).mean(axis=0) for way in (*apart, two)]
        off = np.hstack([off, np.array(each)])
    print("off by (mean): line, centre of the cell, nearer of two points of its longest axis")
    print("  ".join(f"{one:.1f} m" for one in off.mean(axis=1)))
    print(f"the centre is nearer than the line for {(off[1] < off[0]).mean():.1%} of the members")


def _hit_and_run(
    others: Floats,
    rows: Ints,
    mean: Floats,
    size: int,
    spread: float,
    samples: int,
    random: np.random.Generator,
) -> Floats:
    """Draw points of a cell, one after another, each on a random line through the one before."""
    own, theirs = size / (size - 1), rows / (rows + 1)
    here, drawn = mean.copy(), []
    way = np.linspace(-3.0 * spread, 3.0 * spread, 61)
    for _ in range(samples):
        direction = random.normal(size=mean.shape)
        direction /= np.linalg.norm(direction)
        # |x + t d - c|^2 along the line, for the own mean and the others'.
        at, to = here - mean, here - others
        mine = own * (at @ at + 2.0 * way * (at @ direction) + way**2)
        far = (to**2).sum(axis=1)[:, None] + 2.0 * way * (to @ direction)[:, None] + way**2
        inside = (mine <= theirs[:, None] * far).all(axis=0)
        inside &= mine <= own * (2.0 * spread) ** 2
        here = here + random.choice(way[inside] if inside.any() else np.zeros(1)) * direction
        drawn.append(here)
    return np.array(drawn)


if __name__ == "__main__":
    command_line(__doc__, known, tolerances, companions, steps, cells)
