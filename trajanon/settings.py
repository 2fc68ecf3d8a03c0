"""The options of the search and of a release: their defaults, checks and help, written once.

    settings = Settings(method="mdav", seed=7)     checked; BadInput names what is wrong
    settings.effort, asdict(settings)              read one, or all of them by name
    replace(settings, effort="fast")               another one, checked again
    microaggregate(X, k, **asdict(settings))       hand them on
    [f.name for f in fields(Settings)]             every option, in the order of the help
    field.default, field.type                      of one of those fields
    field.metadata["help"], field.metadata["shown"]  its help, and its default in words or None

A function that hands options on takes ``progress`` by itself and ``**options: Any``, and begins
with ``settings = Settings(**options)``: an unknown name is a TypeError, as of any function.
Importing this module loads no library.
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
            value, allowed = getattr(self, option.name), option.metadata
            if value is None and option.default is None:
                continue
            if "choices" in allowed:
                _check_choice(option.name, value, allowed["choices"])
            elif option.type is bool:
                _check_bool(option.name, value)
            elif option.type in (int, int | None):
                _check_whole(option.name, value, allowed["least"], allowed["most"])
            else:
                _check_within(option.name, value, allowed)


@dataclass(frozen=True, kw_only=True)
class Settings(_Checked):
    """The options of `trajanon.microaggregate`, checked.

    Raises
    ------
    BadInput
        If an option is not known, or out of its range.
    """

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
    seed: int = _option(0, "Repeats the groups bit for bit.", least=0, most=None)


@dataclass(frozen=True, kw_only=True)
class ReleaseSettings(_Checked):
    """The options of `trajanon.anonymize` beside those of its search, checked.

    Raises
    ------
    BadInput
        If an option is not known, or out of its range.
    """

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


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in choices:
        msg = f"`{name}` {value!r} is not known; choose from {', '.join(choices)}"
        raise BadInput(msg)


def _check_whole(name: str, value: Any, least: int, most: int | None) -> None:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        upper = "" if most is None else f" to {most}"
        msg = f"`{name}` must be a whole number from {least}{upper} (got {value!r})"
        raise BadInput(msg)


def _check_bool(name: str, value: object) -> None:
    if not isinstance(value, bool):
        msg = f"`{name}` must be True or False (got {value!r})"
        raise BadInput(msg)


def _check_within(name: str, value: Any, allowed: Mapping[str, Any]) -> None:
    number = isinstance(value, Real) and not isinstance(value, bool)
    least, most, below = allowed["least"], allowed.get("most", inf), allowed.get("below", inf)
    if not number or not least <= value <= most or not value < below:
        upper = f" to {most:g}" if most < inf else f" to below {below:g}" if below < inf else " on"
        msg = f"`{name}` must be a number from {least:g}{upper} (got {value!r})"
        raise BadInput(msg)
