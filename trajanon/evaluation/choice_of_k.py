"""Releases made again with other k: the cost and the protection of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from trajanon.anonymization import anonymize
from trajanon.common.errors import BadInput
from trajanon.common.progress import Progress, silent
from trajanon.common.search_and_release_options import AnonymizeKeywords, SearchKeywords
from trajanon.evaluation.attacks.all_attacks import attacks
from trajanon.evaluation.attacks.published_lines import published
from trajanon.evaluation.page.templates import words
from trajanon.grouping.k_promise import check_k
from trajanon.release.holder_key import key_of_trials
from trajanon.release.originals import matched
from trajanon.release.release import Release
from trajanon.release.report import Report
from trajanon.release.report_files import checked
from trajanon.trajectories.trajectories import Trajectories

KS = (2, 3, 4, 5, 8, 10, 20)
"""Each k that is tried, if no others are named."""


class TrialOptions(AnonymizeKeywords, total=False):
    """The options of a release that is made to be measured, and never published."""

    key: bytes | None


@dataclass(frozen=True, slots=True)
class Choice:
    """The cost and protection of one k."""

    k: int
    moved: float  # metres, the mean
    chance: float  # of the attack with the highest mean chance to find a row of its target
    attack: str  # its name


@dataclass(frozen=True)
class Curve:
    """Metres moved beside the mean chance of the best attack, for several k."""

    choices: Sequence[Choice]  # by k
    left_out: Sequence[int]  # each k for which there are too few

    @property
    def words(self) -> str:
        """Describe cost and protection of the least and the largest k."""
        return words("curve", choices=self.choices, left_out=self.left_out)


def curve(
    trajectories: Trajectories,
    ks: Sequence[int],
    options: TrialOptions,
    *,
    progress: Progress = silent,
) -> Curve:
    """Anonymize again with each k, and run all attacks that pick a row."""
    ks = sorted({check_k(k) for k in ks})
    choices = []
    left_out = []
    for done, k in enumerate(ks):
        progress("which k", done, len(ks), f"k = {k}")
        try:
            choices.append(_choice(trajectories, k, options))
        except BadInput:  # too few, or too far from one another
            left_out.append(k)
    return Curve(choices, left_out)


def _choice(trajectories: Trajectories, k: int, options: TrialOptions) -> Choice:
    """Make a release with a k, and measure it."""
    # More than k different ends cannot be had of a group of k; 2 are asked for by default.
    most_ends = min(int(options.get("distinct_ends", 2)), k)
    release = trial_release(trajectories, k, {**options, "distinct_ends": most_ends})

    report = checked(release.report)
    groups = matched(report.released_of(trajectories), release.trajectories, report)
    best = max(attacks(published(groups, report)), key=lambda attack: attack.expected)
    return Choice(k, report.displacement.mean, best.expected, best.name)


def trial_release(trajectories: Trajectories, k: int, options: TrialOptions) -> Release:
    """Make a release to be measured; the program ends if the search is stopped."""
    release = anonymize(trajectories, k, **options)
    if release.report["stopped"]:
        raise KeyboardInterrupt
    return release


def options_in(report: Report) -> TrialOptions:
    """Read how a release was made, as far as its report tells."""
    options: TrialOptions = {
        "as_published": report.as_published,
        "align": report.alignment is not None,
        # The third way, a row for each trajectory, follows from `as_published` alone.
        "rows": "lines" if report.rows.way == "lines" else "subjects",
        "distinct_ends": report.distinct_ends,
        "leave_out": report.leave_out,
        "one_line_each": report.one_line_each,
    }
    names = SearchKeywords.__annotations__
    of_search = {name: value for name, value in report.search.items() if name in names}
    options.update(cast(TrialOptions, of_search))

    if not report.as_published:
        # These releases are not published: the holder's key is neither needed nor used.
        options["key"] = key_of_trials(report.key_fingerprint)

    times = report.times
    if times is not None:
        options["times"] = times.times
        options["timezone"] = times.timezone
        options["minute_worth"] = times.minute_worth
        options["time_step"] = times.step
    return options
