"""Measure what somebody finds out who holds other tracks, and what hiding it costs.

    python benchmarks/attacks.py FILE [-k 4] [--width 1.45] [--groups 40] [--seed 0] [--no-align]
    python benchmarks/attacks.py FILE --link date [-k 4]

Lines are plain means, and moved as releases are, by a key that follows from the seed; with another
width than that of releases docs/attacks.md shows what hiding members would cost. The adversaries
are those of `trajanon evaluate`.

With ``--link`` somebody links trips to people instead: originals, and a release with such times.
Source: B. Ströbl, A. Kapp, "Investigating vulnerabilities of GPS trip data to trajectory-user
linking attacks", arXiv 2502.08217 (2025): its three steps, with the tiles and hours of its authors;
one threshold takes the place of their search for what to merge.
"""

from dataclasses import replace
from pathlib import Path
from typing import Annotated
from unittest.mock import patch

import numpy as np
import typer
from measures import command_line, row, say_machine
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

import trajanon
from trajanon import perturbation
from trajanon.arrays import Floats, Ints
from trajanon.evaluation.evaluation import patient
from trajanon.files.report import checked, released_of
from trajanon.geodesy import metres_of_degrees
from trajanon.loss import group_means
from trajanon.number_text import percent
from trajanon.partition import dense
from trajanon.privacy import rebuilding, verification
from trajanon.privacy.attack import Published
from trajanon.privacy.originals import Matched, matched
from trajanon.settings import TimesName
from trajanon.times import HOUR, Clock
from trajanon.utility import displacement


def attacks(
    file: Path,
    k: Annotated[int, typer.Option("-k")] = 4,
    width: float = perturbation.SIZE,
    groups: int = 40,
    seed: int = 0,
    *,
    align: bool = True,
    link: TimesName | None = None,
) -> None:
    """Attack plain means, and lines as releases have them."""
    trajectories = trajanon.read_trajectories(file)
    if link is not None and trajectories.times is not None:
        trajectories = trajectories.take(np.isfinite(trajectories.times[:, 0]))
    key = np.random.default_rng(seed).bytes(32)
    with (
        patch.object(perturbation, "SIZE", width),
        patch.object(verification, "_DRAWN", max(groups, 100)),
        patch.object(verification, "TRIED", groups),
        patch.object(rebuilding, "TRIED", groups),
    ):
        options = {"align": align, "times": link, "seed": seed, "key": key}
        release = trajanon.anonymize(trajectories, k, **options)
        report = checked(release.report)
        found = matched(released_of(trajectories, report), release.trajectories, report)
        slid, labels = found.slid, found.labels
        if link is not None:
            link_to_people(found, Clock(link, report["times"]["timezone"], 1))
            return
        means = group_means(slid.records, labels).reshape(found.lines.shape)
        spacing = trajectories.provenance.get("spacing")
        row("written", "metres off", "turning", "hops over 40 degrees", "hops of no length")
        ways = {
            "plain means": (means, {**report, "key": None}),
            "as releases are": (found.lines, report),
        }
        for written, (lines, reported) in ways.items():
            off = displacement(slid.points, lines[labels]).mean()
            turning, sharp, still = turned(lines)
            row(written, f"{off:.2f}", f"{turning:.1f}", percent(sharp), still)
            seen = Published(slid.points, lines, labels, k, slid.subject)
            for more in patient(seen, slid.tracks, reported, spacing=spacing, seed=seed):
                print("" if more is None else more.words, flush=True)
    say_machine()


def turned(lines: Floats) -> tuple[float, float, int]:
    """Degrees that the median line turns, the share of sharp turns, and hops of no length."""
    hops = np.diff(lines, axis=1) * metres_of_degrees(lines[..., 0].mean(axis=1))[:, None]
    heading = np.arctan2(hops[..., 1], hops[..., 0])
    turns = np.degrees(np.abs((np.diff(heading, axis=1) + np.pi) % (2.0 * np.pi) - np.pi))
    still = int((hops == 0.0).all(axis=2).sum())
    return float(np.median(turns.sum(axis=1))), float((turns > 40.0).mean()), still


TILE = 300.0  # metres
SOON, APART = 8 * HOUR, 4 * HOUR  # until the next trip begins; between others that arrive there
LEAVES, RETURNS = (6, 10), (18, 24)  # local hours of those who leave home, and come home
NEAR = 200.0  # metres between points of two trips that are alike
ALIKE, SAME = 0.3, 0.6  # share of such points, for one home; cosine of rare places, for one user


def link_to_people(found: Matched, clock: Clock) -> None:
    """Link the trips of originals and of a release to users, and compare with who made them."""
    people, line = dense(found.slid.subject), found.labels[found.own_row]
    row("of", "trips", "people", "step", "users", "adjusted Rand index", "right pairs", "found")
    originals = found.slid.points, found.slid.times, replace(clock, times="date"), people
    release = found.lines[line], found.times[line], clock, people[found.own_row]
    for name, (*trips, owners) in (("originals", originals), ("release", release)):
        for step, users in linked(*trips).items():
            counts = len(owners), len(set(owners.tolist())), step, len(set(users.tolist()))
            row(name, *counts, *agreement(users, owners))
    say_machine()


def linked(points: Floats, times: Floats, clock: Clock) -> dict[str, Ints]:
    """Number the users of trips after each of the three steps."""
    places = points * (metres_of_degrees(points[..., 0].mean()) / TILE)
    tiles = np.floor(places).astype(np.int64)
    chain = consecutive(tiles[:, 0], tiles[:, -1], times)
    user = at_home(places, tiles, clock.hour(times[:, [0, -1]]), chain)
    return {"consecutive": chain, "homes": user, "rare places": by_rare_places(tiles, user)}


def consecutive(begin: Ints, end: Ints, times: Floats) -> Ints:
    """Put a trip to the only one that begins where it ended, soon after, if it arrived alone."""
    chain = np.arange(len(times))
    for trip in np.argsort(times[:, 0]):
        wait = times[:, 0] - times[trip, -1]
        soon = (begin == end[trip]).all(axis=1) & (wait >= 0.0) & (wait <= SOON)
        then = np.abs(times[:, -1] - times[trip, -1]) <= APART
        if soon.sum() == ((end == end[trip]).all(axis=1) & then).sum() == 1:
            chain[chain == chain[soon.argmax()]] = chain[trip]
    return chain


def at_home(places: Floats, tiles: Ints, hours: Ints, chain: Ints) -> Ints:
    """Give each chain to the home where it begins or ends, or to that of the most similar trip."""
    ends = tiles[:, [0, -1]]
    low, high = np.transpose([LEAVES, RETURNS])
    homes = np.unique(ends[(hours >= low) & (hours < high)], axis=0)
    beside = np.abs(homes[:, None] - homes).max(axis=2) <= 1  # such tiles are one home
    numbers = connected_components(csr_array(beside))[1].tolist()
    home_of = dict(zip(map(tuple, homes.tolist()), numbers, strict=True))
    at = [{home_of[tuple(end)] for end in both if tuple(end) in home_of} for both in ends.tolist()]
    sure = np.array([min(one) if len(one) == 1 else -1 for one in at])
    user = len(homes) + chain
    for trip in range(len(chain)):
        if sure[trip] >= 0:
            user[chain == chain[trip]] = sure[trip]
            continue
        among = np.flatnonzero(np.isin(sure, list(at[trip])) if at[trip] else sure >= 0)
        alike = [similarity(places[trip], places[other]) for other in among]
        if alike and max(alike) >= ALIKE:
            user[chain == chain[trip]] = sure[among[np.argmax(alike)]]
    return user


def similarity(one: Floats, other: Floats) -> float:
    """Longest common subsequence of near points, as a share; also of the way back."""
    longest = np.zeros((2, len(one) + 1, len(other) + 1))
    for way, points in enumerate((other, other[::-1])):
        near = np.hypot(*np.moveaxis(one[:, None] - points, 2, 0)) <= NEAR / TILE
        for i, j in np.ndindex(near.shape):
            longer = max(longest[way, i, j + 1], longest[way, i + 1, j])
            longest[way, i + 1, j + 1] = longest[way, i, j] + 1 if near[i, j] else longer
    return float(longest[:, -1, -1].max() / len(one))


def by_rare_places(tiles: Ints, user: Ints) -> Ints:
    """Merge the two users who pass the most alike tiles, weighted by how few do, and go on."""
    tile = np.unique(tiles.reshape(-1, 2), axis=0, return_inverse=True)[1].reshape(len(tiles), -1)
    while len(set((user := dense(user)).tolist())) > 1:
        passed = np.zeros((user.max() + 1, tile.max() + 1))
        np.add.at(passed, (user[:, None], tile), 1.0)
        weighed = passed * np.log(len(passed) / (passed > 0.0).sum(axis=0))
        weighed /= np.maximum(np.linalg.norm(weighed, axis=1, keepdims=True), 1e-9)
        alike = np.triu(weighed @ weighed.T, 1)
        if alike.max() < SAME:
            break
        one, other = np.unravel_index(alike.argmax(), alike.shape)
        user[user == other] = one
    return user


def agreement(users: Ints, people: Ints) -> tuple[str, ...]:
    """Adjusted Rand index; share of linked pairs that are of one person, and the reverse."""
    table = np.zeros((len(users), len(users)))
    np.add.at(table, (dense(users), people), 1.0)
    counts = table, table.sum(axis=1), table.sum(axis=0), np.array(len(users))
    both, together, same, every = (float((n * (n - 1) / 2).sum()) for n in counts)
    chance = together * same / every
    rand = (both - chance) / max((together + same) / 2 - chance, 1e-9)
    return f"{rand:.2f}", percent(both / max(together, 1.0)), percent(both / max(same, 1.0))


if __name__ == "__main__":
    command_line(__doc__, attacks)
