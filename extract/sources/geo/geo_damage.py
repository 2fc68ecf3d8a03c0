"""Damage of geographic files that GDAL passes over in silence."""

from pathlib import Path

from trajanon.errors import FileProblem
from trajanon.extract.sources.streams import Reading

NO_FEATURE = "lines that are no features"


def check_shapefile(path: Path, what: str) -> None:
    """Refuse a Shapefile that is not whole."""
    beside = {file.suffix.lower() for file in path.parent.glob(f"{path.stem}.*")}
    for suffix in (".shx", ".dbf"):
        if suffix not in beside:
            msg = f"{what} needs the other files of its Shapefile: no {suffix} beside it"
            raise FileProblem(msg)
    with path.open("rb") as file:
        said = 2 * int.from_bytes(file.read(28)[24:], "big")
    size = path.stat().st_size
    if size < said:
        raise _cut_off(what, f"{size:,} of {said:,} bytes")


def check_count(read: int, said: int | None, what: str) -> None:
    """Refuse a file that ended before all of its features were read."""
    if said is not None and read < said:
        raise _cut_off(what, f"{read:,} of {said:,} features")


def check_lines(path: Path, read: int, what: str, how: Reading) -> None:
    """Count the lines of newline-delimited GeoJSON that gave no feature."""
    with path.open("rb") as file:
        separated = file.read(1) == b"\x1e"
        file.seek(0)
        if separated:
            there = sum(line.count(b"\x1e") for line in file)
        else:
            there = sum(not line.isspace() for line in file)
    broken = there - read
    if broken > 0 and how.strict:
        msg = (
            f"{what} has lines that are no features, {broken:,} of {there:,}; mend "
            "them, or read without strict"
        )
        raise FileProblem(msg)
    if broken > 0:
        how.counts[NO_FEATURE] += broken


def _cut_off(what: str, there: str) -> FileProblem:
    return FileProblem(f"{what} is damaged or cut off: it has {there}")
