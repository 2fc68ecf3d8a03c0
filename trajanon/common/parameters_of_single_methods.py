"""The parameters of single methods and refinements: their defaults, checks and help."""

from dataclasses import dataclass
from typing import Literal

from trajanon.common.errors import BadInput
from trajanon.common.search_and_release_options import SearchKeywords, Settings, option, with_help

InnerMethodName = Literal["mdav", "v-mdav", "md", "cbfs"]
ExpansionName = Literal["both", "distance", "row"]
DirectionName = Literal["both", "forward", "backward"]
PathNeighboursName = Literal["near", "next"]

_MEANT_FOR = {  # parameter: setting and value
    "gamma": ("method", "v-mdav"),
    "compress_by": ("compression", "2"),
    "expansion": ("compression", "2"),
    "direction": ("compression", "2"),
    "path_neighbours": ("method", "mf-tsp"),
    "subsets": ("method", "decomposition"),
    "exchange_first": ("method", "decomposition"),
    "shuffle_probability": ("refine", "rcs"),
    "max_events": ("refine", "rcs"),
}
"""The setting and its value with which a parameter means something; of compression 2 or more."""


@with_help
@dataclass(frozen=True, kw_only=True)
class MicroaggregateSettings(Settings):
    """The options of a search, with the parameters of single methods and refinements; all checked.

    Attributes
    ----------
    gamma
        Gain factor of v-mdav: larger values let groups grow beyond k. None takes the best of 0,
        0.05, ..., 2; the stage of the partition names it.
    compress_by
        Method that makes the groups of c records of hm2's compression: mdav, v-mdav, md or cbfs.
    expansion
        Order in which the records of a city stand on the path: by distance, by row, or both.
        ``distance`` is that to the centroid of all records, as the paper says, ``row`` the order
        of rows, as its program does; of ``both`` the cut that loses less is taken.
    direction
        Direction of the path through the cities: forward, backward or both. ``forward`` begins at
        the end with the lower number; of ``both`` the cut that loses less is taken. Records of a
        city keep their order.
    path_neighbours
        Which records mf-tsp counts as neighbours on a path: near ones, or the next. ``near`` are at
        most k - 1 steps apart, as in the first paper; ``next`` is the one that follows, as in
        the thesis.
    subsets
        Number s of parts that decomposition solves, each for itself. None makes parts of some
        1,500 / k records.
    exchange_first
        Exchange records by two-swapping before the parts are made (step 3 of the paper).
    shuffle_probability
        Probability that rcs shuffles two groups after a record.
    max_events
        Maximum number of such shuffles.

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

    The path as the papers' program makes it, in one of its directions:

    >>> options = {"compression": 3, "expansion": "row", "direction": "forward"}
    >>> trajanon.microaggregate(ages, k=2, **options).labels.tolist()
    [0, 0, 0, 1, 1, 2, 2, 2]

    Neighbours on the paths of mf-tsp by the rule of the thesis:

    >>> options = {"method": "mf-tsp", "path_neighbours": "next", "refine": "none"}
    >>> trajanon.microaggregate(ages, k=2, **options).labels.tolist()
    [0, 0, 1, 1, 2, 2, 3, 3]

    Decomposition in two parts of four records, without step 3:

    >>> options = {"method": "decomposition", "subsets": 2, "exchange_first": False}
    >>> trajanon.microaggregate(ages, k=2, **options).labels.tolist()
    [0, 0, 0, 1, 1, 2, 2, 2]

    Records go to nearer groups, and none are shuffled:

    >>> options = {"method": "mdav", "refine": "rcs", "max_events": 0}
    >>> trajanon.microaggregate(ages, k=2, **options).labels.tolist()
    [0, 0, 0, 1, 1, 2, 2, 2]
    """

    # Long before 1,000 every group has grown as far as it may.
    gamma: float | None = option(None, "the best of 0, 0.05, ..., 2", least=0, most=1_000)
    compress_by: InnerMethodName = option("mdav")
    expansion: ExpansionName = option("both")
    direction: DirectionName = option("both")
    path_neighbours: PathNeighboursName = option("near")
    subsets: int | None = option(None, "parts of some 1,500 / k records", least=1, most=10**9)
    exchange_first: bool = option(True)
    shuffle_probability: float = option(0.001, least=0, most=1)
    # Each shuffle needs a record to be looked at, and passes go on till then.
    max_events: int = option(10, least=0, most=10**6)

    def __post_init__(self) -> None:
        """Refuse a parameter of a method or refinement that is not chosen, too."""
        Settings.__post_init__(self)
        for name, (setting, value) in _MEANT_FOR.items():
            is_compression = setting == "compression"
            is_meant = self.compression > 1 if is_compression else getattr(self, setting) == value
            if not is_meant and getattr(self, name) != getattr(type(self), name):
                needed = f"`{setting}={value}`{' or more' if is_compression else ''}"
                raise BadInput(f"`{name}` needs {needed}: choose that, or leave out `{name}`")


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
