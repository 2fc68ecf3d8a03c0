"""What it costs to count subjects instead of records."""

from dataclasses import dataclass
from typing import Any

from trajanon.arrays import Floats, Ints
from trajanon.microaggregation import microaggregate
from trajanon.partition import subjects_per_group

_METHODS: dict[str, dict[str, Any]] = {
    "MDAV": {"method": "mdav", "refine": "none"},
    "path, cut and descent": {"effort": "fast"},
}


@dataclass(frozen=True, slots=True)
class Price:
    """One method, with k records and with k subjects in each group."""

    method: str  # in words
    records: float  # IL in percent with k records, on the windows as they were cut
    subjects: float  # the same with k subjects
    violations: int  # groups of k records that hold fewer than k subjects
    groups: int  # all groups of k records


def price(records: Floats, k: int, subjects: Ints) -> list[Price]:
    """Group records twice by each of two methods: MDAV, and path, cut and descent."""
    if subjects.max() + 1 < k:
        return []

    prices = []
    for name, options in _METHODS.items():
        of_records, of_subjects = (
            microaggregate(records, k, subjects=counted, **options) for counted in (None, subjects)
        )
        held = subjects_per_group(of_records.labels, subjects)
        prices.append(
            Price(
                method=name,
                records=of_records.information_loss,
                subjects=of_subjects.information_loss,
                violations=int((held < k).sum()),
                groups=len(held),
            )
        )
    return prices
