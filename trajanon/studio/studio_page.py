"""The page: files, choices, a running command, and its results; equal in every tab."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nicegui import app, ui

from trajanon.cli.options import MAP
from trajanon.common.number_text import metres, number_of, percent
from trajanon.data import sample
from trajanon.studio.fields import FIELDS, FormField
from trajanon.studio.work import LOOK, PAGE, RELEASE, Work
from trajanon.trajectories.subjects import Nameless

_STYLE = (Path(__file__).parent / "page.css").read_text(encoding="utf-8")
_BRING = (Path(__file__).parent / "bring.html").read_text(encoding="utf-8")

_SHOW = """setTimeout(() => document.querySelector("[role=alert]:not(.hidden)")
  ?.scrollIntoView({ block: "center" }), 600)"""  # once it is bound

_TABLES = 5  # kinds of tables to list the columns of


class Page:
    """What every tab shows of the work, updated whenever a command has ended."""

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
                "Turn GPS tracks into lines that can be published: each is the mean of several "
                "tracks. All of it happens on this machine, and nothing is sent anywhere."
            )
            with _section("1. Files"):
                self._files()
                self._more("Area, windows, and places to cut out", "extract")
                self._more("Names of columns", "columns")
                self._button("Look into the files", LOOK)
                with self._old(LOOK, "Look into the files again"):
                    self.held()
            with _section("2. Release"):
                self._fields("anonymize")
                self._more("Times, and format", "anonymize", "")
                self._button("Make the release", RELEASE)
                with ui.expansion("The same as commands").classes("w-full"):
                    typed = ui.label().classes("command")
                    typed.bind_text_from(self.work, "chosen", backward=lambda _: self.work.typed)
            self._progress()
            with self._old(RELEASE, "Make the release again"):
                self.found()
            with _section("6. End"):
                ui.label(f"Everything is in {self.work.folder}, and is removed at the end.")
                ui.button("Remove everything and end", on_click=self._ask).props("outline no-caps")

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
        self.work.trouble = ""
        if not path.strip() or not found.exists():
            self.work.trouble = f"There is no {path.strip() or 'path given'}."
        else:
            self._brought(str(found.resolve()))

    def _brought(self, name: str) -> None:
        self.work.bring(name)
        self.files.refresh()

    def _drop(self, name: str) -> None:
        self.work.drop(name)
        self.files.refresh()

    def _fields(self, *commands: str, more: bool = False) -> None:
        for field in FIELDS:
            if field.command in commands and field.more == more:
                _choice(field, self.work.chosen)

    def _more(self, title: str, *commands: str) -> None:
        """Show fields that are not needed at first."""
        with ui.expansion(title).classes("w-full"):
            self._fields(*commands, more=True)

    def _button(self, text: str, commands: Sequence[str]) -> None:
        button = ui.button(text, on_click=lambda: self._run(commands)).props("no-caps")
        button.bind_enabled_from(self.work, "busy", backward=lambda busy: not busy)

    async def _run(self, commands: Sequence[str]) -> None:
        await self.work.run(commands)
        self.held.refresh()
        self.found.refresh()
        if self.work.trouble:
            ui.run_javascript(_SHOW)

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
        trouble = ui.label().classes("trouble").props('role="alert"')
        trouble.bind_text_from(self.work, "trouble").bind_visibility_from(self.work, "trouble")

    @contextmanager
    def _old(self, commands: Sequence[str], way_out: str) -> Iterator[None]:
        """Mark results as old as soon as they are not those of what is chosen."""
        note = f"Old: made before something was changed, or failed. {way_out}."
        label = ui.label(note).classes("old").props('role="status"')
        label.bind_visibility_from(
            self.work, "chosen", backward=lambda _: self.work.is_old(commands)
        )
        with ui.column().classes("given"):
            yield

    async def _ask(self) -> None:
        with ui.dialog() as dialog, ui.card():
            ui.label("Remove the release and all else that was not saved, and end the studio?")
            ui.button("Remove and end", on_click=lambda: dialog.submit(True)).props("no-caps")
            ui.button("Go on working", on_click=dialog.close).props("outline no-caps")
        if await dialog:
            ui.navigate.to("about:blank")
            app.shutdown()

    # What commands gave.

    @ui.refreshable_method
    def held(self) -> None:
        """Say what the files hold, which columns were found, and what became of it."""
        if (found := self.work.results.get("extract")) is None:
            return
        counts = Counter(found["counts"])  # 0 for what was not counted
        unit = "trip" if found["trips"] else "window"
        seconds = counts["seconds of track"]
        ui.label(
            f"{number_of(counts['points read'], 'point')} of "
            f"{number_of(counts['recordings read'], 'recording')}: "
            f"{counts['metres of track'] / 1_000:,.0f} km"
            + f" in {seconds / 3_600:,.0f} hours" * (seconds > 0)
            + f". They become {number_of(counts['trajectories'], unit)}."
        )
        for use in self.work.uses[:_TABLES]:
            ui.label(use.sentence)
        if self.work.uses:
            person = next(field for field in FIELDS if field.name == "subject")
            _choice(person, self.work.chosen, self.work.persons)
        nameless = Nameless.counted_in(found)
        people = counts["subjects read"] - nameless.subjects
        named = f"people: {number_of(people, 'person', 'people')} are named"
        ui.label(f"k counts {named if people > 0 else 'recordings: no person is named'}.")
        if people > 0 < nameless.recordings:
            without = number_of(nameless.recordings, "recording")
            as_many = number_of(nameless.subjects, "person", "people")
            ui.label(f"{without} without a name count as {as_many}.")

    @ui.refreshable_method
    def found(self) -> None:
        """Show the release: verdict, cost, map, and what can be saved."""
        results = self.work.results
        with _section("3. May it be published?"):
            if not self.work.has(RELEASE):
                ui.label("Make a release first.")
                return
            self._verdict()
        with _section("4. What it costs"):
            ui.label(results["evaluate"]["cost"])
            ui.label(results["evaluate"]["source"])
            ui.element("iframe").props(
                f'src="/out/{MAP}" title="Map: originals and release" sandbox="allow-scripts" '
                'loading="lazy"'  # before it is in sight it has no size to draw in
            )
            found = results["evaluate"]
            cells = {
                "k": f"{found['k']}, this release",
                "points moved by, mean": metres(found["utility"]["displacement"]["mean"]),
                "best attack finds its target": percent(self.work.chance("release")),
                "limit, 1/k": percent(1.0 / found["k"]),
                "best attack on the originals": percent(self.work.chance("originals")),
            }
            columns = [{"name": n, "label": n, "field": n, "align": "left"} for n in cells]
            ui.table(columns=columns, rows=[cells], row_key="k").props("flat dense wrap-cells")
        with _section("5. Save"):
            ui.label("Make the release again first.").bind_visibility_from(
                self.work, "chosen", backward=lambda _: not self.work.released
            )
            with ui.column() as links:
                for name, what in self.work.offered.items():
                    _link(f"{name}: {what}", name, save=True)
            links.bind_visibility_from(self.work, "chosen", backward=lambda _: self.work.released)

    def _verdict(self) -> None:
        judged = self.work.results["evaluate"]["verdict"]
        tone = "holds" if self.work.publishable else "trouble"
        ui.label(judged["headline"]).classes(tone).props('role="status"')
        with ui.element("ul"):
            for sentence in judged["sentences"]:
                with ui.element("li"):
                    ui.label(sentence)
        for remedy in judged["remedies"]:
            helps = remedy["sentence"]
            ui.label(f"What helps: {helps[0].lower()}{helps[1:]}.")
        _link("The whole evaluation, for you alone", PAGE)


def _section(title: str) -> ui.element:
    section = ui.element("section")
    with section:
        ui.html(f"<h2>{title}</h2>", sanitize=False)
    return section


def _choice(
    field: FormField, chosen: dict[str, Any], choices: Mapping[Any, str] | None = None
) -> None:
    element: ui.select | ui.number | ui.input
    if choices or field.choices:
        element = ui.select(dict(choices or field.choices), label=field.label)
    else:
        element = ui.number(field.label) if field.number else ui.input(field.label)
    element.props("outlined").classes("field")
    if field.hint:
        element.props(f'hint="{field.hint}"')
    element.bind_value(chosen, field.name)


def _link(words: str, name: str, *, save: bool = False) -> None:
    link = ui.link(words, f"/out/{name}", new_tab=not save).classes("block")
    if save:
        link.props(f'download="{name}"')
