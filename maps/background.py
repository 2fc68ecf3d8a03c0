"""What maps show of the place beneath their lines, and the colours of lines and cells."""

from collections.abc import Sequence
from typing import NamedTuple

from trajanon.common.arrays import Floats

# Different with any colour vision, and dark enough on a pale street map: Okabe and
# Ito's colours without yellow and black, with Tol's indigo and wine.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#332288", "#E69F00", "#56B4E9", "#882255")

RAMP = ("#fed976", "#feb24c", "#fd8d3c", "#fc4e2a", "#e31a1c", "#bd0026", "#800026")
"""From few to many: Brewer's YlOrRd."""


class Surroundings(NamedTuple):
    """What a map without a street map shows of the place where it is.

    Attributes
    ----------
    place
        The place in words.
    roads
        Main roads of OpenStreetMap: latitude and longitude of the points of each, (points, 2).

    Examples
    --------
    >>> from trajanon.maps import Surroundings
    >>> Surroundings("Madrid").place
    'Madrid'
    """

    place: str = ""
    roads: Sequence[Floats] = ()


NOWHERE = Surroundings()
"""Neither a name nor roads."""
