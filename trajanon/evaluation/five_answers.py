"""Five answers about a release, and the bars beside them: what pages and datasheet show first."""

from collections.abc import Sequence
from typing import NamedTuple

from trajanon.evaluation.attacks.attack import Attack
from trajanon.evaluation.attacks.chains import Followed
from trajanon.evaluation.attacks.inference import Inferred
from trajanon.evaluation.attacks.verification import Verified
from trajanon.evaluation.page.templates import words
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

    told_apart: ToldApart | None  # from one moved to the side; None of plain means
    attacks: Sequence[Attack]
    inferred: Sequence[Inferred]
    verified: Verified | None
    below_k: int  # lines with fewer than k behind them


class RiskBar(NamedTuple):
    """How often an attack is right: against the release, the originals, and by guessing."""

    finds: str  # what the adversary looks for
    knows: str
    right: float
    guessing: float
    originals: float


def five_answers(report: Report, measured: Measured, crowd: Crowd = EXACT) -> list[Answer]:
    """Answer five questions by the numbers of a report and of an evaluation.

    With a ``crowd``, all figures are rounded for publication.
    """
    who = who_is_counted(report)
    best = _best(measured.attacks, "singling out")
    verified = measured.verified
    of_lines = crowd
    if verified is not None and crowd != EXACT:
        of_lines = Crowd(verified.lines, shares=True)

    behind_a_line = words(
        "behind_a_line",
        report=report,
        below_k=measured.below_k,
        who=who,
        people_sentences=people_sentences(report),
    )
    known_trip = words(
        "who_knows_one_trip",
        report=report,
        who=who,
        best=best,
        shares=crowd.shares_of(len(best.targets) / report.n if best else 1.0),
        shown=max(measured.inferred, key=lambda answer: answer.told),
        all_shares=crowd.shares_of(),
    )
    known_tracks = words(
        "who_knows_all_other_tracks",
        report=report,
        told=measured.told_apart,
        verified=verified,
        crowd=of_lines,
    )
    return [
        Answer("How many people stand behind each line?", behind_a_line),
        Answer(f"What can somebody who knows one {report.unit} find out?", known_trip),
        Answer("And somebody who knows all other tracks?", known_tracks),
        Answer("What was left out?", left_out(report, crowd)),
        Answer("What does it cost?", cost(report, crowd)),
    ]


def _best(attacks: Sequence[Attack], question: str) -> Attack | None:
    """Find the attack that answers a question best of those tried on the release."""
    tried = [
        attack
        for attack in attacks
        if attack.question == question and attack.against == "release" and len(attack.targets)
    ]
    return max(tried, key=lambda attack: attack.expected, default=None)


def risk_bars(
    attacks: Sequence[Attack], followed: Followed | None, inferred: Sequence[Inferred]
) -> list[RiskBar]:
    """Return the best attack of each kind: on a row, on the next trip of a person, on a part."""
    bars = []
    on_originals = {attack.name: attack for attack in attacks if attack.against == "originals"}

    best = _best(attacks, "singling out")
    if best is not None:
        # An attack by a whole trajectory is not run on the originals: it finds each at once.
        before = on_originals[best.name].expected if best.name in on_originals else 1.0
        bars.append(
            RiskBar("the row of a person", best.knows, best.expected, best.baseline, before)
        )

    attack = _best(attacks, "linkability")
    if attack is not None and followed is not None and followed.found:
        before = on_originals[attack.name].line_found if attack.name in on_originals else 0.0
        right = max(followed.first, attack.expected)
        known = f"one {followed.unit}"
        bars.append(RiskBar(followed.next, known, right, followed.chance, before))

    shown = max(inferred, key=lambda answer: answer.told)
    bars.append(RiskBar(shown.name, shown.knows, shown.told, shown.guess, 1.0))
    return bars
