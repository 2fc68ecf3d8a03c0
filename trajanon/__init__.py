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
    from trajanon.bound.lower_bound import Bound as Bound
    from trajanon.bound.lower_bound import lower_bound as lower_bound
    from trajanon.data_frames import anonymize as anonymize
    from trajanon.errors import TrajanonError as TrajanonError
    from trajanon.evaluation.evaluation import evaluate as evaluate
    from trajanon.evaluation.evidence import Evaluation as Evaluation
    from trajanon.evaluation.publisher import Publisher as Publisher
    from trajanon.files.release_formats import read_release as read_release
    from trajanon.files.trajectory_files import read_trajectories as read_trajectories
    from trajanon.files.trajectory_files import write_trajectories as write_trajectories
    from trajanon.microaggregation import microaggregate as microaggregate
    from trajanon.od_table import zone_flows as zone_flows
    from trajanon.partition import Partition as Partition
    from trajanon.parts import anonymize_parts as anonymize_parts
    from trajanon.privacy.release_check import Findings as Findings
    from trajanon.privacy.release_check import check as check
    from trajanon.publication import anonymize_file as anonymize_file
    from trajanon.release import Release as Release
    from trajanon.street_counts import streets as streets
    from trajanon.tables import MicroaggregatedTable as MicroaggregatedTable
    from trajanon.tables import TableFindings as TableFindings
    from trajanon.tables import check_table as check_table
    from trajanon.tables import microaggregate_table as microaggregate_table
    from trajanon.trajectories import Trajectories as Trajectories

_NAMES = {  # by the module that they are in
    "bound.lower_bound": "Bound lower_bound",
    "data_frames": "anonymize",
    "errors": "TrajanonError",
    "evaluation.evaluation": "evaluate",
    "evaluation.evidence": "Evaluation",
    "evaluation.publisher": "Publisher",
    "files.release_formats": "read_release",
    "files.trajectory_files": "read_trajectories write_trajectories",
    "microaggregation": "microaggregate",
    "partition": "Partition",
    "parts": "anonymize_parts",
    "privacy.release_check": "Findings check",
    "publication": "anonymize_file",
    "release": "Release",
    "street_counts": "streets",
    "tables": "MicroaggregatedTable TableFindings check_table microaggregate_table",
    "trajectories": "Trajectories",
    "od_table": "zone_flows",
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
