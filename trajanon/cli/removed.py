"""Options of the version before, and what takes their place; they go with the next one."""

from collections.abc import Mapping

REMOVED: Mapping[str, Mapping[str, str]] = {
    "extract": {
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
