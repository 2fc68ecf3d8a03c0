"""The program that turns formats that are not read here into GPX, and how it is called."""

import shlex
from collections.abc import Mapping
from pathlib import Path

NAMES: Mapping[str, str] = {
    ".bin": "mtk-bin",  # of most loggers; others are skytraq-bin and m241-bin
    ".crs": "gtrnctr",
    ".gdb": "gdb",
    ".gtm": "gtm",
    ".hst": "gtrnctr",
    ".ht": "humminbird_ht",
    ".igc": "igc",
    ".plt": "ozi",
    ".usr": "lowranceusr",
}
"""What GPSBabel calls formats with tracks, by suffix."""


def command(path: Path, name: str | None = None) -> str:
    """Write the command that makes a GPX file of a file, beside it."""
    name = name or NAMES.get(path.suffix.lower(), "FORMAT")
    file, gpx = (shlex.quote(str(one)) for one in (path, path.with_suffix(".gpx")))
    return f"gpsbabel -t -i {name} -f {file} -o gpx -F {gpx}"
