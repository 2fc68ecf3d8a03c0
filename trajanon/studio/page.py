"""The page: files, choices, a command at work, and what it gave; for every tab the same."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nicegui import app, ui

from trajanon.cli.options import MAP
from trajanon.cli.wording import steps_of
from trajanon.data import sample
from trajanon.studio.fields import FIELDS, FILES, RUN, Field
from trajanon.studio.work import COMPARE, COMPARISON, LOOK, PAGE, RELEASE, Work
from trajanon.words import number_of, percent

_STYLE = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
_BRING = (Path(__file__).parent / "bring.html").read_text(encoding="utf-8")


class Page:
    """What every tab shows of the work, anew whenever a command has ended."""

    def __init__(self, work: Work) -> None:
        self.work = work

    def show(self) -> None:
        """Build the page for a tab."""
        ui.colors(primary="#1a5276")
        ui.add_css(_STYLE)
        ui.add_body_html(_BRING)
        with ui.column().classes("studio"):
            ui.html("<h1>trajanon studio</h1>", sanitize=False)
            ui.label(
                "Turn GPS tracks into lines that stand for at least k people each. All of it "
                "happens on this machine: nothing is sent anywhere."
            )
            with _section("1. Files"):
                self._files()
            with _section("2. What they hold"):
                self._choices("extract")
                self._button("Look into the files", LOOK)
                self.held()
            with _section("3. What to publish"):
                self._choices("anonymize")
                self._choices("")
                self._button("Make the release", RELEASE)
            self._progress()
            with _section("4. What it protects, and what it costs"):
                self.verdict()
            with _section("5. Compare other k"):
                self._choices("compare")
                self._button("Compare", COMPARE)
                self.comparison()
            with _section("6. Save"):
                self.saved()
            with _section("7. End"):
                ui.label(f"Everything is in {self.work.folder}, and is removed at the end.")
                ui.button("Remove everything and end", on_click=self._end).props("outline no-caps")

    # What is chosen.

    def _files(self) -> None:
        ui.html(
            '<label class="bring">Bring files <input type="file" multiple></label>', sanitize=False
        )
        ui.label("GPX, CSV, Parquet, GeoJSON, archives of these, and more.")
        with ui.row().classes("items-center"):
            path = ui.input("Or the path of a file or folder").props("outlined").classes("path")
            ui.button("Add", on_click=lambda: self._add(path.value)).props("no-caps")
            ui.button("Use the sample", on_click=lambda: self._brought(str(sample()))).props(
                "outline no-caps"
            )
        _trouble(self.work, FILES)
        self.files()

    @ui.refreshable_method
    def files(self) -> None:
        """List the files that are there."""
        for name in self.work.files:
            with ui.row().classes("items-center"):
                ui.label(Path(name).name if not Path(name).is_absolute() else name)
                gone = ui.button("Remove", on_click=lambda name=name: self._drop(name))
                gone.props("flat no-caps").props["aria-label"] = f"Remove {Path(name).name}"

    def _add(self, path: str) -> None:
        found = Path(path.strip()).expanduser()
        self.work.trouble[FILES] = ""
        if not path.strip() or not found.exists():
            self.work.trouble[FILES] = f"There is no {path.strip() or 'path given'}."
        else:
            self._brought(str(found.resolve()))

    def _brought(self, name: str) -> None:
        self.work.bring(name)
        self.files.refresh()

    def _drop(self, name: str) -> None:
        self.work.drop(name)
        self.files.refresh()

    def _choices(self, command: str) -> None:
        for field in FIELDS:
            if field.command == command:
                with ui.column().classes("field") as shown:
                    _choice(field, self.work.chosen)
                    _trouble(self.work, field.name)
                if field.only is not None:
                    name, value = field.only
                    shown.bind_visibility_from(self.work.chosen, name, value=value)

    def _button(self, text: str, commands: Sequence[str]) -> None:
        async def run() -> None:
            await self.work.run(commands)
            for part in (self.held, self.verdict, self.comparison, self.saved):
                part.refresh()

        button = ui.button(text, on_click=run).props("no-caps")
        button.bind_enabled_from(self.work, "busy", backward=lambda busy: not busy)
        shown = ui.label().classes("command")
        shown.bind_text_from(self.work, "chosen", backward=lambda _: self.work.shown(commands))

    # What goes on.

    def _progress(self) -> None:
        with ui.column().classes("busy").props('role="status"') as shown:
            with ui.row().classes("items-center"):
                ui.spinner().props("aria-hidden=true")
                ui.label().bind_text_from(self.work, "task")
            bar = ui.linear_progress(show_value=False).props('aria-label="How far it is"')
            bar.bind_value_from(self.work, "share")
            ui.button("Stop", on_click=self.work.cancel).props("outline no-caps")
        shown.bind_visibility_from(self.work, "busy")
        _trouble(self.work, RUN)

    def _end(self) -> None:
        ui.navigate.to("about:blank")
        app.shutdown()

    # What commands gave.

    @ui.refreshable_method
    def held(self) -> None:
        """Say what the files hold, and what became of it."""
        if (found := self.work.results.get("extract")) is None:
            return
        counts = Counter(found["counts"])  # what nobody counted is 0
        hours, unit = counts["seconds of track"] / 3_600, "trip" if found["trips"] else "window"
        people, left = (
            number_of(counts[of], "person", "people")
            for of in ("subjects read", "subjects of trajectories")
        )
        ui.label(
            f"{number_of(counts['points read'], 'point')} of {people}: "
            f"{counts['metres of track'] / 1_000:,.0f} km in {hours:,.0f} hours. They become "
            f"{number_of(counts['trajectories'], unit)} of {left}."
        )
        with ui.expansion("What became of the points").classes("w-full"):
            _table("Step", {"Count": dict(steps_of(found))})

    @ui.refreshable_method
    def verdict(self) -> None:
        """Say whether the promise holds, show the map, and the attacks."""
        checked, found = (self.work.results.get(name) for name in ("check", "evaluate"))
        if checked is None or found is None:
            ui.label("Make a release first.")
            return
        holds = checked["holds"] and found["holds"]
        ui.label(
            "The release passes its check."
            if holds
            else f"This release must not be published: {'; '.join(checked['problems'])}"
        ).classes("holds" if holds else "trouble")
        with ui.element("ul"):
            for sentence in found["verdict"]:
                with ui.element("li"):
                    ui.label(sentence)
        attacks = {
            f"{one['knows']} ({one['name']})": one
            for one in found["attacks"]
            if one["against"] == "release"
        }
        _table(
            "Who knows",
            {
                "finds a row of the target": {
                    knows: percent(one["expected"]) for knows, one in attacks.items()
                },
                "1/k": {knows: percent(one["baseline"]) for knows, one in attacks.items()},
            },
        )
        if "map" in self.work.made:
            ui.element("iframe").props(
                f'src="/out/{MAP}" title="Map: originals and release" sandbox="allow-scripts" '
                'loading="lazy"'  # before it is in sight it has no size to draw in
            )
        _link("The whole evaluation, for you alone", PAGE)

    @ui.refreshable_method
    def comparison(self) -> None:
        """Show releases of several k side by side."""
        found = self.work.results.get("compare")
        if found is None or not found["curve"]:
            return
        choices = found["curve"]["choices"]
        _table(
            "k",
            {
                "points moved by": {str(one["k"]): f"{one['moved']:,.0f} m" for one in choices},
                "best attack finds": {str(one["k"]): percent(one["chance"]) for one in choices},
                "1/k": {str(one["k"]): percent(one["baseline"]) for one in choices},
            },
        )
        _link("The same as a curve, for you alone", COMPARISON)

    @ui.refreshable_method
    def saved(self) -> None:
        """Offer what may be published, and what repeats it."""
        if "map" not in self.work.results:
            ui.label("Make a release first.")
            return
        if self.work.results["check"]["holds"] and self.work.results["evaluate"]["holds"]:
            released, sheet = self.work.released
            _link(f"{released}: the release, to be published", released, save=True)
            _link(f"{sheet}: its datasheet, to be published with it", sheet, save=True)
        _link("settings.toml: repeats the work, for you alone", "settings.toml", save=True)
        _link(f"{PAGE}: the evaluation, for you alone", PAGE, save=True)
        _link(f"{MAP}: the map with the originals, for you alone", str(MAP), save=True)


def _section(title: str) -> ui.element:
    section = ui.element("section")
    with section:
        ui.html(f"<h2>{title}</h2>", sanitize=False)
    return section


def _trouble(work: Work, name: str) -> None:
    label = ui.label().classes("trouble").props('role="alert"')
    label.bind_text_from(work.trouble, name).bind_visibility_from(work.trouble, name)


def _choice(field: Field, chosen: dict[str, Any]) -> None:
    element: ui.select | ui.number | ui.input
    if field.choices:
        element = ui.select(dict(field.choices), label=field.label)
    else:
        element = ui.number(field.label) if field.number else ui.input(field.label)
    element.props("outlined").classes("w-full")
    if field.hint:
        element.props(f'hint="{field.hint}"')
    element.bind_value(chosen, field.name)


def _table(first: str, columns: Mapping[str, Mapping[str, str]]) -> None:
    """Show a table: of each column, what belongs to each row by its name."""
    names = [first, *columns]
    rows = [
        {first: row, **{name: column[row] for name, column in columns.items()}}
        for row in next(iter(columns.values()))
    ]
    shown = [{"name": name, "label": name, "field": name, "align": "left"} for name in names]
    ui.table(columns=shown, rows=rows, row_key=first).props("flat dense wrap-cells")


def _link(words: str, name: str, *, save: bool = False) -> None:
    link = ui.link(words, f"/out/{name}", new_tab=not save).classes("block")
    if save:
        link.props(f'download="{name}"')
