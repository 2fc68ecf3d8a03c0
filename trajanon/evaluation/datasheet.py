"""The datasheet: what may be published beside a release."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from trajanon.evaluation.names import AS_SLID, RELEASE
from trajanon.files.report import digits_in
from trajanon.settings import METHOD_NAMES, REFINEMENT_NAMES
from trajanon.trajectories import OSM_ATTRIBUTION
from trajanon.words import STAGES, metres, percent

if TYPE_CHECKING:
    from trajanon.evaluation.evaluation import Evaluation

_LEFT_OUT = {
    "outliers": "those unlike all others",
    "in_tight_groups": "groups so alike that their\nmean was as good as any member",
}
"""What the report counts, and what may be said of it."""

_NONE = """\
# No datasheet

This release must not be published: it does not keep what it promises.
"""

_NO_PEOPLE = """\
# No datasheet

This release must not be published: too few people stand behind some of its lines.
"""


def datasheet(evaluation: "Evaluation") -> str:
    """Write the datasheet.

    It holds nothing that a release may not: no names or files of the originals, no times, no places
    but the area of the released lines, and no number of a single trajectory.
    """
    if not evaluation.holds:
        return _NO_PEOPLE if evaluation.violations["subjects"] else _NONE
    k, sizes = evaluation.k, evaluation.sizes
    what = "trajectories" if evaluation.subjects is None else "subjects"
    west, south, east, north = evaluation.area
    facts = [
        ("File", "not named" if evaluation.file is None else _code(evaluation.file)),
        ("Date of this datasheet", evaluation.date.isoformat()),
        ("Area", f"latitudes {south:.2f} to {north:.2f}, longitudes {west:.2f} to {east:.2f}"),
        ("Metres between points", _spacing(evaluation)),
        ("Trajectories", f"{evaluation.trajectories:,}"),
        ("Points of each", f"{evaluation.points}"),
        ("k", f"{k} ({what} in each group, at least)"),
        ("Groups", f"{len(sizes):,}, of {sizes.min()} to {sizes.max()} trajectories"),
        ("Decimals of degrees", f"{digits_in(evaluation.report)}"),
        ("Method", _method(evaluation)),
        ("Points moved, on average", _moved(evaluation)),
        ("Information loss", _loss(evaluation)),
    ]
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts)
    return f"""\
# Datasheet of a k-anonymous release

| | |
|---|---|
{rows}

## What was done

Each trajectory was put into a group with others like it, and replaced by the mean of
its group, point by point. Every released line therefore occurs at least {k} times.
{_whose(evaluation)}{_left_out(evaluation)}
Lines stand in random order, under new numbers; identifiers, times and everything else
were left out.

## What this protects

Each released line stands for at least {k} of the original trajectories, and the release
alone does not tell them apart.

## What it does not protect

- What all members of a group have in common, such as a place where all of them begin.
- Against somebody who knows the other members of a group, or finds them: who holds
  nearly all other trajectories can, for their points stand at equal spacing.
- Against a comparison with other releases of the same data.
- k-anonymity is not differential privacy, and gives no bound for every background
  knowledge that somebody may have.

## What the lines are good for

They are means, and need not be where anybody went. They are smoother and often shorter
than the originals, may leave the roads, and say nothing of times or speeds. Groups
stand for the common; what is rare was moved farthest.

## Attribution and licence

{_licence(evaluation)}
"""


def _method(evaluation: "Evaluation") -> str:
    """Name the stages; words that no step of trajanon has are not repeated."""
    names = [stage["name"] for stage in evaluation.report["stages"]]
    known = [
        STAGES.get(name, name)
        for name in names
        if name in STAGES or name in METHOD_NAMES or name in REFINEMENT_NAMES
    ]
    return "; ".join(dict.fromkeys(known)) or "microaggregation"


def _code(name: str) -> str:
    """Quote a file name so that it cannot be anything but text in a table."""
    shown = "".join(c if c.isprintable() and c not in "`|" else "?" for c in name)
    return f"`{shown}`"


def _spacing(evaluation: "Evaluation") -> str:
    spacing = evaluation.spacing
    return "not known" if spacing is None else f"{spacing:g}"


def _moved(evaluation: "Evaluation") -> str:
    ways = evaluation.usefulness
    in_file = ways[RELEASE]
    said = f"{metres(in_file.displacement['mean'])} from the windows as in the file"
    if evaluation.aligned:
        said = f"{metres(ways[AS_SLID].displacement['mean'])} from the windows as slid, " + said
    if in_file.from_runs is not None:
        said += f", {metres(in_file.from_runs['mean'])} from the whole tracks"
    return said


def _loss(evaluation: "Evaluation") -> str:
    in_file = percent(evaluation.loss[RELEASE] / 100.0)
    if evaluation.aligned:
        as_slid = percent(evaluation.loss[AS_SLID] / 100.0)
        return f"{as_slid} of the windows as slid, {in_file} of those as in the file"
    return in_file


def _whose(evaluation: "Evaluation") -> str:
    if evaluation.subjects is None:
        return "Several of the trajectories behind a line may be of one person."
    whose = f"At least {evaluation.k} different subjects stand behind each."
    if evaluation.nameless:
        return (
            f"{whose} Recordings without a name were\ncounted as of a subject each, "
            "and several may be of one person."
        )
    return whose


def _left_out(evaluation: "Evaluation") -> str:
    """Say why trajectories are missing, and not how many: that may be one."""
    told: Mapping[str, object] = evaluation.report.get("suppressed") or {}
    why = [reason for name, reason in _LEFT_OUT.items() if told.get(name)]
    if not why:
        return ""
    return f"\nTrajectories were left out on purpose: {', and '.join(why)}."


def _licence(evaluation: "Evaluation") -> str:
    if evaluation.report.get("attribution") == OSM_ATTRIBUTION:
        return (
            f"{OSM_ATTRIBUTION}\n\nThe release is derived from OpenStreetMap GPS "
            "traces and is under the Open Database License (ODbL) 1.0."
        )
    return "To be named by the publisher."
