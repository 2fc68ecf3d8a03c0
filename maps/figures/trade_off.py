"""The figure of what hours cost in metres."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from trajanon.maps.colours import PALETTE
from trajanon.maps.figures.pictures import INK, ONE_COLUMN, Picture, legend_below, panels, styled
from trajanon.papers.trade_off import hours_costs
from trajanon.progress import Progress, silent
from trajanon.trajectories import Trajectories

_SMALL = 6  # points of letters beside marks
_NEAR = 1.16  # ratio of minutes: two labels on one side would lie on each other


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
    found = hours_costs(trajectories, k, progress=progress)
    costs = pd.DataFrame(found)
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
            for cost, right, up in zip(found, x, y, strict=True):
                if cost.slot_hours is not None:
                    name, away, side = f"{cost.slot_hours} h", (5, -2), "left"
                elif cost.minute_worth is not None:
                    name, away, side = f"{cost.minute_worth:g}", (-3, -9), "right"
                    if labelled < _NEAR * right and right < _NEAR * labelled:
                        away, side = (0, 5), "center"
                    labelled = right
                else:
                    continue
                ax.annotate(
                    name,
                    (right, up),
                    away,
                    textcoords="offset points",
                    horizontalalignment=side,
                    fontsize=_SMALL,
                    color=colour,
                )
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
