"""Names that are drawn anew are told from those of people who come again."""

from collections.abc import Sequence

import numpy as np
import pytest

from trajanon.extract.names_drawn_anew import are_drawn_anew


def judged(names: str, begin: Sequence[float], seconds: float) -> bool:
    """The answer where each letter is the name of a recording, which is a trip."""
    subject = np.unique([*names], return_inverse=True)[1]
    ends = np.add.outer(np.array(begin, dtype=float), [0.0, seconds])
    is_named = np.ones(subject.max() + 1, dtype=np.bool_)
    return are_drawn_anew(subject, ends, is_named, trips=subject)


@pytest.mark.parametrize(
    ("people_by_day", "apart", "drawn_anew"),
    [
        (["abcdefghij", "", "klmnopqrst"], 86_400, True),  # as names of bicycles that change
        (["abcdeabcdefghijfghij", "", "", "klmnoklmnopqrstpqrst"], 86_400, True),
        (["abcdefghij", "abcdefghij", "klmnopqrst", "klmnopqrst"], 86_400 * 15, True),  # by months
        (["a", "ab", "abcd", "abcdefghijkl", "abcdefghijklmnopqrst"], 86_400, False),  # more, more
        (["abcdefghij", "", "klmnoabcde"], 86_400, False),
        (["abcde", "", "fghi"], 86_400, False),  # too few to say
        (["abcdefghij"], 86_400, True),  # each has one recording: perhaps they are trips
        (["abcdefghij", "a"], 3_600, False),
        (["abcdefghij", "a"], 86_400, False),  # all but one are of one day: few could come again
        (["abcdefghij", "klmnopqrst"], 3_600, True),
    ],
)
def test_names_that_hardly_ever_go_on(
    people_by_day: Sequence[str], apart: int, drawn_anew: bool
) -> None:
    begin = [float(apart * day) for day, people in enumerate(people_by_day) for _ in people]
    assert judged("".join(people_by_day), begin, 60.0) == drawn_anew


@pytest.mark.parametrize(("hours_apart", "drawn_anew"), [(1.0, True), (0.4, False)])
@pytest.mark.parametrize("order", [1, -1])
def test_people_who_never_move_at_one_time_are_perhaps_one(
    hours_apart: float, drawn_anew: bool, order: int
) -> None:
    """As tracks named Morning Run, Lunch Walk and so on: each trip takes half an hour."""
    begin = 3_600.0 * hours_apart * np.arange(72)
    assert judged(("abcdefghijkl" * 6)[::order], begin[::order].tolist(), 1_800.0) == drawn_anew


def test_without_times_or_names_trips_decide() -> None:
    subject = np.arange(12)
    no_times = np.full((12, 2), np.nan)
    all_named = np.ones(12, dtype=np.bool_)
    assert are_drawn_anew(subject, no_times, all_named, trips=subject)
    assert not are_drawn_anew(subject, no_times, all_named, trips=np.repeat(subject, 2))
    assert not are_drawn_anew(subject, no_times, all_named, trips=None)
    assert not are_drawn_anew(subject, no_times, ~all_named, trips=subject)
