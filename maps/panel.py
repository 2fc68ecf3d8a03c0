"""The text of the panel: facts, terms, and counts in rows."""

from collections import Counter
from itertools import pairwise
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
    losses = ((stage["name"], stage["information_loss"]) for stage in report["stages"])
    # With times, the search saw departures as well.
    lost = "Loss of places and departures" if report.get("times") else "Information loss"
    said = verdict(report)
    return {
        "headline": f"k = {report['k']} {_counted(report)}",
        "sentences": [said.headline, *said.sentences, cost(report), source(report)],
        "facts": _facts(report, sizes),
        "stages": [[name, percent(loss / 100.0)] for name, loss in losses if loss is not None],
        "lost": f"{lost} after",
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
        [f"{_counted(report).capitalize()} in each group", f"at least {k}"],
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
        rows += [
            ["Departure off by, mean", span(times["departure_error"]["mean"])],
            ["Duration off by, mean", span(times["duration_error"]["mean"])],
        ]
    return rows


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


def _counted(report: Report) -> str:
    """Name what k counts."""
    return "subjects" if report["counted"] == "subjects" else UNITS[unit_in(report)]


def by_size(sizes: Ints) -> list[Row]:
    """Count the groups of each size."""
    rows = [(f"{size:,}", count) for size, count in sorted(Counter(sizes.tolist()).items())]
    *some, (label, _) = rows[:_ROWS]
    rest = sum(count for _, count in rows[len(some) :])
    return [*some, (f"{label} or more" if len(rows) > _ROWS else label, rest)]


def by_displacement(moved: Floats) -> list[Row]:
    """Count groups by their mean displacement, in steps of 1, 2, 5, 10, ... metres."""
    edges = [0] + [n * 10**power for power in range(8) for n in (1, 2, 5)]
    counts = Counter((np.searchsorted(edges, moved, side="right") - 1).tolist())
    labels = [
        f"{low:,}–{high:,} m" if high <= 10_000 else f"{low // 1000:,}–{high // 1000:,} km"
        for low, high in pairwise(edges)
    ]
    return [(labels[at], counts[at]) for at in range(min(counts), max(counts) + 1)]
