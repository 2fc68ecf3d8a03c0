"""A release in parts beside its originals in parts, of which neither need fit into memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from trajanon.arrays import Bools, Ints
from trajanon.errors import BadInput
from trajanon.files.release import read_release, release_parts
from trajanon.files.report import NOT_TOGETHER, LinesOfRows, Report, kept_in, line_keys
from trajanon.files.trajectories import Runs, read_owners, read_without_owners
from trajanon.partition import broken_promises, dense
from trajanon.privacy.originals import NO_SUBJECTS, by_key, own_rows
from trajanon.trajectories import Trajectories, joined_trajectories
from trajanon.verdict import too_few

LARGEST = 20_000
"""Trajectories of a release of several shards that are evaluated and drawn whole."""

_AT_ONCE = 100_000  # trajectories


def is_large(report: Report) -> bool:
    """Tell whether a sample stands for a release."""
    return "lines_of_rows" in report and report["n"] > LARGEST


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

    @property
    def told(self) -> LinesOfRows:
        """The line of each trajectory by its key, and how far it slid."""
        told: LinesOfRows = self.report["lines_of_rows"]
        return told

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
        copies = np.bincount(self.of_rows, minlength=len(self.lines))
        return own_rows(self.report, self.line, self.subject, copies)

    def sample(self, lines: Bools) -> Sample:
        """Read all trajectories on some lines, by a mask of all, with their rows."""
        rows, told = lines[self.line], self.told
        slid = None if told.slid is None else told.slid[rows]
        report = self.report.copy()
        report["n"] = int(rows.sum())
        report.pop("ledger", None)  # those that it left out are no part of the sample
        report.pop("suppressed", None)  # nor are these
        report["lines_of_rows"] = LinesOfRows(told.line[rows], slid)
        released = self.lines.take(self.of_rows[lines[self.of_rows]])
        return Sample(rows, self._read(rows), released, report)

    def batches(self) -> Iterator[tuple[slice, Trajectories]]:
        """Read some rows after others: which, and what was averaged."""
        n, slid = len(self.line), self.told.slid
        for begin in range(0, n, _AT_ONCE):
            some = slice(begin, min(begin + _AT_ONCE, n))
            which = np.zeros(n, dtype=np.bool_)
            which[some] = True
            read = self._read(which)
            if slid is not None and read.tracks is not None:
                read = read.slid(read.tracks.along + slid[some])
            yield some, read

    def _read(self, which: Bools) -> Trajectories:
        read = which
        if self.runs is not None:
            read = np.isin(self.runs.run, np.unique(self.runs.run[which]))
        some = read_without_owners(self.originals, self.kept[read]).take(which[read])
        return some if self.subject is None else replace(some, subject=self.subject[which])


def in_parts(
    originals: Path, released: Path, report: Report, *, subjects_exact: bool = False
) -> InParts:
    """Read lines, one part of the release after another, and whose each trajectory is."""
    lines, of_rows = _different_lines(released)
    told: LinesOfRows = report["lines_of_rows"]
    whose = read_owners(originals, subjects_exact=subjects_exact)
    kept = np.flatnonzero(kept_in(report, whose.n))
    found = InParts(
        originals=originals,
        kept=kept,
        report=report,
        lines=lines,
        of_rows=of_rows,
        line=by_key(lines, told.line),
        subject=None if whose.subject is None else dense(whose.subject[kept]),
        left_out=whose.n - len(kept),
        nameless=whose.nameless,
        runs=None if whose.runs is None else Runs(*(each[kept] for each in whose.runs)),
    )
    if len(found.line) != report["n"]:
        raise BadInput(NOT_TOGETHER)
    own = np.bincount(found.line[found.own_row], minlength=len(lines))
    if not np.array_equal(own, np.bincount(of_rows, minlength=len(lines))):
        raise BadInput(NOT_TOGETHER)
    return found


def _different_lines(released: Path) -> tuple[Trajectories, Ints]:
    """Read each different line of a release once, and the line of each row."""
    known, lines, of_rows = pd.Index([], dtype=np.int64), [], []
    for path in release_parts(released):
        part = read_release(path)
        keys = line_keys(part.points, part.times)
        new, first = np.unique(keys, return_index=True)
        first = np.sort(first[~pd.Index(new).isin(known)])
        lines.append(part.take(first))
        known = known.append(pd.Index(keys[first]))
        of_rows.append(known.get_indexer(keys).astype(np.int64))
    if len({(part.points.shape[1], str(part.provenance)) for part in lines}) > 1:
        raise BadInput(f"the parts of {released} are not alike: run trajanon anonymize again")
    whole = replace(joined_trajectories(lines), provenance=lines[0].provenance)
    return whole, np.concatenate(of_rows)
