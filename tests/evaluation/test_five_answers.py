"""The five answers: what they say of people behind a line."""

from typing import Any

import numpy as np
from reports import reported
from toy import toy

import trajanon
from trajanon.common.number_text import two_digits
from trajanon.evaluation.attacks.attack import Attack
from trajanon.evaluation.attacks.end_or_hour import Inferred
from trajanon.evaluation.attacks.nearest_record_or_ends import nearest_record
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.evaluation.attacks.verification_with_all_tracks import Verified
from trajanon.evaluation.five_answers import five_answers
from trajanon.evaluation.intervals import Estimate
from trajanon.release.public_figures import Crowd
from trajanon.trajectories.trajectories import Trajectories

END = Inferred("the end of a trip", "its first two thirds", told=0.1, guess=0.0)
VERIFIED = Verified(lines=9, right=Estimate(1.0, 0.9, 1.0), verified=Estimate(0, 0, 0.1), wrong=0.0)


def attacked() -> Attack:
    points = toy().points
    return nearest_record(Published(points, points[:2], np.array([0, 0, 1, 1]), 2))


def test_lines_with_too_few_people_are_counted() -> None:
    measured: dict[str, Any] = {
        "told_apart": None,
        "attacks": [attacked()],
        "inferred": [END],
        "verified": VERIFIED,
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
    attack = attacked()
    report = reported(n=4_000, labels=[*range(100)] * 40)
    crowd = Crowd(400.0)
    answers = five_answers(
        report,
        told_apart=None,
        attacks=[attack],
        inferred=[END],
        verified=VERIFIED,
        below_k=0,
        crowd=crowd,
    )
    expected = crowd.shares_of().text(attack.expected, two_digits)
    assert f"picks the person's row in {expected} of cases" in answers[1].answer


def test_of_what_the_nearest_line_shows_the_answer_is_what_nobody_guesses() -> None:
    """All leave at eight: the hour is right oftener than the end, and so is the guess."""
    hour = Inferred("the hour of departure", "all places of a trip", told=0.9, guess=0.9)
    answers = five_answers(
        reported(),
        told_apart=None,
        attacks=[attacked()],
        inferred=[END, hour],
        verified=VERIFIED,
        below_k=0,
    )
    assert "The nearest line shows the end of a trip in" in answers[1].answer
