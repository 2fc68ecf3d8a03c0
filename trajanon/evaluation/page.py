"""The page for the holder: the verdict in words, then numbers and plots."""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined

from trajanon.arrays import Floats
from trajanon.evaluation.names import NOTICE, SLID
from trajanon.evaluation.verdict import verdict
from trajanon.utility.usefulness import DENSITY_CELL, FLOW_CELL, QUERIES, ROAD, SIDES, Usefulness
from trajanon.words import metres, percent

if TYPE_CHECKING:
    from trajanon.evaluation.evaluation import Evaluation
    from trajanon.privacy.attack import Attack
    from trajanon.privacy.diversity import Diversity

_BINS = 30


def page(evaluation: "Evaluation") -> str:
    """Write the page: whole in itself, and without network."""
    environment = Environment(
        loader=PackageLoader("trajanon.evaluation", ""),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {"count": _count, "metres": metres, "percent": percent}
    return environment.get_template("page.html").render(
        notice=NOTICE,
        evaluation=evaluation,
        verdict=verdict(evaluation),
        sizes=evaluation.sizes,
        median=f"{np.median(evaluation.sizes):g}",
        attacks=_attacks(evaluation),
        spreads=_spreads,
        histogram=_histogram,
        ways=list(evaluation.usefulness),
        costs=list(_costs(evaluation)),
        prices=[
            (
                paid.method,
                percent(paid.records / 100.0, 4),
                percent(paid.subjects / 100.0, 4),
                f"{paid.violations:,} of {paid.groups:,}",
            )
            for paid in evaluation.price or []
        ],
        road=f"{ROAD:g}",
        flow_cell=f"{FLOW_CELL:g}",
        density_cell=f"{DENSITY_CELL:g}",
        queries=QUERIES,
        sides=SIDES,
    )


def _count(number: int | None) -> str:
    return "not known" if number is None else f"{number:,}"


def _attacks(evaluation: "Evaluation") -> list[tuple[str, list["Attack"]]]:
    """Attacks by name: on the release, from windows as slid, and on the originals."""
    tried = (one for one in evaluation.attacks if len(one.targets))
    alike = groupby(tried, lambda one: one.name.removesuffix(SLID))
    return [(name, list(group)) for name, group in alike]


def _spreads(found: "Diversity") -> Iterator[tuple[str, ...]]:
    told = found.account

    def number(value: float) -> str:
        return f"{value:.3g}"

    for name, key, write in (
        ("Cells in which members begin", "origins", number),
        ("the same, effectively", "origins_entropy", number),
        ("Cells in which members end", "destinations", number),
        ("the same, effectively", "destinations_entropy", number),
        ("Farthest member from the line", "radius", metres),
        ("Mean distance to the line", "mean_radius", metres),
    ):
        yield (name, *(write(told[key][what]) for what in ("min", "median", "max")))


def _histogram(values: Floats) -> dict[str, Any]:
    """How often values occur, up to their 99th percentile."""
    most = float(np.percentile(values, 99)) or 1.0
    counts, _ = np.histogram(np.minimum(values, most), bins=_BINS, range=(0, most))
    return {"counts": counts.tolist(), "most": most}


def _costs(evaluation: "Evaluation") -> Iterator[tuple[str, ...]]:
    ways = evaluation.usefulness.values()
    yield ("Information loss", *(percent(loss / 100.0) for loss in evaluation.loss.values()))
    for name, write in _measures():
        yield (name, *(write(one) for one in ways))
    if evaluation.roads_before is not None:
        on = [one.on_roads for one in ways]
        yield (
            f"Points within {ROAD:g} m of a road",
            *("–" if share is None else percent(share) for share in on),
        )


def _measures() -> Iterator[tuple[str, Callable[[Usefulness], str]]]:
    for title, field in (
        ("Points moved", "displacement"),
        ("Distance from the runs", "from_runs"),
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
    yield "Busyness of the windows' places", _busyness
    yield "Counts in boxes are off by", lambda one: percent(one.query_error)


def _busyness(one: Usefulness) -> str:
    return "–" if one.busyness is None else f"{one.busyness:.3g}"


def _signed(share: float) -> str:
    return f"{100.0 * share:+.1f} %" if share else "0 %"


def _of(field: str, key: str) -> Callable[[Usefulness], str]:
    def write(one: Usefulness) -> str:
        distances = getattr(one, field)
        return "–" if distances is None else metres(distances[key])

    return write
