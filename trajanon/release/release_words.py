"""What a release holds, costs and leaves out, in words: functions of its report alone."""

from math import inf

from trajanon.common.number_text import UNITS, enumerated, metres, number_of, two_digits
from trajanon.release.public_figures import EXACT, FEW, Crowd
from trajanon.release.report import Report
from trajanon.release.source_counts import LeftOut, left_out_of
from trajanon.trajectories.displacements import Summary

_MOST_REASONS = 4  # of one kind; the others are few


def who_is_counted(report: Report) -> str:
    """Return what at least k of are behind each line: people, recordings, or as published trips."""
    if report.counted != "subjects":
        return UNITS[report.unit]
    return "people" if report.knows_people else "recordings"


def lines_sentence(report: Report) -> str:
    """Write how many lines stand for how many trips, for the holder alone.

    Such as: 62 lines, each shared by at least 4 people, stand for 273 trips.
    """
    unit = report.unit
    lines = report.line_count
    stand = "stands" if lines == 1 else "stand"
    return (
        f"{number_of(lines, 'line')}, each shared by at least {report.k} "
        f"{who_is_counted(report)}, {stand} for {number_of(report.n, unit, UNITS[unit])}."
    )


def people_sentences(report: Report) -> str:
    """Write what else a line stands for: whole days, one person once."""
    sentences = []
    if report.one_line_each:
        named = " with a name" * (report.nameless.subjects > 1)
        sentences.append(f"Nobody{named} is on two lines.")
    if report.choice is not None and report.choice.most is not None:
        trips = number_of(report.choice.most, "trip")
        sentences.append(f"A line is a whole day of up to {trips}; a shorter day ends with a stay.")
    return " ".join(sentences)


def cost(report: Report, crowd: Crowd = EXACT, curve_distance: Summary | None = None) -> str:
    """Write what a release costs; for publication, as figures of a crowd.

    ``curve_distance`` is how far released points lie from the nearest point of the way that was
    gone, if that was measured.
    """
    far = report.displacement
    share = report.moved_of_length

    of_length = ""
    if share is not None:
        of_length = f", {crowd.text(share, two_digits)} of a {report.unit}'s length"
    from_curve = ""
    if curve_distance is not None:
        # One more figure of the same trips: rounded more, so that all together tell no more.
        coarser = crowd._replace(people=crowd.people / 4.0)
        nearest = coarser.text(curve_distance.mean, metres)
        from_curve = f"; {nearest} from the nearest point of the way"
    return (
        f"Released points lie {crowd.text(far.mean, metres)} from where people went on average "
        f"(median {crowd.text(far.median, metres)}){of_length}{from_curve}; "
        f"information loss {crowd.text(report.information_loss / 100.0, two_digits)}."
    )


def left_out(report: Report, crowd: Crowd = EXACT) -> str:
    """Write how much of the source is not in a release, and why.

    Such as: 2 of 40 recordings and 2 of 43 trips were left out. Why: trips too short 2.
    """
    counted = left_out_of(report)
    missing = [counts for counts in counted if counts.missing]
    if not missing:
        units = UNITS[report.unit]
        return f"Nothing was left out: all {units} that were read are in the release."

    amounts = []
    reasons = []
    for counts in missing:
        amount = _amount(counts, counts.missing, crowd)
        of_all = "the" if crowd.people < inf else f"{counts.of:,}"
        amounts.append(f"{amount} of {of_all} {counts.what}")

        # A reason's share of few people is a range that says nothing.
        for reason, count in [*counts.why.items()][:_MOST_REASONS]:
            share = f" {_amount(counts, count, crowd)}" if crowd.people >= FEW else ""
            reasons.append(f"{reason}{share}")

    why = f" Why: {', '.join(reasons)}." if reasons else ""
    return f"{enumerated(amounts)} were left out.{why}"


def _amount(counts: LeftOut, count: int, crowd: Crowd) -> str:
    """Write a count; for publication as a share of all, so that nobody's own follows."""
    if crowd.people == inf:
        return f"{count:,}"
    return crowd._replace(shares=True).text(count / counts.of, two_digits)
