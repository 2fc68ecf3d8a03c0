"""Input files: only those that end, and that are what their names say."""

from pathlib import Path
from stat import S_ISDIR, S_ISREG

from trajanon.errors import BadInput, FileProblem, printable

_BINARY = {
    ".parquet": (b"PAR1", "Parquet"),
    ".geoparquet": (b"PAR1", "Parquet"),
    ".gpkg": (b"SQLite format 3", "GeoPackage"),
}
_TEXT = (".csv", ".geojson", ".gpx", ".mfjson")


def regular(path: Path) -> Path:
    """Refuse a pipe, a device or a socket, which may never end; before it is opened.

    What is not there, or is a folder, is for the reader to say.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return path
    if not S_ISREG(mode) and not S_ISDIR(mode):
        raise BadInput(f"{path} is a device or a pipe: save it to a file, and name that")
    return path


def named_rightly(path: Path) -> Path:
    """Refuse Parquet and GeoPackage under other names, and texts under theirs.

    What cannot be opened, or begins like nothing known, is for the reader to say.
    """
    regular(path)
    try:
        with path.open("rb") as file:
            head = file.read(200)
    except (OSError, ValueError):
        return path
    suffix = path.suffix.lower()
    for name, (magic, kind) in _BINARY.items():
        if head.startswith(magic) and suffix in _TEXT:
            raise FileProblem(f"{path} begins as {kind}: let its name end in {name}")
    line = head.decode("utf-8-sig", "replace").partition("\n")[0].rstrip("\r")
    text = line.strip() and line.expandtabs().isprintable() and "\ufffd" not in line
    if suffix in _BINARY and text and not head.startswith((b"PAR1", b"SQLite")):
        raise FileProblem(
            f"{path} is no {_BINARY[suffix][1]} but a text that begins with "
            f"{printable(line, 40)!r}: if it is a table, let its name end in .csv"
        )
    return path
