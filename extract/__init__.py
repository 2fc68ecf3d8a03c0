"""GPS traces -> trajectories of equally spaced points."""

from trajanon.extract.areas import Box
from trajanon.extract.cutting import cut
from trajanon.extract.extraction import extract
from trajanon.extract.rules import Rules
from trajanon.extract.sources.files import file_traces
from trajanon.extract.trace import Trace

__all__ = ["Box", "Rules", "Trace", "cut", "extract", "file_traces"]
