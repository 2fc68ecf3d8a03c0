"""The five answers: what they say of people behind a line."""

from typing import Any

import numpy as np
from reports import reported
from toy import toy

import trajanon
from trajanon.common.number_text import two_digits
from trajanon.evaluation.attacks.end_or_hour import Inferred
from trajanon.evaluation.attacks.nearest_record_or_ends import nearest_record
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.evaluation.five_answers import five_answers
from trajanon.release.public_figures import Crowd
from trajanon.trajectories.trajectories import Trajectories

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


def test_lines_of_few_people_are_not_said_to_be_of_few_trips() -> None:
    """As published, k counts trips, and is kept; that people are fewer stands in the verdict."""
    points = toy().points.repeat(2, axis=0)
    owners = np.arange(len(points)) // 4
    trips = Trajectories(points, subject=owners, provenance={"trips": True})
    release = trajanon.anonymize(trips, 4, as_published=True)
    evaluation = trajanon.evaluate(trips, release)
    assert evaluation.violations["records"] == 0
    assert evaluation.violations["subjects"]
    assert evaluation.answers[0].answer.startswith("At least 4 trips stand behind each of the")


def test_a_share_of_a_sample_is_rounded_as_one_of_all_that_was_measured() -> None:
    """Of a folder that was sampled, the certificate says the same."""
    points = toy().points
    seen = Published(points, points[:2], np.array([0, 0, 1, 1]), 2)
    attack = nearest_record(seen)
    report = reported(n=4_000, labels=[*range(100)] * 40)
    crowd = Crowd(400.0)
    answers = five_answers(
        report,
        told_apart=None,
        attacks=[attack],
        inferred=[END],
        verified=None,
        below_k=0,
        crowd=crowd,
    )
    expected = crowd.shares_of().text(attack.expected, two_digits)
    assert f"picks the person's row in {expected} of cases" in answers[1].answer
