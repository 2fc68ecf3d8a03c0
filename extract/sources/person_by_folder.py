"""Folders that are persons: whose folder a file lies in, and the folder as its traces' subject."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from trajanon.extract.trace import Trace
from trajanon.trajectories.person_names import tidied


def folder_of_person(file: Path, source: Path, sources: Sequence[Path]) -> str:
    """Name the folder that is a person: each source, or each folder within the only one."""
    folders_within = file.relative_to(source).parts[:-1]
    if folders_within and len(sources) == 1:
        return folders_within[0]
    return source.absolute().name


def outermost_folder(member: str, label: str) -> str:
    """Name the outermost folder in an archive around a member; empty if there is none.

    ``member`` begins with the label of the archive.
    """
    folders_inside = member.removeprefix(f"{label}/").rpartition("/")[0]
    return folders_inside.partition("/")[0]


def of_person(trace: Trace, folder: str) -> Trace:
    """Make a folder the person of a trace."""
    return replace(trace, subject=tidied(folder) or None, spellings=())
