"""The verdict on the cost: how far, how long, how many trips, each with its colour."""

from collections.abc import Mapping

import numpy as np

from trajanon.evaluation.templates import coloured
from trajanon.utility.usefulness import LARGEST, OD_CELLS, SMALLEST, Usefulness, cell_for_od

RELEASE = "this release"
AS_SLID = "this release, windows as slid"
MDAV = "MDAV"
NOTHING = "no protection"
"""Names of the ways to publish that are compared."""

GOOD, CAUTION, BAD = "good", "caution", "bad"

# Good up to the first number, bad beyond the second.
# Own length: the points of a straight line lie a quarter of its length from its middle
# on average, so beyond a quarter the middle alone would tell as much; a tenth is some
# three hops of 29. Length lost: the mean of four straight lines is half as long if
# their directions have nothing in common, and a fifth shorter if each is 37 degrees
# off. Ends lost: up to a half more are right than wrong; beyond three quarters few are
# left. Cells for OD tables: one of a kilometre can be crossed on foot in a quarter of an
# hour; no table is good where not even a district's keeps three of four. Departure: who
# is half an hour off is in the same hour or the next; a city's peak lasts some two hours,
# and who is off by more may be on its other side. MDAV is the method to beat; another
# seed and the rounding make less than 5 %. Windows do not overlap, so sliding crowds them
# little: 3 % at most on real data.
OF_OWN_LENGTH = (0.10, 0.25)
LENGTH_LOST = (0.20, 0.50)
ENDS_LOST = (0.50, 0.75)
OD_CELL = (OD_CELLS["1 km"], OD_CELLS[LARGEST])
DEPARTURE_OFF = (1_800.0, 7_200.0)  # seconds
BESIDE_MDAV = 1.05
CROWDED = 1.05
STEPS_OF_ROUNDING = 0.05  # of the length: below it, nobody need know


def cost(
    ways: Mapping[str, Usefulness],
    length_kept: float,
    unit: str = "trajectory",
    flows_of_all: Mapping[str, float] | None = None,
) -> list[tuple[str, str]]:
    """Say what a release costs; information loss, which hides much, has no say.

    ``flows_of_all`` is the flow similarity of all trips where ``ways`` are of a sample.
    """
    as_cut, mdav = ways[RELEASE], ways.get(MDAV)
    averaged = ways.get(AS_SLID, as_cut)
    far, lengthened = averaged.displacement["mean"], 1.0 + averaged.length_change
    of_length = far / averaged.length if averaged.length else float(far > 0.0)
    moved = _colour(of_length, OF_OWN_LENGTH)
    mdav_moves_less = worse_as_cut = False
    if mdav is not None:
        least = BESIDE_MDAV * mdav.displacement["mean"]
        mdav_moves_less = far > least and moved == GOOD
        worse_as_cut = averaged is not as_cut and (
            as_cut.displacement["mean"] > least
            or mdav.flow_similarity[SMALLEST] > BESIDE_MDAV * as_cut.flow_similarity[SMALLEST]
        )
    busier = 1.0
    if as_cut.busyness and averaged.busyness:
        busier = averaged.busyness / as_cut.busyness
    times = averaged.times
    kept = flows_of_all or averaged.flow_similarity
    cell = cell_for_od(kept)
    ends = _colour(1.0 - kept[SMALLEST], ENDS_LOST)
    return coloured(
        "cost.txt",
        unit=unit,
        averaged=averaged,
        as_cut=as_cut,
        mdav=mdav,
        of_length=of_length,
        moved=CAUTION if mdav_moves_less else moved,
        short=of_length > OF_OWN_LENGTH[0],
        mdav_moves_less=mdav_moves_less,
        length=_colour(1.0 - length_kept, LENGTH_LOST),
        length_kept=length_kept,
        steps_of_rounding=abs(lengthened - length_kept) > STEPS_OF_ROUNDING,
        written=lengthened,
        ends=ends if unit != "trip" else _colour(OD_CELLS.get(cell or "", np.inf), OD_CELL),
        kept=kept,
        cell=cell,
        smallest=SMALLEST,
        largest=LARGEST,
        mdav_of_all=mdav if flows_of_all is None else None,
        departures=times and _colour(times.departure_error["mean"], DEPARTURE_OFF),
        worse_as_cut=worse_as_cut,
        busier=busier,
        crowded=CROWDED,
    )


def _colour(lost: float, limits: tuple[float, float]) -> str:
    return (GOOD, CAUTION, BAD)[sum(lost > limit for limit in limits)]
