"""Measure what somebody finds out who holds other tracks, and what hiding it costs.

    python benchmarks/attacks.py FILE [-k 4] [--seed 0] [--no-align] [--times of-day] [--plain]

Lines are moved as releases are, by a key that follows from the seed; with ``--plain`` they are
plain means. The adversaries are those of `trajanon evaluate`, with their intervals of 90 %.
"""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from measures import command_line, row, say_machine
from msgspec.structs import replace

import trajanon
from trajanon.common.arrays import Floats
from trajanon.common.number_text import percent
from trajanon.evaluation.attacks.attack import published
from trajanon.evaluation.attacks.known_tracks import Guessed
from trajanon.evaluation.evaluation import patient
from trajanon.grouping.loss import group_means
from trajanon.release.originals import matched
from trajanon.release.report import checked
from trajanon.trajectories.distances import displacement
from trajanon.trajectories.geodesy import metres_of_degrees


def attacks(
    file: Path,
    k: Annotated[int, typer.Option("-k")] = 4,
    seed: int = 0,
    times: str | None = None,
    *,
    align: bool = True,
    plain: bool = False,
) -> None:
    """Attack the lines of a release."""
    trajectories = trajanon.read_trajectories(file)
    key = np.random.default_rng(seed).bytes(32)
    release = trajanon.anonymize(trajectories, k, align=align, seed=seed, key=key, times=times)
    report = checked(release.report)

    pairs = matched(report.released_of(trajectories), release.trajectories, report)
    slid = pairs.slid
    labels = pairs.labels
    lines = pairs.lines
    means = group_means(slid.records, labels).reshape(lines.shape)

    row("lines", "metres off", "turning", "hops over 40 degrees")
    for name, written in (("plain means", means), ("as released", lines)):
        off = displacement(slid.points, written[labels]).mean()
        turning, sharp = turned(written)
        row(name, f"{off:.2f}", f"{turning:.1f}", percent(sharp))

    if plain:
        pairs = pairs._replace(lines=means)
        report = replace(report, width=None)
    spacing = trajectories.provenance.get("spacing")
    known = patient(published(pairs, report), slid.tracks, report, spacing=spacing, seed=seed)
    for figure in filter(None, known):
        print(figure.words)
        if isinstance(figure, Guessed):
            print(f"Of the means that leaves {figure.mean_share.words}.", flush=True)
    say_machine()


def turned(lines: Floats) -> tuple[float, float]:
    """Measure the degrees that the median line turns, and the share of sharp turns."""
    hops = np.diff(lines, axis=1) * metres_of_degrees(lines[..., 0].mean(axis=1))[:, None]
    heading = np.arctan2(hops[..., 1], hops[..., 0])
    turns = np.degrees(np.abs((np.diff(heading, axis=1) + np.pi) % (2.0 * np.pi) - np.pi))
    return float(np.median(turns.sum(axis=1))), float((turns > 40.0).mean())


if __name__ == "__main__":
    command_line(__doc__, attacks)
