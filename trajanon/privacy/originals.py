"""A release beside its originals and earlier releases, which only the holder has; also in parts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.spatial import KDTree

from trajanon.arrays import Bools, Floats, Ints
from trajanon.errors import BadInput
from trajanon.files.release_formats import read_release, release_parts
from trajanon.files.release_lines import clock_of, line_numbers
from trajanon.files.report import (
    NOT_TOGETHER,
    Report,
    all_labels_in,
    all_lines_in,
    clock_in,
    days_in,
    digest_of,
    kept_in,
    labels_in,
    line_keys,
    own_rows_in,
    read_report,
    released_of,
    report_path,
)
from trajanon.files.trajectory_files import Runs, read_owners, read_without_owners
from trajanon.loss import group_means
from trajanon.number_text import number_of
from trajanon.partition import broken_promises, dense, subjects_per_group
from trajanon.trajectories import Trajectories, joined_trajectories
from trajanon.verdict import too_few

NO_SUBJECTS = "these trajectories name no subjects, so none can be counted: check the release alone"

_OFF = 1.01e-7  # degrees: a mean may be computed otherwise than it was


class Matched(NamedTuple):
    """A release with its originals.

    Groups with equal lines are one: the release does not distinguish them.
    """

    labels: Ints  # group of each original, (n,), numbered 0..g-1
    lines: Floats  # released latitude and longitude of each group, (g, m, 2)
    slid: Trajectories  # the originals where they were when they were averaged
    own_row: Bools  # whether each original has a row of its own, (n,); else its subject has one
    times: Floats | None = None  # released times of each group, (g, m), if there are any


def matched(trajectories: Trajectories, release: Trajectories, report: Report) -> Matched:
    """Find each group's line in the release; its rows must be those of the report."""
    labels, slid, clock = labels_in(report), trajectories, clock_of(release)
    alike = trajectories.points.shape[1:] == release.points.shape[1:]
    if len(labels) != len(trajectories) or not alike:
        raise BadInput(NOT_TOGETHER)
    if clock != clock_in(report):
        raise BadInput(NOT_TOGETHER)
    if report.get("alignment") is not None:
        slid = _as_slid(trajectories, report)
    if clock is not None and slid.times is None:
        raise BadInput(NOT_TOGETHER)
    number = line_numbers(release.points, release.times)
    _, first, copies = np.unique(number, return_index=True, return_counts=True)
    different = release.take(first)
    digest = digest_of(slid.points, labels, None if clock is None else slid.times)
    own_row = own_rows_in(report)
    if (keys := report.get("line_keys")) is None:
        line = _of_0_1(different, slid, labels)
    elif len(keys) <= labels.max() or digest != report.get("averaged", digest):
        raise BadInput(NOT_TOGETHER)
    else:
        line = by_key(different, np.array(keys, dtype=np.int64)[labels])
    if not np.array_equal(np.bincount(line[own_row], minlength=len(first)), copies):
        raise BadInput(NOT_TOGETHER)
    labels, found = dense(line), np.empty_like(copies)
    found[labels] = line
    once = different.take(found)
    return Matched(labels, once.points, slid, own_row, once.times)


def _as_slid(trajectories: Trajectories, report: Report) -> Trajectories:
    """Move windows to where they were when they were averaged."""
    try:
        return trajectories.slid(_starts_in(report))
    except BadInput as error:
        raise BadInput(NOT_TOGETHER) from error


def _starts_in(report: Report) -> Ints:
    starts = (report.get("alignment") or {}).get("starts", [])
    return np.array(starts, dtype=np.int64)


def _of_0_1(lines: Trajectories, slid: Trajectories, labels: Ints) -> Ints:
    """Find the line of each trajectory, the mean of its group to 7 decimals: 0.1 had no keys."""
    means = group_means(slid.records, labels)
    _, nearest = KDTree(lines.records).query(means, p=np.inf, distance_upper_bound=_OFF)
    if lines.times is not None or (nearest == len(lines)).any():
        raise BadInput(NOT_TOGETHER)
    return np.asarray(nearest[labels])


def by_key(lines: Trajectories, keys: Ints) -> Ints:
    """Find the line of each trajectory among different ones by its key."""
    line = pd.Index(line_keys(lines.points, lines.times)).get_indexer(keys)
    if (line < 0).any():
        raise BadInput(NOT_TOGETHER)
    return np.asarray(line.astype(np.int64))


def with_originals(
    path: Path, release: Trajectories, k: int, trajectories: Trajectories, against: Sequence[Path]
) -> list[str]:
    """Count subjects of a release, read from a path, and compare it with earlier ones."""
    if trajectories.subject is None:
        raise BadInput(NO_SUBJECTS)
    subjects = dense(trajectories.subject)
    lines, problems = _held(path, release, trajectories), []
    kept = lines >= 0
    sizes = np.bincount(lines[kept])
    if people := broken_promises(lines[kept], subjects[kept], k):
        records = int((sizes < k).sum())
        problems.append(too_few(k, len(sizes), records=records, people=people))
    earlier = [_held(one, read_release(one), trajectories) for one in against]
    return problems + _together([lines, *earlier], k, subjects)


def beside_earlier(release: Path, sizes: Ints, k: int, against: Sequence[Path]) -> list[str]:
    """Count the trajectories that releases hide among fewer than k together, from their reports."""
    labels = [_labels(release, sizes)]
    for path in against:
        read = read_release(path)
        earlier = _labels(path, np.bincount(line_numbers(read.points, read.times)))
        if len(earlier) != len(labels[0]):
            raise BadInput(
                f"{path} was made of {number_of(len(earlier), 'trajectory', 'trajectories')} and "
                f"{release} of {len(labels[0])}: what the two tell together can be counted only if "
                "both are of the same trajectories"
            )
        labels.append(earlier)
    return _together(labels, k, None)


def _held(path: Path, release: Trajectories, trajectories: Trajectories) -> Ints:
    """Find the line of each original, or of its day; -1 where left out."""
    report = read_report(path)
    try:
        found = matched(released_of(trajectories, report), release, report)
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from error
    labels = all_labels_in(report)
    lines = np.full_like(labels, -1)
    lines[labels >= 0] = found.labels
    day = days_in(trajectories, report)[1]  # or each trajectory itself
    return np.where(day < 0, -1, lines[day])


def _labels(release: Path, sizes: Ints) -> Ints:
    """Take lines from a report, if the lines of its release occur as often."""
    report = read_report(release)
    labels = all_lines_in(report)
    reported = np.bincount(labels[labels >= 0][own_rows_in(report)])
    reported = np.sort(reported[reported > 0])
    if not np.array_equal(reported, np.sort(sizes)):
        raise BadInput(
            f"{report_path(release)} is not the report of {release}: their lines occur "
            "with different frequencies; run trajanon anonymize again"
        )
    return labels


def _together(releases: Sequence[Ints], k: int, subjects: Ints | None) -> list[str]:
    """Count the trajectories that releases together hide among fewer than k.

    Anyone who knows the groups of a trajectory in several releases narrows it down to the members
    that they have in common.
    """
    if len(releases) == 1:
        return []
    labels = np.column_stack(releases)
    rows = np.flatnonzero((labels >= 0).any(axis=1))
    labels, owners = labels[rows], rows if subjects is None else subjects[rows]
    cell = np.unique(labels, axis=0, return_inverse=True)[1].reshape(-1)
    common = subjects_per_group(cell, owners)[cell]
    several = (labels >= 0).sum(axis=1) > 1
    what = "trajectories" if subjects is None else "different subjects"
    two = len(releases) == 2
    problems = []
    if few := int((common[several] < k).sum()):
        alone = several & (common == 1)
        whom = f"{alone.sum()} of them stand alone"
        if subjects is not None:
            people = number_of(len(np.unique(owners[alone])), "subject")
            whom = f"{alone.sum()} of them have no other subject's beside them ({people})"
        problems.append(
            f"together with the earlier release{'s' * (not two)}, {few} of {several.sum()} "
            f"trajectories are in {'two ' * two}groups that have fewer than {k} {what} in common; "
            f"{whom}"
        )
    if few := int((common[~several] < k).sum()):
        problems.append(
            f"{number_of(few, 'trajectory is', 'trajectories are')} in a group of one release and "
            f"left out of the other{'s' * (not two)} together with fewer than {k} {what}: the "
            f"difference of {'the two' if two else 'these'} may tell where they went"
        )
    return problems


LARGEST = 20_000
"""Trajectories of a release of several shards that are evaluated and drawn whole."""

_AT_ONCE = 100_000  # trajectories


def is_large(report: Report) -> bool:
    """Tell whether a sample stands for a release."""
    return report.get("shards", 1) > 1 and report["n"] > LARGEST


class Sample(NamedTuple):
    """Some of the trajectories: all that are on some of the lines."""

    rows: Bools  # which, (n,)
    trajectories: Trajectories
    release: Trajectories  # their rows
    report: Report  # as if these were all


@dataclass(frozen=True, slots=True, eq=False)
class InParts:
    """What is held of them: each different line once, and of each trajectory its line."""

    originals: Path
    kept: Ints  # which of their rows were released, rising, (n,); these are meant from here on
    report: Report
    lines: Trajectories  # different ones, g
    of_rows: Ints  # the line of each released row, (r,)
    line: Ints  # that of each original, (n,)
    subject: Ints | None  # of each original, (n,), numbered from 0
    left_out: int  # rows that were not released
    nameless: int  # subjects without a name
    runs: Runs | None  # of each original; None where they are not known

    def few(self, k: int) -> dict[str, int | None]:
        """Count groups of fewer than k records, and of fewer than k subjects, if known."""
        people = None
        if self.subject is not None:
            people = broken_promises(self.line, self.subject, k)
        return {"records": int((np.bincount(self.line) < k).sum()), "subjects": people}

    def problems(self, k: int) -> list[str]:
        """Say what `trajanon.check` says of a release beside its originals."""
        if self.subject is None:
            raise BadInput(NO_SUBJECTS)
        few = self.few(k)
        said = too_few(k, len(self.lines), records=few["records"], people=few["subjects"])
        return [said] * bool(few["subjects"])

    @property
    def own_row(self) -> Bools:
        """Whether each original has a row of its own, (n,)."""
        return own_rows_in(self.report)

    def sample(self, lines: Bools) -> Sample:
        """Read all trajectories on some lines, by a mask of all, with their rows."""
        rows, report = lines[self.line], self.report.copy()
        groups, labels = np.unique(labels_in(report)[rows], return_inverse=True)
        keys = np.array(report.get("line_keys", []), dtype=np.int64)
        report["n"] = int(rows.sum())
        report["labels"], report["line_keys"] = labels.tolist(), keys[groups].tolist()
        without = np.flatnonzero(~self.own_row[rows]).tolist()
        report["rows"] = {"way": report["rows"]["way"], "without": without}
        if report.get("alignment") is not None:
            report["alignment"] = {"starts": _starts_in(report)[rows].tolist()}
        # Those that were left out are no part of the sample.
        for name in ("ledger", "suppressed", "sizes", "subjects_per_group"):
            report.pop(name, None)  # type: ignore[misc]
        report.pop("groups_of_equal_lines", None)
        released = self.lines.take(self.of_rows[lines[self.of_rows]])
        return Sample(rows, self._read(rows), released, report)

    def batches(self) -> Iterator[tuple[slice, Trajectories]]:
        """Read some rows after others: which, and what was averaged."""
        n, slid = len(self.line), self.report.get("alignment") is not None
        for begin in range(0, n, _AT_ONCE):
            some = slice(begin, min(begin + _AT_ONCE, n))
            which = np.zeros(n, dtype=np.bool_)
            which[some] = True
            read = self._read(which)
            if slid:
                read = read.slid(_starts_in(self.report)[some])
            yield some, read

    def _read(self, which: Bools) -> Trajectories:
        read = which
        if self.runs is not None:
            read = np.isin(self.runs.run, np.unique(self.runs.run[which]))
        some = read_without_owners(self.originals, self.kept[read]).take(which[read])
        return some if self.subject is None else replace(some, subject=self.subject[which])


class DifferentLines:
    """Each different line of the parts of a release once, and the line of each row."""

    def __init__(self) -> None:
        self._known = pd.Index([], dtype=np.int64)
        self._lines: list[Trajectories] = []
        self._of_rows: list[Ints] = []

    def add(self, part: Trajectories) -> None:
        """Look at a part."""
        keys = line_keys(part.points, part.times)
        new, first = np.unique(keys, return_index=True)
        first = np.sort(first[~pd.Index(new).isin(self._known)])
        self._lines.append(part.take(first))
        self._known = self._known.append(pd.Index(keys[first]))
        self._of_rows.append(self._known.get_indexer(keys).astype(np.int64))

    def joined(self, released: Path) -> tuple[Trajectories, Ints]:
        """Give those of all parts."""
        lines = self._lines
        if len({(part.points.shape[1], str(part.provenance)) for part in lines}) > 1:
            raise BadInput(f"the parts of {released} are not alike: run trajanon anonymize again")
        whole = replace(joined_trajectories(lines), provenance=lines[0].provenance)
        return whole, np.concatenate(self._of_rows)


def in_parts(
    originals: Path,
    released: Path,
    report: Report,
    *,
    subjects_exact: bool = False,
    seen: DifferentLines | None = None,
) -> InParts:
    """Read lines, one part of the release after another, and the subject of each trajectory."""
    if seen is None:
        seen = DifferentLines()
        for path in release_parts(released):
            seen.add(read_release(path))
    lines, of_rows = seen.joined(released)
    keys, labels = np.array(report.get("line_keys", []), dtype=np.int64), labels_in(report)
    if len(keys) <= labels.max():
        raise BadInput(NOT_TOGETHER)
    owners = read_owners(originals, subjects_exact=subjects_exact)
    kept = np.flatnonzero(kept_in(report, owners.n))
    found = InParts(
        originals=originals,
        kept=kept,
        report=report,
        lines=lines,
        of_rows=of_rows,
        line=by_key(lines, keys[labels]),
        subject=None if owners.subject is None else dense(owners.subject[kept]),
        left_out=owners.n - len(kept),
        nameless=owners.nameless,
        runs=None if owners.runs is None else Runs(*(each[kept] for each in owners.runs)),
    )
    if len(found.line) != report["n"]:
        raise BadInput(NOT_TOGETHER)
    own = np.bincount(found.line[found.own_row], minlength=len(lines))
    if not np.array_equal(own, np.bincount(of_rows, minlength=len(lines))):
        raise BadInput(NOT_TOGETHER)
    return found
