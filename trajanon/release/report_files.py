"""The report of a release as a file beside it: how it is written, found and read."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NotRequired, TypedDict

import msgspec
import numpy as np

from trajanon.common.errors import BadInput, FileProblem
from trajanon.common.json_toml_and_regular_files import parsed, regular, typed
from trajanon.common.plain_text import escaped_json
from trajanon.files.release_formats import RELEASE_FORMATS
from trajanon.release.report import AGAIN, Report

# Entries that are not in every report.
_WHERE_KNOWN = {
    *("lines_of_few_named", "roads", "extraction", "ledger", "shards", "members", "run")
}
_IN_TABLE = {"labels", "sizes", "subjects_per_group", "line_keys", "suppressed"}
_NOT_OF_SHARDS = {"persons", "averaged", "choice", "alignment_skipped"}


def json_ready(report: Report) -> dict[str, Any]:
    """Return a report as JSON has it, and its readers in Python get it."""
    absent = {name for name in _WHERE_KNOWN if getattr(report, name) is None}
    if report.members is not None:
        absent |= _IN_TABLE | _NOT_OF_SHARDS
    entries = msgspec.to_builtins(report)
    return {name: value for name, value in entries.items() if name not in absent}


MEMBERS = "rows.parquet"
"""The end of the name of the table beside a report without labels: a row for each trajectory, in
the order of the parts, with its ``group`` (-1 where it was left out), the ``key`` of its line,
whether it has an ``own_row`` in the release, and of windows their ``start``."""


def report_path(release: Path, end_of_name: str = "report.json") -> Path:
    """Find where the report of a release stands, which is a file, or a folder of parts."""
    name = f"{release.name}.parts" if release.is_dir() else release.stem
    return release.parent / f"{name}.{end_of_name}"


def new_report_path(release: Path, text: str = "") -> Path:
    """Find where a report goes; refuse to replace that of a release in another format.

    A report with the ``text`` that is about to be written may stand there already.
    """
    report = report_path(release)
    if report.is_file() and not release.exists() and report.read_bytes() != text.encode():
        for other_format in filter(Path.exists, map(release.with_suffix, RELEASE_FORMATS)):
            raise BadInput(f"{report} belongs to {other_format}: give {release} another name")
    return report


def datasheet_path(release: Path) -> Path:
    """Find where the datasheet of a release stands: each release has its own."""
    return report_path(release, "datasheet.md")


def is_release(path: Path) -> bool:
    """Return whether a file or folder is a release, or counts of one, by what is beside it."""
    return path.exists() and (report_path(path).exists() or datasheet_path(path).exists())


def read_report(release: Path) -> Report:
    """Read the report that stands beside a release."""
    if not release.exists():
        raise FileProblem(f"there is no {release}; make it with: trajanon anonymize -k 4")
    if (report := report_beside(release)) is None:
        raise FileProblem(
            f"there is no {report_path(release)}, the report with the groups of {release}: name "
            "trajectories first and then their release, run trajanon anonymize again, or show the "
            "release alone with trajanon map --view public"
        )
    return report


def report_beside(release: Path) -> Report | None:
    """Read the report that stands beside a release, if there is one."""
    path = regular(report_path(release))
    try:
        account = parsed(path.read_bytes(), dict[str, Any])
        if "members" in account:
            account |= _lists_of(typed(account, _OfShards), report_path(release, MEMBERS))
        return typed(account, Report)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise FileProblem(f"cannot read the report {path}: {error.strerror}") from error
    except BadInput as error:
        raise FileProblem(f"{path} is not a report of trajanon, {error}: {AGAIN}") from error


def checked(report: Report | Mapping[str, object]) -> Report:
    """Read a report that anybody may have made."""
    if isinstance(report, Report):
        return report
    if "members" in report:  # its labels are in a table, which only a path leads to
        report = {"labels": [], **report}
    try:
        return typed(report, Report)
    except BadInput as error:
        raise BadInput(f"this is not a report of trajanon, {error}: {AGAIN}") from error


class _OfShards(TypedDict):
    """Entries of a report of shards that are completed by the table beside it."""

    members: str
    rows: dict[str, Any]
    alignment: NotRequired[dict[str, Any] | None]


def _lists_of(account: _OfShards, path: Path) -> dict[str, Any]:
    """Read the lists of a report of shards off the table beside it, in which `MEMBERS` are."""
    import pyarrow.parquet as pq

    if not path.is_file():
        raise FileProblem(f"there is no {path}, which belongs to the report beside it: {AGAIN}")
    if digest_of_file(path) != account["members"]:
        raise FileProblem(f"{path} is of another release than its report: {AGAIN}")
    table = pq.read_table(path)
    groups = table["group"].to_numpy()  # -1 where a trajectory was left out
    is_released = groups >= 0
    labels = groups[is_released]
    first_members = np.unique(labels, return_index=True)[1]
    keys = table["key"].to_numpy()[is_released]
    has_row = table["own_row"].to_numpy()[is_released]

    suppressed = np.flatnonzero(~is_released).tolist()
    alignment = account.get("alignment")
    if alignment is not None:
        alignment = alignment | {"starts": table["start"].to_numpy()[is_released].tolist()}
    return {
        "labels": labels.tolist(),
        "sizes": np.bincount(labels).tolist(),
        "line_keys": keys[first_members].tolist(),
        "rows": account["rows"] | {"without": np.flatnonzero(~has_row).tolist()},
        "suppressed": {"rows": suppressed} if suppressed else None,
        "alignment": alignment,
    }


def digest_of_file(path: Path) -> str:
    """Compute 128 bits of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def json_report(report: Mapping[str, object]) -> str:
    """Write a report as JSON; its first entry, the notice, stands in the first line."""
    first_entry_and_others = _json_text(report, 1).removeprefix("{").lstrip()
    return escaped_json(f"{{ {first_entry_and_others}\n")


def _json_text(value: object, depth: int) -> str:
    """Write entries below one another, and a list, which may be long, on one line."""
    if not isinstance(value, dict) or not value:
        return json.dumps(value, ensure_ascii=False)
    entries = (
        f"{depth * ' '}{json.dumps(name, ensure_ascii=False)}: {_json_text(entry, depth + 1)}"
        for name, entry in value.items()
    )
    return "{\n" + ",\n".join(entries) + "\n" + (depth - 1) * " " + "}"
