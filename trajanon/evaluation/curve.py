"""Which k: for each, how far points move, and how often the best attack finds its target."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from trajanon.anonymization import anonymize_trajectories
from trajanon.errors import BadInput
from trajanon.evaluation.adversaries import published, timing_in
from trajanon.files.report import Report, checked, key_in, released_of, rows_in
from trajanon.number_text import metres, percent
from trajanon.partition import check_k, dense
from trajanon.privacy.linkage import attacks
from trajanon.privacy.originals import matched
from trajanon.progress import Progress, silent
from trajanon.settings import Settings
from trajanon.trajectories import Trajectories

KS = (2, 3, 4, 5, 8, 10, 20)


class Choice(NamedTuple):
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
        """What came out, in a few sentences."""
        said = []
        if self.choices:
            first, last = self.choices[0], self.choices[-1]
            best = " or ".join(dict.fromkeys(one.attack for one in self.choices))
            said.append(
                f"With k = {first.k} points move by {metres(first.moved)} on average, and the best "
                f"attack ({best}) finds a row of its target in {percent(first.chance)} of all "
                f"cases; 1/k is {percent(1 / first.k)}."
            )
            if last is not first:
                said.append(
                    f"With k = {last.k} they move by {metres(last.moved)}, and it finds one in "
                    f"{percent(last.chance)}; 1/k is {percent(1 / last.k)}."
                )
        said += [
            f"k = {k} is left out: there are too few for a group, or groups would be too wide."
            for k in self.left_out
        ]
        return " ".join(said)

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON: nothing of single trajectories."""
        return {
            "choices": [one._asdict() | {"baseline": 1.0 / one.k} for one in self.choices],
            "left_out": list(self.left_out),
        }


def curve(
    trajectories: Trajectories,
    ks: Sequence[int] = KS,
    *,
    progress: Progress = silent,
    **options: Any,
) -> Curve:
    """Anonymize again with each k and run all attacks; ``options`` are those of `anonymize`."""
    ks = sorted(set(ks))
    for k in ks:
        check_k(k)
    choices, left_out = [], []
    for done, k in enumerate(ks):
        progress("which k", done, len(ks), f"k = {k}")
        try:
            choices.append(_choice(trajectories, k, options))
        except BadInput:  # too few, or too far from one another
            left_out.append(k)
    return Curve(choices, left_out)


def options_in(report: Report) -> dict[str, Any]:
    """How a release was made, as far as its report tells: options of `anonymize`."""
    if "as_published" not in report:  # its options were others
        raise BadInput("an earlier version made this release: run trajanon anonymize again")
    options: dict[str, Any] = {
        "as_published": report["as_published"],
        "align": report.get("alignment") is not None,
        "rows": "lines" if rows_in(report) == "lines" else "subjects",
        "distinct_ends": report.get("distinct_ends", 2),
        "key": (key := key_in(report)),
        "exact_means": key is None,
    }
    search = report.get("search", {})
    options |= {one.name: search[one.name] for one in fields(Settings) if one.name in search}
    if times := report.get("times"):
        options |= {name: times[name] for name in ("times", "timezone", "minute_worth")}
        options["time_step"] = times["step"]
    return options


def _choice(trajectories: Trajectories, k: int, options: Mapping[str, Any]) -> Choice:
    how = {**options, "distinct_ends": min(options.get("distinct_ends", 2), k)}
    release = anonymize_trajectories(trajectories, k, **how)
    if release.report["stopped"]:
        raise KeyboardInterrupt
    report = checked(release.report)
    found = matched(released_of(trajectories, report), release.trajectories, report)
    subjects = None if found.slid.subject is None else dense(found.slid.subject)
    seen = published(found.slid, found, k, subjects, timing_in(report))
    best = max(attacks(seen), key=lambda one: one.expected)
    return Choice(k, report["displacement"]["mean"], best.expected, best.name)
