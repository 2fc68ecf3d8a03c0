"""The verdict on a release: may it be published, and for whom? A function of its report alone."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from msgspec import UNSET

from trajanon.common.command_lines import Option
from trajanon.common.json_toml_and_regular_files import Json
from trajanon.common.number_text import UNITS, Displayed, UnitName
from trajanon.common.search_and_release_options import LEAST_K
from trajanon.files.release_contents import MADE_AS_PUBLISHED
from trajanon.release.public_figures import rough_count
from trajanon.release.report import Chains, Report
from trajanon.release.verdict_sentences import (
    Entered,
    Finding,
    Numbers,
    Remedy,
    Share,
    account_of,
    headline_of,
    sentence_of,
)

Kind = Literal["ready", "conditional", "stop"]
Colour = Literal["green", "amber", "red"]

COLOURS: Mapping[Kind, Colour] = {"ready": "green", "conditional": "amber", "stop": "red"}
"""The colour of each verdict, wherever it is shown."""

MOST_SHOWN = 3

# Shares of all groups, recordings or hours: less is no decision, and stands in the report.
MANY_NAMELESS = 0.5  # of the recordings
IN_ONE_PLACE = 0.01  # of the groups: they begin or end in one place
FEW_NAMED = 0.01  # of the lines: fewer than k of their people have a name
WIDE = 0.01  # of the groups: they are farther apart than their trips are long
HOURS_ALONE = 0.10  # of the hours with departures: one line alone departs
DRIVES = 0.01  # of the drives on several lines: they leave fewer than k subjects
PEOPLE = 0.01  # of the people on several lines: they leave fewer than k people
DAYS_LEFT_OUT = 0.25
DRIVES_BETRAYED = 0.05
"""Drives that leave fewer than k subjects: beyond this share a release must not be published."""

MANY_PEOPLE = 10  # times k: with fewer people, more trips of theirs fill no further groups

_VEHICLES = re.compile(r"bike|bici|cycle|scooter|vehicle|fahrzeug|taxi|\bcab", re.IGNORECASE)
"""Columns of vehicles, of which one person uses several."""

FEW_DATA = 0.15
SHOWS_NOTHING = 0.50
ENOUGH_DATA = 0.10
"""Metres moved as a share of the length: beyond the first a line shows little, beyond the second
nothing, up to the third it shows the way. The points of a straight line lie a quarter of its length
from its middle."""


@dataclass(frozen=True, slots=True, repr=False)
class Verdict(Displayed):
    """Whether a release may be published.

    Attributes
    ----------
    kind
        ``ready``: nothing has to be weighed; ``conditional``: ready, if what the headline names
        holds; ``stop``: it must not be published.
    findings
        All that has to be weighed, the most important first; or all that speaks against publishing.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[40.1, 2.0], [40.1, 3.0]]] * 2)
    >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2, as_published=True)
    >>> release.verdict.colour, release.verdict.headline, bool(release.verdict)
    ('red', 'Do not publish.', False)
    >>> print(release.verdict.sentences[0].partition(",")[0])
    It holds plain means
    """

    kind: Kind
    findings: Sequence[Finding] = field(default=())

    @property
    def colour(self) -> Colour:
        """Green, amber or red."""
        return COLOURS[self.kind]

    @property
    def headline(self) -> str:
        """Return whether it may be published, and for whom it is ready."""
        return headline_of(self.findings, may_be_published=bool(self))

    @property
    def shown(self) -> Sequence[Finding]:
        """List the findings with a sentence: the first three to weigh; the headline names all."""
        return self.findings if self.kind == "stop" else self.findings[:MOST_SHOWN]

    @property
    def sentences(self) -> list[str]:
        """Write the findings that are shown."""
        return list(dict.fromkeys(map(sentence_of, self.shown)))

    def __bool__(self) -> bool:
        """Return whether it may be published."""
        return self.kind != "stop"

    def __str__(self) -> str:
        return "\n".join([self.headline, *(f"- {sentence}" for sentence in self.sentences)])

    @property
    def _facts(self) -> list[tuple[str, str]]:
        return [("Verdict", self.headline), *(("", sentence) for sentence in self.sentences)]

    @property
    def account(self) -> dict[str, Json]:
        """Return all of it ready for JSON."""
        return {
            "kind": self.kind,
            "colour": self.colour,
            "headline": self.headline,
            "sentences": self.sentences,
            "findings": [account_of(finding) for finding in self.shown],
        }


def verdict(report: Report, problems: Sequence[str] = (), stops: Sequence[Finding] = ()) -> Verdict:
    """Judge a release by its report, and by what was found wrong with it or its file.

    ``problems`` are sentences of the check of its file, and ``stops`` what else was found that
    speaks against publishing.
    """
    all_stops = [
        *_stops(report),
        *stops,
        *(Finding("file_problem", {"problem": problem}) for problem in problems),
    ]
    if all_stops:
        # Report and file may be at fault in the same way.
        different = [stop for place, stop in enumerate(all_stops) if stop not in all_stops[:place]]
        return Verdict("stop", different)

    checks = (
        _people_not_protected,
        _drives_followed,
        _hours_alone,
        _ends_in_few_places,
        _assumptions_on_people,
        _pairs_of_windows,
        _lines_of_little_use,
        _days_left_out,
    )
    findings = [finding for check in checks for finding in check(report)]
    return Verdict("conditional" if findings else "ready", findings)


# What speaks against publishing, or has to be weighed.


def groups_below_k(
    k: int,
    unit: UnitName,
    groups: int,
    *,
    trajectories: int,
    people: int | None,
    remedy: Remedy | None = None,
) -> Finding | None:
    """Return which promise fails, if one does.

    ``trajectories`` and ``people`` are how many of the groups have fewer of them than k; ``people``
    is None where nothing is known of them.
    """
    numbers: Numbers = {"k": k, "groups": groups}
    if people:
        kind = "groups_below_k_people" if trajectories else "people_below_k_behind_records"
        return Finding(kind, {**numbers, "people": people}, remedy)
    if trajectories:
        numbers |= {"trajectories": trajectories, "units": UNITS[unit]}
        return Finding("groups_below_k_trajectories", numbers, remedy)
    return None


def again(report: Report) -> Remedy | None:
    """Return the command of a release, to be run once more, if that may change its groups."""
    return None if report.as_published else _remedy(report, "again")


def _stops(report: Report) -> Iterator[Finding]:
    """Find what forbids to publish: k is broken, lines show nothing, or drives are betrayed."""
    k = report.k
    if report.as_published:
        without = _remedy(report, "not_as_published", as_published=None)
        yield Finding("plain_means", {"problem": MADE_AS_PUBLISHED}, without)

    people = report.subjects_per_group
    finding = groups_below_k(
        k,
        report.unit,
        len(report.sizes),
        trajectories=sum(size < k for size in report.sizes),
        people=None if people is None else sum(number < k for number in people),
        remedy=again(report),
    )
    if finding is not None:
        yield finding

    share = report.moved_of_length or 0.0
    if share > SHOWS_NOTHING:
        numbers: Numbers = {"share": share, "unit": report.unit}
        yield Finding("shows_nothing", numbers, _smaller_k(report))

    if report.chains and report.chains.share_below > DRIVES_BETRAYED:
        yield _drives(report, report.chains, "drives_betrayed")


def _people_not_protected(report: Report) -> Iterator[Finding]:
    """Find whether k people are behind each line, and on all lines of each person."""
    numbers: Numbers = {"k": report.k, "units": UNITS[report.unit]}
    persons = report.persons
    if not report.knows_people:
        yield Finding("people_unknown", numbers, _name_the_persons(report))
    elif persons is not None and persons.share_below > PEOPLE:
        # What helps is one trip of each person, also where whole days were released.
        unit = "trip" if report.unit == "day" else report.unit
        share = Share(persons.share_below, persons.people)
        each_once = _remedy(report, "one_line_each", one_line_each=True, days=None)
        yield Finding("people_below_k", {**numbers, "share": share, "unit": unit}, each_once)
    elif persons is None:
        yield Finding("people_not_checked", numbers)

    # What lines of several releases leave together is not counted.
    ledger = report.ledger
    if ledger is None or ledger.people_before is None:
        return
    if not report.knows_people or not report.people:
        return
    few = PEOPLE * report.people
    if ledger.people_before > few:
        share = Share(ledger.people_before / report.people, report.people)
        each_once = _remedy(report, "one_line_each", one_line_each=True)
        yield Finding(
            "people_in_series", {**numbers, "share": share, "unit": report.unit}, each_once
        )
    elif (ledger.on_a_line or 0) <= few:  # trips of names known again, which are left out
        yield Finding("people_new_in_series", numbers)


def _drives_followed(report: Report) -> Iterator[Finding]:
    """Find whether many drives leave few people, or whether that was not counted."""
    if report.chains and report.chains.share_below > DRIVES:
        yield _drives(report, report.chains, "drives_below_k")

    # In shards nothing is counted: a drive may have windows in several of them.
    one_each = report.source.per_recording == 1
    if report.unit != "trip" and report.chains is UNSET and not one_each:
        yield Finding("drives_not_checked", {"k": report.k}, _one_window_each(report))


def _hours_alone(report: Report) -> Iterator[Finding]:
    """Find whether one line alone departs in many hours."""
    times = report.times
    if times is None or times.alone is None:
        return
    hours_alone = len(times.alone.hours)
    if hours_alone / max(times.alone.of, 1) <= HOURS_ALONE:
        return

    remedy = _remedy(report, "hours_alone_of_day", times="of-day")
    if times.times == "of-day":  # no hours are wider: departures may differ more instead
        # A third of what they counted, in metres a minute, but not next to nothing.
        worth = max(times.minute_worth / 3.0, 0.5)
        remedy = _remedy(report, "departures_may_differ", minute_worth=worth)
    yield Finding("hours_alone", {"alone": hours_alone, "hours": times.alone.of}, remedy)


def _ends_in_few_places(report: Report) -> Iterator[Finding]:
    """Find whether many lines show a place where all of their people begin or end."""
    in_one_place = report.mended_groups.one_place
    # Windows begin where they were cut: what matters is where their recordings do.
    units = "recordings" if report.unit == "trajectory" else UNITS[report.unit]
    nobody_looked = report.mended is None and report.source.recordings is None
    if in_one_place.unknown or (nobody_looked and report.unit == "trajectory"):
        yield Finding("ends_unknown", {"units": UNITS[report.unit]})
    elif report.distinct_ends < 2:
        default = _remedy(report, "ends_apart", distinct_ends=None)
        yield Finding("ends_not_checked", {"units": units}, default)
    share = in_one_place.left / max(report.groups, 1)
    if share > IN_ONE_PLACE:
        places = report.distinct_ends
        of_lines = Share(share, report.groups)
        numbers: Numbers = {"share": of_lines, "units": units, "places": places}
        trimmed = _remedy(report, "trim_ends", trim_ends=200)  # metres of each end
        yield Finding(
            "ends_in_one_place" if places <= 2 else "ends_in_few_places", numbers, trimmed
        )


def _assumptions_on_people(report: Report) -> Iterator[Finding]:
    """Find whether k rests on recordings without a name, or on trips that were taken for people.

    These may have been where recordings have the names of others.
    """
    if not report.knows_people:
        return
    nameless = report.source.unnamed
    if nameless.subjects > 1:
        yield Finding("nameless_differ", {"recordings": rough_count(nameless.recordings)})
    share = (report.lines_of_few_named or 0) / max(report.lines, 1)
    if share > FEW_NAMED:
        yield Finding("nameless_are_others", {"share": Share(share, report.lines), "k": report.k})
    # In shards of a file of an earlier version nobody knows who stands for these recordings.
    not_checked = report.lines_of_few_named is None and report.persons is None
    if not_checked and nameless.subjects == 1:
        yield Finding("nameless_not_checked", {"k": report.k})
    if report.source.perhaps_trips:
        yield Finding("trips_as_people", {"people": rough_count(report.source.perhaps_trips)})
    elif report.source.drawn_anew:
        yield Finding("names_drawn_anew", {})
    if report.source.at_two_places:
        yield Finding("names_shared", {"k": report.k})
    if any(map(_VEHICLES.search, report.source.person_columns)):
        yield Finding("vehicles_named", {"units": UNITS[report.unit]})
    if len(report.source.person_columns) > 1:
        yield Finding("people_named_otherwise", {"columns": len(report.source.person_columns)})


def _pairs_of_windows(report: Report) -> Iterator[Finding]:
    """Find whether lines are means of two windows, whose steps are of known length."""
    if report.unit not in ("trip", "day") and report.k == LEAST_K:
        yield Finding("pairs_of_windows", {}, _remedy(report, "larger_k", k=LEAST_K + 1))


def _lines_of_little_use(report: Report) -> Iterator[Finding]:
    """Find whether lines are far from where people went, or from one another's."""
    units = UNITS[report.unit]
    share = report.moved_of_length or 0.0
    if share > FEW_DATA:
        enough_people = MANY_PEOPLE * report.k
        few_people = (report.people or enough_people) < enough_people
        numbers: Numbers = {
            "share": round(share, 1),  # in tenths nothing follows of a single trip
            "unit": report.unit,
            "more": "people" if few_people else units,
            "enough": ENOUGH_DATA,
        }
        yield Finding("far_from_streets", numbers, _move_less(report))

    share_wide = report.mended_groups.wide.left / max(report.groups, 1)
    if share_wide > WIDE:
        numbers = {"share": Share(share_wide, report.groups), "units": units}
        yield Finding("unlike_members", numbers, _smaller_k(report))


def _days_left_out(report: Report) -> Iterator[Finding]:
    """Find whether many whole days are left out."""
    choice = report.choice
    if choice is None or choice.most is None or choice.days is None:
        return
    share = 1.0 - report.n / max(choice.days, 1)  # a report may be made by hand, with 0 days
    if share > DAYS_LEFT_OUT:
        numbers: Numbers = {"share": Share(share, choice.days), "most": choice.most, "k": report.k}
        whole_trips = _remedy(report, "trips_not_days", days=None)
        yield Finding("days_left_out", numbers, whole_trips)


def _drives(report: Report, chains: Chains, kind: str) -> Finding:
    """Return a finding of the drives that leave few people."""
    share = Share(chains.share_below, chains.drives)
    return Finding(kind, {"k": report.k, "share": share}, _one_window_each(report))


# What helps.


def _remedy(report: Report, kind: str, **changes: Option | None) -> Remedy:
    """Return the commands of a release with these options changed."""
    # Where nobody typed the options, as in Python, k and the files are enough.
    typed = report.run or {"k": report.k}
    runs = {"extract": report.source.run or {"paths": "FILES"}, "anonymize": typed}

    ledger = typed.get("ledger")
    entered = None
    if ledger and report.ledger is not None and report.ledger.link is not None:
        entered = Entered(str(ledger), report.ledger.link.releases)
    return Remedy(kind, changes, runs, entered)


def _smaller_k(report: Report) -> Remedy | None:
    """Return the command with a smaller k, if there is one."""
    k = report.k
    return _remedy(report, "smaller_k", k=k - 1) if k > LEAST_K else None


def _one_window_each(report: Report) -> Remedy:
    """Return the commands with one window of each recording."""
    return _remedy(report, "one_window_each", windows=True, per_recording="1")


def _name_the_persons(report: Report) -> Remedy | None:
    """Name the first column that may say who made each recording, if there is any."""
    columns = [person.column for person in report.source.possible_persons]
    if not columns:
        return None
    # --columns cannot name a column with one of these characters: NAME stands for it then.
    first_name = next((column for column in columns if not set(column) & set(",=;")), "NAME")
    return _remedy(report, "name_persons", columns=f"subject={first_name}")


def _move_less(report: Report) -> Remedy | None:
    """Return what moves points less: to count the nameless as different, if they are very many."""
    one_nameless = report.knows_people and report.source.unnamed.subjects == 1
    if one_nameless and report.source.share_nameless > MANY_NAMELESS:
        return _remedy(report, "nameless_differ", columns="nameless=different")
    return _smaller_k(report) if report.k > LEAST_K + 1 else None
