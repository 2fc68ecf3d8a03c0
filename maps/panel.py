"""The text of the panel: facts, terms, and counts in rows."""

from collections import Counter

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.files.report import Report
from trajanon.words import STAGES, metres, percent

_ROWS = 10  # of sizes; larger groups share the last one
_EDGE = 85.0511  # degrees: of Mercator's square world, which all street maps show

Row = tuple[str, int]
"""A label, and how many groups it counts."""


def facts(report: Report, sizes: Ints) -> list[list[str]]:
    """Name and value of what a holder wants to know first."""
    moved = report["displacement"]
    people = report.get("subjects_per_group") or []
    few = sum(number < report["k"] for number in people)
    alignment, others = report.get("alignment"), []
    if alignment and "as_cut" in alignment:
        as_cut = alignment["as_cut"]["displacement"]["mean"]
        others.append(["Mean displacement, as cut", metres(as_cut)])
    if from_runs := report.get("from_runs"):
        others.append(["Mean distance from the runs", metres(from_runs["mean"])])
    lack = [[f"Groups of fewer than {report['k']} subjects", f"{few:,}"]] if few else []
    return [
        ["Trajectories, n", f"{int(sizes.sum()):,}"],
        ["Groups", f"{len(sizes):,}"],
        [f"{counted(report).capitalize()} in each group", f"at least {report['k']}"],
        *lack,
        ["Information loss, IL", percent(report["information_loss"] / 100.0)],
        [f"Mean displacement{', as slid' if alignment else ''}", metres(moved["mean"])],
        *others,
        ["Median displacement", metres(moved["median"])],
        ["95 % of points moved at most", metres(moved["p95"])],
        ["Farthest point moved", metres(moved["max"])],
    ]


def stages_with_loss(report: Report) -> list[tuple[str, float]]:
    """Name and information loss (percent) of the stages after which there were groups."""
    return [
        (stage["name"], loss)
        for stage in report["stages"]
        if (loss := stage["information_loss"]) is not None
    ]


def glossary(report: Report) -> list[list[str]]:
    """Each term of the panel, and what it means."""
    named = (stage["name"] for stage in report["stages"])
    terms = [
        ["Subject", "who made a trajectory: a person, an account or a vehicle"],
        ["IL", "information loss: share of the points' spread that is averaged away"],
        ["Displacement", "from a point to the same point of its group's line"],
        *([name, STAGES[name]] for name in dict.fromkeys(named) if name in STAGES),
    ]
    if report.get("alignment") is not None:
        slid = (
            "each original is a window of a longer track; it is drawn, and its "
            "displacement measured, where it slid to"
        )
        terms.append(["As slid", slid])
        terms.append(["As cut", "where the window lies in the file"])
    if report.get("from_runs"):
        runs = "the whole unbroken tracks that the windows were cut from"
        terms.append(["Runs", runs])
    return terms


def sample_note(
    points: Floats, groups: int, of_groups: int, sampled: tuple[int, int, int] | None = None
) -> str | None:
    """Say what is not drawn, or not in its place; None if everything is.

    ``sampled`` are the originals drawn, those there are, and the most of a group; None for all.
    """
    sentences = []
    if sampled is not None or groups < of_groups:
        sample = f"{groups:,} of {of_groups:,} groups"
        if sampled is not None:
            originals, of_originals, each = sampled
            of_each = f"{originals:,} of {of_originals:,} originals, at most {each} of a group"
            sample = f"{of_each}, and {sample}"
        sentences.append(f"Drawn: {sample}, chosen at random. All numbers count everything.")
    if np.abs(points[..., 0]).max() > _EDGE:
        end = f"The map ends at {_EDGE:.2f}° of latitude"
        sentences.append(f"{end}: points beyond are drawn at its edge.")
    return " ".join(sentences) or None


def counted(report: Report) -> str:
    """Name what k counts."""
    return "subjects" if report["counted"] == "subjects" else "trajectories"


def by_size(sizes: Ints) -> list[Row]:
    """Count the groups of each size."""
    counts = sorted(Counter(sizes.tolist()).items())
    rows = [(f"{size:,}", count) for size, count in counts]
    if len(rows) > _ROWS:
        rest = sum(count for _, count in rows[_ROWS - 1 :])
        rows = [*rows[: _ROWS - 1], (f"{rows[_ROWS - 1][0]} or more", rest)]
    return rows


def by_displacement(moved: Floats) -> list[Row]:
    """Count groups by their mean displacement, in steps of 1, 2, 5, 10, ... metres."""
    ladder = [n * 10**power for power in range(8) for n in (1, 2, 5)]
    edges = np.array([0, *ladder])
    step = np.searchsorted(edges, moved, side="right") - 1
    counts = np.bincount(step, minlength=len(edges))
    lowest, highest = int(step.min()), int(step.max())
    return [
        (_between(int(edges[at]), int(edges[at + 1])), int(counts[at]))
        for at in range(lowest, highest + 1)
    ]


def _between(low: int, high: int) -> str:
    if high > 10_000:
        return f"{low // 1000:,}–{high // 1000:,} km"
    return f"{low:,}–{high:,} m"
