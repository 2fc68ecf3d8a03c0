"""The five answers: what they say of people behind a line."""

from typing import Any

from reports import reported

from trajanon.evaluation.attacks.end_or_hour import Inferred
from trajanon.evaluation.five_answers import five_answers

END = Inferred("the end of a trip", "its first two thirds", told=0.1, guess=0.0)


def test_lines_with_too_few_people_are_counted() -> None:
    measured: dict[str, Any] = {
        "told_apart": None,
        "attacks": [],
        "inferred": [END],
        "verified": None,
    }
    answers = five_answers(reported(lines=9), below_k=3, **measured)
    assert answers[0].answer == "Fewer than 5 different people stand behind 3 of 9 lines."

    answers = five_answers(reported(lines=9), below_k=0, **measured)
    assert answers[0].answer == "At least 5 different people stand behind each of the 9 lines."
