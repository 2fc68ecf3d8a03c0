"""What the page shows of a release: verdict, five answers, map, figures side by side, links."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from urllib.parse import quote

from nicegui import ui

from trajanon.cli.options import MAP
from trajanon.common.number_text import metres, two_digits
from trajanon.studio.fields import FIELDS, Choice
from trajanon.studio.results import Answer, MadeRelease, Remedy, Verdict, changes_of
from trajanon.studio.work import PAGE

_IN_WORDS = {"green": "Ready to publish", "amber": "Ready, if ...", "red": "Do not publish"}


def show_verdict(verdict: Verdict) -> Iterator[tuple[ui.button, Remedy]]:
    """Show whether a release may be published; yield the button of what helps."""
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


def show_answers(answers: Sequence[Answer]) -> None:
    """Show the five answers, as page and datasheet have them."""
    for answer in answers:
        with ui.column().classes("answer"):
            ui.label(answer.question).classes("font-bold")
            ui.label(answer.answer)
    _link("The whole evaluation (private)", PAGE)


def show_map() -> None:
    """Show originals and release on a map, for the holder."""
    ui.element("iframe").props(
        f'src="/out/{MAP}" title="Map: originals and release" sandbox="allow-scripts" '
        'loading="lazy"'  # before it is in sight it has no size to draw in
    )


def show_comparison(
    releases: Sequence[MadeRelease], choose: Callable[[Mapping[str, Choice]], None]
) -> None:
    """Show releases side by side: the newest first."""
    if not releases:
        ui.label("Make a release first. With another k, or one trip of each person, compare them.")
        return

    def row(title: str, show: Callable[[MadeRelease], object], tag: str = "td") -> None:
        with ui.element("tr"):
            with ui.element("th"):
                ui.label(title)
            for release in releases:
                with ui.element(tag):
                    show(release)

    def texts(title: str, text: Callable[[MadeRelease], str], tag: str = "td") -> None:
        row(title, lambda release: ui.label(text(release)), tag)

    def verdict(release: MadeRelease) -> None:
        colour = release.evaluation.verdict.colour
        ui.label(_IN_WORDS[colour]).classes(colour)

    def again(release: MadeRelease) -> None:
        button = ui.button("Use again", on_click=lambda: choose(release.chosen))
        button.props("flat no-caps dense")

    with ui.element("table"), ui.element("tbody"):
        texts("Release", lambda release: release.name, "th")
        texts("Behind each line, at least (k)", lambda release: str(release.evaluation.k))
        texts("Other choices", _other_choices)
        row("Verdict", verdict)
        texts("Points moved by, on average", _metres_moved)
        texts("Best attack", _best_attack)
        texts("Left out", lambda release: release.evaluation.answers[3].answer)
        row("Choices", again)


def _metres_moved(release: MadeRelease) -> str:
    return metres(release.evaluation.utility.displacement.mean)


def _best_attack(release: MadeRelease) -> str:
    attack = release.evaluation.best_attack
    return f"{two_digits(attack.expected)} ({attack.name}: knows {attack.knows})"


def _other_choices(release: MadeRelease) -> str:
    """List the choices of a release that are not those of a new studio."""
    choices = []
    for form_field in FIELDS:
        value = release.chosen[form_field.name]
        if form_field.name not in ("k", "name", "format") and value != form_field.default:
            end = "" if form_field.label.endswith("?") else ":"
            choices.append(f"{form_field.label}{end} {form_field.words(value)}")
    return "; ".join(choices) or "none"


def save_links(offered: Mapping[str, str]) -> None:
    """Link files that can be saved."""
    for name, what in offered.items():
        _link(f"{name}: {what}", name, save=True)


def _link(words: str, name: str, *, save: bool = False) -> None:
    link = ui.link(words, f"/out/{quote(name)}", new_tab=not save).classes("block")
    if save:
        link.props["download"] = name
