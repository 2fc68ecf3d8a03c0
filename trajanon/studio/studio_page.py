"""The page: files, choices, and a running command; equal in every tab."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import Field, fields
from pathlib import Path

from nicegui import Client, app, background_tasks, ui

from trajanon.common.number_text import enumerated
from trajanon.data import sample
from trajanon.evaluation.publisher import Publisher
from trajanon.studio.fields import AREA, BY_NAME, FIELDS, USUAL_ROLES, Choice, FormField
from trajanon.studio.release_view import (
    save_links,
    show_answers,
    show_comparison,
    show_map,
    show_verdict,
)
from trajanon.studio.results import Remedy, sentences_of_extraction
from trajanon.studio.work import LOOK, RELEASE, Problem, Work
from trajanon.trajectories.provenance import Provenance

_FOLDER = Path(__file__).parent
_STYLE = (_FOLDER / "page.css").read_text(encoding="utf-8")
_BRING = (_FOLDER / "bring.html").read_text(encoding="utf-8")
_ENDED = (_FOLDER / "ended.html").read_text(encoding="utf-8")

_SHOW_PROBLEM = """setTimeout(() => document.querySelector(".beside")
  ?.scrollIntoView({ block: "nearest" }), 300)"""  # once it is there

_REPLACE_PAGE = """setTimeout(() => {
  window.socket?.disconnect();
  document.documentElement.innerHTML = %s;
}, 50)"""

_FIRST_WORDS = ("title", "name", "contact", "licence", "purpose")
"""Words of the publisher that are asked for at first."""

_IN_WORDS = {LOOK: "Read the files", RELEASE: "Make the release"}


class Page:
    """What every tab shows of the work, updated whenever a command has ended."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self._drawn: Mapping[str, object] = {}  # what each part that is updated shows

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
            self._show_files()
            self._show_choices()
            self._show_progress()
            self._show_results()
            self._show_end()

    # The sections.

    def _show_files(self) -> None:
        with _section("1. Files"):
            ui.html(
                '<label class="bring">Choose files <input type="file" multiple></label>',
                sanitize=False,
            )
            ui.label("GPX, CSV, Parquet, GeoJSON, archives of these, and more.")
            with ui.row().classes("items-center"):
                path = ui.input("Or the path of a file or folder").props("outlined").classes("path")
                ui.button("Add", on_click=lambda: self._add(path.value)).props("no-caps")
                ui.button("Use the sample", on_click=lambda: self._bring(str(sample()))).props(
                    "outline no-caps"
                )
            self.beside("files")
            self.files()
            with ui.expansion(AREA).classes("w-full"):
                _fields(self.work, [form_field for form_field in FIELDS if form_field.folded])
            self._button(LOOK, "look")
            self.beside("look")
            with self._old(LOOK, "look"):
                self.extraction()

    def _show_choices(self) -> None:
        with _section("2. Release"):
            shown = (form_field for form_field in FIELDS if form_field.command != "columns")
            _fields(self.work, [form_field for form_field in shown if not form_field.folded])
            self._button(RELEASE, "release")
            self.beside("release")
            with ui.expansion("The same as commands").classes("w-full"):
                typed = ui.label().classes("command")
                typed.bind_text_from(self.work, "chosen", backward=lambda _: self.work.typed)

    def _show_results(self) -> None:
        with _section("3. May it be published?"):
            self.beside("verdict")
            with self._old(RELEASE, "verdict"):
                self.release()
        with _section("4. Compare releases"):
            self.comparison()
        with _section("5. The publisher's words"):
            self._show_publisher()
        with _section("6. Save"):
            self.links()

    def _show_publisher(self) -> None:
        ui.label(
            "They go into datasheet, certificate and record of processing. None is needed to make "
            "a release."
        )
        words = {word.name: word for word in fields(Publisher)}
        with ui.element("div").classes("fields"):
            for name in _FIRST_WORDS:
                self._word(words[name])
        more = ui.expansion("More, for the certificate and the record").classes("w-full")
        with more, ui.element("div").classes("fields"):
            for name in words:
                if name not in _FIRST_WORDS:
                    self._word(words[name])
        button = ui.button("Save them in the documents", on_click=self._publish).props("no-caps")
        self._wait_while_busy(button)
        self.beside("publisher")

    def _word(self, word: Field[str]) -> None:
        """Show a field for one of the publisher's words."""
        box = ui.input(word.metadata["label"]).props("outlined").classes("field")
        box.props["hint"] = word.metadata["hint"]
        box.bind_value(self.work.words, word.name)

    def _show_end(self) -> None:
        with _section("7. End"):
            ui.label(f"Everything is in {self.work.folder}, and is removed at the end.")
            ui.button("Remove everything and end", on_click=self._ask).props("outline no-caps")

    def _show_progress(self) -> None:
        with ui.column().classes("busy").props('role="status"') as shown:
            with ui.row().classes("items-center"):
                ui.spinner().props("aria-hidden=true")
                ui.label().bind_text_from(self.work, "task")
            bar = ui.linear_progress(show_value=False).props('aria-label="How far it is"')
            bar.bind_value_from(self.work, "share")
            ui.button("Stop", on_click=self.work.cancel).props("outline no-caps")
        shown.bind_visibility_from(self.work, "busy")

    # What is updated.

    def refresh(self) -> None:
        """Draw anew, in every tab, the parts that changed: a click on another one is not lost."""
        work = self.work
        shown: dict[str, object] = {
            "files": [*work.files],
            "beside": work.problem,
            "extraction": (
                work.results.get("extract"),
                work.messages.get("extract"),
                [work.chosen[role] for role in USUAL_ROLES],
            ),
            "release": (work.has(RELEASE), work.results.get("evaluate"), work.maps_drawn),
            "comparison": [*work.releases],
            "links": {**work.offered},
        }
        for part, content in shown.items():
            if part not in self._drawn or content != self._drawn[part]:
                getattr(self, part).refresh()
        self._drawn = shown

    @ui.refreshable_method
    def files(self) -> None:
        """List the files that are there."""
        for name in self.work.files:
            with ui.row().classes("items-center"):
                ui.label(Path(name).name if not Path(name).is_absolute() else name)
                button = ui.button("Remove", on_click=lambda name=name: self._drop(name))
                button.props("flat no-caps").props["aria-label"] = f"Remove {Path(name).name}"
                self._wait_while_busy(button)

    @ui.refreshable_method
    def beside(self, place: str) -> None:
        """Show beside a button why nothing came of it, and the columns that have to be named."""
        problem = self.work.problem
        if problem is None or problem.place != place:
            return
        with ui.column().classes("beside"):
            ui.label(problem.sentence).classes("trouble").props('role="alert"')
            if problem.roles:
                self._ask_for_columns(problem)

    def _ask_for_columns(self, problem: Problem) -> None:
        commands = LOOK if problem.place == "look" else RELEASE
        if "lat" in problem.roles:
            ui.label("A file without such columns holds no tracks: remove it.")
        self._columns(problem.roles, problem.columns)
        self._button(commands, problem.place, "Try again")

    @ui.refreshable_method
    def extraction(self) -> None:
        """Show what the files hold, which columns were found, and what became of it."""
        if (found := self.work.results.get("extract")) is None:
            return
        for sentence in [*sentences_of_extraction(found), *self.work.messages["extract"]]:
            ui.label(sentence)
        columns = self.work.columns
        if columns.names:
            self._columns(USUAL_ROLES, columns.names)
            ui.label(f"Columns that are not used: {', '.join(columns.unused) or 'none'}.")
        if Provenance.read(found).source.nameless:
            _show_field(BY_NAME["nameless"], self.work.chosen)

    def _columns(self, roles: Sequence[str], names: Sequence[str]) -> None:
        """Show a list of columns for each role."""
        columns = self.work.columns
        with ui.element("div").classes("fields"):
            for role in roles:
                chosen = self.work.chosen[role]
                choices = columns.choices(role, names, chosen, folders=self.work.has_folders)
                _show_field(BY_NAME[role], self.work.chosen, choices)

    @ui.refreshable_method
    def release(self) -> None:
        """Show the release: the verdict on it, five answers, and a map."""
        if not self.work.has(RELEASE):
            ui.label("Make a release first.")
            return
        evaluation = self.work.evaluation
        for button, remedy in show_verdict(evaluation.verdict):
            button.on_click(lambda remedy=remedy: self._use_remedy(remedy))
            self._wait_while_busy(button)
        show_answers(evaluation.answers)
        show_map()

    @ui.refreshable_method
    def comparison(self) -> None:
        """Show the releases that were made last side by side."""
        show_comparison(self.work.releases, self.work.chosen.update)

    @ui.refreshable_method
    def links(self) -> None:
        """Link the files that can be saved."""
        label = ui.label("Make the release first.")
        label.bind_visibility_from(self.work, "chosen", backward=lambda _: not self.work.released)
        with ui.column() as links:
            save_links(self.work.offered)
        links.bind_visibility_from(self.work, "chosen", backward=lambda _: self.work.released)

    @contextmanager
    def _old(self, commands: Sequence[str], place: str) -> Iterator[None]:
        """Mark results that are not those of what is chosen, with what happened and a button."""
        with ui.element("div").classes("old").props('role="status"') as note:
            what = ui.label()
            what.bind_text_from(self.work, "chosen", backward=lambda _: self._why_old(commands))
            self._button(commands, place, f"{_IN_WORDS[tuple(commands)]} again")
        note.bind_visibility_from(
            self.work, "chosen", backward=lambda _: self.work.is_old(commands)
        )
        with ui.column().classes("given"):
            yield

    def _why_old(self, commands: Sequence[str]) -> str:
        """Write why results are out of date."""
        if not self.work.is_old(commands):
            return ""
        if changed := self.work.changes(commands):
            return f"Out of date: you changed {enumerated(changed)}."
        return "Out of date: a later step failed or was stopped, or its documents changed."

    # What buttons do.

    def _button(self, commands: Sequence[str], place: str, text: str = "") -> None:
        """Show a button that runs commands."""
        words = text or _IN_WORDS[tuple(commands)]
        button = ui.button(words, on_click=lambda: self._run(commands, place)).props("no-caps")
        self._wait_while_busy(button)

    def _wait_while_busy(self, button: ui.button) -> None:
        button.bind_enabled_from(self.work, "busy", backward=lambda busy: not busy)

    async def _run(self, commands: Sequence[str], place: str) -> None:
        client = ui.context.client  # of the tab, while the button may be replaced
        if not self.work.busy:
            self.work.problem = None
            self.refresh()  # a message of before is not one of this run
        await self.work.run(commands, place)
        self._update(client)

    def _update(self, client: Client) -> None:
        """Update every tab, and bring a problem into sight in this one."""
        self.refresh()
        if self.work.problem is not None:
            client.run_javascript(_SHOW_PROBLEM)

    def _add(self, path: str) -> None:
        file = Path(path.strip()).expanduser()
        if path.strip() and file.exists():
            self._bring(str(file.resolve()))
            return
        self.work.problem = Problem(f"There is no {path.strip() or 'path given'}.", "files")
        self._update(ui.context.client)

    def _bring(self, name: str) -> None:
        self.work.bring(name)
        self._update(ui.context.client)

    def _drop(self, name: str) -> None:
        self.work.drop(name)
        self._update(ui.context.client)

    async def _use_remedy(self, remedy: Remedy) -> None:
        if self.work.choose(remedy, "verdict"):
            await self._run(RELEASE, "verdict")
        else:
            self._update(ui.context.client)

    async def _publish(self) -> None:
        self.work.publish_as()
        if self.work.problem is None and self.work.has(RELEASE):
            await self._run(RELEASE, "publisher")
            return
        self._update(ui.context.client)
        if self.work.problem is None:
            ui.notify("Saved: they will be in the documents of the release.")

    async def _ask(self) -> None:
        with ui.dialog() as dialog, ui.card():
            ui.label(
                "Remove the release and everything else that was not saved, and end the studio?"
            )
            ui.button("Remove and end", on_click=lambda: dialog.submit(True)).props("no-caps")
            ui.button("Keep working", on_click=dialog.close).props("outline no-caps")
        if await dialog:
            background_tasks.create(self._end())

    async def _end(self) -> None:
        """Remove everything, say so in every tab, and end the studio."""
        removed = await self.work.remove_all()
        sentence = "All files of the studio are removed. You can close this window."
        if not removed:
            sentence = (
                f"The studio has ended. It could not remove {self.work.folder}: do so yourself."
            )
        page = json.dumps(_ENDED.replace("$sentence", sentence))
        for client in Client.instances.values():
            client.run_javascript(_REPLACE_PAGE % page)
        await asyncio.sleep(0.5)  # until it is sent
        app.shutdown()


def _section(title: str) -> ui.element:
    section = ui.element("section")
    with section:
        ui.html(f"<h2>{title}</h2>", sanitize=False)
    return section


def _fields(work: Work, shown: Sequence[FormField]) -> None:
    """Show fields in a grid."""
    with ui.element("div").classes("fields"):
        for form_field in shown:
            element = _show_field(form_field, work.chosen)
            if form_field.needs:
                element.bind_visibility_from(work.chosen, form_field.needs, backward=bool)


def _show_field(
    form_field: FormField, chosen: dict[str, Choice], choices: Mapping[Choice, str] | None = None
) -> ui.select | ui.number | ui.input:
    element: ui.select | ui.number | ui.input
    if words := choices or form_field.choices:
        element = ui.select(dict(words), label=form_field.label)
    elif form_field.number:
        element = ui.number(form_field.label)
    else:
        element = ui.input(form_field.label)

    element.props("outlined").classes("field")
    if form_field.hint:
        element.props["hint"] = form_field.hint
    element.bind_value(chosen, form_field.name)
    return element
