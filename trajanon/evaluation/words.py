"""Numbers as people read them, and the stages of a release in words."""

STAGES = {
    "path": "a short path through all trajectories",
    "MHM": "the optimal cut of that path into groups (MHM)",
    "descent": "descent by moves of records and groups",
    "annealing": "annealing by random moves",
    "alignment": "windows slid on their own tracks towards their groups",
}


def metres(distance: float) -> str:
    """Write metres.

    Examples
    --------
    >>> metres(1234.5), metres(2.04), metres(0.0), metres(47_403.0)
    ('1,234 m', '2.0 m', '0 m', '47.4 km')
    """
    if distance == 0.0:
        return "0 m"
    if distance >= 9_999.5:
        return f"{distance / 1000:,.1f} km"
    return f"{distance:,.0f} m" if distance >= 9.95 else f"{distance:.1f} m"


def percent(share: float, digits: int = 3) -> str:
    """Write a share of 1 in percent.

    Examples
    --------
    >>> percent(0.25), percent(0.061234), percent(1.0), percent(0.0), percent(83.4)
    ('25 %', '6.12 %', '100 %', '0 %', '8,340 %')
    """
    if 100.0 * share >= 10**digits - 0.5:  # where "g" would write an exponent
        return f"{100.0 * share:,.0f} %"
    return f"{100.0 * share:.{digits}g} %"
