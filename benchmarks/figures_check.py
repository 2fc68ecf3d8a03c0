"""Compare figures of the pages with what their commands print now: make figures-check.

It takes some minutes, and prints each figure that differs by more than its spread, or by more than
it is rounded. Chains that need data which are not there are left out, and named.
"""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

_ROOT = Path(__file__).parent.parent
_SHARED = _ROOT.parent / "shared"
_PLACES = {
    "SAMPLE": str(_ROOT / "data" / "sample"),
    "GENERATOR": str(_ROOT / "data" / "generator"),
    "SHARED": str(_SHARED),
}
_NUMBER = r"(\d[\d,]*\.?\d*)"


class Figure(msgspec.Struct):
    """Numbers of a page, and where they stand in the JSON."""

    page: str
    quote: str  # the line of the page, with {} in place of numbers
    values: list[str]  # addresses in the JSON; " %" behind a share; "" for a number of other data
    spread: float  # share by which the numbers may differ


class Chain(msgspec.Struct):
    """Commands that print figures."""

    name: str
    commands: list[str]
    json: str  # the file that the last one writes
    figure: list[Figure]


def chains() -> list[Chain]:
    """Read which commands print which figures."""
    listed = tomllib.loads((_ROOT / "benchmarks/figures.toml").read_text())["chain"]
    return msgspec.convert(listed, list[Chain])


def quoted(figure: Figure) -> list[str]:
    """Return the numbers of a figure as they stand on its page."""
    parts = map(re.escape, figure.quote.split("{}"))
    page = (_ROOT / figure.page).read_text(encoding="utf-8")
    match = re.search(_NUMBER.join(parts), re.sub(" +", " ", page))  # tables may be padded
    if match is None:
        raise ValueError(f"{figure.page} has no {figure.quote!r}")
    return list(match.groups())


def value_at(account: Any, address: str) -> float:
    """Return a number of JSON by its address: names, and places in lists, between dots."""
    for name in address.removesuffix(" %").split("."):
        account = account[int(name)] if isinstance(account, list) else account[name]
    return float(account) * (100.0 if address.endswith(" %") else 1.0)


def differs(text: str, now: float, spread: float) -> bool:
    """Check whether a printed number is off by more than its spread and its rounding."""
    printed = float(text.replace(",", ""))
    last_digit = 10.0 ** -len(text.partition(".")[2])
    return abs(printed - now) > spread * abs(now) + last_digit / 2


def words_of(command: str) -> list[str]:
    """Return the words of a command, with folders, which may hold blanks, in place of names.

    A command is one of trajanon's, or ``python`` and a script.
    """
    words = shlex.split(command)
    words = [sys.executable, *(words[1:] if words[0] == "python" else ["-m", "trajanon", *words])]
    for name, folder in _PLACES.items():
        words = [word.replace(name, folder) for word in words]
    return words


def json_after(chain: Chain) -> Any:
    """Run the commands of a chain; return the JSON that they wrote."""
    with TemporaryDirectory() as folder:
        for command in chain.commands:
            subprocess.run(words_of(command), cwd=folder, check=True, capture_output=True)

        return json.loads((Path(folder) / chain.json).read_text())


def changes(figure: Figure, account: Any) -> Iterator[str]:
    """Describe each number of a figure that differs from the account."""
    for text, address in zip(quoted(figure), figure.values, strict=True):
        if not address:
            continue
        now = value_at(account, address)
        if differs(text, now, figure.spread):
            yield f"{figure.page}: {figure.quote!r}, {address}: {text}, now {now:.4g}"


def main() -> int:
    """Print the figures that differ; return how many these are."""
    change_count = 0
    for chain in chains():
        if any("SHARED" in command for command in chain.commands) and not _SHARED.exists():
            print(f"not checked, without its data: {chain.name}")
            continue

        account = json_after(chain)
        print(f"checked: {chain.name}")
        for figure in chain.figure:
            for change in changes(figure, account):
                print(change)
                change_count += 1
    return change_count


if __name__ == "__main__":
    sys.exit(main() > 0)
