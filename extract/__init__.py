"""GPS traces -> trajectories of equally spaced points.

Names are loaded when they are first used: files are read without the libraries for maps and roads.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trajanon.extract.cutting import cut as cut
    from trajanon.extract.earth.area import Box as Box
    from trajanon.extract.earth.area import Region as Region
    from trajanon.extract.earth.area import read_outline as read_outline
    from trajanon.extract.earth.osm_file import boundary as boundary
    from trajanon.extract.earth.osm_file import hidden as hidden
    from trajanon.extract.earth.roads import roads_to_follow as roads_to_follow
    from trajanon.extract.extraction import extract as extract
    from trajanon.extract.extraction import extract_to as extract_to
    from trajanon.extract.extraction import traces as traces
    from trajanon.extract.from_frames import from_collection as from_collection
    from trajanon.extract.from_frames import from_frame as from_frame
    from trajanon.extract.rules import Rules as Rules
    from trajanon.extract.rules import SourceOptions as SourceOptions
    from trajanon.extract.trace import Trace as Trace

_NAMES = {  # by the module that they are in
    "cutting": "cut",
    "earth.area": "Box Region read_outline",
    "earth.osm_file": "boundary hidden",
    "earth.roads": "roads_to_follow",
    "extraction": "extract extract_to traces",
    "from_frames": "from_collection from_frame",
    "rules": "Rules SourceOptions",
    "trace": "Trace",
}
_HOME = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names.split()}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOME]
