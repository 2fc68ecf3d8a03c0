"""The form of the page: files and choices, and the commands that somebody would type for them."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trajanon.cli.options import MAP, TRAJECTORIES
from trajanon.cli.run_commands import words_of
from trajanon.common.command_lines import Option, Options
from trajanon.common.search_and_release_options import SUGGESTED_K
from trajanon.studio.fields import FIELDS_BY_NAME, Choice, field_names, name_of_data

# Files in the folder of the studio, and the folder in it for files that come through the browser.
DOOR = "open.html"  # the page by which the browser gets the code
EVALUATION_PAGE = "evaluation.html"
PUBLISHER = "publisher.toml"
SETTINGS = "settings.toml"
UPLOADS = "files"

NAMES_IN_USE = {
    Path(file).name.partition(".")[0]
    for file in (TRAJECTORIES, MAP, DOOR, EVALUATION_PAGE, PUBLISHER, SETTINGS, UPLOADS)
}
"""Names that no release may have in the same folder."""

READ_FILES = ("extract",)
MAKE_RELEASE = ("extract", "anonymize", "check", "evaluate", "map", "public map")
"""What each button runs, in order."""

_RUN_AS = {"public map": "map"}  # a command that runs in two ways

Commands = Mapping[str, Any]
"""Commands of the command line, by their names."""


class Form:
    """Files and choices, as they are in the form now."""

    def __init__(self, folder: Path, commands: Commands) -> None:
        self.folder = folder  # in which commands run
        self.commands = commands
        self.files: list[str] = []  # as commands name them: from the folder on, or absolute
        self.chosen = {name: form_field.default for name, form_field in FIELDS_BY_NAME.items()}
        self._name_of_data = name_of_data(self.files)
        self.chosen |= {"k": SUGGESTED_K, "name": self._name_of_data}

    @property
    def name(self) -> str:
        """The name of the release."""
        return str(self.chosen["name"] or "").strip()

    @property
    def released_file(self) -> str:
        """The name of the file of the release."""
        return f"{self.name}{self.chosen['format']}"

    @property
    def has_folders(self) -> bool:
        """Whether a folder was brought, in which folders may be people."""
        return any((self.folder / name).is_dir() for name in self.files)

    def set_files(self, files: list[str], *, renames_release: bool) -> None:
        """Change the files, and name the release after them, as long as nobody chose a name."""
        self.files = files
        if renames_release and self.name == self._name_of_data:
            self._name_of_data = name_of_data(files)
            self.chosen["name"] = self._name_of_data

    def options(self) -> dict[str, dict[str, Option]]:
        """Return the options of each command, as they are chosen now, without empty ones."""
        values = {name: field.option(self.chosen) for name, field in FIELDS_BY_NAME.items()}
        roles = [f"{role}={values[role]}" for role in field_names("columns") if values[role]]
        region = values["region"]
        reads_region = values["hide_near"] or self._names_a_boundary(str(values["bbox"] or ""))
        released = self.released_file
        originals = str(TRAJECTORIES)

        options_without_field: dict[str, dict[str, Choice | list[str]]] = {
            "extract": {
                "columns": ",".join(roles),
                "pbf": region if reads_region else "",
                "paths": self.files.copy(),
            },
            "anonymize": {"out": released},
            "check": {"k": values["k"], "trajectories": originals, "released": released},
            "evaluate": {"publisher": PUBLISHER, "files": [originals, released]},
            "map": {"offline": True, "roads": region, "files": [originals, released]},
            "public map": {"view": "public", "offline": True, "roads": region, "files": [released]},
        }
        options: dict[str, dict[str, Option]] = {}
        for command, without_field in options_without_field.items():
            from_fields = {name: values[name] for name in field_names(command)}
            both = from_fields | without_field
            # A 0 is a value, which the command may refuse; no file or flag is 0.
            options[command] = {
                name: value
                for name, value in both.items()
                if value or (value == 0 and value is not False)
            }
        return options

    def _names_a_boundary(self, area: str) -> bool:
        """Whether an area is no city, box or file, so that its name is looked up in the region."""
        from trajanon.extract.earth.area import CITIES  # the page does not wait for it

        is_known = area.lower() in CITIES or "," in area or (self.folder / area).is_file()
        return bool(area) and not is_known

    def command_line(self, command: str, options: Options) -> list[str]:
        """Return the words by which somebody would run a command with options, from its name on."""
        name = _RUN_AS.get(command, command)
        return [name, *words_of(self.commands[name].params, options)]

    @property
    def as_typed(self) -> str:
        """How somebody would type the commands that make the release, a line each."""
        lines = [self.command_line(command, options) for command, options in self.options().items()]
        return "\n".join(shlex.join(["trajanon", *words]) for words in lines)

    @property
    def settings_file(self) -> str:
        """The text of the file by which ``trajanon run`` repeats the release."""
        lines = ["# Repeats a release: trajanon run settings.toml"]
        if not all(Path(name).is_absolute() for name in self.files):
            lines.append(f"# Put uploaded files into a folder named {UPLOADS} beside it.")
        lines.append(f"# {PUBLISHER} belongs beside it.")

        for command, options in self.options().items():
            if command in _RUN_AS:
                continue  # a table is named after its command, and there can be one
            lines += ["", f"[{command}]"]
            # A JSON text, number, truth or list of these is one of TOML, too.
            for name, value in options.items():
                lines.append(f"{name} = {json.dumps(value, ensure_ascii=False)}")
        return "\n".join([*lines, ""])
