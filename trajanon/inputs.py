"""Input files: only those that end, that are what their names say, and whose text is UTF-8."""

from pathlib import Path
from stat import S_ISDIR, S_ISREG

from trajanon.errors import BadInput, FileProblem, printable

_BINARY = {
    ".parquet": (b"PAR1", "Parquet"),
    ".geoparquet": (b"PAR1", "Parquet"),
    ".gpkg": (b"SQLite format 3", "GeoPackage"),
}
_HEAD = 4096  # bytes that tell
_NOT_UTF8 = "is not UTF-8, perhaps Latin-1 or Windows-1252"
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


def seems_utf16(text: bytes) -> bool:
    """Tell whether a text, or its beginning, is of two bytes a letter, marked as such or not."""
    text = text[:_HEAD]
    half = max(len(text) // 2, 1)
    least, most = sorted(text[first::2].count(0) for first in (0, 1))
    return text.startswith((b"\xff\xfe", b"\xfe\xff")) or least < 0.1 * half < 0.7 * half < most


def other_encoding(text: bytes) -> str:
    """Say what a text that is not UTF-8 seems to be, and the way out."""
    is_like = "seems to be UTF-16" if seems_utf16(text) else _NOT_UTF8
    return f"{is_like}: save the file as UTF-8, as editors do under Save As, and Excel as CSV UTF-8"


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
