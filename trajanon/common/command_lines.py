"""Command lines: the options of a command as somebody would type them."""

import shlex
from collections.abc import Mapping, Sequence

Option = bool | int | float | str | list[str]
"""The value of an option as it was typed; a list of an option that was typed several times."""

Options = Mapping[str, Option]

_WITHOUT_FLAG = {"paths", "trajectories"}  # files, which follow the options


def flag_of(name: str) -> str:
    """Return the flag of an option.

    >>> flag_of("k"), flag_of("one_line_each")
    ('-k', '--one-line-each')
    """
    return f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"


def command_line(command: str, options: Options) -> str:
    """Write a whole command, ready to be pasted into a shell.

    >>> command_line("anonymize", {"k": 4, "one_line_each": True, "trajectories": "my trips.csv"})
    "trajanon anonymize -k 4 --one-line-each 'my trips.csv'"
    >>> command_line("extract", {"bbox": ["-3.8,40.3,-3.6,40.5"], "windows": False})
    'trajanon extract --bbox=-3.8,40.3,-3.6,40.5'
    """
    words = ["trajanon", command]
    files: list[str] = []

    for name, value in options.items():
        texts = [str(text) for text in value] if isinstance(value, list) else [str(value)]
        if name in _WITHOUT_FLAG:
            files += texts
        elif value is True:
            words.append(flag_of(name))
        elif value is not False:
            for text in texts:
                words += with_value(flag_of(name), text)
    return shlex.join([*words, *words_of_files(files)])


def with_value(flag: str, text: str) -> list[str]:
    """Write an option with its value; one that begins with a dash would be taken for an option."""
    if not text.startswith("-"):
        return [flag, text]
    return [f"{flag}={text}" if flag.startswith("--") else f"{flag}{text}"]


def words_of_files(files: Sequence[str]) -> list[str]:
    """Write files that follow the options; one such as -1.gpx would be taken for an option."""
    ends_options = ["--"] if any(file.startswith("-") for file in files) else []
    return [*ends_options, *files]


def options_in(account: object) -> dict[str, Option]:
    """Read typed options from what a file says, which may be anything.

    >>> options_in({"k": 4, "out": None, "bbox": ["madrid"], "odd": [1]}), options_in(7)
    ({'k': 4, 'bbox': ['madrid']}, {})
    """
    if not isinstance(account, Mapping):
        return {}
    return {str(name): value for name, value in account.items() if _is_option(value)}


def _is_option(value: object) -> bool:
    """Check whether a value can be one of an option."""
    if isinstance(value, list):
        return all(isinstance(text, str) for text in value)
    return isinstance(value, bool | int | float | str)
