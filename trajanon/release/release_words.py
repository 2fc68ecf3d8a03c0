"""What a release holds, costs and leaves out, in words: functions of its report alone."""

from math import inf

from trajanon.common.number_text import UNITS, enumerated, metres, number_of, two_digits
from trajanon.release.left_out_counts import LeftOut, left_out_of
from trajanon.release.public_figures import EXACT, FEW, Crowd
from trajanon.release.report import Report
from trajanon.trajectories.distances import Summary

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
    lines = report.lines
    stand = "stands" if lines == 1 else "stand"
    return (
        f"{number_of(lines, 'line')}, each shared by at least {report.k} "
        f"{who_is_counted(report)}, {stand} for {number_of(report.n, unit, UNITS[unit])}."
    )


def people_sentences(report: Report) -> str:
    """Write what else a line stands for: whole days, one person once."""
    sentences = []
    if report.one_line_each:
        # A recording without a name may be of anybody, also of a person on another line.
        named = " with a name" if report.source.unnamed.recordings else ""
        sentences.append(f"Nobody{named} is on two lines.")
    if report.choice is not None and report.choice.most is not None:
        trips = number_of(report.choice.most, "trip")
        sentences.append(f"A line is a whole day of up to {trips}; a shorter day ends with a stay.")
    return " ".join(sentences)


def cost(report: Report, crowd: Crowd = EXACT) -> str:
    """Write what a release costs; for publication, as figures of a crowd.

    Such as: Released points lie 75 m on average (median 40 m) from where people were at the same
    share of the way, 3 % of a trip's length. At the nearest point, the ways lie 30 m (median 20 m)
    from the lines, and the lines 25 m (median 18 m) from the ways. Information loss: 0.46 %.
    """
    moved = report.displacement
    of_length = ""
    if (share := report.moved_of_length) is not None:
        of_length = f", {crowd.text(share, two_digits)} of a {report.unit}'s length"
    to_line = _nearest(report.curve_distance.to_line, crowd)
    to_way = _nearest(report.curve_distance.to_way, crowd)
    loss = crowd.text(report.information_loss / 100.0, two_digits)
    return (
        f"Released points lie {crowd.text(moved.mean, metres)} on average (median "
        f"{crowd.text(moved.median, metres)}) from where people were at the same share of the way"
        f"{of_length}. At the nearest point, the ways lie {to_line} from the lines, and the lines "
        f"{to_way} from the ways. Information loss: {loss}."
    )


def _nearest(distance: Summary, crowd: Crowd) -> str:
    """Write a distance to a curve; for publication its mean alone."""
    if crowd.people == inf:
        return f"{metres(distance.mean)} (median {metres(distance.median)})"
    # Two more figures of the same trips: rounded in steps eight times as wide, so that all together
    # tell no more.
    return crowd._replace(people=crowd.people / 8.0).text(distance.mean, metres)


def left_out(report: Report, crowd: Crowd = EXACT) -> str:
    """Write how much of the source is not in a release, and why.

    Such as: 2 of 40 recordings and 2 of 43 trips were left out. Reasons: trips too short (2).
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
            share = f" ({_amount(counts, count, crowd)})" if crowd.people >= FEW else ""
            reasons.append(f"{reason}{share}")

    reasons_sentence = f" Reasons: {', '.join(reasons)}." if reasons else ""
    return f"{enumerated(amounts)} were left out.{reasons_sentence}{_bias(report, crowd)}"


def _bias(report: Report, crowd: Crowd) -> str:
    """Write which trips go with the worst groups, and of how many kilometres."""
    worst = report.mended_groups.worst
    if not worst.trajectories:
        return ""

    def share(left_out: int, of_all: int, part: float) -> str:
        """Write a share of this part of all trajectories that is left out, in percent."""
        return crowd.shares_of(part).text(left_out / max(of_all, 1), two_digits)  # of none, 0 %

    longest = share(worst.longest, worst.of_longest, part=0.1)
    shorter = share(worst.shorter, worst.of_shorter, part=0.5)
    # A tenth of the trajectories may have most of the kilometres.
    length = share(worst.metres, worst.of_metres, part=0.1)
    return (
        f" The worst groups take {longest} of the longest tenth of the {UNITS[report.unit]} with "
        f"them, {shorter} of the shorter half, and {length} of the kilometres."
    )


def _amount(counts: LeftOut, count: int, crowd: Crowd) -> str:
    """Write a count; for publication as a share of all, so that nothing follows of one person."""
    if crowd.people == inf:
        return f"{count:,}"
    return crowd._replace(shares=True).text(count / counts.of, two_digits)
