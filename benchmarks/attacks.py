"""Measure what somebody finds out who holds other tracks, and what hiding it costs.

    python benchmarks/attacks.py FILE [-k 4] [--groups 40] [--seed 0] [--no-align]

Lines are plain means, and moved as releases are, by a key that follows from the seed. The
adversaries are those of `trajanon evaluate`.
"""

from pathlib import Path
from typing import Annotated
from unittest.mock import patch

import numpy as np
import typer
from measures import command_line, row, say_machine

import trajanon
from trajanon.arrays import Floats
from trajanon.evaluation.evaluation import patient
from trajanon.files.report import checked, released_of
from trajanon.geodesy import metres_of_degrees
from trajanon.loss import group_means
from trajanon.number_text import percent
from trajanon.privacy import rebuilding, verification
from trajanon.privacy.attack import Published
from trajanon.privacy.originals import matched
from trajanon.utility import displacement


def attacks(
    file: Path,
    k: Annotated[int, typer.Option("-k")] = 4,
    groups: int = 40,
    seed: int = 0,
    *,
    align: bool = True,
) -> None:
    """Attack plain means, and lines as releases have them."""
    trajectories = trajanon.read_trajectories(file)
    key = np.random.default_rng(seed).bytes(32)
    with (
        patch.object(verification, "_DRAWN", max(groups, 100)),
        patch.object(verification, "TRIED", groups),
        patch.object(rebuilding, "TRIED", groups),
    ):
        release = trajanon.anonymize(trajectories, k, align=align, seed=seed, key=key)
        report = checked(release.report)
        found = matched(released_of(trajectories, report), release.trajectories, report)
        slid, labels = found.slid, found.labels
        means = group_means(slid.records, labels).reshape(found.lines.shape)
        spacing = trajectories.provenance.get("spacing")
        row("written", "metres off", "turning", "hops over 40 degrees")
        ways = {
            "plain means": (means, {**report, "width": None}),
            "as releases are": (found.lines, report),
        }
        for written, (lines, reported) in ways.items():
            off = displacement(slid.points, lines[labels]).mean()
            turning, sharp = turned(lines)
            row(written, f"{off:.2f}", f"{turning:.1f}", percent(sharp))
            seen = Published(slid.points, lines, labels, k, slid.subject)
            for more in patient(seen, slid.tracks, reported, spacing=spacing, seed=seed):
                print("" if more is None else more.words, flush=True)
    say_machine()


def turned(lines: Floats) -> tuple[float, float]:
    """Degrees that the median line turns, and the share of sharp turns."""
    hops = np.diff(lines, axis=1) * metres_of_degrees(lines[..., 0].mean(axis=1))[:, None]
    heading = np.arctan2(hops[..., 1], hops[..., 0])
    turns = np.degrees(np.abs((np.diff(heading, axis=1) + np.pi) % (2.0 * np.pi) - np.pi))
    return float(np.median(turns.sum(axis=1))), float((turns > 40.0).mean())


if __name__ == "__main__":
    command_line(__doc__, attacks)
