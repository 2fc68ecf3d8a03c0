"""The options of the search and of a release: their defaults, checks and help, written once.

A function that hands options on takes ``**options: Any`` and begins with ``Settings(**options)``;
an unknown name is a TypeError, as of any function. Importing this module loads no library.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from math import inf
from numbers import Integral, Real
from typing import Any, NamedTuple

from trajanon.errors import BadInput

METHOD_NAMES = ("hm2", "mdav", "v-mdav", "md", "cbfs", "mf-tsp", "decomposition")
HEURISTIC_NAMES = (
    *("or-opt", "two-opt", "nearest-neighbor", "repetitive-nn", "nearest-insertion"),
    *("farthest-insertion", "cheapest-insertion", "arbitrary-insertion", "mdav-lk", "npn"),
    *("md", "mdav", "cbfs", "concorde", "lkh"),
)
EXPANSIONS = ("distance", "row")
REFINEMENT_NAMES = ("none", "anneal", "descent", "swap", "rcs")
COUNTS = ("subjects", "records")
FEWEST_DIGITS, MOST_DIGITS = 4, 7
"""Decimals of a degree that a release may have; each location to 11 m, or to 1 cm."""


class Effort(NamedTuple):
    """A budget in moves, never in seconds: a seed repeats a result."""

    kicks_per_record: int = 0  # of a path heuristic that can use them
    moves_per_record: int = 0  # of annealing; 0 leaves it out
    runs: int = 1  # of annealing a table of one block of 2,500 records
    recombined: bool = False  # whether the groups of all runs are combined in the end


EFFORTS = {
    "fast": Effort(1, 0, 1, False),
    "balanced": Effort(10, 8_000, 2, False),
    "best": Effort(100, 40_000, 12, True),
}


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _option(default: Any, help: str, shown: str | None = None, **allowed: Any) -> Any:
    """Make a field; ``choices``, or ``least`` and ``most``, say which values are allowed."""
    return field(default=default, metadata={"help": help, "shown": shown, **allowed})


@dataclass(frozen=True)
class _Checked:
    """Options that are checked when they are made."""

    def __post_init__(self) -> None:
        """Refuse options that are not known, or out of their range."""
        for option in fields(self):
            value = getattr(self, option.name)
            if value is not None or option.default is not None:
                _check(option.name, value, option.type, option.metadata)


@dataclass(frozen=True, kw_only=True)
class Settings(_Checked):
    """The options of `trajanon.microaggregate`, which describes them; checked."""

    method: str = _option("hm2", f"{_listed(METHOD_NAMES)}.", choices=METHOD_NAMES)
    heuristic: str = _option(
        "or-opt", f"Path of hm2 and mf-tsp: {_listed(HEURISTIC_NAMES)}.", choices=HEURISTIC_NAMES
    )
    compression: int = _option(
        1,
        "Compression c of hm2: the path visits the centroids of groups of c records; "
        "1 turns it off.",
        least=1,
        most=10**9,
    )
    expansion: str = _option(
        "distance",
        "Order of compressed records on the path: by distance to the centroid, or by row.",
        choices=EXPANSIONS,
    )
    gamma: float | None = _option(
        None,
        "Gain factor of v-mdav: larger values let groups grow beyond k.",
        "the best of several",
        least=0,
        most=1_000,  # long before it every group has grown as far as it may
    )
    subsets: int | None = _option(
        None, "Parts that decomposition solves.", "of some 1,500 / k records", least=1, most=10**9
    )
    refine: str = _option("anneal", "anneal, descent, swap, rcs or none.", choices=REFINEMENT_NAMES)
    shuffle_probability: float = _option(
        0.001, "Of rcs: chance of a shuffle after each record.", least=0, most=1
    )
    max_events: int = _option(
        10,
        "Of rcs: shuffles at most.",
        least=0,
        most=10**6,  # each needs a record to be looked at, and passes go on till then
    )
    effort: str = _option(
        "balanced",
        "fast (no annealing), balanced, or best (minutes; Ctrl-C takes the best so far).",
        choices=tuple(EFFORTS),
    )
    seed: int = _option(0, "Repeats the groups bit for bit.", least=0)


@dataclass(frozen=True, kw_only=True)
class ReleaseSettings(_Checked):
    """The options of `trajanon.anonymize` beside those of its search; checked."""

    count: str = _option(
        "subjects", "What k counts: subjects, or records (trajectories).", choices=COUNTS
    )
    align: bool = _option(True, "Let trajectories slide on their tracks towards their groups.")
    suppress: float = _option(
        0.0, "Leave out the trajectories that cost most: at most this share.", least=0, below=1
    )
    min_radius: float = _option(
        0.0,
        "Metres; leave out groups whose members all stay this close to the released line.",
        least=0,
    )
    digits: int = _option(
        FEWEST_DIGITS,
        "Decimals of released degrees, 4 (11 m) to 7 (1 cm). With each one more, somebody who "
        "holds all other tracks can tell more easily who is in a group.",
        least=FEWEST_DIGITS,
        most=MOST_DIGITS,
    )


def _check(name: str, value: Any, kind: Any, allowed: Mapping[str, Any]) -> None:
    """Refuse a value that is not known, or out of its range."""
    if "choices" in allowed:
        holds = isinstance(value, str) and value in allowed["choices"]
        asked = f"{value!r} is not known; choose from {', '.join(allowed['choices'])}"
    elif kind is bool:
        holds, asked = isinstance(value, bool), f"must be True or False (got {value!r})"
    else:
        whole = kind in (int, int | None)
        least, most, below = allowed["least"], allowed.get("most", inf), allowed.get("below", inf)
        number = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
        holds = number and least <= value <= most and value < below
        upper = "" if whole else " on"
        if most < inf:
            upper = f" to {most}"
        elif below < inf:
            upper = f" to below {below}"
        asked = f"must be a {'whole ' * whole}number from {least}{upper} (got {value!r})"
    if not holds:
        msg = f"`{name}` {asked}"
        raise BadInput(msg)
