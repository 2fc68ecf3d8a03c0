"""Figures as files: SVG and PNG, and one page with all captions."""

from collections.abc import Sequence
from pathlib import Path

from trajanon.maps.figures.picture import Picture
from trajanon.maps.figures.style import styled
from trajanon.outputs import making, replacing

CAPTIONS = "captions.md"

# None leaves out what would differ from day to day, or from version to version.
_FORMATS: dict[str, dict[str, str | None]] = {
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
}


def file_names(pictures: Sequence[Picture]) -> list[str]:
    """Name the files that `save` writes."""
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
        To write in; it is made where it is not there.
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
    private = {p.name for p in pictures if p.private}
    if private:
        private.add(Path(CAPTIONS).stem)
    public = [out for out in outputs if out.stem not in private]
    with making(folder), replacing(*outputs, inputs=inputs, public=public) as drafts, styled():
        rest = iter(drafts)
        for picture in pictures:
            for metadata in _FORMATS.values():
                said = {"Title": picture.name, "Description": picture.caption}
                picture.figure.savefig(next(rest), metadata={**said, **metadata})
        next(rest).write_text(_captions(pictures), encoding="utf-8")


def _captions(pictures: Sequence[Picture]) -> str:
    parts = [f"## {picture.name}\n\n{picture.caption}\n" for picture in pictures]
    return "\n".join(["# Captions\n", *parts])
