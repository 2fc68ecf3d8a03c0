"""The page for the holder: the verdict in words, then numbers and plots."""

from collections.abc import Callable, Iterator
from html import escape
from typing import TYPE_CHECKING

from trajanon.evaluation.markup import bar, histogram, paragraph, section, table
from trajanon.evaluation.names import AS_SLID, NOTICE
from trajanon.evaluation.verdict import verdict
from trajanon.evaluation.words import metres, percent
from trajanon.utility.usefulness import (
    DENSITY_CELL,
    FLOW_CELL,
    QUERIES,
    ROAD,
    SIDES,
    Usefulness,
)

if TYPE_CHECKING:
    from trajanon.evaluation.evaluation import Evaluation
    from trajanon.privacy.diversity import Diversity

_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1c2530; background: #fff;
  max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: .5rem 0; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem; }
.notice { background: #7a1f1f; color: #fff; padding: .5rem .8rem; margin: 0; }
.good, .caution, .bad { border-left: .4rem solid; padding: .35rem .8rem;
  margin: .4rem 0; }
.good { border-color: #2a7d4f; background: #eef7f1; }
.caution { border-color: #c58a10; background: #fdf6e6; }
.bad { border-color: #b02a2a; background: #fceeee; font-weight: 600; }
.small { font-size: .87rem; color: #475361; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { padding: .3rem .6rem; border-bottom: 1px solid #d9dfe5; text-align: right;
  font-variant-numeric: tabular-nums; vertical-align: bottom; }
th { font-weight: 500; }
td { white-space: nowrap; }
tbody th { min-width: 9rem; }
th:first-child { text-align: left; }
thead th { border-bottom: 2px solid #8593a1; font-weight: 600; }
.row { display: grid; grid-template-columns: 1fr auto; gap: 0 1rem; margin: .55rem 0; }
.row svg { grid-column: 1 / -1; width: 100%; height: .7rem; display: block; }
.all { fill: #e8edf1; } .bar { fill: #4478a8; } .above .bar { fill: #c0562f; }
.mark { fill: #111; }
figure { margin: .6rem 0; }
.histogram { width: 100%; height: 9rem; display: block; background: #f4f7f9; }
figcaption { display: flex; justify-content: space-between; font-size: .87rem; }
footer { margin: 2.5rem 0 1rem; font-size: .87rem; color: #475361; }
"""


def page(evaluation: "Evaluation") -> str:
    """Write the page: whole in itself, and without network.

    Returns
    -------
    str
        HTML, whose first line says that it is not for publication.
    """
    parts = [
        _verdict(evaluation),
        _promise(evaluation),
        _attacks(evaluation),
        _diversity(evaluation),
        _utility(evaluation),
        _price(evaluation),
        _limits(),
    ]
    attribution = evaluation.report.get("attribution")
    footer = (
        "" if attribution is None else f"<footer>{escape(str(attribution))}</footer>"
    )
    return "\n".join(
        [
            f"<!-- {NOTICE} -->",
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            "<title>trajanon: evaluation of a release, for the holder</title>",
            f"<style>{_STYLE}</style></head><body>",
            paragraph(NOTICE, "notice"),
            *parts,
            footer,
            "</body></html>",
            "",
        ]
    )


def _verdict(evaluation: "Evaluation") -> str:
    said = "\n".join(paragraph(text, kind) for kind, text in verdict(evaluation))
    return f"<h1>What this release protects, and what it costs</h1>\n{said}"


def _promise(evaluation: "Evaluation") -> str:
    told = evaluation.account
    subjects = told["subjects"]
    few = told["violations"]["subjects"]
    rows = [
        ("Trajectories", f"{told['trajectories']:,}"),
        ("Points of each", f"{told['points']}"),
        ("Subjects", "not known" if subjects is None else f"{subjects:,}"),
        ("k, and what it counts", f"{told['k']} {told['counted']}"),
        ("Groups", f"{told['groups']:,}"),
        (
            "Trajectories in a group",
            f"{told['sizes']['min']} to {told['sizes']['max']}, "
            f"median {told['sizes']['median']:g}",
        ),
        ("Groups of fewer than k trajectories", f"{told['violations']['records']:,}"),
        (
            "Groups of fewer than k subjects",
            "not known" if few is None else f"{few:,}",
        ),
    ]
    return section("The promise", table(["", ""], rows))


def _attacks(evaluation: "Evaluation") -> str:
    shown = [one for one in evaluation.attacks if len(one.targets)]
    if not shown:
        return ""
    baseline = shown[0].baseline
    by_what = {
        "release": "in the release",
        "originals": "in the originals, if published",
    }
    drawn = [
        bar(
            f"{one.name}, {by_what[one.against]}",
            one.expected,
            percent(one.expected),
            of=1.0,
            mark=baseline,
        )
        for one in shown
    ]
    rows = [
        (
            f"{one.name}, {by_what[one.against]}",
            percent(one.expected),
            percent(one.worst_case),
            percent(one.exposed),
            f"{one.account['subjects_exposed']:,} of {one.account['subjects']:,}",
            f"{len(one.at_fault):,}" if one.against == "release" else "–",
        )
        for one in shown
    ]
    header = [
        "Attack",
        "Mean",
        "Worst",
        "Above 1/k",
        "Subjects above",
        "Groups at fault",
    ]
    return section(
        "Attacks",
        paragraph(
            "How often somebody who knows something of a person finds a row of that "
            "person: mean over all trajectories. The black mark is 1/k, "
            f"{percent(baseline)}: the chance in a group of k rows of k subjects. More "
            "is possible where several rows of a line are of one subject. The same "
            "attacks on the originals show what the release saves from."
        ),
        *drawn,
        table(header, rows),
        *(paragraph(one.words, "small") for one in shown if one.against == "release"),
    )


def _diversity(evaluation: "Evaluation") -> str:
    title = "What the members of a group have in common"
    if not evaluation.aligned:
        return section(title, *_in_common(evaluation.diversity))
    return section(
        title,
        paragraph("The windows as slid, which the released lines are the means of:"),
        *_in_common(evaluation.diversity_as_slid),
        paragraph("The windows as they stand in the file:"),
        *_in_common(evaluation.diversity),
    )


def _in_common(found: "Diversity") -> Iterator[str]:
    told = found.account

    def row(name: str, key: str, write: Callable[[float], str]) -> tuple[str, ...]:
        return (name, *(write(told[key][what]) for what in ("min", "median", "max")))

    def number(value: float) -> str:
        return f"{value:.3g}"

    rows = [
        row("Cells in which members begin", "origins", number),
        row("the same, effectively", "origins_entropy", number),
        row("Cells in which members end", "destinations", number),
        row("the same, effectively", "destinations_entropy", number),
        row("Farthest member from the line", "radius", metres),
        row("Mean distance to the line", "mean_radius", metres),
    ]
    yield paragraph(found.words)
    yield table(["In each group", "Least", "Median", "Most"], rows)
    yield paragraph(
        "How far the farthest member of each group is from its line (each bar: how "
        "many groups):",
        "small",
    )
    yield histogram(found.radius, "m")


def _utility(evaluation: "Evaluation") -> str:
    ways = evaluation.usefulness
    rows = [
        (name, *(write(one) for one in ways.values())) for name, write in _measures()
    ]
    losses = (
        "Information loss",
        *(f"{loss:.3g} %" for loss in evaluation.loss.values()),
    )
    roads = ""
    if evaluation.roads_before is not None:
        on = [one.on_roads for one in ways.values()]
        rows.append(
            (
                f"Points within {ROAD:g} m of a road",
                *("–" if share is None else percent(share) for share in on),
            )
        )
        roads = (
            f"Of the originals' points, {percent(evaluation.roads_before)} lie within "
            f"{ROAD:g} m of a road."
        )
    slid = ""
    if AS_SLID in ways:
        slid = (
            "Windows slid on their own tracks before they were averaged. A released "
            "line then stands for a piece of the same track that begins elsewhere: "
            "point by point it lies farther from the window in the file, although "
            "along the same way. The second column measures it on the windows as slid, "
            "as the report does."
        )
    return section(
        "What it costs",
        table(["", *ways], [losses, *rows]),
        paragraph(slid) if slid else "",
        paragraph(roads) if roads else "",
        paragraph(
            "Distribution of lengths: the earth mover's distance. Trips kept: the "
            "common part of origin-destination matrices on cells of "
            f"{FLOW_CELL:g} m. Density map: Jensen–Shannon divergence on cells of "
            f"{DENSITY_CELL:g} m, in bits, 0 for equal maps, 1 for maps with nothing "
            f"in common. Counts in boxes: mean relative error over {QUERIES:,} random "
            f"boxes with sides of {SIDES[0]:,.0f} to {SIDES[1]:,.0f} m.",
            "small",
        ),
    )


def _measures() -> Iterator[tuple[str, Callable[[Usefulness], str]]]:
    for title, field in (
        ("Points moved", "displacement"),
        ("Fréchet distance", "frechet"),
        ("DTW distance, a point", "warping"),
    ):
        for name, key in (
            ("mean", "mean"),
            ("median", "median"),
            ("95 %, at most", "p95"),
            ("farthest", "max"),
        ):
            yield f"{title}, {name}", _of(field, key)
    yield "Lengths of lines changed by, mean", lambda one: _signed(one.length_change)
    yield "Hops turned by, mean", lambda one: f"{one.turn:.1f}°"
    yield "Distribution of lengths moved by", lambda one: metres(one.length_shift)
    yield "Trips kept", lambda one: percent(one.flow_similarity)
    yield "Density map differs by", lambda one: f"{one.density_divergence:.3g}"
    yield "Counts in boxes are off by", lambda one: percent(one.query_error)


def _signed(share: float) -> str:
    return f"{100.0 * share:+.1f} %" if share else "0 %"


def _of(field: str, key: str) -> Callable[[Usefulness], str]:
    def write(one: Usefulness) -> str:
        return metres(getattr(one, field)[key])

    return write


def _price(evaluation: "Evaluation") -> str:
    if not evaluation.price:
        return ""
    rows = [
        (
            paid.method,
            f"{paid.records:.4g} %",
            f"{paid.subjects:.4g} %",
            f"{paid.violations:,} of {paid.groups:,}",
        )
        for paid in evaluation.price
    ]
    return section(
        "The price of counting people",
        paragraph(
            "Information loss with k trajectories in each group, and with those of k "
            "different subjects, on the windows as they stand in the file. The last "
            "column says in how many groups of k trajectories fewer than k subjects "
            "would be."
        ),
        table(["Method", "k trajectories", "k subjects", "Groups that fail"], rows),
    )


def _limits() -> str:
    return section(
        "What is not covered",
        paragraph(
            "The attacks are those listed, each with the knowledge named; another "
            "adversary may know more. None of them knows the other members of a group, "
            "other releases of the same data, or what else is published about the same "
            "people. k-anonymity is not differential privacy."
        ),
    )
