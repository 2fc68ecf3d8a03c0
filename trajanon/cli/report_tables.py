"""Results of commands as lines and tables on the screen."""

from collections.abc import Mapping
from typing import Any

from trajanon.cli.messages import STOPPED, tell
from trajanon.common.columns_read import columns_read
from trajanon.common.number_text import UNITS, number_of, span
from trajanon.release.release_words import cost, left_out, lines_sentence, people_sentences
from trajanon.release.report import Report
from trajanon.release.verdict import Colour, Verdict, verdict
from trajanon.release.verdict_sentences import label_of, sentence_of

_SCREEN: Mapping[Colour, str] = {"green": "green", "amber": "yellow", "red": "red"}
"""Colours of terminals."""

_LISTS_OF_ROWS = {"labels", "line_keys", "rows", "sizes", "starts", "subjects_per_group", "without"}
"""Lists of a report, and of its parts, with one or more entries for each trajectory or group."""

_MOST_USES = 5  # of columns, of as many kinds of tables, that are printed


def without_lists(report: Mapping[str, object]) -> dict[str, object]:
    """Remove from a report the lists with an entry for each trajectory or group."""
    return {
        name: without_lists(value) if isinstance(value, Mapping) else value
        for name, value in report.items()
        if name not in _LISTS_OF_ROWS or not isinstance(value, list)
    }


def show_extraction(provenance: Mapping[str, Any]) -> None:
    """Print what extraction read, dropped and kept, and what to know of it."""
    from trajanon.extract import why_left_out

    # What the columns were taken for stands first: all else follows from it.
    counts = provenance["counts"]
    uses = columns_read(provenance)
    for use in uses[:_MOST_USES]:
        tell(use.sentence)
    if len(uses) > _MOST_USES:
        tell("More tables have other columns: --json lists them.")
    tell(why_left_out.recordings_sentence(provenance))
    if limits := why_left_out.limits_sentence(provenance):
        tell(limits)
    for sentence in why_left_out.people_sentences(provenance):
        tell(sentence)
    for sentence in why_left_out.sentences(provenance):
        tell(sentence)
    if counts.get("points near hidden places") == 0:
        tell(
            "No point lies near a place to hide: check that these places, or the file of --pbf, "
            "are in the area of the traces."
        )
    if provenance["attribution"]:
        tell(provenance["attribution"])


def show_verdict(judged: Verdict) -> None:
    """Print whether a release may be published, and below each finding what helps."""
    tell(judged.headline, colour=_SCREEN[judged.colour])
    for finding in judged.shown:
        tell(f"- {sentence_of(finding)}")
        if finding.remedy is not None:
            tell(f"  {label_of(finding)}: {finding.remedy.command_line}")


def show_release(report: Report) -> None:
    """Print the verdict on a release, what it costs, and how its groups are."""
    show_verdict(verdict(report))
    tell(lines_sentence(report))
    if people := people_sentences(report):
        tell(people)
    tell(cost(report))
    tell(left_out(report))

    if report.times is not None:
        error = report.times.departure_error
        tell(f"Departures are {span(error.mean)} off on average (median {span(error.median)}).")
    if report.roads is not None:
        tell(f"{report.roads.on_roads:,} of {number_of(report.lines, 'line')} were laid on roads.")
    if report.stages[-1].information_loss == 0.0:  # of the lines before they are moved
        tell(
            "Nothing was lost, because the members of each group are equal. If this was a release, "
            "give anonymize what trajanon extract wrote instead."
        )
    if report.stopped:
        tell(STOPPED)
    if report.alignment_skipped:
        tell("Windows did not slide: they stay where extraction cut them.")


def rows_in_words(report: Report) -> str:
    """Count the rows of a release in words, and what they stand for."""
    way = report.rows.way
    rows = getattr(report.rows, way)  # its field of that name has their number
    trajectories = number_of(report.n, report.unit, UNITS[report.unit])
    if rows == report.n:
        return trajectories
    return f"{number_of(rows, 'row' if way == 'subjects' else 'line')} for {trajectories}"


def show_path(report: Report) -> None:
    """Print which path was taken, if the method has one."""
    chosen = [stage.chosen.get("heuristic") for stage in report.stages]
    for heuristic in filter(None, [report.search.get("heuristic"), *chosen]):
        tell(f"Path: {heuristic}.")
