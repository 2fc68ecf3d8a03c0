"""The commands that run others: trajanon run and demo."""

import shlex
from collections.abc import Mapping, Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import typer

from trajanon.cli.anonymize_command import anonymize
from trajanon.cli.check_command import check
from trajanon.cli.extract_command import extract
from trajanon.cli.map_command import draw
from trajanon.cli.messages import tell, usage_error
from trajanon.cli.options import ANONYMIZED, MAP, TRAJECTORIES, options
from trajanon.common.command_lines import with_value, words_of_files
from trajanon.common.errors import BadInput
from trajanon.common.json_toml_and_regular_files import read_toml

_NOT_IN_SETTINGS = {"run", "studio"}  # the one runs itself, the other never ends

Table = Mapping[str, Any]
"""The options of a command by their long names, and its files by theirs."""


@options()
def run(context: typer.Context, settings: Path) -> None:
    """Run the commands of a settings file, until one fails.

    The file repeats a piece of work: extract, anonymize, check, evaluate, map.
    """
    commands: Mapping[str, Any] = getattr(context.find_root().command, "commands", {})
    tables = _read(settings)

    known = [name for name in commands if name not in _NOT_IN_SETTINGS]
    for name in tables:
        if name not in known:
            raise BadInput(f"{settings}: [{name}] is not a command; choose from {', '.join(known)}")

    # All are understood before the first begins, which may take hours.
    steps = [
        (name, *_step(settings, name, commands[name], table, context))
        for name, table in tables.items()
    ]

    with chdir(settings.parent):
        for number, (name, words, step) in enumerate(steps, start=1):
            tell(f"{number}. {shlex.join(['trajanon', name, *words])}")
            with step:
                commands[name].invoke(step)
            tell()


def _step(
    settings: Path, name: str, command: Any, table: Table, context: typer.Context
) -> tuple[list[str], typer.Context]:
    """Return the words of a command, and the context in which it is invoked."""
    try:
        words = words_of(command.params, table)
        # A copy, as the words that are read are taken out of the list.
        return words, command.make_context(name, list(words), context)
    except Exception as error:
        message = str(error) if isinstance(error, BadInput) else usage_error(error)
        if not message:  # a fault of ours
            raise
        raise BadInput(f"{settings}: [{name}] {message}") from error


def words_of(parameters: Sequence[Any], table: Table) -> list[str]:
    """Write the options of a command as words of a command line, and then its files."""
    by_name = {
        name.lstrip("-"): parameter
        for parameter in parameters
        for name in (*parameter.opts, parameter.name)
    }
    words: list[str] = []
    files: list[str] = []
    set_before = set()

    for name, value in table.items():
        parameter = by_name.get(name.replace("_", "-"), by_name.get(name))
        if parameter is None or name == "help":
            raise BadInput(f"has no option {name}: trajanon COMMAND --help lists them")
        if parameter in set_before:  # such as time-step beside time_step
            raise BadInput(f"{name} is set twice, by two names: leave out one of them")
        set_before.add(parameter)

        is_flag = getattr(parameter, "is_flag", False)
        takes_several = parameter.nargs == -1 or getattr(parameter, "multiple", False)
        values = value if takes_several and isinstance(value, list) else [value]
        is_allowed = [
            isinstance(item, str | int | float) and isinstance(item, bool) == is_flag
            for item in values
        ]
        if not values or not all(is_allowed):
            allowed = "true or false" if is_flag else "a text or a number"
            or_list = ", or a list of these" if takes_several else ""
            raise BadInput(f"{name} must be {allowed}{or_list}")

        if parameter.param_type_name == "argument":
            files += map(str, values)
        elif is_flag:
            # Options with an on and an off are written by the one that is meant. The last spelling
            # is the long one; an option without an off is left out.
            words += (parameter.opts if value else parameter.secondary_opts)[-1:]
        else:
            flag = max(parameter.opts, key=len)
            for text in map(str, values):
                words += with_value(flag, text)
    return [*words, *words_of_files(files)]


def _read(path: Path) -> dict[str, Table]:
    """Read a settings file: a table of options for each command."""
    tables = read_toml(path, "the settings")
    if not tables or not all(isinstance(table, dict) for table in tables.values()):
        raise BadInput(
            f"{path} needs a table for each command, such as [anonymize] and below it k = 4"
        )
    return tables


@options()
def demo(folder: Path = Path("trajanon-demo")) -> None:
    """Run every step on a bundled sample, without network."""
    from trajanon.common.atomic_output import make_folder
    from trajanon.data import sample
    from trajanon.grouping.refinements.annealing import compile_ahead

    compile_ahead()  # beside the extraction, in a process of its own
    make_folder(folder)
    trajectories = folder / TRAJECTORIES
    released = folder / ANONYMIZED

    tell("1. trajanon extract (the bundled sample) --bbox madrid")
    extract([str(sample())], bbox=["madrid"], out=trajectories)

    tell()
    tell("2. trajanon anonymize -k 4")
    # A key of its own: no home is needed, and nothing of the demo is secret.
    anonymize(str(trajectories), k=4, out=str(released), key=folder / "demo.key")

    tell()
    tell("3. trajanon check -k 4")
    check(released, k=4)

    tell()
    tell("4. trajanon map")
    draw([trajectories, released], out=folder / MAP)
