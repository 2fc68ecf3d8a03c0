"""Datasheet of counts: of which release they are, what they count, and how good they are."""

from pathlib import Path

import pandas as pd

import trajanon
from trajanon.evaluation.od_flows import LARGEST, OD_CELLS
from trajanon.evaluation.page.templates import rendered, words
from trajanon.evaluation.release_certificate import CellsForFlows, sha256_of
from trajanon.street_counts.router_speeds import RouterSpeeds


def facts(table: pd.DataFrame, counted: str) -> list[str]:
    """Write what counts are of, who stands behind each, and which share of the trips they hold.

    ``counted`` says whom the k of the release counts: people, or recordings if nobody is named.
    """
    about = table.attrs
    covered = words("trips_counted", about=about, columns=list(table.columns), counted=counted)
    return [covered, words("people_counted", about=about, counted=counted)]


def facts_of_speeds(speeds: RouterSpeeds, k: int | None, counted: str) -> list[str]:
    """Write how much of the roads has a speed, and who stands behind it.

    ``k`` of whom is ``counted`` stand behind each line of the release; None where not known.
    """
    behind_each = words("people_of_speeds", k=k, counted=counted)
    return [words("roads_with_speeds", speeds=speeds), behind_each]


def worth_of_flows(
    table: pd.DataFrame, cell: float | None, measured: CellsForFlows | None
) -> list[str]:
    """Write how many counts between cells, or zones, are right; warn of those that are too small.

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
    # Warn if most flows are of one line.
    flows_of_one_line = int((table["lines"] == 1).sum())
    if 2 * flows_of_one_line > len(table):
        sentences.append(words("flows_of_one_line", alone=flows_of_one_line, flows=len(table)))

    sentences.append(
        words("flows_right", measured=measured, cell=cell, od_cells=OD_CELLS, largest=LARGEST)
    )
    return sentences


def counts_datasheet(
    out: Path, rows: str, release: Path, attribution: str | None, paragraphs: list[str]
) -> str:
    """Write the page of Markdown that stands beside counts.

    Parameters
    ----------
    out
        The file of counts.
    rows
        How many rows the file has, and of what, such as ``20 cells``.
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
