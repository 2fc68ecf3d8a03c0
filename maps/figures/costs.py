"""Figures of what a choice costs: each k, and the hours of a release."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from trajanon.anonymization import anonymize
from trajanon.arrays import Floats
from trajanon.clock import BEGINS, HOUR
from trajanon.errors import BadInput, TooFewRecords, TooFewSubjects
from trajanon.evaluation.curve import KS, curve
from trajanon.files.report import checked, released_of
from trajanon.maps.figures.pictures import INK, ONE_COLUMN, Picture, legend_below, panels, styled
from trajanon.maps.layers import PALETTE
from trajanon.perturbation import perturbed_times
from trajanon.privacy.originals import matched
from trajanon.progress import Progress, silent
from trajanon.settings import ReleaseSettings
from trajanon.timing import MINUTE, Timing, timing_of
from trajanon.trajectories import Trajectories
from trajanon.utility import displacement

MINUTE_WORTHS = (0.5, 1.0, 2.0, 3.0, 5.0, 9.0, 20.0)
SLOTS = (4, 1)  # hours

KEY = bytes(32)
"""A key that repeats what is measured: nothing of it is published."""

_SMALL = 6  # points of letters beside marks
_NEAR = 1.16  # ratio of minutes: two labels on one side would lie on each other


def which_k(
    trajectories: Trajectories,
    ks: Sequence[int] = KS,
    *,
    progress: Progress = silent,
    **options: Any,
) -> Picture:
    """Draw the chance of the best attack over metres moved, with a point for each k.

    Each point is a release of its own, with all attacks that `trajanon.evaluate` tries on it.

    Parameters
    ----------
    trajectories
        As `trajanon.extract` makes them.
    ks
        Each k to anonymize with; those for which there are too few subjects are left out.
    progress
        Told how far the work is.
    options
        As of `trajanon.anonymize`.

    Returns
    -------
    Picture
        Named ``which-k``; its numbers are metres and shares.

    Raises
    ------
    BadInput
        As of `trajanon.anonymize`; or if there are too few for every k.

    Examples
    --------
    Four people. The larger k, the farther points move, and the fewer guesses are right:

    >>> import numpy as np
    >>> import trajanon
    >>> from trajanon.maps.figures import which_k
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> trajectories = trajanon.Trajectories(points, subject=np.arange(4))
    >>> print(which_k(trajectories, ks=[2, 4], as_published=True).numbers, end="")
    k,moved,chance,attack,baseline
    2,1.11e+04,0.5,nearest record,0.5
    4,5.552e+04,0.25,nearest record,0.25
    """
    found = curve(trajectories, ks, progress=progress, **{"key": KEY, **options})
    if not found.choices:
        raise BadInput(
            f"there are too few for any k of {', '.join(map(str, ks))}: give more, or a smaller k"
        )
    choices = pd.DataFrame(found.account["choices"])
    with styled():
        figure, (ax,) = panels(1, 1, ONE_COLUMN, 2.8)
        ax.plot(
            choices["moved"], choices["chance"], "o-", color=PALETTE[0], label="the best attack"
        )
        ax.plot(choices["moved"], choices["baseline"], "--", color=INK, linewidth=0.8, label="1/k")
        for one in found.choices:
            above = max(one.chance, 1.0 / one.k)
            ax.annotate(
                f"{one.k}", (one.moved, above), (3, 3), textcoords="offset points", color=INK
            )
        ax.margins(x=0.08)
        ax.set_xlim(left=0.0)
        ax.set_ylim(bottom=0.0)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
        ax.set_xlabel("points moved, mean (metres)")
        ax.set_ylabel("a row of the target is found")
        legend_below(figure, 2, others=ax.get_legend_handles_labels()[0])
    caption = (
        f"Which k: the mean chance of the best attack over metres moved, of "
        f"{len(trajectories):,} {trajectories.units}. Numbers are k. {found.words}"
    )
    numbers = choices.to_csv(index=False, float_format="%.4g")
    return Picture("which-k", figure, caption, numbers=numbers)


def trade_off_time(
    trajectories: Trajectories, k: int = 4, *, progress: Progress = silent
) -> Picture:
    """Draw displacement over the error of departure, by the worth of a minute in the search.

    Groups within slots of the day, and of places alone, stand beside it. Each point is a search of
    its own.

    Parameters
    ----------
    trajectories
        With times.
    k
        As of `trajanon.anonymize`.
    progress
        Told how far the work is.

    Returns
    -------
    Picture
        Named ``trade-off-time``; its numbers are metres and minutes.

    Raises
    ------
    BadInput, TooFewRecords, TooFewSubjects
        As of `trajanon.anonymize` with ``times="of-day"``.

    Examples
    --------
    Four people leave by turns at 8 and at 9. Groups of places alone move them by 12 km and by half
    an hour. Groups within each hour keep the times, and move them by 62 km:

    >>> from io import StringIO
    >>> import numpy as np
    >>> import pandas as pd
    >>> import trajanon
    >>> from trajanon.maps.figures import trade_off_time
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> times = 3600 * np.array([[8.0, 8.5], [9.0, 9.5], [8.0, 8.5], [9.0, 9.5]])
    >>> picture = trade_off_time(trajanon.Trajectories(points, times=times), k=2)
    >>> numbers = pd.read_csv(StringIO(picture.numbers)).iloc[[0, -1]]
    >>> numbers["displacement_mean"].tolist(), numbers["departure_mean"].tolist()
    ([11220.0, 57410.0], [30, 0])
    """
    costs = hours_costs(trajectories, k, progress)
    slots, along = costs["slot_hours"].notna(), costs["slot_hours"].isna()
    units = trajectories.units
    with styled():
        figure, (ax,) = panels(1, 1, ONE_COLUMN, 3.2)
        for colour, statistic in ((PALETTE[0], "mean"), (PALETTE[1], "median")):
            x, y = costs[f"departure_{statistic}"], costs[f"displacement_{statistic}"]
            ax.plot(x[along], y[along], "o-", color=colour)
            ax.plot(x[:1], y[:1], "D", color=colour, markerfacecolor="white")
            ax.plot(x[slots], y[slots], "s", color=colour)
            labelled = np.inf
            for number in costs.index[1:]:  # the first is of places alone
                right, up = x[number], y[number]
                name, away, side = f"{costs['minute_worth'][number]:g}", (-3, -9), "right"
                if slots[number]:
                    name, away, side = f"{costs['slot_hours'][number]:g} h", (5, -2), "left"
                elif labelled < _NEAR * right and right < _NEAR * labelled:
                    away, side = (0, 5), "center"
                labelled = right
                look: dict[str, Any] = {"ha": side, "fontsize": _SMALL, "color": colour}
                ax.annotate(name, (right, up), away, textcoords="offset points", **look)
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.margins(0.1)
        ax.set_xlabel("departure off by (minutes)")
        ax.set_ylabel("displacement (metres)")
        entries = [
            Line2D([], [], color=PALETTE[0], label="means"),
            Line2D([], [], color=PALETTE[1], label="medians"),
            Line2D([], [], color=INK, marker="o", label="departure in the search"),
            Line2D([], [], color=INK, ls="none", marker="s", label="slots of the day"),
            Line2D([], [], color=INK, ls="none", marker="D", mfc="white", label="places alone"),
        ]
        legend_below(figure, 2, others=entries)
    caption = (
        f"What hours cost: displacement over how far departures are off, {len(trajectories):,} "
        f"{units}, k = {k}. Numbers at the lines are the metres that a minute is worth in the "
        "search (--minute-worth); slots of the day are searched one by one, by places alone. "
        "Departures of all are the means of groups, rounded to 5 minutes. The axis of minutes is "
        "logarithmic, that of metres does not begin at zero."
    )
    if most := len(trajectories) - int(costs["trajectories"].min()):
        caption += f" Slots with too few for a group are left out, with {most:,} {units} at most."
    numbers = costs.to_csv(index=False, float_format="%.4g")
    return Picture("trade-off-time", figure, caption, numbers=numbers)


def hours_costs(trajectories: Trajectories, k: int, progress: Progress = silent) -> pd.DataFrame:
    """What groups lose if their mean times are released: metres, and minutes, in the columns.

    They are found by places alone, with several worths of a minute, and within slots of the day;
    slots with too few for a group are left out.
    """
    timing = timing_of(trajectories, ReleaseSettings(times="of-day"))
    assert timing is not None
    departure = timing.seconds(trajectories)[:, 0]
    ways: list[tuple[float | None, int | None]] = [(None, None)]
    ways += [(worth, None) for worth in MINUTE_WORTHS] + [(None, hours) for hours in SLOTS]
    costs: list[dict[str, float | None]] = []
    for done, (worth, hours) in enumerate(ways):
        note = "places alone" if worth is None else f"a minute worth {worth:g} m"
        progress("groups", done, len(ways), note if hours is None else f"slots of {hours} h")
        slot = (departure - BEGINS) // (HOUR * (hours or 24))
        found = []
        for one in np.unique(slot):
            try:
                found.append(_errors(trajectories.take(slot == one), k, timing, worth))
            except (TooFewRecords, TooFewSubjects):
                if hours is None:
                    raise
        if found:
            together = [np.concatenate(errors) for errors in zip(*found, strict=True)]
            names = product(("displacement", "departure", "duration"), ("mean", "median"))
            middles = (float(middle(one)) for one in together for middle in (np.mean, np.median))
            how = {"minute_worth": worth, "slot_hours": hours, "trajectories": len(together[0])}
            costs.append(how | dict(zip(map("_".join, names), middles, strict=True)))
    return pd.DataFrame(costs)


def _errors(
    trajectories: Trajectories, k: int, timing: Timing, worth: float | None
) -> tuple[Floats, Floats, Floats]:
    """Metres from each trajectory to the line of its group, and minutes to its times."""
    how: dict[str, Any] = {}
    if worth is not None:
        clock = timing.clock
        how = {"times": clock.times, "timezone": clock.timezone, "minute_worth": worth}
    release = anonymize(trajectories, k, key=KEY, **how)
    if release.report["stopped"]:
        raise KeyboardInterrupt
    report = checked(release.report)
    found = matched(released_of(trajectories, report), release.trajectories, report)
    moved = displacement(found.slid.points, found.lines[found.labels])
    slid, seconds = found.slid, timing.seconds(found.slid)
    times = perturbed_times(slid.points, seconds, found.labels, timing.clock, KEY, slid.subject)
    errors = timing.errors(seconds, times[found.labels])
    return moved, errors["departure_error"] / MINUTE, errors["duration_error"] / MINUTE
