"""All figures that a table of measurements has the numbers for."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from trajanon.errors import BadInput
from trajanon.maps.figures.boxes import boxes
from trajanon.maps.figures.path_length import path_length
from trajanon.maps.figures.picture import Picture
from trajanon.maps.figures.results import Results, read_results
from trajanon.maps.figures.style import styled
from trajanon.maps.figures.trade_off import trade_off

_KINDS: dict[str, tuple[Callable[[Results, str], Picture | None], str]] = {
    "boxes of IL": (boxes, "table hm2 with single runs"),
    "IL against path length": (path_length, "table hm2 with single runs"),
    "IL against seconds": (trade_off, "table compression"),
}


def of_benchmark(path: Path) -> tuple[list[Picture], list[str]]:
    """Draw what a table of measurements has the numbers for.

    Parameters
    ----------
    path
        The CSV that `trajanon benchmark` wrote.

    Returns
    -------
    pictures : list of Picture
        For each data set its loss over runs, against path length, and against seconds.
    left_out : list of str
        A sentence for each figure that there are no numbers for.

    Raises
    ------
    BadInput
        If it is another table, or there is nothing in it to draw.
    FileProblem
        If it cannot be read.
    """
    results = read_results(path)
    pictures: list[Picture] = []
    left_out = []
    with styled():
        for kind, (draw, needed) in _KINDS.items():
            without = []
            for number, dataset in enumerate(results.datasets):
                picture = draw(results, dataset)
                if picture is None:
                    without.append(dataset)
                    continue
                slug = _slug(dataset, number, results.datasets)
                pictures.append(replace(picture, name=f"{picture.name}-{slug}"))
            if without:
                names = ", ".join(without)
                left_out.append(f"{kind}: {path} has no {needed} of {names}")
    if not pictures:
        msg = (
            f"{path} has nothing to draw: figures need trajanon benchmark --table hm2 "
            "or --table compression"
        )
        raise BadInput(msg)
    return pictures, left_out


def _slug(dataset: str, number: int, datasets: list[str]) -> str:
    """Make a file name of a data set's; with its number where two would be alike."""
    slugs = [re.sub(r"[^\w-]+", "-", name).strip("-").lower() for name in datasets]
    slug = slugs[number]
    return slug if slug and slugs.count(slug) == 1 else f"{slug}-{number + 1}".strip("-")
