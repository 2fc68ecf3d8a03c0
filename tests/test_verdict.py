"""The verdict: what needs a decision first, and what was found, in sentences."""

import re
from dataclasses import replace

import numpy as np
import pytest
from evaluations import Evaluated, evaluated

import trajanon
from trajanon.trajectories import Trajectories
from trajanon.words import percent


def test_the_verdict_begins_with_what_needs_a_decision(slid_sample: Evaluated) -> None:
    evaluation, _ = slid_sample
    opening, *others = evaluation.verdict
    number = int(re.findall(r"Before you publish, (\d+) things need", opening[1])[0])
    assert opening[0] == "caution"
    needed = " ".join(said for _, said in others[:number])
    rest = " ".join(said for _, said in others[number:])
    assert number > 1
    assert {colour for colour, _ in others[:number]} == {"caution"}
    for asked in ("not for whole drives", "every member stays within 50 m"):
        assert asked in needed
    for found in ("stand behind each released line", "Points moved by", "differential privacy"):
        assert found in rest
    assert not any(colour.endswith("!") for colour, _ in evaluation.verdict)


def test_a_verdict_without_a_reason_to_stop_says_so_and_keeps_the_limits() -> None:
    """Two groups of four people side by side, 110 m apart: no member is near the line."""
    beside = 40.0 + 0.001 * np.array([0.0, 1.0, 2.0, 3.0, 900.0, 901.0, 902.0, 903.0])
    along = np.linspace(2.0, 2.1, 30)
    lines = Trajectories(np.stack(np.broadcast_arrays(beside[:, None], along), axis=2))
    lines = replace(lines, subject=np.arange(8))
    release = trajanon.anonymize(lines, 4)
    evaluation = trajanon.evaluate(lines, release, findings=trajanon.check(release, 4))
    verdict = replace(evaluation, companions=None).verdict
    assert verdict[0] == ("good", "These checks found no reason not to publish.")
    assert "k-anonymity is not differential privacy" in verdict[-1][1]
    opening, asked, *_ = evaluation.verdict
    assert opening == ("caution", "Before you publish, 1 thing needs your decision: the next line.")
    assert asked[1].startswith("Somebody who holds the tracks of everybody else")


@pytest.mark.parametrize("sampled", [False, True])
def test_no_trip_is_found_more_often_as_far_as_was_tried(sampled: bool) -> None:
    points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    evaluation = evaluated(Trajectories(points, subject=np.arange(4)))
    attacks = [replace(one, sampled=sampled) for one in evaluation.attacks]
    (said,) = (
        sentence
        for _, sentence in replace(evaluation, attacks=attacks).verdict
        if "is found more often than 1/k" in sentence
    )
    assert said.endswith("as far as they were tried.") == sampled


def test_the_verdict_names_the_best_attack_of_each_question(slid_sample: Evaluated) -> None:
    evaluation, _ = slid_sample
    said = [sentence for _, sentence in evaluation.verdict]
    starts = [one.partition(": the best of ")[0] for one in said if ": the best of " in one]
    assert starts == ["Singling out", "Linkability"]
    for start in starts:
        on_release = [
            one
            for one in evaluation.attacks
            if one.against == "release" and one.question == start.lower()
        ]
        best = max(on_release, key=lambda one: one.expected)
        (told,) = (sentence for sentence in said if sentence.startswith(start))
        assert f"the best of {len(on_release)} attacks that pick a row ({best.name}) finds" in told
        assert f"in {percent(best.expected)} of all cases on average; 1/k is 33.3 %" in told


def test_ends_in_common_are_told_in_a_sentence_for_windows_as_cut_and_as_slid(
    slid_sample: Evaluated,
) -> None:
    evaluation, _ = slid_sample
    said = "\n".join(sentence for _, sentence in evaluation.verdict)
    for found, who in (
        (evaluation.diversity.account, "members"),
        (evaluation.diversity_as_slid.account, "windows as slid"),
    ):
        assert found["one_origin"] + found["one_destination"] > 0
        assert said.count(f"groups all {who} begin") == 1
        assert (
            f"In {found['one_origin']} of {found['groups']} groups all {who} begin within one cell "
            f"of 200 m, in {found['one_destination']} all end within one"
        ) in said
