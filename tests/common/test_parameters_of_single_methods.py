"""Parameters of single methods: refused without their method, and checked."""

import re
from typing import Any

import numpy as np
import pytest

from trajanon.common.errors import BadInput
from trajanon.grouping.microaggregation import microaggregate

TABLE = np.arange(12.0).reshape(6, 2)


@pytest.mark.parametrize(
    ("needed", "given", "says"),
    [
        ({"method": "v-mdav"}, {"gamma": 0.5}, "`gamma` needs `method=v-mdav`:"),
        ({"compression": 2}, {"direction": "forward"}, "needs `compression=2` or more:"),
        ({"compression": 3}, {"expansion": "row"}, "needs `compression=2` or more:"),
        ({"compression": 2}, {"compress_by": "md"}, "needs `compression=2` or more:"),
        ({"method": "mf-tsp"}, {"path_neighbours": "next"}, "needs `method=mf-tsp`:"),
        ({"method": "decomposition"}, {"subsets": 2}, "needs `method=decomposition`:"),
        ({"method": "decomposition"}, {"exchange_first": False}, "needs `method=decomposition`:"),
        ({"refine": "rcs"}, {"max_events": 0}, "needs `refine=rcs`:"),
        ({"refine": "rcs"}, {"shuffle_probability": 0.5}, "needs `refine=rcs`:"),
        ({"method": "hm2"}, {"heuristic": "npn"}, None),
        ({"method": "hm2"}, {"compression": 2}, None),
    ],
)
def test_a_parameter_belongs_to_one_choice(
    needed: dict[str, Any], given: dict[str, Any], says: str | None
) -> None:
    how = {"refine": "none", **needed, **given}
    assert microaggregate(TABLE, 3, **how).sizes.min() >= 3
    defaults: dict[str, Any] = {"method": "mdav", "refine": "none"} if says is None else {}
    with pytest.raises(BadInput, match=re.escape(says or "is for `method=hm2`")):
        microaggregate(TABLE, 3, **defaults, **given)


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("gamma", float("nan"), "`gamma` must be a number from 0 to 1000 (got nan)"),
        ("shuffle_probability", 1.5, "must be a number from 0 to 1 (got 1.5)"),
        ("max_events", True, "must be a whole number from 0 to 1000000 (got True)"),
        ("direction", "up", "'up' is not known; choose from both, forward, backward"),
        ("exchange_first", 1, "must be True or False (got 1)"),
        ("gama", 1, "has no option `gama`: did you mean `gamma`?"),
    ],
)
def test_a_parameter_is_checked(name: str, value: Any, says: str) -> None:
    with pytest.raises((BadInput, TypeError), match=re.escape(says)):
        microaggregate(TABLE, 3, **{name: value})
