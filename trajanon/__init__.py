"""k-anonymous GPS trajectories with the least information loss.

>>> import trajanon
>>> from trajanon.data import sample
>>> from trajanon.extract import extract
>>> trajectories = extract(sample(), "madrid")
>>> release = trajanon.anonymize(trajectories, k=4, effort="fast")
>>> release.write("anonymized.parquet")
>>> trajanon.check("anonymized.parquet", k=4).holds
True

Names are loaded when they are first used, so that ``trajanon --help`` waits for none of the
libraries beneath.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    __version__: str
    from trajanon.common.errors import BadInput as BadInput
    from trajanon.common.errors import FileProblem as FileProblem
    from trajanon.common.errors import NoTrajectories as NoTrajectories
    from trajanon.common.errors import ServerProblem as ServerProblem
    from trajanon.common.errors import TooFewRecords as TooFewRecords
    from trajanon.common.errors import TooFewSubjects as TooFewSubjects
    from trajanon.common.errors import TrajanonError as TrajanonError
    from trajanon.data_frames import anonymize as anonymize
    from trajanon.evaluation.evaluation import evaluate as evaluate
    from trajanon.evaluation.evidence import Evaluation as Evaluation
    from trajanon.evaluation.publisher import Publisher as Publisher
    from trajanon.files.release_formats import read_release as read_release
    from trajanon.files.trajectory_files import read_trajectories as read_trajectories
    from trajanon.files.trajectory_files import write_trajectories as write_trajectories
    from trajanon.grouping.bound.lower_bound import Bound as Bound
    from trajanon.grouping.bound.lower_bound import lower_bound as lower_bound
    from trajanon.grouping.microaggregation import microaggregate as microaggregate
    from trajanon.grouping.partition import Partition as Partition
    from trajanon.release.release import Release as Release
    from trajanon.release.release_check import Findings as Findings
    from trajanon.release.release_check import check as check
    from trajanon.shards.parts import anonymize_parts as anonymize_parts
    from trajanon.shards.publication import anonymize_file as anonymize_file
    from trajanon.street_counts.od_table import zone_flows as zone_flows
    from trajanon.street_counts.streets import streets as streets
    from trajanon.tables.tables import MicroaggregatedTable as MicroaggregatedTable
    from trajanon.tables.tables import TableFindings as TableFindings
    from trajanon.tables.tables import check_table as check_table
    from trajanon.tables.tables import microaggregate_table as microaggregate_table
    from trajanon.trajectories.trajectories import Trajectories as Trajectories

_NAMES = {  # by the module that they are in
    "common.errors": (
        "BadInput FileProblem NoTrajectories ServerProblem TooFewRecords TooFewSubjects "
        "TrajanonError"
    ),
    "data_frames": "anonymize",
    "evaluation.evaluation": "evaluate",
    "evaluation.evidence": "Evaluation",
    "evaluation.publisher": "Publisher",
    "files.release_formats": "read_release",
    "files.trajectory_files": "read_trajectories write_trajectories",
    "grouping.bound.lower_bound": "Bound lower_bound",
    "grouping.microaggregation": "microaggregate",
    "grouping.partition": "Partition",
    "release.release": "Release",
    "release.release_check": "Findings check",
    "shards.parts": "anonymize_parts",
    "shards.publication": "anonymize_file",
    "street_counts.od_table": "zone_flows",
    "street_counts.streets": "streets",
    "tables.tables": "MicroaggregatedTable TableFindings check_table microaggregate_table",
    "trajectories.trajectories": "Trajectories",
}
_HOME = {name: f"trajanon.{module}" for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("trajanon")
    if name in ("data", "extract", "maps"):
        return import_module(f"trajanon.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'trajanon' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOME, "__version__"]
