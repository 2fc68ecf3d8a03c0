"""What the commands print of their results."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING, Any

from trajanon.cli.screen import listed, show_table
from trajanon.cli.wording import steps_of, tell
from trajanon.settings import OF_PAIRS, PAIR
from trajanon.subjects import Merged
from trajanon.trajectories import FOR_COMPARISON
from trajanon.words import UNITS, number_of, percent, span

if TYPE_CHECKING:
    from trajanon.benchmark.measurement import Measurement

STOPPED = (
    "Stopped by Ctrl-C: these are the best groups so far. They keep what k promises; "
    "a longer search might lose less."
)
NOT_ALIGNED = "Alignment was skipped: the windows stay as they were cut."

_ONE_PIECE = (
    "trajanon extract --windows first takes one window of each recording, and --trips takes whole "
    "trips."
)

_MOST_LOSSES = 8  # columns whose losses are listed
_HEADERS = 5  # kinds of tables whose columns are listed
_ROWS = {"subjects": "one for each subject of a line", "lines": "one for each line, with its count"}
_Facts = Iterator[tuple[str, str]]


def without_lists(report: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out of a report what has an entry for each trajectory or group."""
    return {
        name: without_lists(value) if isinstance(value, Mapping) else value
        for name, value in report.items()
        if name == "stages" or not isinstance(value, list)
    }


def show_extraction(provenance: Mapping[str, Any]) -> None:
    """Print what extraction read, dropped and kept, and what to know of it."""
    from trajanon.extract.dropped import sentences

    counts = provenance["counts"]
    unit = "trips" if provenance["trips"] else "trajectories"
    title = "What became of the points"
    show_table(title, steps_of(provenance), ["Step"], numbers=["Count"], bold=unit)
    uses = sorted(provenance["columns"].items(), key=lambda use: -use[1])  # those of most tables
    for use, count in uses[:_HEADERS]:
        tell(f"Columns{f' of {count:,} tables' * (count > 1)}: {use}.")
    if len(uses) > _HEADERS:
        more = sum(count for _, count in uses[_HEADERS:])
        have = number_of(more, "more table has", "more tables have")
        tell(f"{have} other columns: --json lists them.")
    if unknown := counts.get("recordings of unknown subjects"):
        named = number_of(unknown, "recording names", "recordings name")
        tell(f"{named} no subject: each counts as its own.")
    if merged := Merged.told_by(provenance).told():
        tell(merged)
    for sentence in sentences(provenance):
        tell(sentence)
    if counts.get("points near hidden places") == 0:
        tell(
            "No point lies near a hidden place: look whether the file of --pbf holds "
            "the area of the traces."
        )
    if provenance["fill"] >= 0.005:
        spacing = provenance["spacing"]
        far = "the spacing of their trip" if spacing is None else f"{spacing:g} m"
        tell(
            f"{percent(provenance['fill'], 2)} of the points lie farther than {far} from both "
            "fixes around them, on straight lines: a lower --max-gap leaves out "
            f"{unit} with longer hops."
        )
    if provenance["attribution"]:
        tell(provenance["attribution"])


def show_release(report: Mapping[str, Any]) -> None:
    """Print what a release lost, and how its groups are."""
    alignment = report["alignment"]
    show_table("The release", _of_release(report), [""], numbers=[""])
    ways = {"in the file": report}
    if alignment is not None:
        before = alignment["before"]
        # What several shards slid is not measured as cut.
        cut = {"as cut": alignment["as_cut"]} if "as_cut" in alignment else {}
        ways = {"as slid": report, **cut, "without sliding": before}
    losses = [f"{way['information_loss']:.4g} %" for way in ways.values()]
    distances = {name: way["displacement"] for name, way in ways.items()}
    if (from_runs := report.get("from_runs")) is not None:
        distances["from the runs"] = from_runs
    names = {"mean": "mean", "median": "median", "p95": "95 %, at most", "max": "farthest"}
    moved = [
        [name, *(f"{far[key]:,.0f} m" for far in distances.values())] for key, name in names.items()
    ]
    moved.append(["Information loss", *losses])
    show_table("What it costs", moved, ["Points moved"], numbers=distances)
    if alignment is not None:
        tell(alignment["measured"])
    if report["information_loss"] == 0.0:
        tell(
            "Nothing was lost, because the members of each group are equal: give anonymize what "
            "trajanon extract wrote, not a release."
        )
    if (chained := report.get("chains")) is not None and chained["drives_below"]:
        from trajanon.privacy.chains import SubjectsLeft

        left = SubjectsLeft(**chained).words(report["k"])
        tell(f"Windows of one drive lie end to end. {left}: {_ONE_PIECE}")
    if report["k"] == PAIR and report["unit"] != "trip":
        tell(OF_PAIRS)
    if report["as_published"]:
        tell(f"Lines are plain means, made as published, {FOR_COMPARISON}.")
    if "chains" not in report and report["unit"] != "trip":
        tell(
            "Somebody who follows a drive from line to line may be left with fewer than k "
            f"subjects, which is not counted in several shards: {_ONE_PIECE}"
        )
    if report["stopped"]:
        tell(STOPPED)
    if report.get("alignment_skipped"):
        tell(NOT_ALIGNED)


def _of_release(report: Mapping[str, Any]) -> _Facts:
    # A release in parts tells how many groups there are of each size.
    sizes = report.get("sizes") or list(map(int, report["groups_of_size"]))
    units = UNITS[report["unit"]].capitalize()
    yield units, f"{report['n']:,}"
    if (ledger := report.get("ledger")) is not None:
        yield "(released before, left out)", f"{ledger['already_released']:,}"
        if over := ledger["over_the_limit_of_a_person"]:
            yield "(beyond what one person may have)", f"{over:,}"
    yield "Groups", f"{report['groups']:,}"
    if report["lines"] < report["groups"]:
        yield "(as different lines)", f"{report['lines']:,}"
    rows = report["rows"]
    if (way := rows["way"]) in _ROWS:
        yield "Rows", f"{rows[way]:,}, {_ROWS[way]}"
    on_grids = bool(report.get("steps") or report.get("groups_of_steps"))
    yield (
        "Decimals of degrees",
        f"{report['digits']}{', each line moved and on its grid' * on_grids}",
    )
    if (roads := report.get("roads")) is not None:
        yield "Lines on roads", f"{roads['on_roads']:,}"
        yield "(as they were, off roads)", f"{roads['as_they_were']:,}"
    yield _promised(report, units)
    yield "Group sizes", f"{min(sizes)} to {max(sizes)}"
    if (times := report["times"]) is not None:
        yield "Times", f"{times['times']}, {times['timezone']}, to {span(times['step'])}"
        for what in ("departure", "duration"):
            off = times[f"{what}_error"]
            far = ", ".join(span(off[name]) for name in ("mean", "median", "p95"))
            yield f"{what.capitalize()} off by (mean, median, 95 %)", far
    if report.get("shards", 1) > 1:
        yield "Shards, searched one by one", f"{report['shards']:,}"
    yield from _stages(report)
    if on_grids:
        yield "Information loss as written", f"{report['information_loss']:.4g} %"
    if (alignment := report["alignment"]) is not None:
        yield "Trajectories that slid", percent(alignment["slid"]["share"], 2)
        yield "(on their tracks by, mean)", f"{alignment['slid']['mean']:,.0f} m"
    if (mended := report.get("mended")) is not None:
        one, wide = mended["one_place"], mended["wide"]
        yield "Groups of one start or end, mended", f"{one['groups'] - one['left']:,}"
        yield "Left out, too far from others", f"{wide['trajectories']:,}"


def rows_of(report: Mapping[str, Any]) -> str:
    """Say how many rows a release has, and for what."""
    rows, of = report["rows"], number_of(report["n"], report["unit"], UNITS[report["unit"]])
    if rows[rows["way"]] == report["n"]:
        return of
    what = "row" if rows["way"] == "subjects" else "line"
    return f"{number_of(rows[rows['way']], what)} for {of}"


def rounded_text(value: float, way: str) -> str:
    """Write a percentage with four decimals, in this way: a bound rounded up is no bound."""
    return f"{Decimal(value).quantize(Decimal('0.0001'), rounding=way):f}"


def show_certificate(account: Mapping[str, Any]) -> None:
    """Print the loss reached beside the bound."""
    reached = rounded_text(account["information_loss"], ROUND_CEILING)
    facts = [
        ("Rows", f"{account['n']:,}"),
        ("Columns", listed(account["columns"])),
        ("Rows in each group", f"at least {account['k']}"),
        *_stages(account),
        ("Information loss reached", f"{reached} %"),
        ("No groups lose less than", f"{rounded_text(account['bound'], ROUND_FLOOR)} %"),
        ("The gap between them", f"{rounded_text(account['gap'], ROUND_CEILING)} % of the loss"),
    ]
    show_table("The certificate", facts, ["", ""])


def show_microaggregated(report: Mapping[str, Any]) -> None:
    """Print what a microaggregated table lost, how its groups are, and what they left of it."""
    show_table("The microaggregated table", _of_table(report), ["", ""])
    tell("A row hardly moved if no value of it moved by 5 % of its standard deviation.")
    _show_moments(report["moments"], report["loss_by_column"])
    if report["stopped"]:
        tell(STOPPED)


def _show_moments(moments: Mapping[str, Any], losses: Mapping[str, float]) -> None:
    most = sorted(losses, key=lambda name: -losses[name])
    rows = [
        [
            listed([name]),
            *map(_figure, (*moments["mean"][name], *moments["sd"][name])),
            f"{losses[name]:.3g} %",
        ]
        for name in most[:_MOST_LOSSES]
    ]
    numbers = ["Mean", "after", "SD", "after", "Loss"]
    show_table("Before and after", rows, ["Column"], numbers=numbers)
    if len(most) > _MOST_LOSSES:
        lost = f"{losses[most[_MOST_LOSSES]]:.3g} %"
        tell(
            f"{len(most) - _MOST_LOSSES} more columns lose {lost} each at most: --json lists them."
        )
    shrunk = [1.0 - after / before for before, after in moments["sd"].values() if before > 0.0]
    if shrunk:
        mean, highest = percent(sum(shrunk) / len(shrunk), 2), percent(max(shrunk), 2)
        tell(f"Means are kept; standard deviations shrink by {mean} on average, {highest} at most.")
    for pair in moments["correlations"][:1]:
        before, after = pair["correlation"]
        tell(
            f"The correlation that changed most is that of {' and '.join(pair['columns'])}: "
            f"{before:.3f} before, {after:.3f} after."
        )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e15 else f"{value:.4g}"


def _of_table(report: Mapping[str, Any]) -> _Facts:
    yield "Rows", f"{report['n']:,}"
    names = {"microaggregated": report["columns"], **report}
    for what in ("microaggregated", "kept"):
        if names[what]:
            yield f"Columns {what}", listed(names[what])
    yield "Groups", f"{report['groups']:,}"
    yield _promised(report, "Rows")
    if report["strata"] is not None:
        yield "Groups lie within a value of", listed([report["strata"]])
    if report["weights"] is not None:
        weights = [f"{name}: {weight:g}" for name, weight in report["weights"].items()]
        yield "Weights of columns", listed(weights)
    yield "Group sizes", f"{report['sizes']['min']} to {report['sizes']['max']}"
    yield from _stages(report)
    risk = report["risk"]
    linked = (
        f"{percent(risk['linkage_mean'])} on average, {percent(risk['linkage_highest'])} at most"
    )
    yield "Chance to link a row to a person", linked
    yield "Rows that hardly moved", percent(risk["near_original"])


def _promised(report: Mapping[str, Any], records: str) -> tuple[str, str]:
    counted = "Different subjects" if report["counted"] == "subjects" else records
    return f"{counted} in each group", f"at least {report['k']}"


def _stages(report: Mapping[str, Any]) -> _Facts:
    lost = "Loss with departures" if report.get("times") else "Information loss"
    if report.get("weights"):
        lost = "Weighted loss"
    for stage in report["stages"]:
        seconds, loss = f"({stage['seconds']:.2f} s)", stage["information_loss"]
        if loss is None:
            yield f"Time for the {stage['name']}", seconds
        else:
            yield f"{lost} after {stage['name']}", f"{loss:.4g} %  {seconds}"


def show_measurements(measurements: "Sequence[Measurement]") -> None:
    """Print how far each method's losses lie above the published ones, on average."""
    compared: dict[tuple[str, str, str], list[float]] = {}
    for m in measurements:
        if m.difference is not None and m.statistic in ("il", "avg", "path_length"):
            compared.setdefault((m.table, m.dataset, m.method), []).append(m.difference)
    rows = [
        [*place, str(len(differences)), f"{sum(differences) / len(differences):+.1f} %"]
        for place, differences in compared.items()
    ]
    numbers = ["Numbers compared", "Ours above them (mean)"]
    if rows:
        show_table("Beside the papers", rows, ["Table", "Data", "Method"], numbers=numbers)
