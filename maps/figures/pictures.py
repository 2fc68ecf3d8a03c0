"""Figures with captions; their files: SVG and PNG, and one page with all captions."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from matplotlib.figure import Figure

from trajanon.maps.figures.style import styled
from trajanon.outputs import making, replacing

CAPTIONS = "captions.md"

_ON_SCREEN = 150  # dots an inch

# None leaves out what would differ from day to day, or from version to version.
_FORMATS: dict[str, dict[str, str | None]] = {
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
}


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A figure and its caption; in a notebook it shows itself.

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


def file_names(pictures: Sequence[Picture]) -> list[str]:
    """Name the files that `save` writes.

    Parameters
    ----------
    pictures
        As for `save`.

    Returns
    -------
    list of str
        The figures in their order, then the page with captions.
    """
    return [f"{p.name}{suffix}" for p in pictures for suffix in _FORMATS] + [CAPTIONS]


def save(pictures: Sequence[Picture], folder: Path, *, inputs: Sequence[Path] = ()) -> None:
    """Write each figure as SVG and PNG, and a page with all captions.

    Figures that show originals, and captions of such, are for their owner only. Equal figures are
    equal files: they hold no date.

    Parameters
    ----------
    pictures
        No two of one name.
    folder
        To write in; it is made if it does not exist.
    inputs
        Files that were read; none of them is written over.

    Raises
    ------
    BadInput
        If a file that was read would be written over.
    FileProblem
        If the folder or a file cannot be written.
    """
    outputs = [folder / name for name in file_names(pictures)]
    private = {picture.name for picture in pictures if picture.private}
    if private:
        private.add(Path(CAPTIONS).stem)
    public = [out for out in outputs if out.stem not in private]
    with making(folder), replacing(*outputs, inputs=inputs, public=public) as drafts, styled():
        rest = iter(drafts)
        for picture in pictures:
            for metadata in _FORMATS.values():
                described = {"Title": picture.name, "Description": picture.caption}
                picture.figure.savefig(next(rest), metadata={**described, **metadata})
        captions = [f"## {picture.name}\n\n{picture.caption}\n" for picture in pictures]
        next(rest).write_text("\n".join(["# Captions\n", *captions]), encoding="utf-8")
