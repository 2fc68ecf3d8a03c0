"""Options of the version before, and what takes their place; they go with the next one."""

from collections.abc import Mapping

_OF_METHODS = "trajanon microaggregate has it, and trajanon.anonymize in Python"

REMOVED: Mapping[str, Mapping[str, str]] = {
    "extract": {
        "admin-level": "give the number of the relation as --area",
        "format": "content and suffix tell the kind of a file: rename one that is mistaken",
        "limit": "--max-per-subject bounds what each gives, and rows of the file may be left out",
        "max-fill": "lower --max-gap: over longer hops no straight line is drawn",
        "min-displacement": "whole trips, the default, end where somebody stays",
        "no-tracks": "tracks are kept, and trajanon anonymize --no-align does not use them",
        "per-trace": "--per-recording is its new name, for windows",
        "radius": "150 m are cut out; in Python, trajanon.extract.hidden takes any radius",
        "refresh": "remove the folder of pages that the extraction names, to ask for new ones",
        "resume": "a stopped extraction begins anew, and pages of the OSM server are kept",
        "strict": "what cannot be read is counted, and the first broken line of a table is named",
        "source": "name the files and folders alone: trajanon extract FILES",
        "trips": "whole trips are the default: leave it out",
    },
    "anonymize": {
        "count": "k counts people, and with --as-published records",
        "mode": "lines follow roads of all kinds; for those of cars alone lay them on roads "
        "afterwards, with trajanon snap",
        "min-radius": "where all of a group went one way, take a larger -k",
        "suppress": "the farthest of groups that are too wide are left out",
        "digits": "a release has 5 decimals",
        "keep-off": "a line with a point over 100 m from all roads stays as it is; for another "
        "distance lay it on roads afterwards, with trajanon snap",
        **dict.fromkeys(
            ("compress-by", "expansion", "gamma", "path-neighbours", "subsets"), _OF_METHODS
        ),
        **dict.fromkeys(("shuffle-probability", "max-events"), _OF_METHODS),
    },
    "check": {"digits": "a release has at most 5 decimals"},
    "evaluate": {"pbf": "--roads is its new name"},
    "clean": {"unfinished": "extractions leave drafts alone, which trajanon clean removes"},
}
"""By command and option: what to do instead."""


def removed(command: str | None, option: str) -> str:
    """Say what takes the place of an option, if a command had it before; else nothing."""
    name = option.lstrip("-").replace("_", "-")
    instead = REMOVED.get(command or "", {}).get(name, "")
    return instead and f"--{name} was removed: {instead}"
