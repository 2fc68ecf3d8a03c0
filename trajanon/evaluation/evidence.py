"""The numbers of an evaluation, and whether the promise holds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from trajanon.arrays import Ints
from trajanon.evaluation.price import Price
from trajanon.files.report import Report
from trajanon.privacy.attack import Attack
from trajanon.privacy.diversity import Diversity
from trajanon.releases import too_few
from trajanon.utility.usefulness import Usefulness

NOTICE = "For the holder of the data, not for publication."

RELEASE = "this release"
AS_SLID = "this release, windows as slid"
MDAV = "MDAV"
NOTHING = "no protection"
"""Names of the ways to publish that are compared."""

SLID = ", as slid"
"""Ends the name of an attack from windows as slid."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The numbers; `trajanon.Evaluation` explains each."""

    file: str | None
    date: date
    area: tuple[float, float, float, float]
    spacing: float | None
    k: int
    counted: str
    trajectories: int
    points: int
    subjects: int | None
    left_out: int
    nameless: int
    sizes: Ints
    violations: Mapping[str, int | None]
    problems: Sequence[str] | None
    loss: Mapping[str, float]
    usefulness: Mapping[str, Usefulness]
    length_kept: float
    price: Sequence[Price] | None
    attacks: Sequence[Attack]
    diversity: Diversity
    diversity_as_slid: Diversity
    roads_before: float | None
    report: Report

    @property
    def holds(self) -> bool:
        """Whether k stand behind each line, and nothing else is in the file.

        k different subjects, if anything is known of them: also where the report promises records
        alone.
        """
        few = self.violations["subjects"]
        if few is None and self.counted == "records":
            few = self.violations["records"]
        return not self.problems and few == 0

    @property
    def too_few(self) -> str:
        """Say how many groups are too small; empty if none is."""
        records, people = self.violations["records"], self.violations["subjects"]
        return too_few(self.k, len(self.sizes), records=records, people=people)

    @property
    def aligned(self) -> bool:
        """Whether windows slid before they were averaged."""
        return AS_SLID in self.usefulness
