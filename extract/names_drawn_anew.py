"""Names that seem to be drawn anew for each trip, day or month: one person counts as several."""

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints

_LEAST_NAMES = 10  # by which it is judged
_FEW = 0.05  # of the names, such as an account of guests
_DAY = 86_400.0  # seconds
_TOGETHER = 5.0  # recordings of two people at one time by chance, or else none says nothing


def are_drawn_anew(subject: Ints, ends: Floats, is_named: Bools, trips: Ints | None) -> bool:
    """Return whether hardly any name goes on, or no two people ever move at one time.

    Parameters
    ----------
    subject
        Who made each recording, (n,).
    ends
        Times of its first and last point, (n, 2); NaN where they are not known.
    is_named
        Whether each subject has a name, (subjects,).
    trips
        The subject of each trip, (trips,). None where windows are cut.
    """
    if np.count_nonzero(is_named) < _LEAST_NAMES:
        return False
    go_on = _least_that_go_on(subject, ends, is_named)
    if go_on is None and trips is not None:
        go_on = float((np.bincount(trips, minlength=len(is_named)) > 1)[is_named].mean())
    hardly_any_goes_on = go_on is not None and go_on < _FEW
    return hardly_any_goes_on or _are_never_together(subject, ends, is_named)


def _least_that_go_on(subject: Ints, ends: Floats, is_named: Bools) -> float | None:
    """Return the least share of names that go on at any time, of those before or after it.

    None if nearly all recordings begin within two days, so that few could go on.
    """
    begin, end = ends.T
    known = np.sort(begin[np.isfinite(begin)])
    if len(known) == 0:
        return None
    early = known[len(known) // 10]
    late = known[9 * len(known) // 10]
    if late - early < 2.0 * _DAY:
        return None

    # When each name is met first and last.
    first, last = np.full((2, len(is_named)), np.nan)
    np.fmin.at(first, subject, begin)
    np.fmax.at(last, subject, end)
    is_known = is_named & np.isfinite(first)
    first = np.sort(first[is_known])
    last = np.sort(last[is_known])

    # Names that begin before a moment, and names that end after it: some do both.
    moments = first[(first > early) & (first <= late)]
    before = np.searchsorted(first, moments)
    after = len(last) - np.searchsorted(last, moments)
    fewer = np.minimum(before, after)
    share = (before + after - len(first)) / np.maximum(fewer, 1)
    return float(share[fewer >= _LEAST_NAMES].min(initial=1.0))


def _are_never_together(subject: Ints, ends: Floats, is_named: Bools) -> bool:
    """Return whether no two people are on their way at one time, where many would be by chance.

    Such names may be one person's, for each kind of trip.
    """
    is_known = is_named[subject] & np.isfinite(ends[:, 0])
    if not is_known.any():
        return False
    order = np.argsort(ends[is_known, 0])
    begin, end = ends[is_known][order].T
    subject = subject[is_known][order]

    # By chance, if all set out at any time of the day and night.
    of_two_people = 1.0 - ((np.bincount(subject) / len(subject)) ** 2).sum()
    seconds = max(end.max() - begin[0], 1.0)
    by_chance = of_two_people * len(subject) * (end - begin).sum() / seconds
    together = (begin[1:] < end[:-1]) & (np.diff(subject) != 0)
    return bool(by_chance >= _TOGETHER and not together.any())
