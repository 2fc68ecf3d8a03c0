"""Warnings and errors of the package, as programs see them."""

import re
import warnings
from pathlib import Path

import pytest
from commands import Run

import trajanon
from trajanon.common import errors
from trajanon.common.errors import warn

RECORDS = [[0.0], [1.0], [10.0], [11.0]]
REFERENCE = Path(__file__).parents[2] / "docs/reference/errors.md"


def test_merged_names_are_warned_of_at_the_line_of_the_user() -> None:
    with pytest.warns(trajanon.MergedWarning, match="1 name differs") as caught:
        trajanon.microaggregate(RECORDS, k=2, subjects=["Ada", "ada", "Bob", "Cem"])
    (warning,) = caught
    assert warning.filename == __file__
    assert isinstance(warning.message, trajanon.TrajanonWarning)
    assert warning.message.kind == "names"


def test_warnings_can_be_errors() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", trajanon.TrajanonWarning)
        with pytest.raises(trajanon.MergedWarning):
            trajanon.microaggregate(RECORDS, k=2, subjects=["Ada", "ada", "Bob", "Cem"])


def test_a_command_shows_the_same_warning(run: Run, tmp_path: Path) -> None:
    rows = "".join(f"{who},{lat},2.0{at}\n" for who in "ab" for lat in (41, 42) for at in range(9))
    (tmp_path / "a.csv").write_text(f"id,lat,lon\n{rows}x,1\n", encoding="utf-8")
    answer = run("extract", "a.csv", "--bbox", "1,40,3,43")
    assert "1 row of a.csv cannot be read and left out" in answer.err


def test_a_message_cannot_steer_a_terminal() -> None:
    with pytest.warns(trajanon.LeftOutWarning, match=re.escape(r"a\x1b[2Jb")):
        warn(trajanon.LeftOutWarning("a\x1b[2Jb"))


def test_the_reference_draws_the_whole_tree() -> None:
    """Each error and warning stands below its parent, with the error of Python it is, too."""

    def drawn(kind: type[Exception], depth: int = 0) -> list[str]:
        others = [base.__name__ for base in kind.__bases__ if base.__module__ == "builtins"]
        line = "    " + "    " * depth + kind.__name__ + f" ({', '.join(others)})" * bool(others)
        rows = [line]
        for child in kind.__subclasses__():
            rows += drawn(child, depth + 1)
        return rows

    assert all(getattr(trajanon, name) for name in trajanon.__all__)  # which loads all kinds
    for top in (errors.TrajanonError, errors.TrajanonWarning):
        assert "\n".join(drawn(top)) in REFERENCE.read_text("utf-8")


def test_each_kind_is_public_and_says_so() -> None:
    public = {name for name in vars(errors) if name.endswith(("Warning", "Error"))}
    public |= {kind.__name__ for kind in trajanon.BadInput.__subclasses__()}
    for name in public:
        assert getattr(trajanon, name).__module__ == "trajanon"
