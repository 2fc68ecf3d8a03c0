"""Input files: only those that end."""

from pathlib import Path
from stat import S_ISDIR, S_ISREG

from trajanon.errors import BadInput


def regular(path: Path) -> Path:
    """Refuse a pipe, a device or a socket, which may never end; before it is opened.

    What is not there, or is a folder, is for the reader to say.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return path
    if not S_ISREG(mode) and not S_ISDIR(mode):
        msg = f"{path} is a device or a pipe: save it to a file, and name that"
        raise BadInput(msg)
    return path
