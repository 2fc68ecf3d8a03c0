"""Measure what somebody rebuilds who holds all trajectories but one.

    python benchmarks/attacks.py windows.parquet [--align]

Somebody holds the windows where they were first cut or, with --align, whole tracks;
trajanon.privacy says what he does: companions, cascade and rebuilding. Lines are plain means, and
as releases are; docs/privacy.md shows the result.
"""

from pathlib import Path
from typing import Annotated

import typer
from measures import command_line, row

import trajanon
from trajanon.evaluation.adversaries import patient
from trajanon.files.report import checked, released_of
from trajanon.loss import group_means
from trajanon.number_text import metres, percent
from trajanon.privacy.attack import Published
from trajanon.privacy.companions import companions as look_for_companions
from trajanon.privacy.originals import matched


def companions(
    file: Path, k: Annotated[int, typer.Option("-k")] = 4, *, align: bool = False
) -> None:
    """Measure how often the other members of a group are found, and what is rebuilt with them."""
    trajectories = trajanon.read_trajectories(file)
    release = trajanon.anonymize(trajectories, k, align=align)
    report = checked(release.report)
    found = matched(released_of(trajectories, report), release.trajectories, report)
    slid, labels = found.slid, found.labels
    means = group_means(slid.records, labels).reshape(found.lines.shape)
    spacing = trajectories.provenance.get("spacing")
    off = ("off", "smoothed", "half way")
    row("written", "by distance", *off, "by hops", *off, "told", *off[1:], "the line")
    ways = {
        "plain means": (means, {**report, "key": None}),
        "as releases are": (found.lines, report),
    }
    for written, (lines, told) in ways.items():
        seen = Published(slid.points, lines, labels, k, slid.subject)
        held = look_for_companions(seen, slid.tracks, slid=align, spacing=spacing)
        if held is None:
            print(f"no group has {k} trajectories of {k} subjects")
            return
        cells = [written]
        for way in (held.by_distance, held.by_spacing):
            rebuilt = "–––" if way.rebuilt is None else map(metres, way.rebuilt)
            cells += [percent(way.first), *rebuilt]
        row(*cells, *map(metres, (*held.told, held.line)))
        for more in patient(seen, slid.tracks, told, spacing=spacing):
            print("" if more is None else more.words)
    print(f"{held.groups} groups, the true ones among {held.near} in {percent(held.within)}")


if __name__ == "__main__":
    command_line(__doc__, companions)
