"""What it costs to count subjects instead of records."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from trajanon.arrays import Floats, Ints
from trajanon.microaggregation import microaggregate
from trajanon.partition import Partition, subjects_per_group


@dataclass(frozen=True, slots=True)
class Price:
    """One method, with k records and with k subjects in each group."""

    method: str  # in words
    records: float  # IL in percent, on the windows as they were cut
    subjects: float  # IL in percent, on the windows as they were cut
    violations: int  # groups of k records that hold fewer than k subjects
    groups: int  # how many there are in all

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def price(records: Floats, k: int, subjects: Ints) -> list[Price]:
    """Group records twice by each of two methods: MDAV, and path, cut and descent."""
    if subjects.max() + 1 < k:
        return []

    def by_mdav(whose: Ints | None) -> Partition:
        return microaggregate(records, k, method="mdav", refine="none", subjects=whose)

    def by_path(whose: Ints | None) -> Partition:
        return microaggregate(records, k, effort="fast", subjects=whose)

    def paid(method: str, group: Callable[[Ints | None], Partition]) -> Price:
        of_records, of_subjects = group(None), group(subjects)
        held = subjects_per_group(of_records.labels, subjects)
        return Price(
            method=method,
            records=of_records.information_loss,
            subjects=of_subjects.information_loss,
            violations=int((held < k).sum()),
            groups=len(held),
        )

    return [paid("MDAV", by_mdav), paid("path, cut and descent", by_path)]
