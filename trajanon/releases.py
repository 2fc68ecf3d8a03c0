"""A release and its report, as `trajanon.anonymize` gives them."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from trajanon.errors import BadInput
from trajanon.files.release import check_format, write_release
from trajanon.files.report import report_path
from trajanon.outputs import replacing
from trajanon.trajectories import Trajectories


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """What may be published, and what the holder should know of it.

    Attributes
    ----------
    trajectories
        The released trajectories: centroids in random order, without subjects.
    report
        For the holder, ready for JSON. Not for publication: ``labels`` links each original to its
        group.
    """

    trajectories: Trajectories
    report: dict[str, Any]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the release, and its report beside it."""
        path = Path(path)
        check_format(path)
        with replacing(path, report_path(path), public=[path]) as drafts:
            self.write_drafts(*drafts)

    def write_drafts(self, release_draft: Path, report_draft: Path) -> None:
        """Write the two files where somebody else moves them into place."""
        write_release(release_draft, self.trajectories)
        text = json.dumps(self.report, indent=1, ensure_ascii=False)
        # The notice stands in the first line, beside the brace.
        report_draft.write_text("{ " + text[1:].lstrip() + "\n", encoding="utf-8")


def with_report(
    release: Release | Trajectories, report: Mapping[str, Any] | None
) -> tuple[Trajectories, Mapping[str, Any]]:
    """Take a release and its report, whether they are given as one or as two."""
    if isinstance(release, Release):
        if report is None:
            return release.trajectories, release.report
    elif report is not None:
        return release, report
    msg = (
        "give the Release that anonymize made, which has its report, or the released "
        "trajectories and their report"
    )
    raise BadInput(msg)


@contextmanager
def written(release: Release) -> Iterator[Path]:
    """Write a release, and its report beside it, for as long as it is looked at."""
    with TemporaryDirectory(prefix="trajanon-") as folder:
        path = Path(folder) / "release.parquet"
        release.write(path)
        yield path
