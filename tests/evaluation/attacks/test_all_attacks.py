"""All attacks together, on the bundled sample."""

import json

import numpy as np

import trajanon
from trajanon.evaluation.attacks.all_attacks import attacks
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.trajectories.trajectories import Trajectories


def test_a_release_of_the_sample_hides_what_its_originals_would_not(madrid: Trajectories) -> None:
    assert madrid.subject is not None
    k = 4
    groups = trajanon.microaggregate(madrid.records, k, subjects=madrid.subject, refine="none")
    lines = np.round(groups.centroids.reshape(-1, *madrid.points.shape[1:]), 7)
    release = Published(madrid.points, lines, groups.labels, k, madrid.subject)
    done = attacks(release) + attacks(release.originals)
    found = {(attack.name, attack.against): attack for attack in done}
    assert len(found) == 4
    hidden, naked = (found["both ends, nearest", against] for against in ("release", "originals"))
    assert 0.0 < hidden.expected < naked.expected / 2
    assert naked.worst_case == 1.0
    assert found["2 known points", "release"].expected > 0.0
    linked = found["nearest record", "release"]
    assert 0.0 < linked.expected <= 1 / k
    for attack in found.values():
        json.dumps(attack.account, allow_nan=False)
        assert 0.0 <= attack.expected <= attack.worst_case <= 1.0


def test_without_subjects_no_chance_is_above_1_in_k(madrid: Trajectories) -> None:
    k = 4
    groups = trajanon.microaggregate(madrid.records, k, refine="none")
    lines = np.round(groups.centroids.reshape(-1, *madrid.points.shape[1:]), 7)
    release = attacks(Published(madrid.points, lines, groups.labels, k))
    assert [attack.name for attack in release] == [
        "nearest record",
        "2 known points",
        "both ends, nearest",
    ]
    for attack in release:
        assert 0.0 < attack.worst_case <= 1 / k
        assert attack.exposed == 0.0
