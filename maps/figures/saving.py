"""Figures as files: SVG and PNG, and one page with all captions."""

from collections.abc import Sequence
from pathlib import Path

from trajanon.errors import FileProblem
from trajanon.maps.figures.picture import Picture
from trajanon.maps.figures.style import styled
from trajanon.outputs import replacing

CAPTIONS = "captions.md"

# None leaves out what would differ from day to day, or from version to version.
_FORMATS: dict[str, dict[str, str | None]] = {
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
}


def file_names(pictures: Sequence[Picture]) -> list[str]:
    """Name the files that `save` writes."""
    return [f"{p.name}{suffix}" for p in pictures for suffix in _FORMATS] + [CAPTIONS]


def save(
    pictures: Sequence[Picture], folder: Path, *, inputs: Sequence[Path] = ()
) -> None:
    """Write each figure as SVG and PNG, and a page with all captions.

    Equal figures are equal files: they hold no date.

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
    folder = _made(folder)
    outputs = [folder / name for name in file_names(pictures)]
    with replacing(*outputs, inputs=inputs) as drafts, styled():
        rest = iter(drafts)
        for picture in pictures:
            for metadata in _FORMATS.values():
                said = {"Title": picture.name, "Description": picture.caption}
                picture.figure.savefig(next(rest), metadata={**said, **metadata})
        next(rest).write_text(_captions(pictures), encoding="utf-8")


def _captions(pictures: Sequence[Picture]) -> str:
    parts = [f"## {picture.name}\n\n{picture.caption}\n" for picture in pictures]
    return "\n".join(["# Captions\n", *parts])


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = (
            f"cannot make the folder {folder}: {error.strerror}; name another by --out"
        )
        raise FileProblem(msg) from error
    return folder
