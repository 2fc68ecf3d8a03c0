"""GPS traces -> trajectories of equally spaced points."""

from trajanon.extract.api import extract, traces
from trajanon.extract.cutting import cut
from trajanon.extract.earth.areas import areas
from trajanon.extract.earth.boundaries import boundary
from trajanon.extract.earth.box import Area, Box
from trajanon.extract.earth.network import roads_to_follow
from trajanon.extract.earth.places import Zone, hidden
from trajanon.extract.earth.regions import Region, read_outline
from trajanon.extract.earth.roads import Roads, roads
from trajanon.extract.extraction import Extraction
from trajanon.extract.frames import from_collection, from_frame, to_collection, to_frame
from trajanon.extract.rules import Rules
from trajanon.extract.trace import Trace

__all__ = [
    "Area",
    "Box",
    "Extraction",
    "Region",
    "Roads",
    "Rules",
    "Trace",
    "Zone",
    "areas",
    "boundary",
    "cut",
    "extract",
    "from_collection",
    "from_frame",
    "hidden",
    "read_outline",
    "roads",
    "roads_to_follow",
    "to_collection",
    "to_frame",
    "traces",
]
