"""The page: files, choices, and a running command; equal in every tab."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from urllib.parse import quote

from nicegui import Client, app, background_tasks, ui

from trajanon.cli.options import MAP
from trajanon.data import sample
from trajanon.evaluation.publisher_and_licence import Publisher
from trajanon.release.verdict_sentences import HEADLINES_IN_A_TABLE
from trajanon.studio.fields import FIELDS, FIELDS_BY_NAME, USUAL_ROLES, Choice, FormField
from trajanon.studio.form_to_commands import EVALUATION_PAGE, MAKE_RELEASE, READ_FILES, Form
from trajanon.studio.results import (
    MadeRelease,
    Remedy,
    changes_of,
    people_named,
    sentences_of_extraction,
)
from trajanon.studio.running_commands import Problem, Work
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
"""Words of the publisher that are not folded away."""

_FOLDED_FIELDS = "Area, windows, and places to cut out"
"""The title above the fields that are folded away."""

_RUNS = {READ_FILES: "Read the files", MAKE_RELEASE: "Make the release"}
"""The words of the buttons that run commands."""


class Page:
    """What every tab shows of the work, updated whenever something of it has changed."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.form = work.form
        self.results = work.results
        # What each part that is updated shows, by the name of the method that draws it.
        self._drawn: Mapping[str, object] = {}

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
                use_sample = ui.button("Use the sample", on_click=lambda: self._add(str(sample())))
                use_sample.props("outline no-caps")
            self.problem_beside("files")
            self.files()
            with ui.expansion(_FOLDED_FIELDS).classes("w-full"):
                _show_fields(self.form, [form_field for form_field in FIELDS if form_field.folded])
            self._command_button(READ_FILES, "look")
            self.problem_beside("look")
            with self._marked_if_old(READ_FILES, "look"):
                self.extraction()

    def _show_choices(self) -> None:
        with _section("2. Release"):
            # Columns are asked for where they are found, or missing.
            shown = [
                form_field
                for form_field in FIELDS
                if form_field.command != "columns" and not form_field.folded
            ]
            _show_fields(self.form, shown)
            self._command_button(MAKE_RELEASE, "release")
            self.problem_beside("release")
            with ui.expansion("The same as commands").classes("w-full"):
                typed = ui.label().classes("command")
                typed.bind_text_from(self.form, "chosen", backward=lambda _: self.form.as_typed)

    def _show_results(self) -> None:
        with _section("3. May it be published?"):
            self.problem_beside("verdict")
            with self._marked_if_old(MAKE_RELEASE, "verdict"):
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
        shown = ui.element("div").classes("fields")
        with ui.expansion("More, for the certificate and the record").classes("w-full"):
            folded = ui.element("div").classes("fields")
        for word in fields(Publisher):
            with shown if word.name in _FIRST_WORDS else folded:
                box = ui.input(word.metadata["label"]).props("outlined").classes("field")
                box.props["hint"] = word.metadata["hint"]
                box.bind_value(self.work.publisher_form, word.name)
        button = ui.button("Save them in the documents", on_click=self._publish).props("no-caps")
        self._wait_while_busy(button)
        self.problem_beside("publisher")

    def _show_end(self) -> None:
        with _section("7. End"):
            ui.label(
                f"Uploads and results are in {self.form.folder}, and are removed at the end. Files "
                "added by their path stay where they are."
            )
            ui.button("Remove everything and end", on_click=self._ask_to_end).props(
                "outline no-caps"
            )

    def _show_progress(self) -> None:
        with ui.column().classes("busy").props('role="status"') as panel:
            with ui.row().classes("items-center"):
                ui.spinner().props("aria-hidden=true")
                ui.label().bind_text_from(self.work, "task")
            bar = ui.linear_progress(show_value=False).props('aria-label="How far it is"')
            bar.bind_value_from(self.work, "share_done")
            ui.button("Stop", on_click=self.work.cancel).props("outline no-caps")
        panel.bind_visibility_from(self.work, "busy")

    # What is updated.

    def refresh(self) -> None:
        """Draw anew, in every tab, the parts that changed: a click on another one is not lost."""
        results = self.results
        parts: dict[str, object] = {
            "files": [*self.form.files],
            "problem_beside": self.work.problem,
            "extraction": (
                results.outputs.get("extract"),
                results.messages.get("extract"),
                [self.form.chosen[role] for role in USUAL_ROLES],
            ),
            "release": (
                results.have(MAKE_RELEASE),
                results.outputs.get("evaluate"),
                results.maps_drawn,
            ),
            "comparison": [*results.releases],
            "links": {**results.files_to_save},
        }
        for part, content in parts.items():
            if part not in self._drawn or content != self._drawn[part]:
                getattr(self, part).refresh()
        self._drawn = parts

    @ui.refreshable_method
    def files(self) -> None:
        """List the files that are there."""
        for name in self.form.files:
            with ui.row().classes("items-center"):
                ui.label(Path(name).name if not Path(name).is_absolute() else name)
                button = ui.button(
                    "Remove", on_click=lambda name=name: self._change(self.work.drop, name)
                )
                button.props("flat no-caps").props["aria-label"] = f"Remove {Path(name).name}"
                self._wait_while_busy(button)

    @ui.refreshable_method
    def problem_beside(self, place: str) -> None:
        """Show beside a button why nothing came of it, and the columns that have to be named."""
        problem = self.work.problem
        if problem is None or problem.place != place:
            return
        with ui.column().classes("beside"):
            ui.label(problem.sentence).classes("trouble").props('role="alert"')
            if problem.roles:
                self._ask_for_columns(problem)

    def _ask_for_columns(self, problem: Problem) -> None:
        commands = READ_FILES if problem.place == "look" else MAKE_RELEASE
        if "lat" in problem.roles:
            ui.label("A file without such columns holds no tracks: remove it.")
        self._show_columns(problem.roles, problem.columns)
        self._command_button(commands, problem.place, "Try again")

    @ui.refreshable_method
    def extraction(self) -> None:
        """Show what the files hold, which columns were found, and what became of it."""
        if (extraction := self.results.outputs.get("extract")) is None:
            return
        messages = self.results.messages["extract"]
        for sentence in [*sentences_of_extraction(extraction), *messages]:
            ui.label(sentence)
        columns = self.results.columns
        if columns.names:
            self._show_columns(USUAL_ROLES, columns.names)
            unused = [name for name in columns.names if name not in columns.roles.values()]
            ui.label(f"Columns that are not used: {', '.join(unused) or 'none'}.")
        # How the nameless count matters only where others are named.
        if people_named(extraction) and Provenance.read(extraction).source.nameless:
            _show_field(FIELDS_BY_NAME["nameless"], self.form.chosen)

    def _show_columns(self, roles: Sequence[str], names: Sequence[str]) -> None:
        """Show a list of columns for each role."""
        columns = self.results.columns
        with ui.element("div").classes("fields"):
            for role in roles:
                chosen = self.form.chosen[role]
                choices = columns.choices(role, names, chosen, folders=self.form.has_folders)
                _show_field(FIELDS_BY_NAME[role], self.form.chosen, choices)

    @ui.refreshable_method
    def release(self) -> None:
        """Show the release: the verdict on it, five answers, and a map."""
        if not self.results.have(MAKE_RELEASE):
            ui.label("Make a release first.")
            return
        evaluation = self.results.evaluation
        verdict = evaluation.verdict
        ui.label(verdict.headline).classes(f"verdict {verdict.colour}").props('role="status"')
        for finding in verdict.findings:
            with ui.element("div").classes("finding"):
                ui.label(finding.sentence)
                self._offer(finding.remedy)

        for answer in evaluation.answers:
            with ui.column().classes("answer"):
                ui.label(answer.question).classes("font-bold")
                ui.label(answer.answer)
        _link("The whole evaluation (private)", EVALUATION_PAGE)
        ui.element("iframe").props(
            f'src="/out/{MAP}" title="Map: originals and release" sandbox="allow-scripts" '
            'loading="lazy"'  # before it is in sight it has no size to draw in
        )

    def _offer(self, remedy: Remedy | None) -> None:
        """Show a button for what helps; words, where no field of the page does it."""
        if remedy is not None and changes_of(remedy):
            button = ui.button(remedy.label, on_click=lambda: self._use_remedy(remedy))
            self._wait_while_busy(button.props("outline no-caps"))
        elif remedy is not None:
            ui.label(f"What helps: {remedy.label}.")

    @ui.refreshable_method
    def comparison(self) -> None:
        """Show the releases that were made last side by side."""
        releases = self.results.releases
        if not releases:
            ui.label("Make a release first. Then compare it with others, such as of a larger k.")
            return
        with ui.element("table"), ui.element("tbody"):
            for title, texts in _compared(releases).items():
                with ui.element("tr"):
                    _cell("th", title)
                    for release, text in zip(releases, texts, strict=True):
                        cell = _cell("th" if title == "Release" else "td", text)
                        if title == "Verdict":
                            cell.classes(release.evaluation.verdict.colour)

    @ui.refreshable_method
    def links(self) -> None:
        """Link the files that can be saved."""
        label = ui.label("Make the release first.")
        label.bind_visibility_from(
            self.form, "chosen", backward=lambda _: not self.results.are_current(MAKE_RELEASE)
        )
        with ui.column() as links:
            for name, words in self.results.files_to_save.items():
                link = _link(f"{name}: {words}", name, new_tab=False)
                link.props["download"] = name
        links.bind_visibility_from(
            self.form, "chosen", backward=lambda _: self.results.are_current(MAKE_RELEASE)
        )

    @contextmanager
    def _marked_if_old(self, commands: Sequence[str], place: str) -> Iterator[None]:
        """Mark results that are not those of what is chosen, with a button that makes them."""
        with ui.element("div").classes("old").props('role="status"') as note:
            ui.label(
                "Out of date: choices or files have changed since, or a later step failed or was "
                "stopped."
            )
            self._command_button(commands, place, f"{_RUNS[tuple(commands)]} again")
        note.bind_visibility_from(
            self.form, "chosen", backward=lambda _: self.results.are_old(commands)
        )
        with ui.column().classes("given"):
            yield

    # What buttons do.

    def _command_button(self, commands: Sequence[str], place: str, text: str = "") -> None:
        """Show a button that runs commands."""
        words = text or _RUNS[tuple(commands)]
        button = ui.button(words, on_click=lambda: self._run(commands, place)).props("no-caps")
        self._wait_while_busy(button)

    def _wait_while_busy(self, button: ui.button) -> None:
        """Disable a button while a command is at work."""
        button.bind_enabled_from(self.work, "busy", backward=lambda busy: not busy)

    async def _run(self, commands: Sequence[str], place: str) -> None:
        """Run commands, and show what came of them; a problem beside the button of a place."""
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
        """Bring a file or folder by its path."""
        file = Path(path.strip()).expanduser()
        if path.strip() and file.exists():
            self._change(self.work.bring, str(file.resolve()))
            return
        self.work.problem = Problem(f"There is no {path.strip() or 'path given'}.", "files")
        self._update(ui.context.client)

    def _change(self, change: Callable[[str], None], name: str) -> None:
        """Bring or drop a file."""
        self.work.problem = None
        change(name)
        self._update(ui.context.client)

    async def _use_remedy(self, remedy: Remedy) -> None:
        """Choose what helps, and make the release again."""
        if self.work.use_remedy(remedy):
            await self._run(MAKE_RELEASE, "verdict")
        else:
            self._update(ui.context.client)

    async def _publish(self) -> None:
        """Take the publisher's words, and write the documents of a release that is there."""
        self.work.save_publisher()
        if self.work.problem is None and self.results.have(MAKE_RELEASE):
            await self._run(MAKE_RELEASE, "publisher")
            return
        self._update(ui.context.client)
        if self.work.problem is None:
            ui.notify("Saved: they will be in the documents of the release.")

    async def _ask_to_end(self) -> None:
        """Ask whether everything may be removed."""
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
                f"The studio has ended. It could not remove {self.form.folder}: do so yourself."
            )
        page = json.dumps(_ENDED.replace("$sentence", sentence))
        for client in Client.instances.values():
            client.run_javascript(_REPLACE_PAGE % page)
        await asyncio.sleep(0.5)  # until it is sent
        app.shutdown()


def _section(title: str) -> ui.element:
    """Return a section of the page, to be filled, below its heading."""
    section = ui.element("section")
    with section:
        ui.html(f"<h2>{title}</h2>", sanitize=False)
    return section


def _show_fields(form: Form, form_fields: Sequence[FormField]) -> None:
    """Show fields in a grid."""
    with ui.element("div").classes("fields"):
        for form_field in form_fields:
            element = _show_field(form_field, form.chosen)
            if form_field.needs:
                element.bind_visibility_from(form.chosen, form_field.needs, backward=bool)


def _show_field(
    form_field: FormField, chosen: dict[str, Choice], choices: Mapping[Choice, str] | None = None
) -> ui.select | ui.number | ui.input:
    """Show a field: a list where there are choices, which may be others than those of the field."""
    element: ui.select | ui.number | ui.input
    if words := choices or dict(form_field.choices):
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


def _cell(tag: str, text: str) -> ui.label:
    """Show a cell of the table of releases."""
    with ui.element(tag):
        return ui.label(text)


def _link(words: str, name: str, *, new_tab: bool = True) -> ui.link:
    """Show a link to a file of the studio's folder."""
    return ui.link(words, f"/out/{quote(name)}", new_tab=new_tab).classes("block")


def _compared(releases: Sequence[MadeRelease]) -> dict[str, list[str]]:
    """Write what is shown of releases side by side: a row by its title, with a text for each."""
    verdicts = [release.evaluation.verdict for release in releases]
    rows = {
        "Release": [release.name for release in releases],
        "Behind each line, at least (k)": [str(release.evaluation.k) for release in releases],
        "Other choices": [_other_choices(release) for release in releases],
        "Verdict": [HEADLINES_IN_A_TABLE[verdict.colour] for verdict in verdicts],
    }
    # All have the same questions, but for what a trajectory is called.
    for number, newest in enumerate(releases[0].evaluation.answers):
        rows[newest.question] = [release.evaluation.answers[number].answer for release in releases]
    return rows


def _other_choices(release: MadeRelease) -> str:
    """List the choices of a release that are not those of a new studio."""
    choices = []
    for form_field in FIELDS:
        value = release.chosen[form_field.name]
        if form_field.name not in ("k", "name", "format") and value != form_field.default:
            end = "" if form_field.label.endswith("?") else ":"
            choices.append(f"{form_field.label}{end} {form_field.words(value)}")
    return "; ".join(choices) or "none"
