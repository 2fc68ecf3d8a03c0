"""The text of the panel: facts, terms, and counts in rows."""

from collections import Counter
from typing import Any

import numpy as np

from trajanon.arrays import Floats, Ints
from trajanon.files.report import Report, unit_in
from trajanon.number_text import STAGES, UNITS, metres, number_of, percent, span
from trajanon.verdict import cost, source, verdict

_ROWS = 10  # of sizes; larger groups share the last one

_TERMS = [
    ["Information loss", "share of the points' spread that is averaged away"],
    ["Displacement", "from a point to the same point of its group's line"],
]
_OF_TIMES = [["Off by", "from a departure, or duration, to that of its group's line"]]
_SLID = [["Original", "the piece of the recorded track that was averaged"]]

Row = tuple[str, int]  # a label, and how many groups it counts


def panel_of(report: Report, sizes: Ints) -> dict[str, Any]:
    """Say what a holder wants to know first: headline, facts, stages, terms and a summary."""
    return {
        "headline": f"k = {report['k']} {counted(report)}",
        "told": [
            verdict(report).headline,
            *verdict(report).sentences,
            cost(report),
            source(report),
        ],
        "facts": _facts(report, sizes),
        "stages": [[stage, percent(loss / 100.0)] for stage, loss in stages_with_loss(report)],
        "lost": f"{lost_in_stages(report)} after",
        "glossary": _glossary(report),
        "summary": [
            percent(report["information_loss"] / 100.0),
            metres(report["displacement"]["mean"]),
        ],
    }


def _facts(report: Report, sizes: Ints) -> list[list[str]]:
    moved, k = report["displacement"], report["k"]
    few = sum(number < k for number in report.get("subjects_per_group") or [])
    rows = [
        [f"{UNITS[unit_in(report)].capitalize()}, n", f"{int(sizes.sum()):,}"],
        ["Groups", f"{len(sizes):,}"],
        [f"{counted(report).capitalize()} in each group", f"at least {k}"],
    ]
    if without := report["rows"].get("without") if "rows" in report else None:
        rows.insert(1, ["Rows of these", f"{int(sizes.sum()) - len(without):,}"])
    if roads := report.get("roads"):
        lines = roads["on_roads"] + roads["as_they_were"]
        rows.append(["Lines on roads", f"{roads['on_roads']:,} of {lines:,}"])
    if few:
        rows.append([f"Groups of fewer than {k} subjects", f"{few:,}"])
    rows += [
        ["95 % of points moved at most", metres(moved["p95"])],
        ["Farthest point moved", metres(moved["max"])],
    ]
    if times := report.get("times"):
        departure, duration = times["departure_error"], times["duration_error"]
        rows += [
            ["Departure off by, mean", span(departure["mean"])],
            ["Departure off by, median", span(departure["median"])],
            ["Duration off by, mean", span(duration["mean"])],
            ["Duration off by, median", span(duration["median"])],
        ]
    return rows


def stages_with_loss(report: Report) -> list[tuple[str, float]]:
    """Name and information loss (percent) of the stages after which there were groups."""
    losses = ((stage["name"], stage["information_loss"]) for stage in report["stages"])
    return [(name, loss) for name, loss in losses if loss is not None]


def lost_in_stages(report: Report) -> str:
    """Name what the search lost in its stages: with times, it saw departures as well."""
    return "Loss of places and departures" if report.get("times") else "Information loss"


def _glossary(report: Report) -> list[list[str]]:
    unit, names = unit_in(report), dict.fromkeys(stage["name"] for stage in report["stages"])
    terms = [["Subject", f"who made a {unit}: a person, an account or a vehicle"], *_TERMS]
    terms += _OF_TIMES if report.get("times") else []
    meanings = {name: STAGES[name] for name in names if name in STAGES}
    terms += [[name, said.replace("trajectories", UNITS[unit])] for name, said in meanings.items()]
    return terms + _SLID if report.get("alignment") is not None else terms


def sample_note(
    groups: int, of_groups: int, originals: tuple[int, int] | None = None
) -> str | None:
    """Say how many groups are drawn, and how many of all originals; None if all."""
    if groups == of_groups:
        return None
    sample = f"{groups:,} of {number_of(of_groups, 'group')}"
    if originals is not None:
        drawn, of_originals = originals
        sample += f", with {drawn:,} of {number_of(of_originals, 'original')}"
    return f"Drawn at random: {sample}. All numbers count everything."


def counted(report: Report) -> str:
    """Name what k counts."""
    return "subjects" if report["counted"] == "subjects" else UNITS[unit_in(report)]


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
    edges = [0] + [n * 10**power for power in range(8) for n in (1, 2, 5)]
    counts = Counter((np.searchsorted(edges, moved, side="right") - 1).tolist())
    rows = []
    for at in range(min(counts), max(counts) + 1):
        low, high = edges[at : at + 2]
        label = f"{low:,}–{high:,} m"
        if high > 10_000:
            label = f"{low // 1000:,}–{high // 1000:,} km"
        rows.append((label, counts[at]))
    return rows
