"""Options of the version before, and what takes their place; they go with the next one."""

from collections.abc import Mapping

REMOVED: Mapping[str, Mapping[str, str]] = {
    "extract": {
        "admin-level": "give the number of the relation as --area",
        "format": "content and suffix tell the kind of a file: rename one that is mistaken",
        "limit": "--max-per-subject bounds what each gives, and rows of the file may be left out",
        "max-fill": "lower --max-gap: over longer hops no straight line is drawn",
        "min-displacement": "take whole trips with --trips, which end where somebody stays",
        "no-tracks": "tracks are kept, and trajanon anonymize --no-align does not use them",
        "radius": "150 m are cut out; in Python, trajanon.extract.hidden takes any radius",
        "refresh": "remove the folder of pages that the extraction names, to ask for new ones",
        "resume": "a stopped extraction begins anew, and pages of the OSM server are kept",
        "strict": "what cannot be read is counted, and the first broken line of a table is named",
        "source": "name the files and folders alone: trajanon extract FILES",
    },
    "clean": {"unfinished": "extractions leave drafts alone, which trajanon clean removes"},
}
"""By command and option: what to do instead."""


def removed(command: str | None, option: str) -> str:
    """Say what takes the place of an option, if a command had it before; else nothing."""
    name = option.lstrip("-").replace("_", "-")
    instead = REMOVED.get(command or "", {}).get(name, "")
    return instead and f"--{name} was removed: {instead}"
