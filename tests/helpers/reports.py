"""Reports of releases that were never made."""

from typing import Any

from trajanon.release.report import Report
from trajanon.release.report_files import checked

NO_ERRORS = dict.fromkeys(("mean", "median", "p95", "max"), 0.0)

UNMOVED: dict[str, Any] = {
    "groups": 2,
    "lines": 2,
    "points": 3,
    "information_loss": 0.0,
    "stages": [],
    "rows": {"way": "trajectories"},
    "displacement": NO_ERRORS,
    "curve_distance": {"to_line": NO_ERRORS, "to_way": NO_ERRORS},
    "length": {"mean": 1_000.0, "median": 900.0},
}
"""What stands in a report beside its groups, of which a test says nothing."""


def reported(**facts: Any) -> Report:
    """Return a report of a hundred groups of five, of which there is nothing to say, but for facts.

    Of lengths and errors, what is not among the facts is 0.
    """
    far = {"mean": 50.0, "median": 30.0, **facts.pop("displacement", {})}
    report = UNMOVED | {
        "notice": "",
        "k": 5,
        "n": 500,
        "counted": "subjects",
        "unit": "trip",
        "rows": {"way": "subjects"},
        "groups": 100,
        "lines": 100,
        "sizes": [5] * 100,
        "subjects_per_group": [5] * 100,
        "labels": [*range(100)] * 5,
        "displacement": {**NO_ERRORS, **far},
        "information_loss": 1.23,
        "chains": None,
        "persons": {"people": 0, "people_below": 0},
        "source": {"recordings": 1_000, "used": 1_000},
    }
    return checked(report | facts)
