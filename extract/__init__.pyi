from .earth.area import Box as Box
from .earth.area import Region as Region
from .earth.area import read_outline as read_outline
from .earth.named_or_tagged_places import hidden as hidden
from .earth.osm_file_boundaries import boundary as boundary
from .earth.osm_file_roads import roads_to_follow as roads_to_follow
from .extraction import extract as extract
from .extraction import extract_to as extract_to
from .extraction import traces as traces
from .from_frames import from_collection as from_collection
from .from_frames import from_frame as from_frame
from .hidden_homes_and_ends import Radius as Radius
from .one_persons_tracks import Trimmed as Trimmed
from .one_persons_tracks import trim as trim
from .options_and_defaults import Rules as Rules
from .options_and_defaults import SourceOptions as SourceOptions
from .trace import Trace as Trace
from .traces_to_trajectories import cut as cut

__all__: list[str]
