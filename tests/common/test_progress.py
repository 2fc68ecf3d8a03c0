"""Progress and notices: of each file or column once, and not too many of a kind."""

import warnings

import trajanon
from trajanon.common.progress import Notices


def test_many_things_of_a_kind_are_warned_of_in_one() -> None:
    notices = Notices()
    with warnings.catch_warnings(record=True) as caught:
        for number in (*range(13), 3):
            notices.warn(trajanon.LeftOutWarning(f"thing {number}", "kind", str(number)))
        notices.warn_of_hidden()
    assert len(caught) == 11
    assert str(caught[-1].message) == "3 more warnings like this one: thing 12"


def test_of_one_file_there_is_one_warning_of_a_kind() -> None:
    notices = Notices(shows_all=True)
    with warnings.catch_warnings(record=True) as caught:
        for kind, about in [("rows", "a"), ("rows", "a"), ("times", "a"), ("rows", "b")]:
            notices.warn(trajanon.LeftOutWarning(f"{kind} of {about}", kind, about))
        for number in range(20):
            notices.warn(trajanon.LeftOutWarning(f"file {number}", "files", str(number)))
        notices.warn_of_hidden()
    said = [str(one.message) for one in caught]
    assert said[:3] == ["rows of a", "times of a", "rows of b"]
    assert said[3:] == [f"file {number}" for number in range(20)]


def test_hidden_warnings_are_told_once() -> None:
    notices = Notices()
    with warnings.catch_warnings(record=True) as caught:
        for number in range(11):
            notices.warn(trajanon.LeftOutWarning(f"thing {number}", "kind", str(number)))
        notices.warn_of_hidden()
        notices.warn_of_hidden()
    assert len(caught) == 11
    assert str(caught[-1].message) == "1 more warning like this one: thing 10"
