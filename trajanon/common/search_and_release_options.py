"""The options of the search and of a release: their defaults, checks and help, written once."""

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from functools import wraps
from inspect import Parameter, cleandoc, signature
from itertools import chain
from math import inf
from numbers import Real
from operator import index
from types import MappingProxyType
from typing import (
    Any,
    Literal,
    ParamSpec,
    SupportsIndex,
    TypedDict,
    TypeVar,
    cast,
    get_args,
    get_origin,
)

from trajanon.common.effort_of_the_search import EffortName
from trajanon.common.errors import BadInput, UnknownOption

HEAVIEST = 1e30  # weight of a column; the squares of far heavier ones are no 32-bit floats

MethodName = Literal["hm2", "mdav", "v-mdav", "md", "cbfs", "mf-tsp", "decomposition"]
HeuristicName = Literal[
    "or-opt",
    "two-opt",
    "nearest-neighbor",
    "repetitive-nn",
    "nearest-insertion",
    "farthest-insertion",
    "cheapest-insertion",
    "arbitrary-insertion",
    "mdav-lk",
    "npn",
    "md",
    "mdav",
    "cbfs",
    "concorde",
    "lkh",
]
RefinementName = Literal["none", "anneal", "descent", "swap", "rcs"]
TimesName = Literal["of-day", "of-week", "date"]
RowsName = Literal["subjects", "lines"]
MissingName = Literal["refuse", "drop", "keep"]
"""The words that an option may be."""

METHOD_NAMES = get_args(MethodName)
REFINEMENT_NAMES = get_args(RefinementName)

_AS_PUBLISHED: dict[str, Any] = {
    "align": False,
    "times": None,
    "one_line_each": False,
    "days": None,
    "distinct_ends": 2,
    "leave_out": 0.0,
}
"""The settings of what the published methods do not do; besides, their lines are plain means."""

MEMORY = "4GB"
"""Memory of a search, where no other limit is named."""

SUGGESTED_K = 4
"""The k that the studio and messages suggest first."""

P = ParamSpec("P")
T = TypeVar("T")


class SearchKeywords(TypedDict, total=False):
    """The fields of `Settings`, as keywords that a type checker sees."""

    method: MethodName
    heuristic: HeuristicName | None
    compression: SupportsIndex
    refine: RefinementName
    effort: EffortName
    seed: SupportsIndex


class ReleaseKeywords(TypedDict, total=False):
    """The fields of `ReleaseSettings`, as keywords that a type checker sees."""

    as_published: bool
    one_line_each: bool
    days: SupportsIndex | None
    distinct_ends: SupportsIndex
    leave_out: float
    align: bool
    times: TimesName | None
    minute_worth: float
    time_step: SupportsIndex
    timezone: str | None
    rows: RowsName


class AnonymizeKeywords(SearchKeywords, ReleaseKeywords):
    """The options of a release and of its search."""


def option(default: Any, shown: str | None = None, **limits: Any) -> Any:
    """Make a field; its type, and for a number the ``limits`` least and most, say what is allowed.

    ``shown`` is its default in words, for its help.
    """
    return field(default=default, metadata={"shown": shown, **limits})


def with_help(settings: type) -> type:
    """Read the help of each option off the docstring of its class: the first sentence of each."""
    docstring = f"{cleandoc(settings.__doc__ or '')}\n"
    # An option's name stands alone in a line, and its text in indented lines below.
    texts = dict(re.findall(r"^(\w+)\n((?: {4}.+\n)+)", docstring, re.MULTILINE))
    for option in fields(settings):
        if option.name not in texts:
            continue  # it is of the class above, and has its help
        text = " ".join(texts[option.name].replace("``", "").split())
        help = text.partition(". ")[0].removesuffix(".") + "."
        option.metadata = MappingProxyType({**option.metadata, "help": help})
    return settings


_UNITS_OF_BYTES = ["", "k", "m", "g", "t"]  # each is 1,000 of the one before, or 1,024 with an i

LEAST_K = 2
"""A group of one hides nobody. The verdict warns of groups of two windows: each step of a line is
the mean of two of known length, so both can sometimes be computed."""


@dataclass(frozen=True)
class Checked:
    """Options that are checked once, when they are made."""

    def __post_init__(self) -> None:
        """Refuse options that are not known, or out of their range; keep values of Python."""
        for option in fields(self):
            value = getattr(self, option.name)
            may_be_none = type(None) in get_args(option.type)
            if value is not None or not may_be_none:
                value = _checked(option.name, value, option.type, option.metadata)
                object.__setattr__(self, option.name, value)  # which is frozen


@with_help
@dataclass(frozen=True, kw_only=True)
class Settings(Checked):
    """The options of the search, checked: BadInput if one is not known, or out of its range.

    Attributes
    ----------
    method
        hm2, mdav, v-mdav, md, cbfs, mf-tsp or decomposition. ``hm2`` cuts a short path through the
        records optimally; ``mdav``, ``v-mdav``, ``md`` and ``cbfs`` form groups round far records;
        ``mf-tsp`` groups records that are neighbours on many paths; ``decomposition`` generates
        groups as columns, in parts of the table.
    heuristic
        Path of hm2 and mf-tsp: or-opt, two-opt, nearest-neighbor, repetitive-nn, nearest-insertion,
        farthest-insertion, cheapest-insertion, arbitrary-insertion, mdav-lk, npn, md, mdav, cbfs,
        concorde or lkh. The last two need those programs. None takes or-opt; but for hm2 as
        published, with ``refine`` none, swap or rcs, concorde where it is found, for at most 5,000
        cities. The stage of the partition names the path.
    compression
        Compression c of hm2: the path visits the centroids of groups of c records; 1 turns it off.
    refine
        anneal, descent, swap, rcs or none. ``descent`` moves records and groups as long as that
        gains; ``anneal`` also makes random moves, at first hot and then ever colder; ``swap``
        exchanges the two records that gain most, again and again; ``rcs`` is Random Cluster
        Shuffling; ``none`` keeps the method's groups.
    effort
        fast (no annealing), balanced, or best (takes minutes; Ctrl-C keeps the best so far).
        ``balanced`` tries 8,000 moves a record in each of two runs; ``best`` tries five times as
        many in each of 12, combines their groups, and anneals regions again. Tables of more than
        2,500 records get fewer runs, and of more than 10,000 fewer moves a record.
    seed
        Seed of the search: another number gives other groups. Those of trajectories follow from the
        holder's key, too.

    Examples
    --------
    >>> import trajanon
    >>> records = [[0.0], [1.0], [10.0], [11.0]]
    >>> partition = trajanon.microaggregate(records, k=2, method="mdav", refine="none")
    >>> [stage.name for stage in partition.stages]
    ['mdav']
    >>> trajanon.microaggregate(records, k=2, effort="much")
    Traceback (most recent call last):
    trajanon.BadInput: `effort` 'much' is not known; choose from fast, balanced, best
    >>> trajanon.microaggregate(records, k=2, sede=1)
    Traceback (most recent call last):
    trajanon.UnknownOption: microaggregate has no option `sede`: did you mean `seed`?
    """

    method: MethodName = option("hm2")
    heuristic: HeuristicName | None = option(
        None, "or-opt; with refine none, swap or rcs concorde, if installed"
    )
    compression: int = option(1, least=1, most=10**9)
    refine: RefinementName = option("anneal")
    effort: EffortName = option("balanced")
    seed: int = option(0, least=0)

    def __post_init__(self) -> None:
        """Refuse what the method does not use, too."""
        Checked.__post_init__(self)
        if self.heuristic is not None and self.method not in ("hm2", "mf-tsp"):
            raise BadInput(f"`heuristic` is for `method=hm2` and mf-tsp, not for {self.method}")
        if self.compression > 1 and self.method != "hm2":
            raise BadInput(f"`compression` is for `method=hm2`, not for {self.method}")

    @property
    def keywords(self) -> SearchKeywords:
        """Return the settings as keywords."""
        return cast(SearchKeywords, asdict(self))


@with_help
@dataclass(frozen=True, kw_only=True)
class ReleaseSettings(Checked):
    """The options of a release beside those of its search; checked as these are.

    Attributes
    ----------
    as_published
        Do what the papers do, and nothing else: for comparison; never publish personal data that
        way. The method alone, with ``refine`` none unless it is named; k counts records; nothing
        slides; each record has a row, the plain mean of its group. The loss is that of
        `trajanon.microaggregate`, to the last digit.
    one_line_each
        Release at most one trip of each person: the one that fits its group best.
        The others are left out; of trips that cost the same, the first is taken.
    days
        Release whole days of up to this many trips: k people share all trips of a day, in the same
        order. A day takes the place of this many trips, and stays at its last place if it has
        fewer; days of more trips, and those that fewer than k people resemble, are left out.
    distinct_ends
        Aim for at least this many places, 200 m apart, where the trips behind a line begin, and as
        many where they end. A line of windows keeps some 200 m from fewer such places. What no
        exchange with near groups mends is counted; 1 turns it off.
    leave_out
        Percent of the trajectories to leave out after the search, in whole groups, those farthest
        from their means first. The report counts the bias: mostly long trips go.
    align
        Let trajectories slide on their tracks towards their groups. Losses and displacements then
        refer to the windows after sliding.
    times
        Release the mean times of each group: of-day, of-week or date. Each line then bears them at
        each of its points, and the search sees the departure as well. A day begins at 03:00.
    minute_worth
        Metres of displacement that weigh as much as a minute between departures: more makes
        departures more exact, and places less. With 0 only places count.
    time_step
        Released times are rounded to this many seconds, a minute at least.
    timezone
        Time zone of the released times, such as Europe/Madrid. None takes that of the middle of the
        area.
    rows
        Rows of each released line: subjects (one for each different person behind it), or lines (a
        single row, with the number of people in a column people). Where k counts records, or no
        subjects are known, records take the place of subjects.

    Examples
    --------
    Two trajectories of one person can be a group only in the papers, where k counts records:

    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[40.0, 2.0], [40.0, 3.0]], [[40.2, 2.0], [40.2, 3.0]]])
    >>> trajectories = trajanon.Trajectories(points, subject=np.array([7, 7]))
    >>> trajanon.anonymize(trajectories, k=2, as_published=True).report["counted"]
    'records'
    >>> trajanon.anonymize(trajectories, k=2, time_step=0)
    Traceback (most recent call last):
    trajanon.BadInput: `time_step` must be a whole number from 60 to 86400 (got 0)
    """

    as_published: bool = option(False)
    one_line_each: bool = option(False)
    days: int | None = option(None, "trips, not days", least=1, most=24)
    distinct_ends: int = option(2, least=1, most=10)
    leave_out: float = option(0.0, "nothing", least=0, most=20)
    align: bool = option(True)
    times: TimesName | None = option(None, "no times")
    minute_worth: float = option(3.0, least=0, most=10**6)
    time_step: int = option(300, least=60, most=86_400)
    timezone: str | None = option(None, "the zone of the middle of the area")
    rows: RowsName = option("subjects")


def parameters_of(settings: type) -> list[Parameter]:
    """Return the options of a class as parameters of a function."""
    return [
        Parameter(field.name, Parameter.KEYWORD_ONLY, default=field.default, annotation=field.type)
        for field in fields(settings)
    ]


def takes_settings(*kinds: type) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Show the options of some classes in help() in place of ``**options``; refuse all others.

    A type checker sees them in the annotation of ``**options``.
    """

    def with_settings(function: Callable[P, T]) -> Callable[P, T]:
        """Return the function with the options in its signature, and the check before it."""
        declared = signature(function)
        *parameters, _ = declared.parameters.values()  # the last is **options
        shown = declared.replace(parameters=[*parameters, *chain(*map(parameters_of, kinds))])

        @wraps(function)
        def checking_names(*args: P.args, **options: P.kwargs) -> T:
            """Refuse a misspelt option, which the settings would not miss."""
            for name in options:
                if name not in shown.parameters:
                    nearest = get_close_matches(name, shown.parameters, n=1)
                    way_out = f"did you mean `{nearest[0]}`?" if nearest else "help() lists them"
                    raise UnknownOption(f"{function.__name__} has no option `{name}`: {way_out}")
            return function(*args, **options)

        checking_names.__signature__ = shown  # type: ignore[attr-defined]  # help() reads it
        return checking_names

    return with_settings


def settings_from(options: Mapping[str, object], settings: Callable[..., T]) -> T:
    """Make settings of those options that are theirs."""
    names = signature(settings).parameters
    return settings(**{name: options[name] for name in names if name in options})


def release_and_search_settings(options: AnonymizeKeywords) -> tuple[ReleaseSettings, Settings]:
    """Make the settings of a release, and those of its search, of the options of both."""
    release = settings_from(options, ReleaseSettings)
    search = settings_from(options, Settings)

    if search.seed > sys.maxsize:
        raise BadInput(
            f"`seed` must be at most {sys.maxsize}, as JSON holds it (got {search.seed})"
        )
    if release.one_line_each and release.days is not None:
        raise BadInput("`one_line_each` and `days` are two choices: leave out one of them")
    if not release.as_published:
        return release, search

    for name, value_as_published in _AS_PUBLISHED.items():
        if getattr(release, name) != value_as_published and name in options:
            raise BadInput(f"`as_published` is the method alone: leave out `{name}`")

    refine = options.get("refine", "none")
    if refine not in ("none", "swap", "rcs"):
        raise BadInput(f"`as_published` takes `refine` none, swap or rcs (got {refine!r})")
    return replace(release, **_AS_PUBLISHED), replace(search, refine=refine)


def names_in(annotation: Any) -> tuple[str, ...]:
    """List the names that a type allows: a Literal, or one that may be None.

    >>> names_in(TimesName | None), names_in(str | None)
    (('of-day', 'of-week', 'date'), ())
    """
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(chain.from_iterable(map(names_in, get_args(annotation))))


def whole_number(value: object) -> int | None:
    """Return a whole number, such as one of numpy, as one of Python; None if it is none.

    >>> whole_number(4), whole_number(4.0), whole_number(True)
    (4, None, None)
    """
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    try:
        return index(value)
    except TypeError:  # of an array
        return None


def _checked(name: str, value: object, annotation: object, limits: Mapping[str, Any]) -> object:
    """Return a value as one of Python's own types, which JSON can hold; refuse what is not allowed.

    ``limits`` has the ``least`` and perhaps the ``most`` of a number, if it may be one.
    """
    names = names_in(annotation)
    may_be_number = "least" in limits
    if names and (isinstance(value, str) or not may_be_number):
        if isinstance(value, str) and value in names:
            return str(value)
        or_number = ", or a number" if may_be_number else ""
        raise BadInput(
            f"`{name}` {value!r} is not known; choose from {', '.join(names)}{or_number}"
        )

    if may_be_number:
        return _number(name, value, limits, is_whole=annotation in (int, int | None))
    if annotation is bool:
        if type(value).__name__ != "bool":  # that of Python, or of numpy
            raise BadInput(f"`{name}` must be True or False (got {value!r})")
        return bool(value)
    if not isinstance(value, str):
        raise BadInput(f"`{name}` must be a text (got {value!r})")
    return str(value)


def _number(name: str, value: object, limits: Mapping[str, Any], *, is_whole: bool) -> int | float:
    """Return a number as one of Python; refuse one beyond its limits."""
    number: int | float | None = whole_number(value)
    if number is None and not is_whole and isinstance(value, Real) and not isinstance(value, bool):
        number = float(value)

    least = limits["least"]
    most = limits.get("most", inf)
    if number is None or not least <= number <= most:
        upper = "" if is_whole else " on"
        if most < inf:
            upper = f" to {most}"
        kind = "whole number" if is_whole else "number"
        raise BadInput(f"`{name}` must be a {kind} from {least}{upper} (got {value!r})")
    return number


def bytes_of(memory: str | float) -> float:
    """Read an amount of memory, such as ``4GB`` or ``500 MB``."""
    number = r"(\d+\.?\d*(?:e\+?\d+)?|\.\d+)"
    match = re.fullmatch(rf"\s*{number}\s*([kmgt]?)(i?)b?\s*", str(memory).lower())
    amount = inf
    if match:
        step = 1024.0 if match[3] else 1000.0
        amount = float(match[1]) * step ** _UNITS_OF_BYTES.index(match[2])
    if amount == inf:
        raise BadInput(f"`memory` must be an amount such as 4GB or 500MB (got {memory!r})")
    return amount
