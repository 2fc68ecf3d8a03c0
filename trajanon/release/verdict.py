"""The verdict on a release, its cost and its source, in words: functions of its report alone."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, NamedTuple

from trajanon.common.number_text import UNITS, metres, number_of, percent, two_digits
from trajanon.common.settings import OF_PAIRS, PAIR
from trajanon.release.public_figures import EXACT, Crowd
from trajanon.trajectories.subjects import Nameless
from trajanon.trajectories.trajectories import FOR_COMPARISON

Kind = Literal["ready", "say", "stop"]

MOST_SENTENCES = 3

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

OF_A_LINE = "k holds for each line, not for each person"

_HEADLINES = {
    "ready": "Ready to publish.",
    "say": "Ready to publish, with this said beside it:",
    "stop": "Do not publish this:",
}


class Remedy(NamedTuple):
    """What mends something that a verdict names."""

    words: str
    command: str  # extract or anonymize
    options: str  # as somebody would type them
    leaves_out: bool = False  # whether an option is only left out

    @property
    def told(self) -> str:
        """The words, and what to change in the command that made the release."""
        changes = "" if self.leaves_out else f": the same {self.command}, with {self.options}"
        return f"{self.words}{changes}"

    @property
    def account(self) -> dict[str, str]:
        """Ready for JSON."""
        return {"sentence": f"{self.words}.", "command": f"trajanon {self.command} {self.options}"}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a release may be published.

    Attributes
    ----------
    kind
        ``ready``; ``say``: ready, and the sentences are to be said beside it; ``stop``: it must not
        be published, and the sentences say why.
    sentences
        At most three, unless it must not be published.
    remedies
        What would help, each with the command.

    Examples
    --------
    >>> import numpy as np
    >>> import trajanon
    >>> points = np.array([[[40.1, 2.0], [40.1, 3.0]]] * 2)
    >>> release = trajanon.anonymize(trajanon.Trajectories(points), k=2, as_published=True)
    >>> print(str(release.verdict).partition(",")[0])
    Do not publish this:
    - It holds plain means
    >>> bool(release.verdict)
    False
    """

    kind: Kind
    sentences: Sequence[str] = ()
    remedies: Sequence[Remedy] = ()

    @property
    def headline(self) -> str:
        """The kind, in words."""
        return _HEADLINES[self.kind]

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
            "headline": self.headline,
            "sentences": list(self.sentences),
            "remedies": [remedy.account for remedy in self.remedies],
        }


_ONE_OF_EACH = Remedy("Take one window of each recording", "extract", "--windows --per-recording 1")
_Found = tuple[str, Remedy | None]


def verdict(report: Mapping[str, Any], problems: Sequence[str] = ()) -> Verdict:
    """Judge a release by its report, and by what was found wrong with its file."""
    stops = [*_stops(report), *((_sentence(problem), None) for problem in problems)]
    looks = (_of_people_and_means, _of_days, _of_drives_and_places, _of_hours, _of_windows)
    to_say = (found for look in looks for found in look(report))
    found = stops or [*islice(to_say, MOST_SENTENCES)]
    kind: Kind = "stop" if stops else "say" if found else "ready"
    sentences = list(dict.fromkeys(said for said, _ in found))
    return Verdict(kind, sentences, [remedy for _, remedy in found if remedy is not None])


def _stops(report: Mapping[str, Any]) -> Iterator[_Found]:
    k = report["k"]
    if report.get("as_published"):
        yield (_sentence(MADE_AS_PUBLISHED), _without("To publish, leave out --as-published", k))
    sizes = Counter[int](report.get("sizes") or [])
    records = sum(n for size, n in sizes.items() if size < k)
    people = report.get("subjects_per_group")
    few = None if people is None else sum(number < k for number in people)
    units = UNITS[_unit(report)]
    if said := too_few(k, sum(sizes.values()), records=records, people=few, units=units):
        yield _sentence(said), _remedy("Anonymize again, counting subjects", "anonymize", k=k)
    if (share := moved_of_length(report) or 0.0) > SHOWS_NOTHING:
        everybody = f", as all {k} people are behind each line" * (report.get("people") == k)
        yield (
            f"It shows nothing: points lie {percent(share, 2)} of a {_unit(report)}'s length from "
            f"where people went{everybody}.",
            _remedy("Take more data, a smaller area or a smaller k", "anonymize", k=max(k - 1, 2)),
        )
    if _betrayed(report) > DRIVES_BETRAYED:
        yield _of_drives(report)


def _of_people_and_means(report: Mapping[str, Any]) -> Iterator[_Found]:
    k, unit, units = report["k"], _unit(report), UNITS[_unit(report)]
    if not knows_people(report):
        yield (
            f"No subject is known of these {units}: at least {k} recordings are behind each line,"
            " and several may be of one person.",
            _name_the_persons(report),
        )
    if (share := moved_of_length(report) or 0.0) > FEW_DATA:
        few = (report.get("people") or MANY_PEOPLE * k) < MANY_PEOPLE * k
        more = "people" if few else units
        tenths = round(share, 1)  # this sentence is published: no sum gives anybody away
        yield (
            f"It hides enough and shows little: points lie {percent(tenths)} of a {unit}'s "
            f"length from where people went. Several times as many {more} would bring that to "
            f"{percent(ENOUGH_DATA)}.",
            _move_less(report),
        )
    nameless = _nameless(report)
    if knows_people(report) and nameless.subjects > 1:
        have = number_of(nameless.recordings, "recording has", "recordings have")
        yield f"{have} no subject; each of them was counted as a different person.", None


def _name_the_persons(report: Mapping[str, Any]) -> Remedy | None:
    """Name the columns that may say who made each recording, if there are any."""
    columns = (report.get("source") or {}).get("possible_persons") or []
    if not columns:
        return None
    listed = ", ".join(f"{column['column']} ({column['values']:,} values)" for column in columns)
    may = "may name the persons: say which one does, or subject=none if none does"
    return _remedy(f"{listed} {may}", "extract", columns="subject=NAME")


def _move_less(report: Mapping[str, Any]) -> Remedy | None:
    """Say what moves points less: to count the nameless as different, if they are very many."""
    nameless = _nameless(report)
    if knows_people(report) and nameless.subjects == 1 and _share_nameless(report) > MANY_NAMELESS:
        words = (
            f"{nameless.recordings:,} recordings without a name count as one person; if each is a "
            "different person's"
        )
        return _remedy(words, "extract", columns="nameless=different")
    if report["k"] > PAIR + 1:
        return _remedy("A smaller k moves points less", "anonymize", k=report["k"] - 1)
    return None


def _of_days(report: Mapping[str, Any]) -> Iterator[_Found]:
    choice = report.get("choice") or {}
    share = 1.0 - report.get("n", 0) / max(choice.get("days", 0), 1)
    if "most" in choice and share > DAYS_LEFT_OUT:
        yield (
            f"{percent(share, 2)} of the days are left out: {choice['too_many']:,} have more than "
            f"{number_of(choice['most'], 'trip')}, and the others find fewer than {report['k']} "
            "people with as many trips.",
            _without("To release trips, leave out --days", report["k"]),
        )


def _of_drives_and_places(report: Mapping[str, Any]) -> Iterator[_Found]:
    k, units = report["k"], UNITS[_unit(report)]
    if _betrayed(report) > DRIVES:
        yield _of_drives(report)
    people = report.get("persons") or {"people": 0, "people_below": 0}
    if people["people_below"] > PEOPLE * people["people"]:
        yield (
            f"{OF_A_LINE}: the lines of a person, taken together, fit fewer than {k} people "
            f"for {people['people_below']:,} of the {people['people']:,} on several lines.",
            _remedy("To put each person on one line", "anonymize", k=k, one_line_each=True),
        )
    elif "persons" not in report and "shards" in report and knows_people(report):
        yield f"{OF_A_LINE}; with several shards, a person's lines are not checked together.", None
    if (share := _left(report, "one_place")) > IN_ONE_PLACE:
        distinct, places = report.get("distinct_ends", 2), "one place of 200 m"
        if distinct > 2:
            places = f"fewer than {distinct} places, 200 m apart"
        yield (
            f"All {units} of {percent(share, 2)} of the lines begin or end in {places}, "
            "which these lines show.",
            _remedy("To leave out the ends of recordings", "extract", trim_ends=200),
        )
    if (share := _left(report, "wide")) > WIDE:
        yield (
            f"{percent(share, 2)} of the lines stand for {units} that are farther apart than they "
            "are long.",
            _remedy("A smaller k, or a smaller area", "anonymize", k=k - 1) if k > PAIR else None,
        )


def _of_hours(report: Mapping[str, Any]) -> Iterator[_Found]:
    times = report.get("times") or {}
    alone = times.get("alone") or {"hours": [], "of": 1}
    if len(alone["hours"]) / alone["of"] <= HOURS_ALONE:
        return
    said = "Release hours of the day alone"
    options = {"k": report["k"], "times": "of-day"}
    if times["times"] == "of-day":
        said = "A minute that is worth less lets departures of a line differ more"
        options["minute_worth"] = max(times["minute_worth"] / 3.0, 0.5)
    yield (
        f"In {len(alone['hours'])} of the {alone['of']} hours with departures one line departs "
        "alone: anyone who knows that a person set out then knows this line.",
        _remedy(said, "anonymize", **options),
    )


def _of_windows(report: Mapping[str, Any]) -> Iterator[_Found]:
    if _unit(report) == "trip":
        return
    if report["k"] == PAIR:
        yield OF_PAIRS, _remedy("A larger k", "anonymize", k=3)
    per_recording = (report.get("source") or {"per_recording": 1}).get("per_recording")
    if "chains" not in report and per_recording != 1:
        yield (
            "Anyone who follows a drive from line to line may be left with fewer than "
            f"{report['k']} subjects; with several shards this is not checked.",
            _ONE_OF_EACH,
        )


def _of_drives(report: Mapping[str, Any]) -> _Found:
    chained = report["chains"]
    return (
        "Pieces of one drive lie end to end: anyone who follows it from line to line is left "
        f"with fewer than {report['k']} subjects in {chained['drives_below']:,} of "
        f"{number_of(chained['drives'], 'drive')}.",
        _ONE_OF_EACH,
    )


def _betrayed(report: Mapping[str, Any]) -> float:
    """Share of the drives on several lines that leave fewer than k subjects."""
    chained = report.get("chains")
    return float(chained["drives_below"] / max(chained["drives"], 1)) if chained else 0.0


def _nameless(report: Mapping[str, Any]) -> Nameless:
    """Read how many recordings have no name; earlier versions counted each as another person's."""
    counts = report.get("source") or {}
    recordings = counts.get("nameless", 0)
    return Nameless(recordings, counts.get("nameless_count_as", recordings))


def _share_nameless(report: Mapping[str, Any]) -> float:
    recordings = (report.get("source") or {}).get("recordings") or 0
    nameless = _nameless(report).recordings
    return float(nameless / max(recordings, nameless, 1))


def knows_people(report: Mapping[str, Any]) -> bool:
    """Whether k counts subjects and some recordings have one."""
    return report["counted"] == "subjects" and _share_nameless(report) < 1.0


def _left(report: Mapping[str, Any], what: str) -> float:
    """Share of the groups in which something could not be mended."""
    mended = (report.get("mended") or {}).get(what) or {}
    return int(mended.get("left", 0)) / max(report.get("groups") or 0, 1)


def moved_of_length(report: Mapping[str, Any]) -> float | None:
    """How far points moved, as a share of the length of what was averaged; None if not known."""
    if not (length := report.get("length")) or not length["mean"]:
        return None
    return float(report["displacement"]["mean"] / length["mean"])


def cost(report: Mapping[str, Any], crowd: Crowd = EXACT) -> str:
    """Say what a release costs; for publication, as figures of a crowd.

    >>> far = {"mean": 75.0, "median": 40.0}
    >>> report = {"displacement": far, "information_loss": 0.458, "unit": "trip"}
    >>> cost(report | {"length": {"mean": 2500.0}}).partition("average ")[2]
    "(median 40 m), 3 % of a trip's length; information loss 0.46 %."
    """
    far, share = report["displacement"], moved_of_length(report)
    of_length = ""
    if share is not None:
        of_length = f", {crowd.text(share, two_digits)} of a {_unit(report)}'s length"
    return (
        f"Released points lie {crowd.text(far['mean'], metres)} from where people went on average "
        f"(median {crowd.text(far['median'], metres)}){of_length}; "
        f"information loss {crowd.text(report['information_loss'] / 100.0, two_digits)}."
    )


def source(report: Mapping[str, Any]) -> str:
    """Say how much of the source is in a release, and why the rest is not.

    >>> counts = {"recordings": 40, "used": 38, "left_out": {"too short": 2}}
    >>> source({"n": 41, "unit": "trip", "source": counts})
    '41 trips are in the release. Of 40 recordings 38 gave one or more; the others are 2 too short.'
    """
    counts, units = report.get("source") or {}, UNITS[_unit(report)]
    said = f"{number_of(report['n'], _unit(report), units)} are in the release."
    if (read := counts.get("recordings")) is not None:
        said += f" Of {number_of(read, 'recording')} {counts.get('used', 0):,} gave one or more"
        others = _listed(counts.get("left_out") or {})
        said += f"; the others are {others}." if others else "."
    ledger, wide = report.get("ledger") or {}, (report.get("mended") or {}).get("wide") or {}
    choice = report.get("choice") or {}
    many, far = choice.get("too_many", 0), wide.get("trajectories", 0)
    out = {
        f"other {units} of these people": choice.get("left_out", 0),
        f"days of more than {number_of(choice.get('most', 0), 'trip')}": many,
        "days without enough others": max(choice.get("days", 0) - many - report["n"] - far, 0),
        "trips without times": choice.get("untimed", 0),
        f"{units} far from all others": far,
        f"{units} released before": ledger.get("already_released", 0),
        f"{units} of people who are on a line already": ledger.get("on_a_line", 0),
    }
    said += f" Left out: {listed}." if (listed := _listed(out)) else ""
    return f"{said} {followed(report)}".rstrip()


def _listed(counts: Mapping[str, int]) -> str:
    most = sorted(((n, why) for why, n in counts.items() if n), key=lambda one: -one[0])
    return ", ".join(f"{n:,} {why}" for n, why in most)


def followed(report: Mapping[str, Any]) -> str:
    """Say what a release shows of a person with several trips; empty if no subject is known.

    >>> followed({"unit": "trip", "counted": "subjects"}).partition(",")[0]
    'Somebody with several trips is on several lines'
    """
    unit, choice = _unit(report), report.get("choice") or {}
    if report.get("counted") != "subjects" or not knows_people(report):
        return ""
    if "people" in choice:
        return f"Nobody {'who is named ' * (_nameless(report).subjects > 1)}is on two lines."
    whole = ""
    if "most" in choice:
        trips = number_of(choice["most"], "trip")
        whole = (
            f"Each line is a whole day: {trips}, one after the other, or fewer and then a stay. "
        )
    if report.get("persons") is not None:  # the verdict says how few
        return whole.strip()
    return (
        f"{whole}Somebody with several {UNITS[unit]} is on several lines, and fewer than k people "
        "may be on all of these."
    )


def source_of(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Take from a provenance what a report says of its source, ready for JSON."""
    whole, nameless = provenance.get("recordings"), Nameless.counted_in(provenance)
    became = _counts(whole)
    return {
        "recordings": became.get("read"),
        "used": became.get("with a trajectory", 0),
        "nameless": nameless.recordings,
        "nameless_count_as": nameless.subjects,
        "per_recording": provenance.get("per_recording"),
        "possible_persons": _columns_in(provenance.get("possible_persons")),
        "left_out": _counts(whole.get("left out")) if isinstance(whole, Mapping) else {},
    }


def _counts(found: object) -> dict[str, int]:
    """Take the counts in what a file says, which may be anything."""
    counts = found if isinstance(found, Mapping) else {}
    return {str(name): n for name, n in counts.items() if type(n) is int and n >= 0}


def _columns_in(found: object) -> list[dict[str, Any]]:
    """Take the columns, with how many values they have, in what a file says."""
    rows = [row for row in found if isinstance(row, Mapping)] if isinstance(found, list) else []
    return [
        {"column": str(row["column"]), "values": row["values"]}
        for row in rows
        if "column" in row and type(row.get("values")) is int
    ]


MADE_AS_PUBLISHED = f"it holds plain means, made as published, {FOR_COMPARISON}"


def too_few(
    k: int, groups: int, *, records: int | None, people: int | None, units: str = "trajectories"
) -> str:
    """Say which k fails, by the groups with fewer records, or people (None: unknown)."""
    if people:
        lack = f"{people:,} of {number_of(groups, 'group')} hold fewer than {k} different subjects"
        if records:
            return lack
        return f"{k} records stand behind each line, but not {k} people: {lack}"
    if records:
        return f"{records:,} of {number_of(groups, 'group')} hold fewer than {k} {units}"
    return ""


def _remedy(sentence: str, command: str, **options: Any) -> Remedy:
    words: list[str] = []
    for name, value in options.items():
        flag = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
        words += [flag] if value is True else [flag, f"{value}"]
    return Remedy(sentence, command, " ".join(words))


def _without(sentence: str, k: int) -> Remedy:
    """Make a remedy that leaves out an option."""
    return Remedy(sentence, "anonymize", f"-k {k}", leaves_out=True)


def _unit(report: Mapping[str, Any]) -> str:
    return str(report.get("unit", "trajectory"))


def _sentence(problem: str) -> str:
    return f"{problem[:1].upper()}{problem[1:]}".replace("\n", " ").rstrip(".") + "."
