"""The record of processing: what data protection law asks of whoever publishes a release."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import trajanon
from trajanon.common.number_text import roughly, two_digits
from trajanon.evaluation.attacks.attack import Attack
from trajanon.evaluation.evidence import NOTICE, Basis, Evaluation
from trajanon.evaluation.page.templates import rendered
from trajanon.evaluation.release_certificate import statement
from trajanon.release.people_left import few_left


class Entry(NamedTuple):
    """What is asked, the sentences that answer it, and what these rest on."""

    question: str
    basis: Basis
    answers: Sequence[str] = ()


class Section(NamedTuple):
    """Entries that one article asks for."""

    title: str
    article: str
    entries: Sequence[Entry]


def processing_record(evaluation: Evaluation) -> str:
    """Write the record as a page of HTML, which prints on A4.

    It holds the facts that Articles 30 and 35 of the GDPR ask for, as far as the evaluation and the
    publisher's words give them, and marked blanks for all others. It is the holder's.
    """
    return rendered(
        "processing_record.html",
        notice=NOTICE,
        evaluation=evaluation,
        version=trajanon.__version__,
        sections=[
            Section("Record of processing", "Article 30(1) GDPR", [*_processing(evaluation)]),
            Section("Impact assessment", "Article 35(7) GDPR", [*_impact(evaluation)]),
        ],
    )


def _processing(evaluation: Evaluation) -> Iterator[Entry]:
    """Answer what a record of processing activities holds."""
    words = evaluation.publisher
    yield _word("(a) Controller", words.name)
    yield _word("(a) Contact of the controller", words.contact)
    yield _word("(a) Data protection officer", words.officer)
    yield _word("(a) Joint controllers, representative")

    yield _word("(b) Purposes", words.purpose)

    yield _word("(c) Categories of data subjects", words.subject)
    yield Entry("(c) Number of data subjects", Basis.MEASUREMENT, [_people(evaluation)])
    yield Entry("(c) Categories of personal data", Basis.MEASUREMENT, [_data(evaluation)])

    yield _word("(d) Recipients", words.recipients)
    yield _word("(e) Transfers to third countries")
    yield _word("(f) Time limits for erasure", words.retention)
    yield Entry("(f) What there is to erase", Basis.REPORT, [*_kept(evaluation)])
    yield Entry("(g) Technical measures", Basis.REPORT, [*_measures(evaluation)])
    yield _word("(g) Organisational measures", words.before_release, words.after_release)


def _impact(evaluation: Evaluation) -> Iterator[Entry]:
    """Answer what a data protection impact assessment holds."""
    words = evaluation.publisher
    account = evaluation.account
    operations = [account["source"], "Measures: see (g) above."]
    yield Entry("(a) The operations", Basis.REPORT, operations)
    yield _word("(a) Source of the tracks", words.source)
    yield _word("(a) Legal basis, legitimate interest", words.legal_basis)

    yield _word("(b) Necessity and proportionality")
    yield Entry("(b) What is left of the data", Basis.MEASUREMENT, [account["cost"]])

    yield _word("(c) Recipients as adversaries", words.context)
    yield Entry("(c) Measured attacks", Basis.MEASUREMENT, [*_attacks(evaluation)])
    if (told_apart := evaluation.told_apart) is not None:
        proven = [statement(told_apart, evaluation.unit), "The proof: docs/proof.md of trajanon."]
        yield Entry("(c) Adversary with all other tracks", Basis.PROOF, proven)

    verdict = evaluation.verdict
    yield Entry("(d) Verdict", Basis.MEASUREMENT, [verdict.headline, *verdict.sentences])
    yield _word("(d) Measures against what remains")
    yield _word("Advice of the data protection officer (35(2))")
    yield _word("Views of data subjects (35(9))")


def _word(question: str, *words: str) -> Entry:
    """Answer by the publisher's words, or leave a blank to fill in."""
    answers = [word for word in words if word]
    return Entry(question, Basis.WORD if answers else Basis.BLANK, answers)


def _people(evaluation: Evaluation) -> str:
    if evaluation.subjects is None or not evaluation.report.knows_people:
        return "Not known: the recordings do not name their subjects."
    nameless = f"; {evaluation.nameless:,} recordings name nobody" * bool(evaluation.nameless)
    return f"{roughly(evaluation.subjects)}{nameless}".capitalize() + "."


def _data(evaluation: Evaluation) -> str:
    """Write which data the released lines are made of."""
    west, south, east, north = evaluation.area
    times = f", recorded from {evaluation.period}" if evaluation.period else ""
    return (
        f"Positions on {roughly(evaluation.trajectories)} {evaluation.units}, {evaluation.points} "
        f"points on each, between latitudes {south:.2f} and {north:.2f} and longitudes {west:.2f} "
        f"and {east:.2f}{times}. They may show homes, places of work, and visits to sensitive "
        "places."
    )


def _kept(evaluation: Evaluation) -> Iterator[str]:
    """Write what is left beside the release, and what its erasure changes."""
    yield "Recordings and trajectories: personal data."
    yield "The report beside the release: it says which of the trajectories are in which group."
    if evaluation.report.width is not None:
        yield (
            "The key: together with the trajectories it repeats the lines. Never release the same "
            "trips under another key; without the key, do not release them again."
        )
    yield "This record, the evaluation and the map: figures and pictures of the trajectories."


def _measures(evaluation: Evaluation) -> Iterator[str]:
    """Write how the release was made."""
    counted = "subjects" if evaluation.counted == "subjects" else evaluation.units
    yield (
        f"k-anonymity with k = {evaluation.k}: each of {len(evaluation.rows):,} released lines is "
        f"the mean of at least {evaluation.k} different {counted}."
    )
    if (width := evaluation.report.width) is not None:
        yield (
            f"A secret key moves each line smoothly, by a public width of {width:g} m divided by "
            "the members of its group."
        )
    times = "none" if evaluation.clock is None else evaluation.clock.sentence
    yield f"Times in the release: {times}. Names and identifiers: none."
    yield "Report, key, evaluation and this record were written readable by their owner alone."


def _attacks(evaluation: Evaluation) -> Iterator[str]:
    """Write what adversaries found, a sentence for each of them."""
    for attack in evaluation.attacks:
        if attack.against == "release" and len(attack.targets):
            yield _attack(attack)
    for left in (evaluation.chained, evaluation.followed and evaluation.followed.left):
        if left and next(iter(left.values())).several:
            yield f"{few_left(left, evaluation.k)}."
    for inferred in evaluation.inferred:
        yield (
            f"Anyone who knows {inferred.knows} infers {inferred.name} rightly in "
            f"{two_digits(inferred.told)} of all cases; one guess for all is right in "
            f"{two_digits(inferred.guess)}."
        )
    if evaluation.verification is not None:
        yield evaluation.verification.words
    yield from (guessed.words for guessed in evaluation.guesses)


def _attack(attack: Attack) -> str:
    return (
        f"Anyone who knows {attack.knows} picks a row of the target in "
        f"{two_digits(attack.expected)} of all cases, and of the easiest target in "
        f"{two_digits(attack.worst_case)}; 1/k is {two_digits(attack.baseline)}."
    )
