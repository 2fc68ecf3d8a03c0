"""What a release holds, costs and leaves out, in words: functions of its report alone."""

from collections.abc import Mapping
from math import inf
from typing import Any

from trajanon.common.number_text import UNITS, enumerated, metres, number_of, two_digits
from trajanon.release.public_figures import EXACT, FEW, Crowd
from trajanon.release.source_counts import LeftOut, left_out_of
from trajanon.release.verdict import knows_people, moved_of_length, nameless_in, unit_in

_MOST_REASONS = 4  # of one kind; the others are few


def who_is_counted(report: Mapping[str, Any]) -> str:
    """Return what at least k of are behind each line: people, recordings, or as published trips."""
    if report["counted"] != "subjects":
        return UNITS[unit_in(report)]
    return "people" if knows_people(report) else "recordings"


def lines_sentence(report: Mapping[str, Any]) -> str:
    """Write how many lines stand for how many trips, for the holder alone.

    >>> report = {"lines": 62, "k": 4, "counted": "subjects", "n": 273, "unit": "trip"}
    >>> lines_sentence(report)
    '62 lines, each shared by at least 4 people, stand for 273 trips.'
    """
    unit = unit_in(report)
    stand = "stands" if report["lines"] == 1 else "stand"
    return (
        f"{number_of(report['lines'], 'line')}, each shared by at least {report['k']} "
        f"{who_is_counted(report)}, {stand} for {number_of(report['n'], unit, UNITS[unit])}."
    )


def people_sentences(report: Mapping[str, Any]) -> str:
    """Write what else a line stands for: whole days, one person once."""
    choice = report.get("choice") or {}
    nameless = nameless_in(report)
    sentences = []

    if "people" in choice:
        named = " with a name" * (nameless.subjects > 1)
        sentences.append(f"Nobody{named} is on two lines.")
    if "most" in choice:
        trips = number_of(choice["most"], "trip")
        sentences.append(f"A line is a whole day of up to {trips}; a shorter day ends with a stay.")
    return " ".join(sentences)


def cost(report: Mapping[str, Any], crowd: Crowd = EXACT) -> str:
    """Write what a release costs; for publication, as figures of a crowd.

    >>> far = {"mean": 75.0, "median": 40.0}
    >>> near = {"to_line": {"mean": 30.0, "median": 20.0}, "to_way": {"mean": 25.0, "median": 18.0}}
    >>> report = {"displacement": far, "curve_distance": near, "information_loss": 0.458}
    >>> from textwrap import fill
    >>> print(fill(cost(report | {"length": {"mean": 2500.0}, "unit": "trip"}), 90))
    Released points lie 75 m on average (median 40 m) from where people were at the same share
    of the way, 3 % of a trip's length. Wherever along them, the ways lie 30 m (median 20 m)
    from the lines, and the lines 25 m (median 18 m) from the ways. Information loss: 0.46 %.
    """
    far = report["displacement"]
    of_length = ""
    if (share := moved_of_length(report)) is not None:
        of_length = f", {crowd.text(share, two_digits)} of a {unit_in(report)}'s length"
    sentences = [
        f"Released points lie {crowd.text(far['mean'], metres)} on average (median "
        f"{crowd.text(far['median'], metres)}) from where people were at the same share of the way"
        f"{of_length}."
    ]

    if (near := report.get("curve_distance")) is not None:
        to_line, to_way = (_nearest(near[name], crowd) for name in ("to_line", "to_way"))
        sentences.append(
            f"Wherever along them, the ways lie {to_line} from the lines, and the lines {to_way} "
            "from the ways."
        )
    loss = crowd.text(report["information_loss"] / 100.0, two_digits)
    return " ".join([*sentences, f"Information loss: {loss}."])


def _nearest(near: Mapping[str, float], crowd: Crowd) -> str:
    """Write a distance to a curve; for publication its mean alone."""
    if crowd.people == inf:
        return f"{metres(near['mean'])} (median {metres(near['median'])})"
    # Two more figures of the same trips: rounded more, so that all together tell no more.
    return crowd._replace(people=crowd.people / 8.0).text(near["mean"], metres)


def left_out(report: Mapping[str, Any], crowd: Crowd = EXACT) -> str:
    """Write how much of the source is not in a release, and why.

    >>> source = {"recordings": 40, "used": 38, "trips": {"trips found": 43, "trips too short": 2}}
    >>> report = {"n": 41, "unit": "trip", "source": source}
    >>> left_out(report)
    '2 of 40 recordings and 2 of 43 trips were left out. Why: trips too short 2.'
    >>> left_out(report, Crowd(100, shares=True))
    '5 % of the recordings and 5 % of the trips were left out. Why: trips too short 5 %.'
    """
    counted = left_out_of(report)
    missing = [counts for counts in counted if counts.missing]
    if not missing:
        units = UNITS[unit_in(report)]
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
