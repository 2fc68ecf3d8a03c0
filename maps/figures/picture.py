"""A figure, and what is to be said under it."""

from dataclasses import dataclass

from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A figure, and what is to be said under it.

    Attributes
    ----------
    name
        Of its files, without suffix.
    figure
        As matplotlib knows it; in a notebook it shows itself.
    caption
        What is shown, and of how many runs; one paragraph.
    """

    name: str
    figure: Figure
    caption: str
