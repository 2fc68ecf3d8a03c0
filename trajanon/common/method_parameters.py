"""The parameters of single methods and refinements: their defaults, checks and help."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, Literal, NamedTuple

from trajanon.common.declared_options import (
    Checked,
    SearchKeywords,
    Settings,
    made_of,
    option,
    with_help,
)
from trajanon.common.errors import BadInput

InnerMethodName = Literal["mdav", "v-mdav", "md", "cbfs"]
ExpansionName = Literal["both", "distance", "row"]
DirectionName = Literal["both", "forward", "backward"]
PathNeighboursName = Literal["near", "next"]


@dataclass(frozen=True, kw_only=True)
class MethodParameters(Checked):
    """Parameters that mean something with one value of a setting alone."""

    setting: ClassVar[str]  # name of the setting
    value: ClassVar[str]  # its value with which they mean something
    or_more: ClassVar[str] = ""  # what else the value may be, in words

    @classmethod
    def belongs_to(cls, settings: Settings) -> bool:
        """Return whether the settings make that choice."""
        return bool(getattr(settings, cls.setting) == cls.value)


@with_help
@dataclass(frozen=True, kw_only=True)
class VMdavParameters(MethodParameters):
    """The parameter of V-MDAV.

    Attributes
    ----------
    gamma
        Gain factor of v-mdav: larger values let groups grow beyond k. None takes the best of 0,
        0.05, ..., 2; the stage of the partition names it.

    Examples
    --------
    With a small gamma groups do not grow. It is refused where V-MDAV is not asked for:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> options = {"method": "v-mdav", "gamma": 0.2, "refine": "none"}
    >>> trajanon.microaggregate(ages, k=2, **options).labels.tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    >>> trajanon.microaggregate(ages, k=2, gamma=0.2)
    Traceback (most recent call last):
    trajanon.BadInput: `gamma` needs `method=v-mdav`: choose that, or leave out `gamma`
    """

    setting: ClassVar[str] = "method"
    value: ClassVar[str] = "v-mdav"

    # Long before 1,000 every group has grown as far as it may.
    gamma: float | None = option(None, "the best of 0, 0.05, ..., 2", least=0, most=1_000)


@with_help
@dataclass(frozen=True, kw_only=True)
class CompressionParameters(MethodParameters):
    """The parameters of hm2's compression.

    Attributes
    ----------
    compress_by
        Method that makes the groups of c records: mdav, v-mdav, md or cbfs.
    expansion
        Order in which the records of a city stand on the path: by distance, by row, or both.
        ``distance`` is that to the centroid of all records, as the paper says, ``row`` the order
        of rows, as its program does; of ``both`` the cut that loses less is taken.
    direction
        Direction of the path through the cities: forward, backward or both. ``forward`` begins at
        the end with the lower number; of ``both`` the cut that loses less is taken. Records of a
        city keep their order.

    Examples
    --------
    The path as the papers' program makes it, in one of its directions:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> options = {"compression": 3, "expansion": "row", "direction": "forward"}
    >>> trajanon.microaggregate(ages, k=2, **options).labels.tolist()
    [0, 0, 0, 1, 1, 2, 2, 2]
    """

    setting: ClassVar[str] = "compression"
    value: ClassVar[str] = "2"
    or_more: ClassVar[str] = " or more"

    compress_by: InnerMethodName = option("mdav")
    expansion: ExpansionName = option("both")
    direction: DirectionName = option("both")

    @classmethod
    def belongs_to(cls, settings: Settings) -> bool:
        """Return whether the path is compressed."""
        return settings.compression > 1


@with_help
@dataclass(frozen=True, kw_only=True)
class MfTspParameters(MethodParameters):
    """The parameter of MF-TSP.

    Attributes
    ----------
    path_neighbours
        Which records mf-tsp counts as neighbours on a path: near ones, or the next. ``near`` are at
        most k - 1 steps apart, as in the first paper; ``next`` is the one that follows, as in
        the thesis.

    Examples
    --------
    The rule of the thesis:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> options = {"method": "mf-tsp", "path_neighbours": "next", "refine": "none"}
    >>> trajanon.microaggregate(ages, k=2, **options).labels.tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]
    """

    setting: ClassVar[str] = "method"
    value: ClassVar[str] = "mf-tsp"

    path_neighbours: PathNeighboursName = option("near")


@with_help
@dataclass(frozen=True, kw_only=True)
class DecompositionParameters(MethodParameters):
    """The parameters of the decomposition heuristic.

    Attributes
    ----------
    subsets
        Number s of parts that decomposition solves, each for itself. None makes parts of some
        1,500 / k records.
    exchange_first
        Exchange records by two-swapping before the parts are made (step 3 of the paper).

    Examples
    --------
    Two parts of four records, without step 3:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> options = {"method": "decomposition", "subsets": 2, "exchange_first": False}
    >>> trajanon.microaggregate(ages, k=2, **options).labels.tolist()
    [0, 0, 0, 1, 1, 2, 2, 2]
    """

    setting: ClassVar[str] = "method"
    value: ClassVar[str] = "decomposition"

    subsets: int | None = option(None, "parts of some 1,500 / k records", least=1, most=10**9)
    exchange_first: bool = option(True)


@with_help
@dataclass(frozen=True, kw_only=True)
class RcsParameters(MethodParameters):
    """The parameters of Random Cluster Shuffling.

    Attributes
    ----------
    shuffle_probability
        Probability that rcs shuffles two groups after a record.
    max_events
        Maximum number of such shuffles.

    Examples
    --------
    Records go to nearer groups, and none are shuffled:

    >>> import trajanon
    >>> ages = [[1.0], [5.0], [8.0], [17.0], [21.0], [22.0], [23.0], [26.0]]
    >>> options = {"method": "mdav", "refine": "rcs", "max_events": 0}
    >>> trajanon.microaggregate(ages, k=2, **options).labels.tolist()
    [0, 0, 0, 1, 1, 2, 2, 2]
    """

    setting: ClassVar[str] = "refine"
    value: ClassVar[str] = "rcs"

    shuffle_probability: float = option(0.001, least=0, most=1)
    # Each shuffle needs a record to be looked at, and passes go on till then.
    max_events: int = option(10, least=0, most=10**6)


METHOD_PARAMETERS: tuple[type[MethodParameters], ...] = (
    VMdavParameters,
    CompressionParameters,
    MfTspParameters,
    DecompositionParameters,
    RcsParameters,
)


class MicroaggregateKeywords(SearchKeywords, total=False):
    """The options of a search and of its methods, as keywords that a type checker sees."""

    gamma: float | None
    compress_by: InnerMethodName
    expansion: ExpansionName
    direction: DirectionName
    path_neighbours: PathNeighboursName
    subsets: int | None
    exchange_first: bool
    shuffle_probability: float
    max_events: int


class SearchOptions(NamedTuple):
    """The options of a search, checked."""

    settings: Settings
    parameters: tuple[MethodParameters, ...]  # one of each kind


def search_options(options: Mapping[str, object]) -> SearchOptions:
    """Check the options of a search; refuse a parameter of what is not chosen."""
    settings = made_of(options, Settings)
    parameters = tuple(made_of(options, kind) for kind in METHOD_PARAMETERS)

    for chosen in parameters:
        by_default = type(chosen)()
        if chosen != by_default and not chosen.belongs_to(settings):
            names = [field.name for field in fields(chosen)]
            name = next(
                name for name in names if getattr(chosen, name) != getattr(by_default, name)
            )
            needed = f"`{chosen.setting}={chosen.value}`{chosen.or_more}"
            raise BadInput(f"`{name}` needs {needed}: choose that, or leave out `{name}`")
    return SearchOptions(settings, parameters)
