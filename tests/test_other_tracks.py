import naive_attacks as naive
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from naive_attacks import cities

from trajanon.privacy.attack import Published
from trajanon.privacy.linkage import other_tracks


@given(cities(most=9, points=2), st.sampled_from([0.01, 0.3, 0.5, 0.7, 0.99]))
def test_it_is_the_slow_twin(city: Published, share: float) -> None:
    found, subjects = other_tracks(city, share=share), city.owners
    tracks = [int((subjects == subject).sum()) for subject in subjects]
    assert found.targets.tolist() == [i for i, t in enumerate(tracks) if t > 1]
    expected = [naive.other_tracks(city, int(i), share) for i in found.targets]
    told = np.column_stack([found.rates, found.worst])
    np.testing.assert_allclose(told, np.reshape(expected, (-1, 2)), rtol=1e-9)
    links = naive.nearest_record(city)[found.targets, 1]
    np.testing.assert_allclose(found.line_rates, links)


def test_by_hand() -> None:
    """Subject 0 has three rows in a group of five, and one elsewhere."""
    labels = np.array([0, 0, 0, 0, 0, 1, 1])
    subjects = np.array([0, 0, 0, 1, 2, 0, 3])
    points = 40.0 + labels[:, None, None] * np.ones((2, 2))
    lines = points[[0, 5]]
    found = other_tracks(Published(points, lines, labels, 2, subjects), share=0.5)
    # He knows 2 of 4. Of the other 4 rows of the group, 2 are the subject's; if the
    # second that he knows is one of them, as in 2 of 3 cases, 1 of 3 is left.
    in_group = 2 / 3 * 1 / 3 + 1 / 3 * 2 / 4
    np.testing.assert_allclose(found.rates, [in_group] * 3 + [0.0])
    np.testing.assert_allclose(found.worst, [0.5] * 3 + [0.0])
    assert found.targets.tolist() == [0, 1, 2, 5]
    assert found.account["targets"] == 4
    assert found.at_fault.tolist() == []  # 1/2 is 1/k


def test_groups_of_different_subjects_give_nothing_away() -> None:
    labels = np.repeat(np.arange(5), 4)
    points = 40.0 + labels[:, None, None] * np.ones((2, 2))
    subjects = np.tile(np.arange(4), 5)
    found = other_tracks(Published(points, points[::4], labels, 4, subjects))
    assert found.worst_case == 0.0
    assert found.line_found == 1.0


def test_without_a_subject_of_several_there_is_no_target() -> None:
    points = np.zeros((3, 2, 2))
    found = other_tracks(Published(points, points[:1], np.zeros(3, int), 2, np.arange(3)))
    assert len(found.targets) == 0
    assert found.expected == 0.0
