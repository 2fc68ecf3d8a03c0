"""Datasheet of counts: of which release they are, what they count, and how good they are."""

from pathlib import Path
from typing import TYPE_CHECKING

import trajanon
from trajanon.common.number_text import metres, number_of, percent
from trajanon.evaluation.page.templates import rendered
from trajanon.evaluation.release_certificate import CellsForFlows, sha256_of
from trajanon.evaluation.usefulness import LARGEST, OD_CELLS
from trajanon.street_counts.router_speeds import RouterSpeeds

if TYPE_CHECKING:
    from geopandas import GeoDataFrame

WORTH_OF_STREETS = (
    "On one day of San Francisco's cabs, k = 4, counts of the 1,000 busiest streets were off by "
    "16 % in the median, by 24 % with hours, and those of quiet streets by half and more. "
    "trajanon evaluate --roads measures it on your data."
)
"""How good counts on streets are, until the holder measures it."""


WORTH_OF_CELLS = (
    "Lines are averages, and straight between their points: a cell narrower than the distance "
    "between line and track shows where lines go, not where people went. trajanon evaluate says "
    "how far that is."
)
"""What cells show, and what they do not."""


def facts(table: "GeoDataFrame") -> list[str]:
    """Say what counts are of, who stands behind each, and which share of the trips is in them."""
    about = table.attrs
    lines = number_of(about["of_lines"], "line")
    counted = percent(about["share_counted"])
    if "cell" in table.columns:
        covered = f"{counted} pass one of these cells."
    elif "share_on_roads" in about:
        on_roads = percent(about["share_on_roads"])
        covered = f"{counted} pass one of these streets; {on_roads} of the way of all is on roads."
    else:
        covered = f"{counted} begin and end in these zones."

    if about["k"] is None:
        rows = number_of(about["of_trips"], "row")
        people = (
            "At least the rows of one line stand behind each count; the datasheet of the release "
            "says how many people these are. One person may have made several of the trips."
        )
    else:
        one = "several of one person on one line count as one"
        rows = f"{number_of(about['of_trips'], 'trip')} ({one})"
        people = (
            f"At least {about['k']} different people stand behind each count. Counts are of trips, "
            "not of people: a person counts once on each line."
        )
    rounded = "Counts are rounded to two digits, and small ones to steps of k."
    return [f"Of the {rows} on the {lines} of the release, {covered}", f"{people} {rounded}"]


def facts_of_speeds(speeds: RouterSpeeds, k: int | None) -> list[str]:
    """Say how much of the roads has a speed, and who stands behind it."""
    people = "The rows of one line at least" if k is None else f"At least {k} different people"
    return [
        f"Speeds are of {percent(speeds.share_of_network, 2)} of the length of all streets in each "
        "direction. Where nobody went, there is no row, and the router keeps its own speed.",
        f"{people} stand behind each speed. Parts of the day differ by how late all lines in them "
        "are. Delays at turns and signals are taken off, as the router adds its own.",
    ]


def worth_of_flows(
    table: "GeoDataFrame", cell: float | None, measured: CellsForFlows | None
) -> list[str]:
    """Say how many counts between cells, or zones, are right; warn of those that are too small.

    Parameters
    ----------
    table
        As `trajanon.zone_flows` counts.
    cell
        Width of the cells in metres; None for other zones.
    measured
        What the certificate of the release says of its cells; None if there is none.
    """
    sentences = []
    alone = int((table["lines"] == 1).sum())
    if 2 * alone > len(table):
        flows = number_of(len(table), "flow")
        sentences.append(
            f"Warning: {alone:,} of {flows} are of one line alone, which is a mean and need not "
            "begin or end where anybody did. Take larger cells or zones."
        )

    if measured is None:
        sentences.append(
            "It is not known how many of these counts are right. With trips of enough people, "
            "trajanon evaluate names the smallest cells with which three of four are, in the "
            "certificate of the release."
        )
    elif (smallest := measured["cell"]) is None:
        right = _share(measured["right"])
        sentences.append(
            f"Warning: these counts are not fit for use. Even between cells of {LARGEST} only "
            f"{right} of them are right."
        )
    elif cell is not None and cell < OD_CELLS[smallest]:
        sentences.append(
            f"Warning: cells of {metres(cell)} are too small: fewer than three of four counts are "
            f"right. The smallest that trajanon evaluate names: --od {OD_CELLS[smallest]:g}"
        )
    else:
        right = _share(measured["right"])
        sentences.append(f"Between cells of {smallest}, {right} of the counts are right.")
    return sentences


def _share(bounds: float | list[float]) -> str:
    """Write a published share, which may be a range."""
    low_and_high = bounds if isinstance(bounds, list) else [bounds]
    return " to ".join(percent(share, 2) for share in low_and_high)


def counts_datasheet(
    out: Path, rows: str, release: Path, attribution: str | None, paragraphs: list[str]
) -> str:
    """Write the page of Markdown that stands beside counts.

    Parameters
    ----------
    out
        The file of counts.
    rows
        How many there are of what.
    release
        The released file, or a folder of parts.
    attribution
        The words that go with the data.
    paragraphs
        What there is to say of the counts.
    """
    return rendered(
        "counts.md",
        file=out.name,
        rows=rows,
        release=release.name,
        sha256=sha256_of(release),
        version=trajanon.__version__,
        attribution=attribution,
        paragraphs=paragraphs,
    )
