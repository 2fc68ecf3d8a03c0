"""How well attacks do: the errors of guesses, summed up."""

import numpy as np
import pytest

from trajanon.evaluation.attacks.attack import Guessed


def test_each_share_is_that_of_the_way_that_is_best_by_its_figure() -> None:
    """The adversary's least mean error is not understated by a way with the least median."""
    errors = {"often near": np.array([1.0, 1.0, 100.0]), "never far": np.array([2.0, 2.0, 2.0])}
    guessed = Guessed.of("something", errors, np.array([4.0, 4.0, 4.0]))
    assert guessed.best.median.value == 1.0
    assert guessed.share.value == pytest.approx(1 / 4, rel=1e-3)
    assert guessed.mean_share.value == pytest.approx(2 / 4, rel=1e-3)
