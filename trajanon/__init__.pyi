from .anonymization import anonymize as anonymize
from .common.errors import BadInput as BadInput
from .common.errors import FileProblem as FileProblem
from .common.errors import NoTrajectories as NoTrajectories
from .common.errors import ServerProblem as ServerProblem
from .common.errors import TooFewRecords as TooFewRecords
from .common.errors import TooFewSubjects as TooFewSubjects
from .common.errors import TrajanonError as TrajanonError
from .evaluation.evaluation import evaluate as evaluate
from .evaluation.evidence import Evaluation as Evaluation
from .evaluation.publisher import Publisher as Publisher
from .files.release_formats import read_release as read_release
from .files.trajectory_files import read_trajectories as read_trajectories
from .files.trajectory_files import write_trajectories as write_trajectories
from .grouping.bound.lower_bound import Bound as Bound
from .grouping.bound.lower_bound import lower_bound as lower_bound
from .grouping.microaggregation import microaggregate as microaggregate
from .grouping.partition import Partition as Partition
from .release.release import Release as Release
from .release.release_check import Findings as Findings
from .release.release_check import check as check
from .shards.parts import anonymize_parts as anonymize_parts
from .shards.publication import anonymize_file as anonymize_file
from .street_counts.od_table import zone_flows as zone_flows
from .street_counts.streets import streets as streets
from .tables.table_check import TableFindings as TableFindings
from .tables.table_check import check_table as check_table
from .tables.tables import MicroaggregatedTable as MicroaggregatedTable
from .tables.tables import microaggregate_table as microaggregate_table
from .trajectories.trajectories import ReleasedTrajectories as ReleasedTrajectories
from .trajectories.trajectories import Trajectories as Trajectories

__version__: str
__all__: list[str]
