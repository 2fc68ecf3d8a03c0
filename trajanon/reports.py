"""What every report says, however large the data are."""

import platform
from importlib.metadata import version
from typing import NamedTuple


def too_few(k: int, groups: int, *, records: int | None, people: int | None) -> str:
    """Say which k does not hold, of records or of people; empty if both hold.

    ``records`` and ``people`` count the groups that hold fewer than k; None is unknown.
    """
    if people:
        lack = f"{people:,} of {groups:,} groups hold fewer than {k} different subjects"
        if records:
            return lack
        return f"{k} records stand behind each line, but not {k} people: {lack}"
    if records:
        return f"{records:,} of {groups:,} groups hold fewer than {k} trajectories"
    return ""


class Counted(NamedTuple):
    """What k counts, and what the holder must know of it."""

    k: int  # the group size
    by_subjects: bool  # whether subjects are counted, or trajectories
    known: bool  # whether something is known of subjects
    groups: int  # groups, and those among them of fewer than k different subjects
    few: int  # groups, and those among them of fewer than k different subjects
    nameless: int  # recordings that name no subject, and all that were read, where the source tells
    read: int | None  # recordings that name no subject

    @property
    def word(self) -> str:
        """What is counted, in one word."""
        return "subjects" if self.by_subjects else "records"

    @property
    def notice(self) -> str:
        """The first line of a report."""
        notice = "For the holder of the data, not for publication."
        if self.by_subjects and not self.nameless:
            return notice
        if self.by_subjects:
            of_all = "" if self.read is None else f" of {self.read}"
            return (
                f"{notice} {self.nameless}{of_all} recordings name no subject, and "
                "each of them was counted as a subject of its own."
            )
        if not self.known:
            return f"{notice} k counts trajectories: nothing is known of their subjects."
        if not self.few:
            return (
                f"{notice} k counts trajectories; each group also holds {self.k} "
                "different subjects."
            )
        return f"{notice} {too_few(self.k, self.groups, records=0, people=self.few)}."


def versions() -> dict[str, str]:
    """What the result was made with."""
    names = ("trajanon", "numpy", "numba")
    return {name: version(name) for name in names} | {"python": platform.python_version()}
