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
    verified: Verified | None,
    below_k: int,
    crowd: Crowd = EXACT,
) -> list[Answer]:
    """Answer five questions by the numbers of a report and of an evaluation.

    ``told_apart`` is how well a trajectory is told from the same one moved to the side, and None of
    plain means; ``below_k`` counts the lines with fewer than k behind them. With a ``crowd``,
    figures are rounded for publication.
    """
    who = who_is_counted(report)
    best = _best(attacks, "singling out")
    # What was tried on lines is a share of these.
    crowd_of_lines = crowd
    if verified is not None and crowd != EXACT:
        crowd_of_lines = Crowd(verified.lines, shares=True)

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
        shares=crowd.shares_of(len(best.targets) / len(best.published.points) if best else 1.0),
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


def _best(attacks: Sequence[Attack], question: str) -> Attack | None:
    """Find the attack that answers a question best of those tried on the release."""
    tried = [
        attack
        for attack in attacks
        if attack.question == question and attack.against == "release" and len(attack.targets)
    ]
    return max(tried, key=lambda attack: attack.expected, default=None)


def _most_told(inferred: Sequence[Inferred]) -> Inferred:
    """Find the inference that is right most often; the end of a trip is always there."""
    return max(inferred, key=lambda inference: inference.told)


def risk_bars(
    attacks: Sequence[Attack], followed: Followed | None, inferred: Sequence[Inferred]
) -> list[RiskBar]:
    """Return the best attack of each kind: on a row, on the next trip of a person, on a part."""
    bars = []
    on_originals = {attack.name: attack for attack in attacks if attack.against == "originals"}

    row_attack = _best(attacks, "singling out")
    if row_attack is not None:
        # An attack by a whole trajectory is not run on the originals: it finds each at once.
        twin = on_originals.get(row_attack.name)
        before = 1.0 if twin is None else twin.expected
        right = row_attack.expected
        baseline = row_attack.baseline
        bars.append(RiskBar("the row of a person", row_attack.knows, right, baseline, before))

    next_attack = _best(attacks, "linkability")
    if next_attack is not None and followed is not None and followed.found:
        twin = on_originals.get(next_attack.name)
        before = 0.0 if twin is None else twin.line_found
        # How often the right line ranks first, or a row that is picked is the person's.
        right = max(followed.first, next_attack.expected)
        known = f"one {followed.unit}"
        bars.append(RiskBar(followed.next, known, right, followed.chance, before))

    # Nobody has to infer what the originals hold.
    shown = _most_told(inferred)
    bars.append(RiskBar(shown.name, shown.knows, shown.told, shown.guess, originals=1.0))
    return bars
