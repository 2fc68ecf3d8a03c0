"""How well attacks succeed: chances that a row picked is the target's, and errors of guesses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from trajanon.common.arrays import Bools, Floats, Ints
from trajanon.common.json_toml_and_regular_files import Json
from trajanon.common.number_text import metres, span
from trajanon.evaluation.attacks.published_lines import Published
from trajanon.evaluation.intervals import Estimate, estimated, mean, median
from trajanon.evaluation.page.templates import words

QUESTIONS = ("singling out", "linkability", "inference")
"""What the Article 29 Working Party asks of anonymised data (Opinion 05/2014)."""

_FIELDS_OF_ACCOUNT = (
    *("name", "question", "knows", "against", "expected", "worst_case", "baseline"),
    *("line_found", "exposed", "sampled"),
)

_ROUNDING_OF_CHANCES = 1e-9  # a chance that exceeds 1/k by less is 1/k
_LEAST_ERROR = 1e-3  # metres or seconds, added to errors of lines, which may be 0


@dataclass(frozen=True, eq=False)
class Attack:
    """How well an adversary finds the targets.

    The adversary is left with several published rows that look the same, and picks one at random.
    """

    name: str  # of the attack
    knows: str  # what the adversary knows, in words
    published: Published  # a release, or the originals as if they were published
    targets: Ints  # row numbers of the trajectories attacked, (t,)
    rates: Floats  # for each target, the chance that the row picked is of its subject, (t,)
    line_rates: Floats  # the chance that the row lies on the line of the target's group, (t,)
    worst: Floats  # `rates`, if the adversary knows what betrays the target most, (t,)
    sampled: bool = False  # whether a sample of the targets, or of what may be known, was tried
    question: str = "singling out"  # of the QUESTIONS, the one that this answers

    @property
    def against(self) -> str:
        """Return ``release`` or ``originals``, whichever is attacked."""
        return self.published.against

    @property
    def baseline(self) -> float:
        """Return the chance in a group of k rows of different subjects: 1/k."""
        return 1.0 / self.published.k

    @property
    def expected(self) -> float:
        """Compute the mean chance over the targets."""
        return float(self.rates.mean())

    @property
    def worst_case(self) -> float:
        """Find the highest chance against any target."""
        return float(self.worst.max())

    @property
    def line_found(self) -> float:
        """Compute the mean chance that the row picked lies on the line of the target's group."""
        return float(self.line_rates.mean())

    @property
    def above(self) -> Bools:
        """Mark the targets whose worst chance is above 1/k, (t,)."""
        return self.worst > self.baseline + _ROUNDING_OF_CHANCES

    @property
    def exposed(self) -> float:
        """Compute the share of the targets with a worst chance above 1/k."""
        return float(self.above.mean())

    @property
    def account(self) -> dict[str, Json]:
        """Return what JSON holds: nothing of single trajectories."""
        account = {name: getattr(self, name) for name in _FIELDS_OF_ACCOUNT}
        return account | {"k": self.published.k, "targets": len(self.targets)}


def chances_of_rows(
    published: Published, target: Ints, original: Ints, line: Ints, known: Ints | None = None
) -> tuple[Floats, Floats]:
    """Compute each target's chance of a row of its subject, and of a row of its line, (t,).

    The arguments are pairs, (q,), of a target, numbered 0..t-1, and a line that it may be on;
    ``original`` is the row number of the target. One of the rows of a target's lines is picked at
    random. ``known``, (q,), is the line of another trajectory of the subject, which the adversary
    started from: rows of the subject there are no success.
    """
    rows = published.row_counts[line]
    rows_of_subject = published.rows_held(published.owners[original], line)
    if known is not None:
        rows_of_subject[line == known] = 0
    rows_of_line = rows * (line == published.labels[original])

    all_rows, of_subject, of_line = (
        np.bincount(target, counted) for counted in (rows, rows_of_subject, rows_of_line)
    )
    return of_subject / all_rows, of_line / all_rows


@dataclass(frozen=True, slots=True)
class Errors:
    """How far guesses are from the truth."""

    median: Estimate
    mean: Estimate

    @classmethod
    def of(cls, errors: Floats) -> "Errors":
        """Sum up the error of each target, (t,)."""
        return cls(estimated(median, errors), estimated(mean, errors))


@dataclass(frozen=True)
class Guessed:
    """Errors of guesses at hidden trajectories, beside those of their released lines."""

    knows: str  # what the adversary knows and does, in words
    targets: int  # tried
    off: Mapping[str, Errors]  # of the guesses, by way of guessing; in metres or seconds
    line: Errors  # from the hidden trajectory to the line itself
    share: Estimate  # of the line's error that the way with the least median leaves, of medians
    mean_share: Estimate  # that the way with the least mean leaves, of means
    timed: bool = False  # whether errors are seconds

    @classmethod
    def of(
        cls, knows: str, errors: Mapping[str, Floats], line_errors: Floats, *, timed: bool = False
    ) -> "Guessed":
        """Sum up the errors of each target, (t,), by way of guessing, and those of its line."""

        def share_left(figure: Callable[[Floats], Floats]) -> Estimate:
            # A few guesses that are far off decide a mean, and not a median: the way that is best
            # by one need not be best by the other.
            best = min(errors.values(), key=lambda of_way: float(figure(of_way)))

            def share(guess: Floats, line: Floats) -> Floats:
                return np.asarray(figure(guess) / (figure(line) + _LEAST_ERROR))

            return estimated(share, best, line_errors)

        return cls(
            knows,
            targets=len(line_errors),
            off={way: Errors.of(of_way) for way, of_way in errors.items()},
            line=Errors.of(line_errors),
            share=share_left(median),
            mean_share=share_left(mean),
            timed=timed,
        )

    @property
    def best(self) -> Errors:
        """Return the errors of the way to guess with the least median."""
        return min(self.off.values(), key=lambda errors: errors.median.value)

    @property
    def words(self) -> str:
        """Describe the result in two sentences."""
        return words("guessed", found=self, written=span if self.timed else metres)
