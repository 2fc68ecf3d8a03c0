"""The evidence of a release: its numbers, its verdict and its pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from itertools import groupby
from typing import Any

import numpy as np
from msgspec import to_builtins

import trajanon
from trajanon.common.arrays import Ints
from trajanon.common.json_toml_and_regular_files import Json
from trajanon.common.number_text import STAGES, UNITS, page, shown, span, two_digits
from trajanon.common.search_and_release_options import METHOD_NAMES, REFINEMENT_NAMES
from trajanon.evaluation import od_flows
from trajanon.evaluation.attacks.attack import QUESTIONS, Attack, Guessed
from trajanon.evaluation.attacks.end_or_hour import Inferred
from trajanon.evaluation.attacks.home_and_work import PLACE
from trajanon.evaluation.attacks.next_trip import Followed
from trajanon.evaluation.attacks.verification_with_all_tracks import Verified
from trajanon.evaluation.choice_of_k import Curve
from trajanon.evaluation.five_answers import Answer, five_answers, risk_bars
from trajanon.evaluation.holdout_and_membership import Holdout
from trajanon.evaluation.intervals import Estimate
from trajanon.evaluation.page.templates import rendered, words
from trajanon.evaluation.publisher_and_licence import Publisher
from trajanon.evaluation.usefulness_of_lines import Usefulness
from trajanon.release.left_out_counts import left_out_of
from trajanon.release.people_left import Left, counts_of, few_left
from trajanon.release.perturbed_places_and_times import ToldApart
from trajanon.release.public_figures import EXACT, FEW, Crowd
from trajanon.release.release_words import cost, left_out
from trajanon.release.report import Report
from trajanon.release.verdict import Verdict, again, groups_below_k, verdict
from trajanon.release.verdict_sentences import Finding, label_of, sentence_of
from trajanon.street_counts.street_usefulness import StreetUsefulness
from trajanon.trajectories.clock_and_time_zones import Clock
from trajanon.trajectories.trajectories import FOR_COMPARISON, OSM_ATTRIBUTION

SHARE_BEYOND = 0.05
"""Share of all errors that are beyond the largest that is published."""

NOTICE = "For the holder of the data, not for publication."

_FIELDS_OF_ACCOUNT = (
    *("file", "unit", "spacing", "holds", "k", "trajectories", "points", "subjects", "nameless"),
    *("nameless_count_as", "sample"),
)
"""What an account repeats as it is."""


class Basis(StrEnum):
    """What an entry of the certificate or of the record of processing rests on."""

    MEASUREMENT = "measurement"
    PROOF = "statement with a proof"
    REPORT = "report of the program"
    WORD = "the publisher's word"
    BLANK = "blank"
    NOT_ASSESSED = "not assessed"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Evaluation:
    """What a release protects, and what it costs.

    Attributes
    ----------
    file
        Name of the released file; None if it is not known.
    date
        The day of the evaluation.
    area
        West, south, east and north of the released lines, in degrees, rounded outward to
        hundredths.
    unit, spacing
        What one of the trajectories is, such as a ``trip``, and metres between its points.
    trajectories, points, subjects
        Their numbers; ``subjects`` is None if nothing is known of them.
    nameless, nameless_count_as
        Recordings without a subject, and as how many subjects they count.
    sizes, rows
        Trajectories in each group, and released rows of each line (or its count), shape (g,).
    violations
        Groups of fewer than k ``records``, and of fewer than k ``subjects`` (None if nothing is
        known of them).
    problems
        What the checker found in the released file, a sentence each; None if no file was looked at.
    period
        The months of the originals, but for those of fewer than k subjects; None if not known.
    loss, usefulness, tasks
        IL in percent, of places alone; what is left for use; and errors of tasks, with intervals.
    attacks
        In the order in which to show them.
    most_of_one
        The most trajectories of one subject.
    verification
        Share of lines verified with all tracks known.
    rebuilding, rebuilt_times
        Error of a member, and of its times, rebuilt by an adversary who knows all others; None
        where no times are released.
    habits
        Error of a trajectory guessed by the others of its subject; None if nobody has several.
    chained
        How few subjects are on all lines of a drive, by ``drives``; empty of trips, and where
        tracks are not known or no drive has windows on two lines.
    followed
        What the lines of a person show together; None without subjects.
    inferred
        What the nearest line shows of a person known in part, compared with one guess for all.
    curve
        Metres moved and chances of the best attack by k; None if not requested.
    holdout
        What a release of half of the subjects shows of them, compared with the others; None if
        not requested.
    report
        The holder's report of the release.
    streets
        How well trips can be counted on streets; None if no roads were given.
    publisher
        The publisher's words, for datasheet, certificate and record of processing.
    sample
        Trajectories on which attacks and usefulness were measured; None: on all.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[lat, 2.0], [lat, 3.0]] for lat in (40.0, 40.2, 41.0, 41.2)])
    >>> trajectories = trajanon.Trajectories(points, subject=np.arange(4))
    >>> evidence = trajanon.evaluate(trajectories, trajanon.anonymize(trajectories, k=2))
    >>> evidence.holds, evidence.verdict.kind, evidence.account["groups"]
    (True, 'conditional', 2)
    """

    file: str | None = None
    date: date
    area: tuple[float, float, float, float]
    unit: str
    spacing: float | None
    trajectories: int
    points: int
    subjects: int | None
    nameless: int
    nameless_count_as: int
    sizes: Ints
    rows: Ints
    violations: Mapping[str, int | None]
    problems: Sequence[str] | None = None
    period: str | None
    loss: float
    usefulness: Usefulness
    tasks: Mapping[str, Estimate | None]
    attacks: Sequence[Attack]
    most_of_one: int
    verification: Verified
    rebuilding: Guessed
    rebuilt_times: Guessed | None
    habits: Guessed | None
    chained: Mapping[str, Left]
    followed: Followed | None
    inferred: Sequence[Inferred]
    curve: Curve | None = None
    holdout: Holdout | None = None
    report: Report
    streets: StreetUsefulness | None = None
    publisher: Publisher = field(default_factory=Publisher)
    sample: int | None = None

    @property
    def measured(self) -> int:
        """Count the trajectories on which attacks and usefulness were measured."""
        return self.sample or self.trajectories

    @property
    def sample_words(self) -> str | None:
        """Write that attacks and usefulness are of a sample; None if they are of all."""
        return words("sampled", evaluation=self) if self.sample else None

    @property
    def k(self) -> int:
        """Return the promised size of groups."""
        return self.report.k

    @property
    def clock(self) -> Clock | None:
        """Return what the released times count from; None without times."""
        return self.report.clock

    @property
    def units(self) -> str:
        """Return the plural of the unit."""
        return UNITS[self.unit]

    @property
    def holds(self) -> bool:
        """Check whether it may be published."""
        return bool(self.verdict)

    @property
    def od_cell(self) -> str | None:
        """Return the size of the smallest cells for OD tables of trips; None where none are fit."""
        if self.unit != "trip":
            return None
        return od_flows.cell_for_od(self.usefulness.flow_similarity)

    @property
    def verdict(self) -> Verdict:
        """Judge whether the release may be published, by its report and the faults found."""
        groups_of_few_records = self.violations["records"] or 0
        groups_of_few_people = self.violations["subjects"]
        below_k = groups_below_k(
            self.k,
            self.report.unit,
            len(self.sizes),
            trajectories=groups_of_few_records,
            people=groups_of_few_people,
            remedy=again(self.report),
        )
        findings = [] if below_k is None else [below_k]
        # People are promised, and nobody can be counted.
        people_are_unknown = self.report.counted == "subjects" and groups_of_few_people is None
        if people_are_unknown and not groups_of_few_records:
            findings.append(Finding("people_not_named", {"units": self.units}))
        return verdict(self.report, self.problems or (), findings)

    @property
    def answers(self) -> list[Answer]:
        """Return five questions and their answers, for the holder."""
        return self._answers(EXACT)

    def _answers(self, crowd: Crowd) -> list[Answer]:
        """Answer five questions; with a crowd, figures are rounded for publication."""
        return five_answers(
            self.report,
            told_apart=self.told_apart,
            attacks=self.attacks,
            inferred=self.inferred,
            verified=self.verification,
            below_k=self.violations[self.report.counted] or self.violations["records"] or 0,
            crowd=crowd,
        )

    @property
    def told_apart(self) -> ToldApart | None:
        """Compute how well a trajectory can be told from the same one, moved 100 m to the side.

        None of plain means, which no secret moves.
        """
        width = self.report.width
        return None if width is None else ToldApart.of(self.points, width)

    @property
    def account(self) -> dict[str, Any]:
        """Return what JSON holds: nothing of single trajectories, subjects or groups."""
        smallest, median, largest = np.quantile(self.sizes, (0.0, 0.5, 1.0)).tolist()
        return {
            "notice": NOTICE,
            "date": self.date.isoformat(),
            "verdict": self.verdict.account,
            "answers": [answer._asdict() for answer in self.answers],
            "cost": cost(self.report),
            "published": self.published,
            "source": left_out(self.report),
            "left_out": [counts._asdict() for counts in left_out_of(self.report)],
            **{name: getattr(self, name) for name in _FIELDS_OF_ACCOUNT},
            "counted": self.report.counted,
            "as_published": self.report.as_published,
            "area": list(self.area),
            "groups": len(self.sizes),
            "rows": {"way": self.report.rows.way, "released": int(self.rows.sum())},
            "sizes": {"min": int(smallest), "median": median, "max": int(largest)},
            "violations": dict(self.violations),
            "problems": None if self.problems is None else list(self.problems),
            "times": None if self.clock is None else self.clock.sentence,
            "information_loss": self.loss,
            "width": self.report.width,
            "told_apart": None if self.told_apart is None else self.told_apart._asdict(),
            "attacks": [attack.account for attack in self.attacks],
            "verification": to_builtins(self.verification),
            **to_builtins(self._guessed),
            "chains": counts_of(self.chained) or None,
            "persons": None if self.followed is None else self.followed.account,
            "inferred": to_builtins(self.inferred),
            "curve": to_builtins(self.curve),
            "holdout": to_builtins(self.holdout),
            "od_cell": self.od_cell,
            "utility": to_builtins(self.usefulness),
            "tasks": to_builtins(self.tasks),
            "streets": to_builtins(self.streets),
            "attribution": self.report.attribution,
        }

    @property
    def html(self) -> str:
        """Render a page for the holder, which says so in its first line; it asks for no network."""
        return rendered(
            "page.html",
            notice=NOTICE,
            evaluation=self,
            sentence_of=sentence_of,
            label_of=label_of,
            bars=risk_bars(self.attacks, self.followed, self.inferred),
            median=float(np.median(self.sizes)),
            attacks={question: self._attacks_on(question) for question in QUESTIONS},
            few_left=few_left,
            place=PLACE,
            od_flows=od_flows,
        )

    @property
    def guesses(self) -> list[Guessed]:
        """Return what is guessed of hidden trajectories."""
        return [guessed for guessed in self._guessed.values() if guessed is not None]

    @property
    def _guessed(self) -> dict[str, Guessed | None]:
        """Return what is guessed of hidden trajectories, by its name in JSON."""
        rebuilt = {"rebuilding": self.rebuilding, "rebuilt_times": self.rebuilt_times}
        return rebuilt | {"habits": self.habits}

    @property
    def crowd(self) -> Crowd:
        """Return of how many people the errors are means, for publication.

        That is, if each of them had as many trajectories as the one who has most.
        """
        return Crowd(self.measured / self.most_of_one)

    @property
    def crowd_of_flows(self) -> Crowd:
        """Return the same for counts from cell to cell, which are of trips with both ends alone."""
        return Crowd(self.usefulness.flows_of / self.most_of_one)

    @property
    def crowd_of_habits(self) -> Crowd:
        """Return the same for what is guessed by other trajectories of the same person."""
        targets = self.habits.targets if self.habits else 0
        return self.crowd.shares_of(targets / self.measured)

    @property
    def published(self) -> dict[str, Json]:
        """Return what is published of the cost, rounded."""
        moved = self.usefulness.displacement
        figures: dict[str, Json] = {
            "cost": cost(self.report, self.crowd),
            "metres moved": {
                "mean": self.crowd.number(moved.mean),
                "median": self.crowd.number(moved.median),
            },
            "information loss, percent": self.crowd.number(self.loss),
        }

        # Of few trips this would tell where one of them ends.
        if self.unit == "trip" and self.crowd_of_flows.people >= FEW:
            share_right = self.usefulness.flow_similarity[self.od_cell or od_flows.LARGEST]
            rounded = self.crowd_of_flows.shares_of().number(share_right)
            figures["flows"] = {"cell": self.od_cell, "right": rounded}
        return figures

    def _attacks_on(self, question: str) -> list[tuple[str, list[Attack]]]:
        """List attacks that answer a question by name: each on the release, on the originals."""
        attacks = [attack for attack in self.attacks if attack.question == question]
        # Those of a name stand together.
        by_name = groupby(attacks, lambda attack: attack.name)
        return [(name, list(same_name)) for name, same_name in by_name]

    @property
    def datasheet(self) -> str:
        """Render a page of Markdown to be published beside the release.

        It holds nothing that a release may not: no names or files of the originals, no times, no
        places but the area of the released lines, and no number of a single trajectory.
        """
        # The report is a file that may have been changed: only known names are repeated.
        names = [stage.name for stage in self.report.stages]
        known = {*STAGES, *METHOD_NAMES, *REFINEMENT_NAMES}
        steps = dict.fromkeys(STAGES.get(name, name) for name in names if name in known)

        return rendered(
            "datasheet.md",
            evaluation=self,
            steps=[step.format(units=self.units) for step in steps] or ["microaggregation"],
            version=trajanon.__version__,
            answers=self._answers(self.crowd),
            for_comparison=FOR_COMPARISON,
            crowd=self.crowd,
            few=FEW,
            farthest=Crowd(self.crowd.people * SHARE_BEYOND),
            of_lines=Crowd(self.verification.lines, shares=True),
            of_habits=self.crowd_of_habits,
            of_counts=self.crowd_of_flows.shares_of(),
            two_digits=two_digits,
            minutes=lambda minutes: span(60.0 * minutes),
            openstreetmap=OSM_ATTRIBUTION,
            largest=od_flows.LARGEST,
        )

    @property
    def _judged(self) -> str:
        """Write the verdict in words."""
        return " ".join([self.verdict.headline, *self.verdict.sentences])

    def __repr__(self) -> str:
        return shown(type(self).__name__, [self._judged, cost(self.report)])

    def _repr_html_(self) -> str:
        return page([("Verdict", self._judged), *self.answers], note=NOTICE)
