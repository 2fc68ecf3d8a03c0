"""Measure what somebody rebuilds who holds all trajectories but one.

    python benchmarks/attacks.py windows.parquet [--align]

Somebody holds the windows where they were first cut or, with --align, whole tracks;
trajanon.privacy.companions says what he does. Lines are written with plain decimals, and as
releases are; docs/privacy.md shows the result.
"""

from pathlib import Path
from typing import Annotated

import typer
from measures import command_line, row

import trajanon
from trajanon.files.release_lines import as_written
from trajanon.files.report import checked
from trajanon.loss import group_means
from trajanon.privacy.attack import Published
from trajanon.privacy.companions import companions as look_for_companions
from trajanon.privacy.originals import matched
from trajanon.words import metres, percent


def companions(
    file: Path, k: Annotated[int, typer.Option("-k")] = 4, *, align: bool = False
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


if __name__ == "__main__":
    command_line(__doc__, companions)
