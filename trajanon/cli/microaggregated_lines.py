"""A microaggregated table and its bound, as lines on the screen."""

from collections.abc import Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from trajanon.cli.messages import tell
from trajanon.common.number_text import percent

STOPPED = (
    "Stopped by Ctrl-C: these are the best groups so far. They keep the promise of k; a longer "
    "search might lose less."
)

_KEPT = 0.001  # standard deviations: by how much rounding may move a mean


def rounded_text(value: float, way: str) -> str:
    """Write a percentage with four decimals, in this way: a bound rounded up is no bound."""
    return f"{Decimal(value).quantize(Decimal('0.0001'), rounding=way):f}"


def show_certificate(account: Mapping[str, Any]) -> None:
    """Print the loss reached beside the bound."""
    tell(f"Columns: {', '.join(account['columns'])}")
    _show_stages(account)
    for words, name, way in (
        ("Information loss reached: {} %", "information_loss", ROUND_CEILING),
        ("No grouping can lose less than: {} %", "bound", ROUND_FLOOR),
        ("The gap between them: {} % of the loss", "gap", ROUND_CEILING),
    ):
        tell(words.format(rounded_text(account[name], way)))


def show_microaggregated(report: Mapping[str, Any]) -> None:
    """Print the loss of a microaggregated table, its groups, and the statistics kept."""
    tell(f"Columns microaggregated: {', '.join(report['columns'])}")
    sizes = report["sizes"]
    tell(f"Groups: {report['groups']:,}, of {sizes['min']} to {sizes['max']} rows")
    _show_stages(report)
    _show_written_loss(report)

    risk = report["risk"]
    mean = percent(risk["linkage_mean"])
    highest = percent(risk["linkage_highest"])
    tell(f"Chance of linking a row to a person: {mean} on average, {highest} at most")
    near = percent(risk["near_original"])
    tell(f"Rows in which no value moved by 5 % of a standard deviation: {near}")
    _show_moments(report)
    if report["stopped"]:
        tell(STOPPED)


def _show_written_loss(report: Mapping[str, Any]) -> None:
    """Print the loss of what is written, where that is not what the search reached."""
    written = report["information_loss"]
    reached = report["stages"][-1]["information_loss"]
    if f"{written:.4g}" != f"{reached:.4g}":
        rounding = f", {report['rounding_loss']:.2g} of it by rounding"
        tell(f"Information loss as written: {written:.4g} %{rounding}")
    if report["weighted_information_loss"] is not None:
        weight = report["survey_weight"]
        tell(f"Weighted by {weight}: {report['weighted_information_loss']:.4g} %")


def _show_moments(report: Mapping[str, Any]) -> None:
    """Print how much the means of columns move, and their standard deviations shrink."""
    means = report["moments"]["mean"].values()
    spread = report["moments"]["sd"].values()
    varying = [
        (abs(mean_after - mean_before) / sd_before, 1.0 - sd_after / sd_before)
        for (mean_before, mean_after), (sd_before, sd_after) in zip(means, spread, strict=True)
        if sd_before > 0.0 and mean_after is not None
    ]
    if not varying:
        return

    moves, shrinks = (max(changes) for changes in zip(*varying, strict=True))
    weighted = "Weighted means" if report["survey_weight"] else "Means"
    kept = f"{weighted} are kept"
    if moves > _KEPT:
        kept = f"{weighted} move by {percent(moves, 2)} of a standard deviation at most"
    tell(f"{kept}; standard deviations shrink by {percent(max(shrinks, 0.0), 2)} at most.")


def _show_stages(report: Mapping[str, Any]) -> None:
    lost = "Weighted loss" if report.get("importance") else "Information loss"
    for stage in report["stages"]:
        seconds = f"({stage['seconds']:.2f} s)"
        loss = stage["information_loss"]
        chosen = "".join(f", {name} {value}" for name, value in stage.get("chosen", {}).items())
        if loss is None:
            tell(f"Time for the {stage['name']}{chosen}: {seconds}")
        else:
            tell(f"{lost} after {stage['name']}{chosen}: {loss:.4g} % {seconds}")
