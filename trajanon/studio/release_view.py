"""What the page shows of a release: verdict, five answers, map, figures side by side, links."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from nicegui import ui

from trajanon.cli.options import MAP
from trajanon.common.number_text import metres, two_digits
from trajanon.studio.fields import FIELDS, Choice
from trajanon.studio.results import ReleaseFigures, Remedy, Verdict, changes_of
from trajanon.studio.work import PAGE

_IN_WORDS = {"green": "Ready to publish", "amber": "Ready, if ...", "red": "Do not publish"}


def show_verdict(evaluation: Mapping[str, Any]) -> Iterator[tuple[ui.button, Remedy]]:
    """Show whether a release may be published; yield the button of what helps."""
    verdict = Verdict.of(evaluation)
    ui.label(verdict.headline).classes(f"verdict {verdict.colour}").props('role="status"')
    for finding in verdict.findings:
        with ui.element("div").classes("finding"):
            ui.label(finding.sentence)
            remedy = finding.remedy
            if remedy is None:
                continue
            if not changes_of(remedy):
                ui.label(f"What helps: {remedy.label}.")
                continue
            yield ui.button(remedy.label).props("outline no-caps"), remedy


def show_answers(evaluation: Mapping[str, Any]) -> None:
    """Show the five answers, as page and datasheet have them."""
    for answer in evaluation["answers"]:
        with ui.column().classes("answer"):
            ui.label(answer["question"]).classes("font-bold")
            ui.label(answer["answer"])
    _link("The whole evaluation (private)", PAGE)


def show_map() -> None:
    """Show originals and release on a map, for the holder."""
    ui.element("iframe").props(
        f'src="/out/{MAP}" title="Map: originals and release" sandbox="allow-scripts" '
        'loading="lazy"'  # before it is in sight it has no size to draw in
    )


def show_comparison(
    releases: Sequence[ReleaseFigures], choose: Callable[[Mapping[str, Choice]], None]
) -> None:
    """Show releases side by side: the newest first."""
    if not releases:
        ui.label("Make a release first. With another k, or one trip of each person, compare them.")
        return

    with ui.element("table"), ui.element("tbody"):
        _row("Release", [one.name for one in releases], head=True)
        _row("How many stand behind each line (k)", [str(one.k) for one in releases])
        _row("Other choices", [_other_choices(one) for one in releases])
        with ui.element("tr"):
            _cell("Verdict", head=True)
            for one in releases:
                with ui.element("td"):
                    ui.label(_IN_WORDS[one.colour]).classes(one.colour)
        _row("Points moved by, on average", [metres(one.metres) for one in releases])
        _row("Best attack", [f"{two_digits(one.chance)} ({one.attack})" for one in releases])
        _row("Left out", [one.left_out for one in releases])
        with ui.element("tr"):
            _cell("Choices", head=True)
            for one in releases:
                with ui.element("td"):
                    chosen = one.chosen
                    ui.button("Take again", on_click=lambda chosen=chosen: choose(chosen)).props(
                        "flat no-caps dense"
                    )


def _other_choices(figures: ReleaseFigures) -> str:
    """List the choices of a release that are not those of a new studio."""
    choices = []
    for one in FIELDS:
        value = figures.chosen[one.name]
        if one.name not in ("k", "name", "format") and value != one.default:
            end = "" if one.label.endswith("?") else ":"
            choices.append(f"{one.label}{end} {one.words(value)}")
    return "; ".join(choices) or "none"


def _row(title: str, texts: Sequence[str], *, head: bool = False) -> None:
    with ui.element("tr"):
        _cell(title, head=True)
        for text in texts:
            _cell(text, head=head)


def _cell(text: str, *, head: bool = False) -> None:
    with ui.element("th" if head else "td"):
        ui.label(text)


def save_links(offered: Mapping[str, str]) -> None:
    """Link files that can be saved."""
    for name, what in offered.items():
        _link(f"{name}: {what}", name, save=True)


def _link(words: str, name: str, *, save: bool = False) -> None:
    link = ui.link(words, f"/out/{quote(name)}", new_tab=not save).classes("block")
    if save:
        link.props["download"] = name
