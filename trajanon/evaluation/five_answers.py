"""Five answers about a release, in plain English: what page, datasheet and studio show first."""

from collections.abc import Sequence
from math import ceil, inf
from typing import NamedTuple

from trajanon.common.number_text import UNITS, number_of, percent, two_digits
from trajanon.evaluation.attacks.attack import Attack
from trajanon.evaluation.attacks.inference import Inferred
from trajanon.evaluation.attacks.verification import Verified
from trajanon.release.perturbation import ToldApart
from trajanon.release.public_figures import EXACT, Crowd
from trajanon.release.release_words import cost, left_out, people_sentences, who_is_counted
from trajanon.release.report import Report


class Answer(NamedTuple):
    """A question that somebody asks of a release, and its answer."""

    question: str
    answer: str


class Measured(NamedTuple):
    """What an evaluation adds to a report."""

    points: int  # of each trajectory
    attacks: Sequence[Attack]
    inferred: Sequence[Inferred]
    verified: Verified | None
    below_k: int  # lines with fewer than k behind them


def five_answers(
    report: Report, measured: Measured | None = None, crowd: Crowd = EXACT
) -> list[Answer]:
    """Answer five questions by the numbers of a report and, if there is one, of an evaluation.

    With a ``crowd``, all figures are rounded for publication.
    """
    return [
        Answer("How many people stand behind each line?", _behind_a_line(report, measured)),
        Answer(
            f"What can somebody who knows one {report.unit} find out?",
            _who_knows_one_trip(report, measured, crowd),
        ),
        Answer(
            "And somebody who knows all other tracks?",
            _who_knows_all_other_tracks(report, measured, crowd),
        ),
        Answer("What was left out?", left_out(report, crowd)),
        Answer("What does it cost?", cost(report, crowd)),
    ]


def _behind_a_line(report: Report, measured: Measured | None) -> str:
    who = who_is_counted(report)
    different = "different " * (who != UNITS[report.unit])
    lines = number_of(report.lines, "line")
    if measured is not None and measured.below_k:
        below = f"{measured.below_k:,} of {lines}"
        return f"Fewer than {report.k} {different}{who} stand behind {below}."

    behind = f"At least {report.k} {different}{who} stand behind each of the {lines}."
    if who == "recordings":
        behind += " The source names nobody: several recordings may be of one person."
    return f"{behind} {people_sentences(report)}".rstrip()


def _who_knows_one_trip(report: Report, measured: Measured | None, crowd: Crowd) -> str:
    k, unit = report.k, report.unit
    guessing = f"guessing among the {k} {who_is_counted(report)} of a line is right in"
    if measured is None:
        return (
            f"Not measured: trajanon evaluate tries attacks, and {guessing} {percent(1.0 / k)} of "
            "cases."
        )

    tried = [
        attack
        for attack in measured.attacks
        if attack.question == "singling out" and attack.against == "release" and len(attack.targets)
    ]
    sentences = []
    if tried:
        best = max(tried, key=lambda attack: attack.expected)
        shares = crowd.shares_of(len(best.targets) / report.n)
        sentences.append(
            f"Somebody who knows {best.knows} picks the person's row in "
            f"{shares.text(best.expected, two_digits)} of cases (attack “{best.name}”); "
            f"{guessing} {percent(1.0 / k)}."
        )
    shown = max(measured.inferred, key=lambda answer: answer.told)
    shares = crowd.shares_of()
    sentences.append(
        f"The nearest line shows {shown.name} in {shares.text(shown.told, two_digits)} of cases to "
        f"somebody who knows {shown.knows}; the same guess for every {unit} is right in "
        f"{shares.text(shown.guess, two_digits)}."
    )
    return " ".join(sentences)


def _who_knows_all_other_tracks(report: Report, measured: Measured | None, crowd: Crowd) -> str:
    unit = report.unit
    width = report.width
    points = report.points if measured is None else measured.points
    if width is None:
        return f"Everything: lines are plain means, so the last {unit} of a group can be computed."

    sentences = []
    if points is not None:
        told = ToldApart.of(points, width)
        places = ", by places alone," * (report.times is not None)
        sentences.append(
            f"Such a person tells a {unit} from the same {unit} moved {told.metres:g} m to the "
            f"side{places} in at most {ceil(100.0 * told.right)} of 100 cases; tossing a coin is "
            f"right in 50."
        )
    found = ""
    if measured is not None and measured.verified is not None:
        of_lines = crowd
        if crowd.people < inf:
            of_lines = Crowd(measured.verified.lines, shares=True)
        found = f": found for {of_lines.text(measured.verified.right.value, two_digits)} of lines"
    sentences.append(f"Who is behind a line is not hidden from such a person{found}.")
    return " ".join(sentences)
