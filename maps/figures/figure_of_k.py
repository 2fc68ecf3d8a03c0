"""The figure of the cost and protection of each k."""

from collections.abc import Sequence
from typing import Unpack

import pandas as pd
from matplotlib.ticker import FuncFormatter

from trajanon.common.errors import BadInput
from trajanon.common.progress import Progress, silent
from trajanon.evaluation.choice_of_k import KS, TrialOptions, curve
from trajanon.evaluation.evidence import NOTICE
from trajanon.maps.colours_and_tiles import PALETTE
from trajanon.maps.figures.figure_style_and_saving import (
    INK,
    ONE_COLUMN,
    Picture,
    legend_below,
    panels,
    styled,
)
from trajanon.trajectories.trajectories import Trajectories


def which_k(
    trajectories: Trajectories,
    ks: Sequence[int] = KS,
    *,
    progress: Progress = silent,
    **options: Unpack[TrialOptions],
) -> Picture:
    """Draw the chance of the best attack over metres moved, with a point for each k.

    Each point is a release of its own, with those attacks of `trajanon.evaluate` that pick a row of
    it. Its figures are exact, so it is for the holder of the data; picture and caption say so.

    Parameters
    ----------
    trajectories
        As `trajanon.extract` makes them.
    ks
        Each k to anonymize with; those for which there are too few subjects are left out.
    progress
        Called with the state of the work.
    options
        As of `trajanon.anonymize`.

    Returns
    -------
    Picture
        Named ``which-k``; its numbers are metres and shares.

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
    measured = curve(trajectories, ks, options, progress=progress)
    if not measured.choices:
        raise BadInput(
            f"there are too few for any k of {', '.join(map(str, ks))}: add some, or lower k"
        )

    choices = pd.DataFrame(measured.choices)
    choices["baseline"] = 1.0 / choices["k"]
    with styled():
        figure, (ax,) = panels(1, 1, ONE_COLUMN, 2.8)
        ax.plot(
            choices["moved"], choices["chance"], "o-", color=PALETTE[0], label="the best attack"
        )
        ax.plot(choices["moved"], choices["baseline"], "--", color=INK, linewidth=0.8, label="1/k")
        for choice in measured.choices:
            # Both curves fall, so nothing else is drawn on this side of a point.
            ax.annotate(
                f"k = {choice.k}",
                (choice.moved, choice.chance),
                (-4, -2),
                textcoords="offset points",
                horizontalalignment="right",
                verticalalignment="top",
            )

        figure.suptitle(NOTICE, fontsize=7)
        ax.margins(x=0.08)
        ax.set_xlim(left=0.0)
        ax.set_ylim(bottom=0.0)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g} %"))
        ax.set_xlabel("points moved, mean (metres)")
        ax.set_ylabel("tries that find a row of the target")
        legend_below(figure, 2)

    caption = (
        f"{NOTICE} Which k: the mean chance of the best attack over metres moved, of "
        f"{len(trajectories):,} {trajectories.units}. {measured.words}"
    )
    numbers = choices.to_csv(index=False, float_format="%.4g")
    return Picture("which-k", figure, caption, numbers=numbers, notice=NOTICE)
