"""The verdict on the cost: how far, how long, how many trips, each with its colour."""

from collections.abc import Callable, Iterator, Mapping

from trajanon.evaluation.evidence import AS_SLID, MDAV, RELEASE
from trajanon.utility.usefulness import FLOW_CELL, Usefulness
from trajanon.words import metres, percent

GOOD, CAUTION, BAD = "good", "caution", "bad"

# Good up to the first share, bad beyond the second.
# Own length: the points of a straight line lie a quarter of its length from its middle
# on average, so beyond a quarter the middle alone would tell as much; a tenth is some
# three hops of 29. Length lost: the mean of four straight lines is half as long if
# their directions have nothing in common, and a fifth shorter if each is 37 degrees
# off. Trips lost: up to a half more are right than wrong; beyond three quarters few are
# left. MDAV is the method to beat; another seed and the rounding make less than 5 %.
# Windows share no ground, so sliding crowds them little: 3 % at most on real data.
OF_OWN_LENGTH = (0.10, 0.25)
LENGTH_LOST = (0.20, 0.50)
TRIPS_LOST = (0.50, 0.75)
BESIDE_MDAV = 1.05
CROWDED = 1.05
STEPS_OF_ROUNDING = 0.05  # of the length: below it, nobody need know


def cost(ways: Mapping[str, Usefulness], length_kept: float) -> Iterator[tuple[str, str]]:
    """Say what a release costs; information loss, which hides much, has no say."""
    as_cut, mdav = ways[RELEASE], ways.get(MDAV)
    averaged = ways.get(AS_SLID, as_cut)
    yield _moved(averaged, as_cut, mdav)
    yield _length(length_kept, 1.0 + averaged.length_change)
    kept = _both(averaged, as_cut, lambda one: percent(one.flow_similarity, 2))
    beside = "" if mdav is None else f" (MDAV: {percent(mdav.flow_similarity, 2)})"
    yield (
        _colour(1.0 - averaged.flow_similarity, TRIPS_LOST),
        f"Trips that still begin and end in the same cells of {FLOW_CELL:g} m: {kept}{beside}.",
    )
    if averaged is not as_cut and mdav is not None:
        yield from _worse_as_cut(as_cut, mdav)
    if as_cut.busyness and averaged.busyness:
        yield from _crowded(averaged.busyness / as_cut.busyness)


def _colour(share: float, limits: tuple[float, float]) -> str:
    return (GOOD, CAUTION, BAD)[sum(share > limit for limit in limits)]


def _both(averaged: Usefulness, as_cut: Usefulness, write: Callable[[Usefulness], str]) -> str:
    if averaged is as_cut:
        return write(as_cut)
    return f"{write(averaged)} as slid, {write(as_cut)} as cut"


def _moved(averaged: Usefulness, as_cut: Usefulness, mdav: Usefulness | None) -> tuple[str, str]:
    far = averaged.displacement["mean"]
    of_length = far / averaged.length if averaged.length else float(far > 0.0)
    colour, advice, beside = _colour(of_length, OF_OWN_LENGTH), "", ""
    if mdav is not None:
        least = mdav.displacement["mean"]
        beside = f" (MDAV: {metres(least)})"
        if far > BESIDE_MDAV * least and colour == GOOD:
            colour = CAUTION
            advice = " MDAV moves them less: try --effort best."
    if of_length > OF_OWN_LENGTH[0]:
        advice = " Longer lines (extract --spacing), more data or a smaller k help."
    if colour == BAD:
        advice = " The middle of each trajectory alone would tell as much of where it was." + advice
    said = _both(averaged, as_cut, lambda one: metres(one.displacement["mean"]))
    runs = ""
    if as_cut.from_runs is not None:
        runs = f" They lie {metres(as_cut.from_runs['mean'])} from the runs."
    return colour, (
        f"Points moved by {said} on average{beside}, {percent(of_length, 2)} of the "
        f"length of a trajectory.{runs}{advice}"
    )


def _length(kept: float, written: float) -> tuple[str, str]:
    colour = _colour(1.0 - kept, LENGTH_LOST)
    said = f"The means of groups keep {percent(kept, 2)} of their members' length"
    if colour != GOOD:
        said += ": members go different ways"
    if abs(written - kept) > STEPS_OF_ROUNDING:
        said += (
            f". The rounding adds steps: as written they have {percent(written, 2)} "
            "(anonymize --digits)"
        )
    return colour, said + "."


def _worse_as_cut(as_cut: Usefulness, mdav: Usefulness) -> Iterator[tuple[str, str]]:
    far, least = as_cut.displacement["mean"], mdav.displacement["mean"]
    kept, more = as_cut.flow_similarity, mdav.flow_similarity
    if far > BESIDE_MDAV * least or more > BESIDE_MDAV * kept:
        yield (
            CAUTION,
            f"Measured on the windows as cut, MDAV is better: points moved by "
            f"{metres(far)}, MDAV {metres(least)}; trips kept {percent(kept, 2)}, MDAV "
            f"{percent(more, 2)}. Use anonymize --no-align if it matters where a "
            "window begins.",
        )


def _crowded(busier: float) -> Iterator[tuple[str, str]]:
    if busier > CROWDED:
        yield (
            CAUTION,
            "Windows slid to where many tracks run: their places are "
            f"{percent(busier - 1.0, 2)} busier than as cut, and the release shows "
            "more of busy streets. anonymize --no-align leaves windows as cut.",
        )
