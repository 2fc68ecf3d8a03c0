"""Reports of releases that were never made."""

from typing import Any

from trajanon.release.report import Report, checked


def reported(**facts: Any) -> Report:
    """Return a report of a hundred groups of five, of which there is nothing to say, but for facts.

    Of lengths and errors, what is not among the facts is 0.
    """
    zeros = {"median": 0.0, "p95": 0.0, "max": 0.0}
    far = {"mean": 50.0, "median": 30.0, **facts.pop("displacement", {})}
    report: dict[str, Any] = {
        "notice": "",
        "k": 5,
        "n": 500,
        "counted": "subjects",
        "unit": "trip",
        "rows": {"way": "subjects"},
        "groups": 100,
        "lines": 100,
        "points": 30,
        "sizes": [5] * 100,
        "subjects_per_group": [5] * 100,
        "labels": [*range(100)] * 5,
        "stages": [],
        "displacement": {**zeros, **far},
        "curve_distance": {name: {"mean": 0.0, **zeros} for name in ("to_line", "to_way")},
        "length": {"mean": 1_000.0, "median": 900.0},
        "information_loss": 1.23,
        "chains": None,
        "source": {"recordings": 1_000, "used": 1_000},
    }
    return checked(report | facts)
