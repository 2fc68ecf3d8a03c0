"""How a command declares its options, and the names files have by default."""

import csv
import io
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import fields
from inspect import Parameter, signature
from pathlib import Path
from string import Template
from typing import Annotated, Any, TypeVar, cast

import typer
from typer.core import TyperCommand

from trajanon.cli.messages import say
from trajanon.common.command_lines import Option, flag_of
from trajanon.common.errors import BadInput
from trajanon.common.json_toml_and_regular_files import read_toml, typed
from trajanon.common.object_stores import is_url, local_copy
from trajanon.common.search_and_release_options import (
    MEMORY,
    AnonymizeKeywords,
    names_in,
    parameters_of,
)

TRAJECTORIES = Path("trajectories.parquet")
ANONYMIZED = Path("anonymized.parquet")
PARTS = Path("trajectories")
"""A folder of parts that extract writes."""
RELEASE = Path("anonymized")
"""A folder of parts that anonymize writes."""
MAP = Path("map.html")
PUBLIC_MAP = Path("map.public.html")  # under a name of its own: the other one shows originals

Help = str | list[str]
"""The help of an option, or its help and its default in words."""

Command = TypeVar("Command", bound=Callable[..., None])

HELP = typed(
    read_toml(Path(__file__).with_name("help.toml"), "the help of commands"),
    dict[str, dict[str, Help | dict[str, Help]]],
)
"""The options of each command in their order, some of them in groups."""

_WORDS: Mapping[str, object] = {
    "trajectories": TRAJECTORIES,
    "anonymized": ANONYMIZED,
    "parts": PARTS,
    "release": RELEASE,
    "memory": MEMORY,
}
"""What a help may name: files and amounts by default."""

COMMAND_NAMES = {"draw": "map"}
"""Commands whose function has another name."""

_NAMES = {"as_json": "json", "for_router": "for"}  # of parameters whose option has another name
_SECOND_NAMES = {"bbox": "area"}  # of options that have two
_COMMANDS_OF_PATHS = ("check", "evaluate", "map", "streets")  # which read no URLs
_TEXT = "_text"
"""Ends the name of a parameter whose option is a text that the command itself understands."""


def options(*settings: type, **words: object) -> Callable[[Command], Command]:
    """Declare the options of a command, which the table of helps lists.

    Each is a parameter of the command, or a field of these classes of settings. A help may have
    words that only the command knows.
    """
    # Help and default in words, by the name of the option: of options of several commands.
    usual_helps = {
        field.name: (field.metadata["help"], field.metadata["shown"])
        for class_ in settings
        for field in fields(class_)
    }
    for name, help, _ in _listed("every"):
        usual_helps[name] = _text_and_default(help, {})

    def declare(command: Command) -> Command:
        """Return the command with the signature that typer reads."""
        plain = signature(command)
        parameters = {
            parameter.name: parameter for class_ in settings for parameter in parameters_of(class_)
        }
        parameters |= {_option_of(parameter): parameter for parameter in plain.parameters.values()}

        # In the order of the table, which is that of --help.
        # typer's context is no option.
        declared = [
            parameter for parameter in parameters.values() if parameter.annotation is typer.Context
        ]
        for name, help, group in _listed(command.__name__):
            parameter = parameters[name]
            text, default = _text_and_default(help, words) if help else usual_helps[name]
            option = _typer_option(parameter, text, default, group)
            type_ = parameter.annotation
            # A choice of names is a text for typer if it is of settings, which refuse others.
            if parameter.name not in plain.parameters and names_in(type_):
                type_ = str if parameter.default is not None else str | None
            declared.append(parameter.replace(annotation=Annotated[type_, option]))
        command.__signature__ = plain.replace(parameters=declared)  # type: ignore[attr-defined]
        return command

    return declare


def _listed(command: str) -> Iterator[tuple[str, Help, str | None]]:
    """Yield the name, the help and the group of each option of a command; the group may be None."""
    for name, entry in HELP[COMMAND_NAMES.get(command, command)].items():
        if isinstance(entry, dict):
            for option, help in entry.items():
                yield option, help, name
        else:
            yield name, entry, None


def _text_and_default(help: Help, words: Mapping[str, object]) -> tuple[str, str | None]:
    """Return the text of a help, and the default in words where it has one."""
    texts = [
        Template(text).substitute({**_WORDS, **words})
        for text in (help if isinstance(help, list) else [help])
    ]
    return texts[0], texts[1] if len(texts) > 1 else None


def typed_options(command: Callable[..., None], values: Mapping[str, object]) -> dict[str, Option]:
    """Return the options of a command that are not as by default, as somebody would type them.

    Nothing of a command with a name that cannot be printed: nobody could paste it.
    """
    typed: dict[str, Option] = {}
    for name, parameter in signature(command).parameters.items():
        value = values.get(name)
        if name == "as_json":  # how the result is printed changes nothing in it
            continue
        if value is None or value in (parameter.default, []):
            continue
        typed[_option_of(parameter)] = (
            str(value) if isinstance(value, Path) else cast(Option, value)
        )

    texts = [
        text
        for value in typed.values()
        for text in (value if isinstance(value, list) else [str(value)])
    ]
    return typed if all(map(str.isprintable, texts)) else {}


def _option_of(parameter: Parameter) -> str:
    """Return the name of the option of a parameter."""
    return parameter.name.removesuffix(_TEXT)


def _typer_option(
    parameter: Parameter, text: str, default: str | None, group: str | None
) -> object:
    """Return typer's option for a parameter, or its argument for one that is no keyword."""
    if parameter.kind is not Parameter.KEYWORD_ONLY:
        return typer.Argument(help=text, show_default=default or True)

    option = _option_of(parameter)
    name = _NAMES.get(option, option)
    flags = []
    # Without flags, typer makes one of the parameter's name, and for True or False a second one
    # that turns it off, which means something only where the default is True.
    has_other_name = len(name) == 1 or option != parameter.name or option in _NAMES
    if has_other_name or parameter.default is False or option in _SECOND_NAMES:
        flags.append(flag_of(name))
    if option in _SECOND_NAMES:
        flags.append(flag_of(_SECOND_NAMES[option]))
    return typer.Option(*flags, help=text, show_default=default or True, rich_help_panel=group)


def names_of(text: str) -> list[str]:
    """Read column names between commas; one that holds a comma stands in quotes."""
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        raise BadInput(f"cannot read {text!r} as column names between commas: {error}") from error


def text_of_names(names: Sequence[str]) -> str:
    """Write column names between commas, as `names_of` reads them."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()


def method_of(text: str, *, published: bool) -> AnonymizeKeywords:
    """Read a method, and if it is as published its path and compression: hm2:concorde:c=5."""
    method, *path_and_compression = text.split(":")
    options: dict[str, str | int] = {"method": method}
    for word in path_and_compression:
        name, equals, number = word.partition("=")
        option = "compression" if equals else "heuristic"
        is_unknown = equals and not (name == "c" and number.isdecimal())
        if is_unknown or not word or option in options:
            raise BadInput(
                f"`method` {text!r} is not understood at {word!r}; write a path, and c= with a "
                "number: hm2:concorde:c=5"
            )
        options[option] = int(number) if equals else word

    if path_and_compression and not published:
        raise BadInput(
            f"a path or a compression in `method` is for `as_published`: write `method={method}`, "
            "or add `as_published`"
        )
    return cast(AnonymizeKeywords, options)  # which the settings check


def columns_of(text: str | None) -> list[str] | None:
    """Read column names, or the name of a set of them that the papers used; None stays."""
    if text is None:
        return None
    from trajanon.tables.papers.datasets import COLUMN_SETS

    return COLUMN_SETS.get(text) or names_of(text)


def seconds_of(option: str, text: str) -> float:
    """Read a time that passes: a number of seconds, or as pandas writes it."""
    import pandas as pd

    try:
        return float(text)
    except ValueError:
        with suppress(ValueError):
            return float(pd.Timedelta(text).total_seconds())
    raise BadInput(
        f"{option} must be a number of seconds, or a time such as 5min or 2h (got {text!r})"
    )


def check_page(out: Path, output: str) -> None:
    """Refuse a name that is not that of a page."""
    if out.suffix.lower() not in (".html", ".htm"):
        raise BadInput(f"{output} is a page: {out} must end in .html")


class GroupedCommand(TyperCommand):
    """A command with a section in its help for each group of options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the words for `invoke`, as the parser takes them out of the list."""
        ctx.obj = [*args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Copy what lies on a file system of fsspec, for commands that read paths.

        Only now, as a command of `trajanon run` may read what the one before it writes.
        """
        if self.name in _COMMANDS_OF_PATHS and any(map(is_url, ctx.obj)):
            super().parse_args(ctx, [self._path_of(ctx, word) for word in ctx.obj])
        return super().invoke(ctx)

    def _path_of(self, ctx: Any, arg: str) -> str:
        """Return the path of a copy if an argument is a URL; those of the web may be of tiles."""
        if not is_url(arg) or arg.startswith(("http://", "https://", "--")):
            return arg
        path = ctx.with_resource(local_copy(arg))
        say(f"read {arg} as {path}")
        return str(path)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write them in the order in which the groups begin; typer does so for rich alone."""
        groups = defaultdict(list)
        for parameter in self.get_params(ctx):
            if (record := parameter.get_help_record(ctx)) is not None:
                usual = "Arguments" if parameter.param_type_name == "argument" else "Options"
                groups[getattr(parameter, "rich_help_panel", None) or usual].append(record)
        for name, records in groups.items():
            with formatter.section(name):
                formatter.write_dl(records)
