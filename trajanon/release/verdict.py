"""The verdict on a release: may it be published, and for whom? A function of its report alone."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from trajanon.common.command_lines import Option, Options, options_in
from trajanon.common.number_text import UNITS
from trajanon.common.settings import PAIR
from trajanon.release.findings import Entered, Finding, Number, Remedy, RemedyKind, Share
from trajanon.release.public_figures import rough_count
from trajanon.release.verdict_words import MADE_AS_PUBLISHED, account_of, headline_of, sentence_of
from trajanon.trajectories.subjects import Nameless

Kind = Literal["ready", "conditional", "stop"]
Colour = Literal["green", "amber", "red"]

COLOURS: Mapping[Kind, Colour] = {"ready": "green", "conditional": "amber", "stop": "red"}
"""The colour of each verdict, wherever it is shown."""

MOST_SHOWN = 3

# Shares of all groups, recordings or hours: less is no decision, and stands in the report.
MANY_NAMELESS = 0.5
IN_ONE_PLACE = 0.01
WIDE = 0.01
HOURS_ALONE = 0.10
DRIVES = 0.01
PEOPLE = 0.01
DAYS_LEFT_OUT = 0.25
DRIVES_BETRAYED = 0.05
"""Drives that leave fewer than k subjects: beyond this share a release must not be published."""

MANY_PEOPLE = 10  # for each of k: fewer fill no further groups with more trips

FEW_DATA = 0.15
SHOWS_NOTHING = 0.50
ENOUGH_DATA = 0.10
"""Metres moved as a share of the length: beyond the first a line shows little, beyond the second
nothing, up to the third it shows the way. The points of a straight line lie a quarter of its length
from its middle."""


@dataclass(frozen=True, slots=True)
class Verdict:
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
        """Whether it may be published, and for whom it is ready."""
        return headline_of(self.kind, self.findings)

    @property
    def shown(self) -> Sequence[Finding]:
        """The findings that have a sentence: the first three to weigh; the headline names all."""
        return self.findings if self.kind == "stop" else self.findings[:MOST_SHOWN]

    @property
    def sentences(self) -> list[str]:
        """The findings that are shown, in words."""
        return list(dict.fromkeys(map(sentence_of, self.shown)))

    def __bool__(self) -> bool:
        """Whether it may be published."""
        return self.kind != "stop"

    def __str__(self) -> str:
        return "\n".join([self.headline, *(f"- {sentence}" for sentence in self.sentences)])

    @property
    def account(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "kind": self.kind,
            "colour": self.colour,
            "headline": self.headline,
            "sentences": self.sentences,
            "findings": [account_of(finding) for finding in self.shown],
        }


def verdict(
    report: Mapping[str, Any], problems: Sequence[str] = (), found: Sequence[Finding] = ()
) -> Verdict:
    """Judge a release by its report, and by what was found wrong with it or its file."""
    stops = [
        *_stops(report),
        *found,
        *(Finding("file_problem", {"problem": problem}) for problem in problems),
    ]
    if stops:
        return Verdict("stop", [one for n, one in enumerate(stops) if one not in stops[:n]])

    checks = (
        _people_not_protected,
        _drives_followed,
        _hours_alone,
        _ends_in_few_places,
        _nameless_as_different,
        _pairs_of_windows,
        _lines_of_little_use,
        _days_left_out,
    )
    to_weigh = (finding for check in checks for finding in check(report))
    findings = list(to_weigh)
    return Verdict("conditional" if findings else "ready", findings)


def groups_below_k(
    report: Mapping[str, Any], groups: int, *, trajectories: int, people: int | None
) -> Finding | None:
    """Return which promise fails, if one does.

    ``trajectories`` and ``people`` are the groups with fewer of them than k; ``people`` is None
    where nothing is known of them.
    """
    if not people and not trajectories:
        return None

    again = _remedy(report, "again", "anonymize")
    numbers = {"k": report["k"], "groups": groups}
    if people:
        numbers |= {"people": people}
        return Finding(
            "groups_below_k_people" if trajectories else "people_below_k_behind_records",
            numbers,
            again,
        )
    of_trajectories = {"trajectories": trajectories, "units": UNITS[unit_in(report)]}
    return Finding("groups_below_k_trajectories", numbers | of_trajectories, again)


def _stops(report: Mapping[str, Any]) -> Iterator[Finding]:
    k = report["k"]
    if report.get("as_published"):
        without = _remedy(report, "not_as_published", "anonymize", as_published=None)
        yield Finding("plain_means", {"problem": MADE_AS_PUBLISHED}, without)

    sizes = Counter[int](report.get("sizes") or [])
    small = sum(groups for size, groups in sizes.items() if size < k)
    people = report.get("subjects_per_group")
    few = None if people is None else sum(number < k for number in people)
    if finding := groups_below_k(report, sum(sizes.values()), trajectories=small, people=few):
        yield finding

    share = moved_of_length(report) or 0.0
    if share > SHOWS_NOTHING:
        numbers: dict[str, Number] = {"share": share, "unit": unit_in(report)}
        yield Finding("shows_nothing", numbers, _smaller_k(report))

    if _share_of_drives_below_k(report) > DRIVES_BETRAYED:
        yield _drives(report, "drives_betrayed")


def _people_not_protected(report: Mapping[str, Any]) -> Iterator[Finding]:
    k = report["k"]
    if not knows_people(report):
        numbers = {"k": k, "units": UNITS[unit_in(report)]}
        yield Finding("people_unknown", numbers, _name_the_persons(report))
        return

    persons = report.get("persons") or {"people": 0, "people_below": 0}
    below = persons["people_below"] / max(persons["people"], 1)
    of_lines = {"k": k, "units": UNITS[unit_in(report)]}
    if below > PEOPLE:
        unit = "trip" if unit_in(report) == "day" else unit_in(report)
        of_lines |= {"share": Share(below, persons["people"]), "unit": unit}
        each_once = _remedy(report, "one_line_each", "anonymize", one_line_each=True, days=None)
        yield Finding("people_below_k", of_lines, each_once)
    elif "persons" not in report and "shards" in report:
        yield Finding("people_not_checked", of_lines)


def _drives_followed(report: Mapping[str, Any]) -> Iterator[Finding]:
    if _share_of_drives_below_k(report) > DRIVES:
        yield _drives(report, "drives_below_k")

    per_recording = (report.get("source") or {"per_recording": 1}).get("per_recording")
    if unit_in(report) != "trip" and "chains" not in report and per_recording != 1:
        yield Finding("drives_not_checked", {"k": report["k"]}, _one_window_each(report))


def _hours_alone(report: Mapping[str, Any]) -> Iterator[Finding]:
    times = report.get("times") or {}
    alone = times.get("alone") or {"hours": [], "of": 1}
    if len(alone["hours"]) / alone["of"] <= HOURS_ALONE:
        return

    remedy = _remedy(report, "hours_alone_of_day", "anonymize", times="of-day")
    if times["times"] == "of-day":
        worth = max(times["minute_worth"] / 3.0, 0.5)
        remedy = _remedy(report, "departures_may_differ", "anonymize", minute_worth=worth)
    yield Finding("hours_alone", {"alone": len(alone["hours"]), "hours": alone["of"]}, remedy)


def _ends_in_few_places(report: Mapping[str, Any]) -> Iterator[Finding]:
    share = _share_not_mended(report, "one_place")
    if share <= IN_ONE_PLACE:
        return

    numbers = {
        "share": share,
        "units": UNITS[unit_in(report)],
        "places": report.get("distinct_ends", 2),
    }
    trimmed = _remedy(report, "trim_ends", "extract", trim_ends=200)
    one_place = report.get("distinct_ends", 2) <= 2
    yield Finding("ends_in_one_place" if one_place else "ends_in_few_places", numbers, trimmed)


def _nameless_as_different(report: Mapping[str, Any]) -> Iterator[Finding]:
    nameless = nameless_in(report)
    if knows_people(report) and nameless.subjects > 1:
        recordings = rough_count(nameless.recordings)
        yield Finding("nameless_differ", {"recordings": recordings})


def _pairs_of_windows(report: Mapping[str, Any]) -> Iterator[Finding]:
    if unit_in(report) not in ("trip", "day") and report["k"] == PAIR:
        yield Finding("pairs_of_windows", {}, _remedy(report, "larger_k", "anonymize", k=PAIR + 1))


def _lines_of_little_use(report: Mapping[str, Any]) -> Iterator[Finding]:
    k = report["k"]
    unit = unit_in(report)
    share = moved_of_length(report) or 0.0
    if share > FEW_DATA:
        few_people = (report.get("people") or MANY_PEOPLE * k) < MANY_PEOPLE * k
        numbers: dict[str, Number] = {
            "share": round(share, 1),  # tenths: no sum gives anybody away
            "unit": unit,
            "more": "people" if few_people else UNITS[unit],
            "enough": ENOUGH_DATA,
        }
        yield Finding("far_from_streets", numbers, _move_less(report))

    wide = _share_not_mended(report, "wide")
    if wide > WIDE:
        of_lines: dict[str, Number] = {"share": wide, "units": UNITS[unit]}
        yield Finding("unlike_members", of_lines, _smaller_k(report))


def _days_left_out(report: Mapping[str, Any]) -> Iterator[Finding]:
    choice = report.get("choice") or {}
    share = 1.0 - report.get("n", 0) / max(choice.get("days", 0), 1)
    if "most" in choice and share > DAYS_LEFT_OUT:
        numbers = {"share": Share(share, choice["days"]), "most": choice["most"], "k": report["k"]}
        whole_trips = _remedy(report, "trips_not_days", "anonymize", days=None)
        yield Finding("days_left_out", numbers, whole_trips)


def _drives(
    report: Mapping[str, Any], kind: Literal["drives_below_k", "drives_betrayed"]
) -> Finding:
    numbers = {
        "k": report["k"],
        "share": Share(_share_of_drives_below_k(report), report["chains"]["drives"]),
    }
    return Finding(kind, numbers, _one_window_each(report))


def _share_of_drives_below_k(report: Mapping[str, Any]) -> float:
    """Share of the drives on several lines that leave fewer than k subjects."""
    chains = report.get("chains")
    return float(chains["drives_below"] / max(chains["drives"], 1)) if chains else 0.0


# What helps.


def _remedy(
    report: Mapping[str, Any],
    kind: RemedyKind,
    command: Literal["extract", "anonymize"],
    **changes: Option | None,
) -> Remedy:
    runs = _runs_of(report)
    link = (report.get("ledger") or {}).get("link")
    ledger = runs["anonymize"].get("ledger")
    entered = Entered(str(ledger), link["releases"]) if link and ledger else None
    return Remedy(kind, command, changes, runs, entered)


def _runs_of(report: Mapping[str, Any]) -> dict[str, Options]:
    """Return the options that were typed; where they are not known, what the report tells."""
    source = report.get("source") or {}
    return {
        "extract": options_in(source.get("run")) or {"paths": "FILES"},
        "anonymize": options_in(report.get("run")) or {"k": report["k"]},
    }


def _smaller_k(report: Mapping[str, Any]) -> Remedy | None:
    k = report["k"]
    return _remedy(report, "smaller_k", "anonymize", k=k - 1) if k > PAIR else None


def _one_window_each(report: Mapping[str, Any]) -> Remedy:
    return _remedy(report, "one_window_each", "extract", windows=True, per_recording="1")


def _name_the_persons(report: Mapping[str, Any]) -> Remedy | None:
    """Name the first column that may say who made each recording, if there is any."""
    columns = (report.get("source") or {}).get("possible_persons") or []
    # --columns cannot name a column with one of these characters.
    names = [column["column"] for column in columns if not set(column["column"]) & set(",=;")]
    if not columns:
        return None
    return _remedy(report, "name_persons", "extract", columns=f"subject={[*names, 'NAME'][0]}")


def _move_less(report: Mapping[str, Any]) -> Remedy | None:
    """Return what moves points less: to count the nameless as different, if they are very many."""
    nameless = nameless_in(report)
    if knows_people(report) and nameless.subjects == 1 and _share_nameless(report) > MANY_NAMELESS:
        return _remedy(report, "nameless_differ", "extract", columns="nameless=different")
    return _smaller_k(report) if report["k"] > PAIR + 1 else None


# What a report tells.


def unit_in(report: Mapping[str, Any]) -> str:
    """Return what one of the trajectories is called."""
    return str(report.get("unit", "trajectory"))


def nameless_in(report: Mapping[str, Any]) -> Nameless:
    """Read how many recordings have no name; earlier versions counted each as another person's."""
    counts = report.get("source") or {}
    recordings = counts.get("nameless", 0)
    return Nameless(recordings, counts.get("nameless_count_as", recordings))


def _share_nameless(report: Mapping[str, Any]) -> float:
    recordings = (report.get("source") or {}).get("recordings") or 0
    nameless = nameless_in(report).recordings
    return float(nameless / max(recordings, nameless, 1))


def knows_people(report: Mapping[str, Any]) -> bool:
    """Whether k counts subjects and some recordings have one."""
    return report["counted"] == "subjects" and _share_nameless(report) < 1.0


def _share_not_mended(report: Mapping[str, Any], what: str) -> float:
    """Share of the groups in which something could not be mended."""
    mended = (report.get("mended") or {}).get(what) or {}
    return int(mended.get("left", 0)) / max(report.get("groups") or 0, 1)


def moved_of_length(report: Mapping[str, Any]) -> float | None:
    """How far points moved, as a share of the length of what was averaged; None if not known."""
    length = report.get("length")
    if not length or not length["mean"]:
        return None
    return float(report["displacement"]["mean"] / length["mean"])
