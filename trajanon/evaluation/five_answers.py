"""Five answers about a release, and the bars beside them: what pages and datasheet show first."""

from collections.abc import Sequence
from typing import NamedTuple

from trajanon.evaluation.attacks.attack import Attack
from trajanon.evaluation.attacks.end_or_hour import Inferred
from trajanon.evaluation.attacks.next_trip import Followed
from trajanon.evaluation.attacks.verification_with_all_tracks import Verified
from trajanon.evaluation.page.templates import words
from trajanon.release.perturbed_places_and_times import ToldApart
from trajanon.release.public_figures import EXACT, Crowd
from trajanon.release.release_words import cost, left_out, people_sentences, who_is_counted
from trajanon.release.report import Report


class Answer(NamedTuple):
    """A question that somebody asks of a release, and its answer."""

    question: str
    answer: str


class RiskBar(NamedTuple):
    """How often an attack is right: against the release, the originals, and by guessing."""

    finds: str  # what the adversary looks for
    knows: str
    right: float
    guessing: float
    originals: float


def five_answers(
    report: Report,
    *,
    told_apart: ToldApart | None,
    attacks: Sequence[Attack],
    inferred: Sequence[Inferred],
    verified: Verified,
    below_k: int,
    crowd: Crowd = EXACT,
) -> list[Answer]:
    """Answer five questions by the numbers of a report and of an evaluation.

    ``told_apart`` is how well a trajectory is told from the same one moved to the side, and None of
    plain means; ``below_k`` counts the lines with fewer than k behind them. With a ``crowd``,
    figures are rounded for publication.
    """
    who = who_is_counted(report)
    best = _best_on_a_row(attacks)
    # What was tried on lines is a share of these.
    crowd_of_lines = crowd if crowd == EXACT else Crowd(verified.lines, shares=True)

    behind_a_line = words(
        "behind_a_line",
        report=report,
        below_k=below_k,
        who=who,
        people_sentences=people_sentences(report),
    )
    known_trip = words(
        "who_knows_one_trip",
        report=report,
        who=who,
        best=best,
        shares=crowd.shares_of(len(best.targets) / len(best.published.points)),
        shown=_most_told(inferred),
        all_shares=crowd.shares_of(),
    )
    known_tracks = words(
        "who_knows_all_other_tracks",
        report=report,
        told=told_apart,
        verified=verified,
        crowd=crowd_of_lines,
    )
    return [
        Answer("How many people stand behind each line?", behind_a_line),
        Answer(f"What can somebody who knows one {report.unit} find out?", known_trip),
        Answer("And somebody who knows all other tracks?", known_tracks),
        Answer("What was left out?", left_out(report, crowd)),
        Answer("What does it cost?", cost(report, crowd)),
    ]


def _best_on_a_row(attacks: Sequence[Attack]) -> Attack:
    """Find the attack that finds most rows of the release."""
    on_rows = [
        attack
        for attack in attacks
        if attack.question == "singling out" and attack.against == "release"
    ]
    return max(on_rows, key=lambda attack: attack.expected)


def _most_told(inferred: Sequence[Inferred]) -> Inferred:
    """Find the inference that is right most often beyond what guessing finds."""
    return max(inferred, key=lambda inference: inference.told - inference.guess)


def risk_bars(
    attacks: Sequence[Attack], followed: Followed | None, inferred: Sequence[Inferred]
) -> list[RiskBar]:
    """Return the best attack of each kind: on a row, on the next trip of a person, on a part."""
    on_originals = {attack.name: attack for attack in attacks if attack.against == "originals"}

    best = _best_on_a_row(attacks)
    # An attack by a whole trajectory is not run on the originals: it finds each at once.
    twin = on_originals.get(best.name)
    before = 1.0 if twin is None else twin.expected
    bars = [RiskBar("the row of a person", best.knows, best.expected, best.baseline, before)]

    if followed is not None and followed.found:
        (next_attack,) = (
            attack
            for attack in attacks
            if attack.question == "linkability" and attack.against == "release"
        )
        before = on_originals[next_attack.name].line_found
        # How often the right line ranks first, or a row that is picked is the person's.
        right = max(followed.first, next_attack.expected)
        known = f"one {followed.unit}"
        bars.append(RiskBar(followed.next, known, right, followed.chance, before))

    # Nobody has to infer what the originals hold.
    shown = _most_told(inferred)
    bars.append(RiskBar(shown.name, shown.knows, shown.told, shown.guess, originals=1.0))
    return bars
