"""A figure, and what is to be said under it."""

from dataclasses import dataclass
from io import BytesIO

from matplotlib.figure import Figure

from trajanon.maps.figures.style import styled

_ON_SCREEN = 150  # dots an inch


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A figure, and what is to be said under it; in a notebook it shows itself.

    Attributes
    ----------
    name
        Of its files, without suffix.
    figure
        As matplotlib knows it.
    caption
        What is shown, and of how many runs; one paragraph.
    private
        Whether it shows originals.
    """

    name: str
    figure: Figure
    caption: str
    private: bool = False

    def _repr_png_(self) -> bytes:
        png = BytesIO()
        with styled():
            self.figure.savefig(png, format="png", dpi=_ON_SCREEN)
        return png.getvalue()
